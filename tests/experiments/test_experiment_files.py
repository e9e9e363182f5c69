"""Experiment files: the ones that come with bivec, and what is said of bad ones."""

import json
import re
from pathlib import Path

import pytest

from bivec import FOBE, Combination, experiments
from bivec.errors import InputError
from bivec.experiments.methods import NORM, chosen_methods, make_method, parse_settings
from bivec.experiments.published import bound_on_f1, breaks_bound
from bivec.models import PRESETS

SHARES = tuple(k / 10 for k in range(1, 10))
NINE = {
    "fobe", "hobe", "direct", "autoreg", "deepwalk", "line", "node2vec", "metapath2vec", "bine",
}  # fmt: skip


def test_every_table_and_figure_of_the_paper_has_a_file():
    graphs = ("amazon", "dblp", "friendster", "livejournal", "madgrades", "youtube")
    expected = {f"link-prediction-{graph}" for graph in graphs}
    expected |= {"link-prediction-table", "recommendation-dblp", "recommendation-lastfm"}
    expected |= {"sensitivity"}
    assert {name for name in experiments.names() if experiments.find(name).paper} == expected


@pytest.mark.parametrize("name", ["which-method-links", "which-method-recommendation"])
def test_every_method_is_in_the_comparison_of_all(name):
    # Presets are the paper's own methods once more; link prediction has them beside the defaults.
    assert set(experiments.find(name).methods) == set(experiments.registry()) - set(PRESETS)


@pytest.mark.parametrize("name", experiments.names())
def test_files_are_sound(name):
    experiment = experiments.find(name)
    assert experiment.title
    assert "norm" not in str(experiment.parameters), "one norm for all data sets"
    small, changes = experiment.quickened()
    assert changes
    assert len(small.seeds) < len(experiment.seeds)
    if experiment.kind == "link-prediction" and experiment.paper:
        assert experiment.published.source
        for dataset in experiment.datasets:
            for task in ("left", "right", "unified"):
                assert set(experiment.published.accuracy[dataset][task]) == NINE
    if name.startswith("link-prediction-") and not name.endswith("table"):
        assert experiment.train_shares == experiment.published.train_shares == SHARES


def test_the_table_has_the_curves_figures_at_one_half():
    table = experiments.find("link-prediction-table").published
    for name in experiments.names():
        if name.startswith("link-prediction") and name != "link-prediction-table":
            curves = experiments.find(name).published
            for dataset, tasks in curves.accuracy.items():
                for task in tasks:
                    assert table.at(dataset, task, 0.5) == curves.at(dataset, task, 0.5)
    assert table.at("snap-com-amazon", "left", 0.5)["metapath2vec"] == 0.992
    assert table.at("snap-com-amazon", "left", 0.4) == {}


def test_sensitivity_is_the_papers():
    study = experiments.find("sensitivity")
    assert study.rates == tuple(2**k for k in range(11))
    assert len(study.seeds) == 10
    assert study.train_shares == (0.5,)
    assert study.datasets == ("madgrades",)


@pytest.mark.parametrize(("name", "broken"), [("dblp", 3), ("lastfm", 8)])
def test_published_rows_that_break_the_bound(name, broken):
    (table,) = experiments.find(f"recommendation-{name}").published.measures.values()
    assert set(table) == NINE
    assert sum(map(breaks_bound, table.values())) == broken


def test_bound_allows_for_rounding_only():
    exact = bound_on_f1(0.2, 0.4)
    assert not breaks_bound((round(exact, 4), 0.3, 0.2, 0.4))
    assert breaks_bound((exact - 2e-4, 0.3, 0.2, 0.4))
    assert bound_on_f1(0, 0.4) == 0


