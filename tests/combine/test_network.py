"""The network against plain numpy, its gradients, and what training it achieves."""

import numpy as np
import pytest
import torch

from bivec import BipartiteGraph, InputError
from bivec.combine.align import Inputs, align
from bivec.combine.batches import Pairs, dropout_mask
from bivec.combine.network import Combiner
from bivec.combine.training import (
    CombinationTrainer,
    Settings,
    choose_device,
    degrees_tell_more,
    edges_per_node,
    reproducible,
)


def settings(**changes):
    usual = {
        "kind": "auto-regularized", "dim": 6, "dropout": 0.5, "n_negatives": 5, "epochs": 3,
        "batch_size": 256, "learning_rate": 0.003, "patience": 3,
        "device": "cpu", "seed": 0,
    }  # fmt: skip
    return Settings(**{**usual, **changes})


def plain(network, left, right, left_of, right_of):
    """Return the joint vectors, estimates and recovered inputs, in numpy and float64."""
    w = {name: value.double().numpy() for name, value in network.state_dict().items()}

    def layer(x, name):
        return x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0)

    a, b = (
        np.tanh(layer(np.maximum(layer(x, f"{side}.0"), 0), f"{side}.2"))
        for x, side in ((left, "left"), (right, "right"))
    )
    both = np.hstack([w["left_link.weight"], w["right_link.weight"]])
    joint = np.hstack([a[left_of], b[right_of]])
    hidden = np.maximum(joint @ both.T + w["left_link.bias"], 0)
    estimate = layer(hidden, "link")[:, 0]
    if not network.recovers:
        return estimate, None, None
    return estimate, layer(a, "left_back"), layer(b, "right_back")


@pytest.mark.parametrize("recover", [False, True])
def test_forward_pass_is_the_formula(recover):
    draw = np.random.default_rng(0)
    network = Combiner(10, 7, 4, recover, seed=0)
    left, right = draw.normal(size=(5, 10)), draw.normal(size=(3, 7))
    left_of, right_of = np.array([0, 4, 2, 2]), np.array([1, 2, 0, 1])
    given = [torch.tensor(x, dtype=torch.float32) for x in (left, right)]
    given += [torch.tensor(x) for x in (left_of, right_of)]
    with torch.no_grad():
        ours = network(*given)
    for mine, theirs in zip(ours, plain(network, left, right, left_of, right_of), strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), theirs, atol=1e-5)
    assert ours[0].shape == (4,)


