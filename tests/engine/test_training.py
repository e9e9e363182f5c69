"""Training: gradients by finite differences, bytes over threads, planted structure, edge cases."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from bivec.errors import BivecError, InputError, NotEnoughMemoryError
from bivec.graph import BipartiteGraph
from bivec.kernels.fobe import sigmoids
from bivec.kernels.sample import fill_pool, make_pool, pool_arrays
from bivec.kernels.train import Steps, make_scratch, row_gradient, scratch_arrays
from bivec.kernels.vector import pointer
from bivec.kernels.view import look
from bivec.sampling import graph_views, make_plan
from bivec.settings import Settings
from bivec.similarity import edge_similarities
from bivec.training import Trainer


@numba.njit
def gradient_of(graph, plan, steps, own, far, arrays, pools, i, gradient, losses):
    view, pool = look(graph), make_pool(pools, steps.first)
    fill_pool(view, plan, i, steps.first + steps.number, pool)
    row_gradient(
        view, plan, pool, steps, pointer(own), pointer(far), own.shape[1], i, make_scratch(arrays),
        pointer(gradient), pointer(losses), 0,
    )  # fmt: skip


@pytest.mark.parametrize("method", ["fobe", "hobe"])
@pytest.mark.parametrize("n_negatives", [0, 2])
def test_gradients_match_finite_differences(small, method, n_negatives):
    """In double precision, over all three relations, for every node, also where it meets itself."""
    rng = np.random.default_rng(0)
    similarity = edge_similarities(small)
    tables = [rng.uniform(-0.2, 0.6, (n, 5)) for n in (small.n_left, small.n_right)]
    for side, view in enumerate(graph_views(small, method, "walk", similarity)):
        plan = make_plan(
            side=side, method=method, draw="walk", n_samples=4, n_neighbors=3,
            n_negatives=n_negatives, seed=3,
        )  # fmt: skip
        own, far = tables[side], tables[1 - side]
        arrays, losses, gradient = scratch_arrays(plan, 4, np.float64), np.empty(4), np.empty(5)
        steps, pools = Steps(0, 4, 0.1, 0.3), pool_arrays(plan, 4)

        compute = partial(gradient_of, view, plan, steps, own, far, arrays, pools)

        def loss(i, compute=compute, losses=losses):
            compute(i, np.empty(5), losses)
            return losses[0] + losses[2]

        for i in np.flatnonzero(np.diff(view.indptr)):
            compute(i, gradient, losses)
            numeric = np.empty(5)
            for c in range(5):
                kept = own[i, c]
                own[i, c] = kept + 1e-5
                above = loss(i)
                own[i, c] = kept - 1e-5
                numeric[c] = (above - loss(i)) / 2e-5
                own[i, c] = kept
            np.testing.assert_allclose(gradient, numeric, rtol=2e-4, atol=2e-4)


def test_sigmoids_are_sigmoids():
    @numba.njit
    def apply(x):
        sigmoids(pointer(x), 0, x.size)

    x = np.linspace(-30, 30, 2001).astype(np.float32)
    y = x.copy()
    apply(y)
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-x.astype(float))), atol=4e-7)


def train(graph, method="fobe", n_jobs=None, **settings):
    settings = {"dim": 16, "n_samples": 20, "epochs": 10, "n_negatives": 1, **settings}
    similarity = edge_similarities(graph, n_jobs=1) if method == "hobe" else None
    return Trainer(graph, Settings(method, **settings), similarity, n_jobs=n_jobs)


@pytest.mark.parametrize("method", ["fobe", "hobe"])
@pytest.mark.parametrize("draw", ["walk", "set"])
def test_same_seed_same_bytes_for_any_number_of_threads(method, draw):
    rng = np.random.default_rng(1)
    graph = BipartiteGraph(rng.integers(0, 3000, 9000), rng.integers(0, 1500, 9000))
    results = [
        train(graph, method, n_jobs, dim=24, n_samples=6, epochs=3, draw=draw, n_negatives=2).run()
        for n_jobs in (1, 2, 4)
    ]
    for other in results[1:]:
        assert results[0].left.tobytes() == other.left.tobytes()
        assert results[0].right.tobytes() == other.right.tobytes()
        assert [r.loss for r in results[0].history] == [r.loss for r in other.history]
    assert train(graph, method, dim=24, seed=1).run().left.tobytes() != results[0].left.tobytes()


def test_fetching_ahead_changes_nothing(planted, monkeypatch):
    plain = train(planted).run()
    monkeypatch.setattr("bivec.training._HINTS_FROM", 0)
    assert train(planted).run().left.tobytes() == plain.left.tobytes()


def same_block(vectors, block):
    """Return the share of nodes whose nearest neighbour by cosine is of their own block."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -2)
    return (block[cosine.argmax(axis=1)] == block).mean()


@pytest.mark.parametrize("method", ["fobe", "hobe"])
def test_planted_blocks_are_recovered(planted, blocks_of, method):
    trainer = train(planted, method, n_samples=100, epochs=50).run()
    assert same_block(trainer.left, blocks_of(planted.n_left)) > 0.95
    assert same_block(trainer.right, blocks_of(planted.n_right)) > 0.95
    assert trainer.history[-1].loss < 0.8 * trainer.history[0].loss


