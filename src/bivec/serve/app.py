"""The HTTP interface: queries for programs, and what the page asks for."""

from __future__ import annotations

import re
from importlib import resources
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

import bivec
from bivec.errors import BivecError, UnknownIdError, shown
from bivec.serve import answers, requests
from bivec.serve.explorer import SIDES, Explorer
from bivec.serve.guard import Guard
from bivec.serve.queries import NoGraphError, Queries

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_DESCRIPTION = """
Queries on an embedding of a bipartite graph. Ids are text in every answer. An id that is not there
is 404, a malformed request 422, an embedding without its graph 409; the answer then has a
`detail` that says what to do. `POST` takes many ids at once and lists unknown ones beside the
results.
"""
_FAILURES: dict[int | str, dict[str, Any]] = {
    422: {"model": answers.Failure, "description": "The request is malformed."},
    403: {"model": answers.Failure, "description": "The Host header names another machine."},
}
_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: {"model": answers.Failure, "description": "There is no such node."}
}
_NO_GRAPH: dict[int | str, dict[str, Any]] = {
    409: {"model": answers.Failure, "description": "The embedding has no graph."}
}
_BODY: dict[int | str, dict[str, Any]] = {
    413: {"model": answers.Failure, "description": "The request is too large."}
}
_FLOATS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "description": "32-bit floats, little-endian.",
    }
}


def create_app(explorer: Explorer, *, loopback_only: bool = True) -> FastAPI:
    """Return the application that serves an explorer.

    Parameters
    ----------
    explorer : Explorer
    loopback_only : bool
        Whether to refuse requests whose ``Host`` header is not a name of the loopback.
    """
    app = FastAPI(
        title="bivec",
        version=bivec.__version__,
        description=_DESCRIPTION,
        docs_url=None,  # the stock pages load scripts from elsewhere
        redoc_url=None,
        responses=_FAILURES,
        redirect_slashes=False,
    )
    app.add_middleware(Guard, loopback_only=loopback_only)
    _add_failures(app)
    _add_queries(app, explorer)
    _add_page(app, explorer)
    _add_static(app)
    return app


def _add_queries(app: FastAPI, explorer: Explorer) -> None:
    queries = Queries(explorer.embedding)
    queries.warm_up()

    @app.get("/healthz", tags=["queries"])
    async def healthz() -> answers.Health:
        """Tell that the server works, and on what."""
        emb = explorer.embedding
        return answers.Health(
            status="ok",
            version=bivec.__version__,
            title=explorer.title,
            method=emb.method,
            dim=emb.dim,
            left=len(emb.left),
            right=len(emb.right),
            edges=None if emb.graph is None else emb.graph.n_edges,
        )

    @app.get("/recommend", tags=["queries"], responses=_UNKNOWN)
    def recommend(query: Annotated[requests.RecommendQuery, Query()]) -> answers.Ranking:
        """Recommend nodes of the other side for one node."""
        return queries.recommend(**query.model_dump())

    @app.post("/recommend", tags=["queries"], responses=_BODY)
    def recommend_many(batch: requests.RecommendBatch) -> answers.Rankings:
        """Recommend for many nodes at once, from or without certain nodes."""
        return queries.recommend_many(**batch.model_dump())

    @app.get("/similar", tags=["queries"], responses=_UNKNOWN)
    def similar(query: Annotated[requests.SimilarQuery, Query()]) -> answers.Ranking:
        """Find nodes of the same side that are like one node."""
        return queries.similar(**query.model_dump())

    @app.post("/similar", tags=["queries"], responses=_BODY)
    def similar_many(batch: requests.SimilarBatch) -> answers.Rankings:
        """Find similar nodes for many nodes at once."""
        return queries.similar_many(**batch.model_dump())

    @app.get("/explain", tags=["queries"], responses=_UNKNOWN | _NO_GRAPH)
    def explain(query: Annotated[requests.ExplainQuery, Query()]) -> answers.Explanation:
        """Explain why a left and a right node belong together: the bridges between them."""
        return queries.explain(**query.model_dump())

    @app.post("/explain", tags=["queries"], responses=_NO_GRAPH | _BODY)
    def explain_many(batch: requests.ExplainBatch) -> answers.Explanations:
        """Explain many pairs at once."""
        pairs = [(pair.left, pair.right) for pair in batch.pairs]
        return queries.explain_many(pairs, batch.n)


