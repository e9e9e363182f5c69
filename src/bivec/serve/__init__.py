"""The explorer: a local page on an embedding, and the same queries over HTTP for programs.

``bivec explore ratings.bivec`` opens it. The page is plain HTML, CSS and JavaScript from this
package: nothing is loaded from elsewhere, and nothing is sent anywhere.

Needs the extra ``serve``; :func:`bivec.serve.app.create_app` gives the ASGI application to those
who run a server of their own.
"""