@pytest.mark.parametrize("method", ["fobe", "hobe"])
def test_tiny_graphs_and_isolated_nodes(method):
    two_by_one = train(BipartiteGraph([0, 1], [0, 0]), method).run()
    assert np.isfinite(two_by_one.left).all()
    lone = BipartiteGraph([0], [0], left_ids=["a", "b"], right_ids=["c"])
    fresh, trained = train(lone, method), train(lone, method).run()
    np.testing.assert_array_equal(trained.left[1], fresh.left[1])
    empty = train(BipartiteGraph([], []), method).run()
    assert empty.left.shape == (0, 16)
    assert empty.history[-1].loss == 0


def test_training_goes_on_from_vectors_by_id():
    old = BipartiteGraph([0, 1, 1], [0, 0, 1], left_ids=["a", "b"], right_ids=["x", "y"])
    done = train(old).run()
    sides = [
        SimpleNamespace(ids=old.left.ids, vectors=done.left),
        SimpleNamespace(ids=old.right.ids, vectors=done.right),
    ]
    new = BipartiteGraph([0, 1, 2], [0, 1, 0], left_ids=["c", "b", "a"], right_ids=["y", "x"])
    settings = Settings("fobe", dim=16, n_samples=20, epochs=10)
    for init in (sides, SimpleNamespace(left=sides[0], right=sides[1])):
        trainer = Trainer(new, settings, init=init)
        np.testing.assert_array_equal(trainer.left[[2, 1]], done.left)
        np.testing.assert_array_equal(trainer.right[[1, 0]], done.right)
        np.testing.assert_array_equal(trainer.left[0], Trainer(new, settings).left[0])
    with pytest.raises(InputError, match="dim=8"):
        Trainer(new, Settings("fobe", dim=8), init=sides)
    with pytest.raises(InputError, match="3 parts"):
        Trainer(new, settings, init=[*sides, sides[0]])


def test_a_stopped_sweep_goes_on_to_the_same_bytes(planted):
    whole = train(planted).run()
    stop, part = threading.Event(), train(planted)
    train_block = part._train_block

    def stop_soon(*block):
        train_block(*block)
        if part.epoch == 3:
            stop.set()

    part._train_block = stop_soon
    while part.train_epoch(stop) is not None:
        pass
    assert part.epoch == 3
    resumed = train(planted).restore(part.state()).run()
    assert resumed.left.tobytes() == whole.left.tobytes()
    assert [r.loss for r in resumed.history] == [r.loss for r in whole.history]


@pytest.mark.parametrize("how", ["signal", "exception"])
def test_ctrl_c_keeps_the_epochs_done(planted, how):
    def interrupt(progress):
        if progress.epoch == 4:
            if how == "exception":
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    trainer = train(planted)
    with pytest.warns(UserWarning, match="interrupted after 4 of 10 epochs"):
        trainer.run(interrupt)
    assert trainer.interrupted
    assert len(trainer.history) == 4
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_and_history(planted):
    told = []
    trainer = train(planted).run(told.append)
    assert [p.epoch for p in told] == list(range(1, 11))
    assert told[-1].seconds_left == 0
    assert all(p.pairs_per_second > 0 for p in told)
    assert told[-1].record is trainer.history[-1]
    record = trainer.history[0]
    assert record.loss == record.left_left + record.right_right + record.left_right
    nodes = planted.n_left + planted.n_right
    assert record.pairs == pytest.approx(nodes * 2 * 2 * (1 + 5), rel=0.01)


def test_training_stops_when_the_loss_does(planted):
    trainer = train(planted, epochs=200, n_samples=200, tol=0.05, patience=2).run()
    assert 3 <= trainer.epoch < 100
    assert len(trainer.history) == trainer.epoch


def test_fewer_samples_than_epochs_are_used_in_turn(planted):
    trainer = train(planted, n_samples=1, epochs=5)
    assert trainer.settings.steps == 1
    assert trainer.run().epoch == 5
    assert Settings("fobe", n_samples=200, epochs=50).steps == 4
    assert Settings("fobe", n_samples=7, epochs=3).steps == 3


def test_what_cannot_fit_is_refused(planted, monkeypatch):
    monkeypatch.setattr("bivec.memory.available_memory", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match=r"needs .* of memory, and 1000 bytes"):
        train(planted)
    assert issubclass(NotEnoughMemoryError, BivecError)


@pytest.mark.parametrize(
    "parameters",
    [
        {"dim": 0}, {"dim": 8.0}, {"epochs": 0}, {"learning_rate": 0}, {"learning_rate": "fast"},
        {"tol": -1}, {"patience": 0}, {"n_samples": 0}, {"n_neighbors": 0}, {"n_negatives": -1},
        {"draw": "lot"}, {"negative_weight": -1},
    ],
)  # fmt: skip
def test_bad_settings_name_themselves(parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        Settings("fobe", **parameters)