def _add_page(app: FastAPI, explorer: Explorer) -> None:
    @app.get("/api/summary", tags=["page"])
    def summary() -> answers.Summary:
        """Sum up the embedding, its maps and columns."""
        return answers.Summary.model_validate(explorer.summary())

    @app.get("/api/search", tags=["page"])
    def search(query: Annotated[requests.SearchQuery, Query()]) -> answers.SearchResult:
        """Find nodes by a part of their id."""
        sides = (query.side,) if query.side else SIDES
        items = explorer.search(query.q, sides, query.n)
        return answers.SearchResult.model_validate({"items": items})

    @app.get("/api/node", tags=["page"], responses=_UNKNOWN)
    def node(query: Annotated[requests.NodeQuery, Query()]) -> answers.Node:
        """Show one node and its neighbours in the graph."""
        return answers.Node.model_validate(explorer.node(query.side, query.id, query.n))

    @app.get("/api/ids", tags=["page"])
    def ids(query: Annotated[requests.IdsQuery, Query()]) -> answers.Ids:
        """List the ids of a run of rows."""
        found = explorer.ids(query.side, query.start, query.count)
        names = explorer.names_of(query.side, range(query.start, query.start + len(found)))
        return answers.Ids(start=query.start, ids=found, names=names)

    @app.post("/api/rows", tags=["page"], responses=_BODY)
    def rows(wanted: requests.RowsRequest) -> answers.Rows:
        """Find the rows and names of ids."""
        found = explorer.embedding.side(wanted.side).ids.find(wanted.ids)
        return answers.Rows(
            rows=found.tolist(), names=explorer.names_of(wanted.side, found.tolist())
        )

    @app.get("/api/points", tags=["page"], response_class=Response, responses=_FLOATS)
    def points(query: Annotated[requests.SideQuery, Query()]) -> Response:
        """Return x and y of every row of a side."""
        return _floats(explorer.layouts[query.side].places)

    @app.get("/api/column", tags=["page"], response_class=Response, responses=_FLOATS | _UNKNOWN)
    def column(query: Annotated[requests.ColumnQuery, Query()]) -> Response:
        """Return a column's value for every row of a side; NaN where there is none."""
        found = explorer.column(query.side, query.name)
        if found is None:
            names = ", ".join(repr(column.name) for column in explorer.columns[query.side])
            raise UnknownIdError(
                f"no column {shown(query.name)} on the {query.side} side; there are {names}."
            )
        return _floats(found.values)


def _floats(values: Any) -> Response:
    return Response(
        np.ascontiguousarray(values, dtype="<f4").tobytes(),
        media_type="application/octet-stream",
        headers={"cache-control": "no-cache"},
    )


def _add_static(app: FastAPI) -> None:
    """Serve the files of the page from memory: no path comes from a request to the disk."""
    folder = resources.files("bivec.serve") / "static"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}

    def file_response(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is no such page")
        return Response(
            files[name],
            media_type=_TYPES["." + name.rpartition(".")[2]],
            headers={"cache-control": "no-cache"},
        )

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return file_response("index.html")

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return file_response("docs.html")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        return file_response(name)

    @app.get("/favicon.ico", include_in_schema=False)
    def favicon() -> Response:
        return file_response("icon.svg")


def _add_failures(app: FastAPI) -> None:
    """Turn errors into a sentence; what was sent is not sent back."""

    @app.exception_handler(RequestValidationError)
    def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [
            answers.Problem(where=_place(item["loc"]), problem=str(item["msg"]))
            for item in error.errors()[:20]
        ]
        detail = "; ".join(f"{problem.where}: {problem.problem}" for problem in problems[:3])
        failure = answers.Failure(detail=detail, errors=problems)
        return JSONResponse(failure.model_dump(), status_code=422)

    @app.exception_handler(400)
    def unreadable(request: Request, error: HTTPException) -> JSONResponse:
        detail = "body: it cannot be read; send JSON in UTF-8"
        return JSONResponse({"detail": detail, "errors": []}, status_code=422)

    @app.exception_handler(405)
    def wrong_verb(request: Request, error: HTTPException) -> JSONResponse:
        # A path has a route for each verb, and the first one knows only its own.
        verbs = {
            verb
            for route in app.routes
            if isinstance(route, APIRoute) and route.path == request.url.path
            for verb in route.methods or ()
        }
        return JSONResponse(
            {"detail": f"{request.url.path} takes {' or '.join(sorted(verbs))}", "errors": []},
            status_code=405,
            headers={"allow": ", ".join(sorted(verbs))},
        )

    @app.exception_handler(BivecError)
    def failed(request: Request, error: BivecError) -> JSONResponse:
        status = 422
        if isinstance(error, UnknownIdError):
            status = 404
        elif isinstance(error, NoGraphError):
            status = 409
        return JSONResponse({"detail": _clean(str(error)), "errors": []}, status_code=status)


def _place(parts: Any) -> str:
    """Name the place of a mistake, without the names that pydantic gives to kinds."""
    words = [str(part) for part in parts if re.fullmatch(r"\w{1,60}", str(part))]
    return _clean(" ".join(words[:5]) or "request")


def _clean(text: str) -> str:
    """Replace what no JSON can carry: lone surrogates."""
    return text.encode("utf-8", "replace").decode()
