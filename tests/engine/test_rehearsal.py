"""What rehearsals choose, on graphs where it is known what is right."""

import numpy as np
import pytest

from bivec import FOBE, BipartiteGraph, choosing, questions, rehearsal
from bivec.choosing import LENGTHS, contenders
from bivec.errors import InputError
from bivec.parallel import Workers
from bivec.rehearsal import Rehearsed, rehearse, with_communities
from bivec.smoothing import Shape, most_steps
from bivec.twins import merge_twins


def communities(n=140, size=24, draws=4, seed=0):
    """Return communities of left and right nodes that keep to themselves, degrees much alike."""
    rng = np.random.default_rng(seed)
    left = np.repeat(np.arange(n * size), draws)
    right = left // size * size + rng.integers(size, size=len(left))
    return BipartiteGraph(left, right)


def popular(n=400, seed=0):
    """Return a graph where popularity says all about the right side."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, 201) ** -1.2
    share /= share.sum()
    right = np.concatenate([rng.choice(200, 30, replace=False, p=share) for _ in range(n)])
    return BipartiteGraph(np.repeat(np.arange(n), 30), right)


def test_communities_are_smoothed_and_keep_their_length():
    left, right = rehearse(communities()).shapes
    assert left.plain
    assert right.plain
    assert left.steps >= 8 <= right.steps


def test_popularity_shows_where_it_says_all():
    assert not rehearse(popular()).shapes[1].plain


def test_a_graph_without_structure_gets_few_steps():
    rng = np.random.default_rng(0)
    graph = BipartiteGraph(rng.integers(5000, size=25000), rng.integers(5000, size=25000))
    done = rehearse(graph)
    assert done.shapes == (Shape(8), Shape(8))
    assert 0.45 < done.correct < 0.55


@pytest.mark.parametrize("graph", [communities(), popular()])
def test_same_choice_for_any_number_of_threads(graph):
    assert rehearse(graph, 3, 32, 1) == rehearse(graph, 3, 32, 2) == rehearse(graph, 3, 32, 4)


def test_the_larger_side_does_not_matter():
    """What is left out does not depend on the side from which edges are listed."""
    graph = communities()
    left, right = graph.left_rows(), graph.left.indices
    out = rehearsal._left_out(graph, left, right, 5)
    assert 0.05 < out.mean() < 0.15
    assert (graph.left.degrees[left[out]] > 1).all()
    assert (graph.right.degrees[right[out]] > 1).all()
    ends = np.repeat(np.arange(graph.n_right), graph.right.degrees)
    other = rehearsal._left_out(graph, graph.right.indices, ends, 5)
    one = set(zip(left[out].tolist(), right[out].tolist(), strict=True))
    assert one == set(zip(graph.right.indices[other].tolist(), ends[other].tolist(), strict=True))
    assert not np.array_equal(out, rehearsal._left_out(graph, left, right, 6))


def test_machines_see_no_edge_that_is_left_out():
    graph = popular(100)
    left = graph.left_rows().astype(np.int64)
    out = rehearsal._left_out(graph, left, graph.left.indices, 0)
    own = rehearsal._without(graph.left, out)
    kept = np.repeat(np.arange(graph.n_left), own.degrees), own.indices
    assert len(own.indices) == (~out).sum()
    pairs = set(zip(*(part.tolist() for part in kept), strict=True))
    assert not pairs & set(zip(left[out].tolist(), graph.left.indices[out].tolist(), strict=True))
    rows = np.arange(30)
    indptr, some = questions.some_neighbors(own, rows, np.random.default_rng(0))
    for row in rows:
        seen = some[indptr[row] : indptr[row + 1]]
        assert len(set(seen.tolist())) == len(seen) == min(own.degrees[row], questions.EXAMPLES)
        assert set(seen.tolist()) <= set(
            own.indices[own.indptr[row] : own.indptr[row + 1]].tolist()
        )


@pytest.mark.parametrize("edges", [([], []), ([0], [0]), ([0, 1, 1], [0, 0, 1])])
def test_small_graphs_are_not_rehearsed(edges):
    graph = BipartiteGraph(*edges, left_ids=range(3), right_ids=range(2))
    done = rehearse(graph)
    assert done.shapes == (Shape(8), Shape(8))
    assert np.isnan(done.correct)


def test_a_forest_knows_popularity_only():
    graph = BipartiteGraph(np.arange(12000), np.arange(12000) // 5)
    done = rehearse(graph)
    lefts, rights = merge_twins(graph.left, graph.right)
    most = most_steps(lefts, rights), most_steps(rights, lefts)
    assert done.shapes == tuple(Shape(steps, norm=7.0, hubs=True) for steps in most)
    assert done.correct == 0.5


def test_what_few_edges_can_say_is_asked():
    """A forest of stars, some pairs of which share members: three tenths of those are left out."""
    rng = np.random.default_rng(0)
    star = np.arange(12_000) // 20
    extra = rng.choice(400, 150, replace=False)  # all in the first 20 of 600 stars
    left, right = np.append(np.arange(12_000), extra), np.append(star, star[extra] ^ 1)
    graph = BipartiteGraph(left, right)
    assert rehearsal._left_out(graph, graph.left_rows(), graph.left.indices, 0).sum() < 100
    done = rehearse(graph)
    assert done.correct > 0.7  # one half, were nothing asked
    assert done.few  # so that nothing but shapes is built on it
    assert not done.told
    assert not done.communities


def test_popularity_is_measured_beside_the_answers():
    by_popularity, by_communities = rehearse(popular()), rehearse(communities())
    assert by_popularity.popular > 0.75
    assert by_communities.popular < 0.6
    assert not by_communities.popularity_tells_more
    assert Rehearsed((Shape(8), Shape(8)), 0.55, 0.7).popularity_tells_more
    assert not Rehearsed((Shape(8), Shape(8)), 0.65, 0.7).popularity_tells_more
    assert not Rehearsed((Shape(8), Shape(8)), float("nan")).popularity_tells_more
    assert np.isnan(rehearse(BipartiteGraph(np.arange(12000), np.arange(12000) // 5)).popular)


def test_contenders_are_no_further_behind_than_chance():
    first, second = np.zeros(8), np.ones(8)
    assert contenders({"simple": first, "best": second}, 2.0) == ["best"]
    first[:7] = 1
    assert contenders({"simple": first, "best": second}, 2.0) == ["simple", "best"]
    assert contenders({"simple": first, "best": second}, 0.5) == ["best"]
    assert contenders({"simple": second, "best": second}, 0.0) == ["simple", "best"]


def test_progress_counts_the_steps_of_both_sides():
    told = []
    graph = communities()
    FOBE(dim=8, epochs=2, n_samples=4, progress=told.append).fit(graph)
    steps = [(step.epoch, step.epochs) for step in told if step.stage == "rehearsal"]
    most = most_steps(*merge_twins(graph.left, graph.right))  # a little more with edges left out
    done = [k for k, _ in steps]
    assert done[:5] == [8, 16, 32, 64, 128]
    half = len(done) // 2
    assert done[half:] == [done[half - 1] + k for k in done[:half]]
    assert done[-1] == steps[0][1] == 2 * done[half - 1] >= 2 * most
    assert [step.stage for step in told[: len(steps)]] == ["rehearsal"] * len(steps)
    assert all(np.isnan(step.record.loss) for step in told[: len(steps)])


def test_fits_do_as_rehearsed():
    graph = popular()
    model = FOBE(dim=8, epochs=2, n_samples=4, random_state=1).fit(graph)
    shapes = rehearse(graph, 1, 8).shapes
    for done, shape in zip(model.smoothing_steps_, shapes, strict=True):
        assert 0 < done <= shape.steps
    assert model.shortening_ == tuple(shape.power for shape in shapes)
    assert model.embedding_.params["shortening"] == list(model.shortening_)
    assert set(model.shortening_) <= {power for power, _, _ in LENGTHS}
    assert model.norms_ == tuple(shape.norm for shape in shapes)
    for table, norm in zip(
        (model.left_embedding_, model.right_embedding_), model.norms_, strict=True
    ):
        assert np.sqrt((table**2).sum(axis=1).mean()) == pytest.approx(norm, rel=1e-4)


def test_the_usual_norm_goes_without_a_rehearsal():
    graph = communities(4, 8)
    assert FOBE(dim=8, epochs=2, n_samples=4, smoothing=2).fit(graph).norms_ == (5, 5)
    given = FOBE(dim=8, epochs=2, n_samples=4, smoothing=2, norm=3).fit(graph)
    assert np.sqrt((given.left_embedding_**2).sum(axis=1).mean()) == pytest.approx(3, rel=1e-4)
    with pytest.raises(InputError, match="norm='large'"):
        FOBE(norm="large").fit(graph)


def test_what_is_usual_is_settled_on_unless_beyond_doubt():
    usual, other = Shape(8), Shape(16)
    right, wrong = np.ones(20), np.ones(20)
    wrong[:3] = 0
    assert choosing.settled({usual: wrong, other: right}, usual) == usual
    wrong[:9] = 0
    assert choosing.settled({usual: wrong, other: right}, usual) == other


@pytest.mark.parametrize(
    ("shapes", "correct", "popular", "few", "expected"),
    [
        ((Shape(64), Shape(64)), 0.8, 0.7, False, True),
        ((Shape(64), Shape(16)), 0.8, 0.7, False, False),
        ((Shape(64), Shape(64, 0.3)), 0.7, 0.9, False, True),
        ((Shape(64, 0.3), Shape(64, 0.3)), 0.7, 0.9, False, False),
        ((Shape(64, hubs=True), Shape(64, 0.3)), 0.7, 0.9, False, False),
        ((Shape(64, 0.3), Shape(64, 0.3)), 0.7, 0.75, False, True),
        ((Shape(64), Shape(64)), 0.55, 0.5, False, False),
        ((Shape(64), Shape(64)), 0.8, 0.7, True, False),
    ],
)
def test_communities_are_many_steps_that_answers_bear_out(shapes, correct, popular, few, expected):
    found = with_communities(Rehearsed(shapes, correct, popular, few), (1024, 1024))
    assert found.communities == expected
    assert found.shapes == tuple(shape._replace(evened=expected) for shape in shapes)


def test_a_side_that_takes_as_many_steps_as_there_may_be_is_not_evened():
    found = with_communities(Rehearsed((Shape(200, 0.3, 7.0), Shape(64)), 0.8), (200, 128))
    assert found.shapes == (Shape(200, 0.3, 7.0), Shape(64, evened=True))


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ({8: 96, 64: 97, 128: 97}, Shape(64)),  # nearly all, and more steps do no harm
        ({8: 97, 64: 97, 128: 97}, Shape(64)),
        ({8: 96, 64: 97, 128: 60}, None),
        ({8: 60, 64: 70, 128: 70}, None),
        ({8: 96, 128: 97}, Shape(128)),
        ({8: 97, 128: 97}, None),  # 64 steps were out of the question before
    ],
)
def test_where_no_step_does_harm_there_are_many(right, expected):
    answers = {Shape(steps): np.arange(100.0) < n for steps, n in right.items()}
    assert choosing._safe({k: v.astype(float) for k, v in answers.items()}, 128) == expected


def test_graphs_that_are_not_rehearsed_tell_nothing_else():
    assert Rehearsed((Shape(8), Shape(8)), float("nan")).told


def test_links_are_asked_of_those_who_lost_them_and_strangers_of_anyone():
    graph = popular(300)
    left, right = graph.left_rows().astype(np.int64), graph.left.indices.astype(np.int64)
    out = rehearsal._left_out(graph, left, right, 0)
    ends = np.repeat(np.arange(graph.n_right), graph.right.degrees)
    own = rehearsal._without(graph.right, rehearsal._left_out(graph, graph.right.indices, ends, 0))
    far = rehearsal._without(graph.left, out)
    draw = np.random.default_rng(0)
    made = questions.Questions(own, far, graph.right, right[out], left[out], draw)
    links, strangers = made._asked.reshape(2, -1)
    assert len(made) == links.size == strangers.size
    assert graph.right.degrees[links].mean() > 1.5 * graph.right.degrees[strangers].mean()
    known = np.ones((graph.n_right, 4), np.float32)  # all alike: machines can only say no
    with Workers(1) as workers:
        assert made.ask(known, slice(None), workers).tolist() == [0.5] * len(made)
