"""Reports: what they say, and that they stand alone."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from bivec import experiments
from bivec.errors import SaveError
from bivec.experiments import Published, Source
from bivec.experiments.render import Table, markdown, page, text_table
from bivec.experiments.report import check_output, report, write_report
from bivec.experiments.tables import number, spread
from bivec.graph import BipartiteGraph

from .conftest import experiment

PUBLISHED = Published(
    "a table",
    (0.5, 0.7),
    {
        "southern-women": {"left": {"fobe": (0.6, 0.7), "line": (0.8, 0.123)}},
        "snap-com-livejournal": {"left": {"fobe": (0.55, 0.654)}},
    },
)


@pytest.fixture(scope="module")
def links():
    small = experiment(
        name="curves",
        train_shares=[0.5, 0.7],
        seeds=[0, 1],
        datasets=["southern-women", "livejournal"],
        notes=["A note & <b>more</b>."],
    )
    return experiments.run_experiment(
        replace(small, published=PUBLISHED, title="Women & more"), data_dir="nowhere"
    )


@pytest.fixture(scope="module")
def ranked():
    small = experiment(
        "recommendation", name="ranked", seeds=[0, 1], scorers=["centroid", "centroid-cosine"]
    )
    rows = {"fobe": (0.1108, 0.3771, 0.2382, 0.4491), "direct": (0.0753, 0.2973, 0.2362, 0.5996)}
    published = Published("tables", measures={"southern-women": rows})
    return experiments.run_experiment(replace(small, published=published))


@pytest.fixture(scope="module")
def study():
    given = {"fobe": {"dim": 4, "epochs": 2}, "hobe": {"dim": 4, "epochs": 2}}
    small = experiment("sensitivity", name="study", rates=[1, 4], seeds=[0, 1], parameters=given)
    return experiments.run_experiment(small)


def test_files_of_a_report(links, tmp_path, no_drawing):
    written = write_report(links, tmp_path / "new" / "place")
    assert sorted(p.name for p in (tmp_path / "new" / "place").iterdir()) == [
        "curves.html", "curves.json", "curves.md", "curves.svg",
    ]  # fmt: skip
    record = json.loads(written["json"].read_text())
    assert record["missing"].keys() == {"snap-com-livejournal"}
    assert len(record["cells"]) == 12
    assert {row["task"] for row in record["rows"]} == {"left", "right", "unified"}
    assert record["environments"][0]["python"]
    assert "](curves.svg)" in written["md"].read_text()


@pytest.mark.parametrize("which", ["links", "ranked", "study"])
def test_html_loads_nothing_and_is_well_formed(which, request, tmp_path):
    text = write_report(request.getfixturevalue(which), tmp_path)["html"].read_text()
    assert not re.search(r"(?:src|href|data|action)\s*=\s*[\"']?\s*(?:https?:)?//", text)
    assert not re.search(r"@import|url\(\s*[\"']?(?!#)|<script|<link|<iframe|<img", text)
    assert re.findall(r"xlink:href=\"([^#])", text) == []
    assert "prefers-color-scheme: dark" in text
    svg = text[text.index("<svg") : text.index("</svg>") + 6]
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"]
    assert text.count("<table>") == text.count("</table>")
    assert text.count("<details>") == text.count("</details>")


def test_reports_are_the_same_bytes_again(study, tmp_path):
    first = write_report(study, tmp_path / "a")
    again = write_report(study, tmp_path / "b")
    for suffix in ("html", "md", "json"):
        assert first[suffix].read_bytes() == again[suffix].read_bytes()


def test_link_report_has_published_and_obtained(links, no_drawing):
    text = markdown(report(links))
    left = text[text.index("southern-women, left-personalized") :]
    lines = {line.split("|")[1].strip(" *"): line for line in left.splitlines() if "|" in line}
    first = {line.split("|")[1].strip(" *"): line for line in left.split("\n\n")[1].splitlines()}
    assert lines
    assert [cell.strip() for cell in first["FOBE, published"].split("|")[2:4]] == [".600", ".700"]
    assert [cell.strip() for cell in first["best published"].split("|")[2:4]] == [".800", ".700"]
    assert re.search(r"\.\d{3} ± \.\d{3}", first["FOBE, bivec"])
    assert "popularity, bivec" in text
    assert "A note & <b>more</b>." in text
    assert "&lt;b&gt;more&lt;/b&gt;" in page("x", report(links))


def test_missing_data_is_said_and_its_published_figures_are_there(links, no_drawing):
    text = markdown(report(links))
    assert "snap-com-livejournal is not on this machine: nothing was measured on it" in text
    assert "its published figures stand alone" in text
    table = text[text.index("livejournal, left-personalized") :]
    assert "| FOBE, published | .550 | .654 |" in table


def test_nothing_at_hand_still_gives_a_report(tmp_path, no_drawing):
    outcome = experiments.run_experiment(
        experiments.find("link-prediction-livejournal"), quick=True, data_dir=tmp_path
    )
    assert outcome.results == []
    text = write_report(outcome, tmp_path)["md"].read_text()
    assert "is not on this machine" in text
    assert "| FOBE, published |" in text
    assert "bivec |" not in text
    for name in ("recommendation-lastfm", "sensitivity"):
        empty = experiments.run_experiment(experiments.find(name), data_dir=tmp_path)
        assert "is not on this machine" in write_report(empty, tmp_path)["md"].read_text()


def test_time_and_environment_are_there(links, no_drawing):
    text = markdown(report(links))
    assert "fit, wall s" in text
    assert "| FOBE | southern-women | unified task |" in text
    for word in ("python", "numpy", "numba", "processor", "cores"):
        assert f"| **{word}** |" in text or f"| {word} |" in text


def test_several_environments_are_all_shown(links, no_drawing):
    results = [
        replace(r, environment={**r.environment, "cores": 512}) if i == 0 else r
        for i, r in enumerate(links.results)
    ]
    text = markdown(report(replace(links, results=results)))
    assert "| 1 cells | 11 cells |" in text
    assert "512" in text


def test_quick_is_said_first(no_drawing):
    small = experiment(methods=["fobe"], seeds=[0, 1], quick={"seeds": [0]})
    outcome = experiments.run_experiment(small, quick=True)
    text = markdown(report(outcome))
    assert text.split("\n\n")[1].startswith("**Quick version, smaller than the experiment: seeds 0")
    assert "Quick version" not in markdown(report(experiments.run_experiment(small)))


def test_single_share_has_a_line_a_graph(movies):
    small = replace(experiment(methods=["fobe"]), datasets=("movies", "southern-women"))
    small = replace(small, published=PUBLISHED)
    outcome = experiments.run_experiment(small, sources={"movies": movies})
    text = markdown(report(outcome))
    assert "left-personalized: accuracy at a training share of 0.5" in text
    assert re.search(r"southern-women\*\* \| FOBE \| \.\d+ \| \.600 \| \.800 \(LINE\) \|", text)


def test_recommendation_marks_rows_that_break_the_bound(ranked, no_drawing):
    text = markdown(report(ranked))
    assert "1 of 2 published rows break this bound (direct combination)" in text
    assert "cannot be compared: neither is better for being higher" in text
    assert "F1 >= 2 / (10/MRR + 1/MAP)" in text
    lines = {line.split("|")[1].strip(" *"): line for line in text.splitlines() if "|" in line}
    assert "| .0956 | breaks the bound |" in text
    assert "| .0756 | within the bound |" in text
    assert {"popularity", "item-knn", "ease", "pure-svd", "FOBE", "HOBE"} <= set(lines)
    assert "FOBE (centroid-cosine)" in lines
    assert not re.search(r"\b(beats?|better than|outperforms?)\b", text)


def test_sensitivity_report(study, no_drawing):
    text = markdown(report(study))
    assert "least, mean and greatest" in text.lower()
    assert "| rate | trials | left min | left mean | left max |" in text
    assert "n_samples=the rate" in text


def test_failures_are_in_the_report(no_drawing):
    path = BipartiteGraph([0, 1, 2], [0, 1, 2])
    outcome = experiments.run_experiment(
        replace(experiment(), datasets=("path",)), sources={"path": Source("path", path)}
    )
    text = markdown(report(outcome))
    assert "none of the 3 edges could be held out" in text
    assert "3 failed" not in text
    assert "(1 failed)" in text


def test_bad_outputs(tmp_path, no_drawing):
    with pytest.raises(Exception, match=r"does not say what to write.*\.md, \.html"):
        check_output(tmp_path / "x.pdf")
    with pytest.raises(SaveError, match="does not exist"):
        check_output(tmp_path / "none" / "x.md")
    (tmp_path / "file").write_text("")
    with pytest.raises(SaveError, match="cannot write reports"):
        write_report(experiments.run_experiment(experiment(methods=["fobe"])), tmp_path / "file")


def test_numbers_and_tables():
    assert [number(v) for v in (0.5, 1.0, 0.9999, -0.25, 0.0)] == [
        ".500", "1.000", "1.000", "-.250", ".000",
    ]  # fmt: skip
    assert spread(0.12345, 0.01, 4) == ".1235 ± .0100"
    table = Table(("a", "b", "c"), (("x|y", "word", ".1"), ("z", "w", ".25")), ours=frozenset({0}))
    assert text_table(table).splitlines()[1:] == ["x|y  word   .1", "z    w     .25"]
    assert "| **x\\|y** | word | .1 |" in markdown([table])
    assert "|---|---|---:|" in markdown([table])
