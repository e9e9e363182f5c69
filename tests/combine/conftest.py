"""A small graph and embeddings of it that are no work to make."""

import importlib.util

import numpy as np
import pytest

from bivec import Embedding, EmbeddingSide
from bivec.datasets import viewer_movies


@pytest.fixture(autouse=True)
def one_thread():
    """Let torch's threads not wait for each other on a busy machine."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def graph():
    return viewer_movies(60, 24, 3).graph


def spectral(graph, dim, method, seed=0):
    """Return singular vectors, turned at random: good inputs in no time."""
    u, s, v = np.linalg.svd(graph.to_scipy().toarray() > 0, full_matrices=False)
    turn = np.random.default_rng(seed).normal(size=(dim, dim))
    left, right = (u[:, :dim] * s[:dim]) @ turn, (v.T[:, :dim] * s[:dim]) @ turn
    return Embedding(
        EmbeddingSide(graph.left.ids, left), EmbeddingSide(graph.right.ids, right), method=method
    )


@pytest.fixture(scope="session")
def inputs(graph):
    return [spectral(graph, 8, "first"), spectral(graph, 5, "second", seed=1)]
