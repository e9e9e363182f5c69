"""The application against its own description, with requests made up by schemathesis."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import bivec

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from bivec.serve.guard import MOST_BODY  # noqa: E402


def app():
    from bivec.serve.app import create_app
    from bivec.serve.explorer import Explorer
    from bivec.serve.layout import Layout

    graph = bivec.as_graph([("0", "0", 1), ("0", "a", 2), ("b", "a", 1), ("<i>", "0", 3)])
    random = np.random.default_rng(0)
    embedding = bivec.Embedding(
        bivec.EmbeddingSide(graph.left.ids, random.normal(size=(3, 4))),
        bivec.EmbeddingSide(graph.right.ids, random.normal(size=(2, 4))),
        graph=graph,
    )
    layouts = {
        side: Layout(np.zeros((len(embedding.side(side)), 2), np.float32), "pca")
        for side in ("left", "right")
    }
    return create_app(Explorer(embedding, layouts, {"left": [], "right": []}))


HOST = {"host": "localhost"}
schema = schemathesis.openapi.from_asgi("/openapi.json", app(), headers=HOST)


@schema.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_answers_are_as_described(case):
    answer = case.call(headers=HOST)
    if answer.status_code == 413:  # before the description is looked at
        assert len(answer.request.body) > MOST_BODY
        return
    case.validate_response(answer)