GOOD = """
kind = "link-prediction"
datasets = ["southern-women"]
train_shares = [0.5]
seeds = [0]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "link\nx', "it is no TOML: .*line 1"),
        ("datasets = ['amazon']", "the key 'kind' is missing. It is one of link-prediction, "),
        (GOOD.replace("link-prediction", "links"), "kind='links' is no choice"),
        (GOOD + "seed = [1]", "no key 'seed'. Did you mean 'seeds'?"),
        (GOOD + "k = 10", "no key 'k'"),
        (GOOD.replace("southern-women", "amazn"), "datasets: .*Did you mean 'amazon'"),
        (GOOD.replace('["southern-women"]', "[]"), "datasets=.* is no list of values"),
        ('kind = "sensitivity"', "the key 'datasets' is missing"),
        (GOOD.replace("[0.5]", "[1.5]"), "train_shares=1.5 is out of range"),
        (GOOD.replace("[0.5]", "0.5"), "train_shares=0.5 is no list"),
        (GOOD.replace("[0]", "[0, 0]"), "seeds has a value twice"),
        (GOOD.replace("[0]", '["a"]'), "seeds='a' is no integer"),
        (GOOD + 'tasks = ["middle"]', "tasks='middle' is no choice.*left, right, unified"),
        (GOOD + 'methods = ["fobo"]', "methods: there is no method 'fobo'. Did you mean 'fobe'"),
        (GOOD + "[parameters.fobe]\ndims = 3", "parameters.fobe: 'dims' is no parameter of FOBE"),
        (GOOD + 'methods = ["fobe"]\n[parameters.hobe]\ndim = 3', "'hobe' is not among the"),
        (GOOD + "[quick]\npaper = 'x'", "no key 'quick.paper'"),
        (GOOD + "[quick]\nseeds = [-1]", "quick.seeds=-1 is out of range"),
        (GOOD + "[published]\nmeasures = {}", "no key 'published.measures'"),
        (
            GOOD + "[published]\ntrain_shares = [0.5]\n[published.accuracy.amazon.left]\n"
            "fobe = [0.9, 0.8]",
            "published.accuracy.amazon.left.fobe is no list of 1 numbers",
        ),
        (
            'kind = "sensitivity"\ndatasets = ["amazon"]\ntrain_shares = [0.1, 0.2]',
            "A sensitivity study has one",
        ),
        (
            'kind = "sensitivity"\ndatasets = ["amazon"]\n[parameters.fobe]\nn_samples = 3',
            "the rates decide it",
        ),
    ],
)
def test_bad_files_say_where_and_what_is_allowed(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        experiments.find(str(file))
    assert str(caught.value).startswith(str(file))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot read it \(No such file"):
        experiments.find(str(tmp_path / "none.toml"))


def test_unknown_name_has_near_matches():
    with pytest.raises(InputError, match="Did you mean 'link-prediction-amazon'"):
        experiments.find("link-prediction-amazn")


def test_quick_changes_are_said():
    small, changes = experiments.find("link-prediction-amazon").quickened()
    assert small.seeds == (0,)
    assert small.parameters["fobe"]["dim"] == 100
    assert "seeds 0 instead of 0, 1, 2" in changes
    assert "fobe: n_samples 50 instead of 200" in changes


def test_methods_by_name():
    assert make_method("fobe").norm == FOBE().norm
    assert make_method("fobe-paper").norm == make_method("verse").norm == NORM
    assert make_method("combination-direct").norm == Combination().norm
    assert make_method("fobe", norm=None).norm is None
    assert chosen_methods("all") == tuple(experiments.registry())
    with pytest.raises(InputError, match=r"no method 'bfobe'\. Did you mean 'fobe'"):
        chosen_methods("hobe,bfobe")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("norm", "is no setting"),
        ("=5", "is no setting"),
        ("verse.norm=5", "which is not measured"),
        ("fobe.nrm=5", "'nrm' is no parameter of FOBE"),
        ("nrm=5", "no method has a parameter 'nrm'"),
    ],
)
def test_bad_settings(text, message):
    with pytest.raises(InputError, match=message):
        parse_settings([text], ["fobe", "hobe"])


def test_no_file_knows_this_machine():
    for file in Path(experiments.__file__).parent.glob("files/*.toml"):
        assert not re.search(r"/(work|tmp|home)\b", file.read_text()), file
    json.dumps(experiments.find("sensitivity").quick)