def test_sizes_are_those_of_the_paper():
    network = Combiner(10, 7, 4, True, seed=0)
    shapes = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    assert shapes["left.0.weight"] == ((10 + 4) // 2, 10)
    assert shapes["left.2.weight"] == (4, 7)
    assert shapes["right.0.weight"] == ((7 + 4) // 2, 7)
    assert shapes["left_back.weight"] == (10, 4)
    assert shapes["right_back.weight"] == (7, 4)


@pytest.mark.parametrize("kind", ["direct", "auto-regularized"])
@pytest.mark.parametrize("masked", [False, True])
def test_losses_are_those_of_the_paper(graph, inputs, kind, masked):
    sides = align(graph, inputs)
    if masked:
        known = np.ones(sides[0].table.shape, bool)
        known[::2, :8] = False
        sides = (Inputs(sides[0].table * known, known), sides[1])
    trainer = CombinationTrainer(graph, *sides, settings(kind=kind))
    batch = trainer.batches.epoch(0)[1]
    terms = trainer._terms(batch, (0, 1)).detach().numpy()

    # plain: one pair after another, with the masks that the batch had
    nodes = [np.unique(rows) for rows in (batch.left, batch.right)]
    shown = [
        side.table[own].astype(np.float64) * dropout_mask((len(own), 13), 0.5, 0, 0, 1, k)
        for k, (side, own) in enumerate(zip(sides, nodes, strict=True))
    ]
    where = [
        np.searchsorted(own, rows)
        for own, rows in zip(nodes, (batch.left, batch.right), strict=True)
    ]
    estimate, *recovered = plain(trainer.network, *shown, *where)
    assert np.isclose(terms[0], np.mean((estimate - batch.target) ** 2), rtol=1e-4)
    for k, rows in enumerate((batch.left, batch.right)):
        if kind == "direct":
            assert terms[1 + k] == 0
            continue
        scale = 13**-0.5  # inputs at a root mean square norm of 1
        gap = (recovered[k][where[k]] - sides[k].table[rows]) * scale
        if sides[k].known is not None:
            gap = gap * sides[k].known[rows]
        assert np.isclose(terms[1 + k], np.sqrt((gap**2).sum(axis=1)).mean(), rtol=1e-4)
    whole = 4 * terms[0] + terms[1] + terms[2] if kind != "direct" else terms[0]
    assert np.isclose(float(trainer._objective(torch.tensor(terms))), whole)


@pytest.mark.parametrize("kind", ["direct", "auto-regularized"])
def test_gradient_reaches_every_parameter(graph, inputs, kind):
    trainer = CombinationTrainer(graph, *align(graph, inputs), settings(kind=kind))
    trainer._objective(trainer._terms(trainer.batches.epoch(0)[0], (0, 0))).backward()
    parameters = dict(trainer.network.named_parameters())
    assert len(parameters) == (13 if kind == "direct" else 17)
    for name, parameter in parameters.items():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert (parameter.grad != 0).float().mean() > 0.4, name


def test_gradient_is_the_slope(graph, inputs):
    trainer = CombinationTrainer(graph, *align(graph, inputs), settings())
    trainer.network.double()
    trainer._tables = [table.double() for table in trainer._tables]
    batch = trainer.batches.epoch(0)[0]

    def loss():
        return trainer._objective(trainer._terms(batch, (0, 0)))

    loss().backward()
    draw = np.random.default_rng(0)
    for name, parameter in trainer.network.named_parameters():
        flat, place = parameter.data.view(-1), int(draw.integers(parameter.numel()))
        at = []
        for step in (1e-5, -2e-5):
            flat[place] += step
            at.append(float(loss().detach()))
        flat[place] += 1e-5
        slope = (at[0] - at[1]) / 2e-5
        assert np.isclose(slope, float(parameter.grad.view(-1)[place]), rtol=1e-3, atol=1e-6), name


def test_an_input_without_any_known_column_gives_no_nan(graph, inputs):
    left, right = align(graph, inputs)
    nothing = Inputs(np.zeros_like(left.table), np.zeros(left.table.shape, bool))
    trainer = CombinationTrainer(graph, nothing, right, settings(epochs=2)).run()
    assert all(np.isfinite(record.loss) and record.left == 0 for record in trainer.history)
    assert np.isfinite(trainer.vectors()[0]).all()


def test_inputs_are_recovered_negative_entries_too(graph, inputs):
    sides = align(graph, inputs)
    trainer = CombinationTrainer(
        graph, *sides, settings(dim=13, dropout=0.0, epochs=80, patience=80, learning_rate=0.02)
    ).run()
    first, last = trainer.history[0], trainer.history[-1]
    assert last.left < 0.15 < 0.5 < first.left
    assert last.right < 0.2
    every = torch.arange(graph.n_left)
    with torch.no_grad():
        *_, out, _ = trainer.network(*trainer._tables, every, every % graph.n_right)
    table = sides[0].table
    assert (table < 0).mean() > 0.3
    assert np.corrcoef(out.numpy().ravel(), table.ravel())[0, 1] > 0.98


def test_direct_kind_does_not_recover_and_predicts_links(graph, inputs):
    trainer = CombinationTrainer(
        graph,
        *align(graph, inputs),
        settings(kind="direct", epochs=40, patience=40, learning_rate=0.01),
    ).run()
    assert trainer.history[-1].link < 0.6 * trainer.history[0].link
    assert {record.left for record in trainer.history} == {0.0}


def popular(n=9_000, seed=0):
    """Return a sparse graph in which all that is to be known of an edge is popularity."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, n + 1) ** -1.0
    right = rng.choice(n, 15_000, p=share / share.sum())
    return BipartiteGraph(rng.choice(n, 15_000), right, duplicates="max")


def test_degrees_take_the_place_of_inputs_where_they_tell_more():
    graph = popular()
    assert edges_per_node(graph) < 1.5
    assert degrees_tell_more(graph, 0)
    rng = np.random.default_rng(0)
    sides = [Inputs(rng.standard_normal((n, 4), np.float32)) for n in (graph.n_left, graph.n_right)]

    def trained(**changes):
        return CombinationTrainer(graph, *sides, settings(kind="direct", epochs=1, **changes))

    trainer = trained()
    assert trainer.by_degree
    assert trainer.settings.dropout == 0
    left, right = trainer.run().vectors()
    for table, side in ((left, graph.left), (right, graph.right)):
        assert np.isfinite(table).all()
        assert len(np.unique(table, axis=0)) <= len(np.unique(side.degrees))
    assert not trained(by_degree=False).by_degree
    # The other kind is to recover its inputs, and keeps them unless told
    kept = CombinationTrainer(graph, *sides, settings(epochs=1))
    assert not kept.by_degree
    assert kept.settings.dropout == 0.5
    assert CombinationTrainer(graph, *sides, settings(epochs=1, by_degree=True)).by_degree


def test_validation_is_the_loss_without_dropout(graph, inputs):
    trainer = CombinationTrainer(graph, *align(graph, inputs), settings(epochs=1))
    record = trainer.train_epoch()
    held: Pairs = trainer.batches.validation
    with torch.no_grad():
        expected = float(trainer._objective(trainer._terms(held, None)))
    assert np.isclose(record.validation, expected)


def test_vectors_are_the_encoders_output_around_its_mean(graph, inputs):
    trainer = CombinationTrainer(graph, *align(graph, inputs), settings(epochs=2)).run()
    for side, table in zip(("left", "right"), trainer.vectors(), strict=True):
        encoder, given = getattr(trainer.network, side), trainer._tables[side == "right"]
        with torch.no_grad():
            plain = encoder(given).numpy()
        np.testing.assert_allclose(table, plain - plain.mean(axis=0), atol=1e-5)


def test_stops_after_patience_and_keeps_the_best_weights(graph, inputs, monkeypatch):
    trainer = CombinationTrainer(graph, *align(graph, inputs), settings(epochs=50, patience=2))
    scripted = iter([5.0, 3.0, 4.0, 3.5, 1.0])
    states = []

    def validate():
        loss = next(scripted)
        states.append(trainer._state())
        if loss < trainer._best:
            trainer._best, trainer._best_epoch, trainer._kept = loss, trainer.epoch, states[-1]
        return loss

    monkeypatch.setattr(trainer, "_validate", validate)
    trainer.run()
    assert trainer.epoch == 4
    trainer.vectors()
    for name, value in trainer.network.state_dict().items():
        assert torch.equal(value, states[1][name])


def test_early_stopping_on_real_losses(graph, inputs):
    trainer = CombinationTrainer(
        graph, *align(graph, inputs),
        settings(kind="direct", epochs=400, patience=3, learning_rate=0.02, dropout=0.0),
    ).run()  # fmt: skip
    losses = [record.validation for record in trainer.history]
    assert trainer.epoch < 400
    assert int(np.argmin(losses)) == trainer.epoch - 1 - 3


def test_torch_is_left_as_it_was():
    threads, mode = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    state = torch.random.get_rng_state()
    with reproducible("cpu"):
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.get_num_threads() == 1
        Combiner(4, 4, 2, True, seed=9)
    assert torch.get_num_threads() == threads
    assert torch.are_deterministic_algorithms_enabled() == mode
    assert torch.equal(torch.random.get_rng_state(), state)


def test_device(monkeypatch):
    assert choose_device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto") == "cpu"
    if not torch.backends.cuda.is_built():
        with pytest.raises(InputError, match=r"device='cuda' cannot be used here .* \"cpu\""):
            choose_device("cuda")
