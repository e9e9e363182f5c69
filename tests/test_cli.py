"""The command line, as a person or a script meets it."""

import json
import subprocess
import sys

import pytest

import bivec
from bivec.cli import app, main
from bivec.datasets import southern_women
from bivec.io.read import FORMATS

RATINGS = "user,movie,stars\nann,Alien,5\nbob,Alien,3\nbob,Brazil,4\n"


@pytest.fixture
def ratings(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text(RATINGS)
    return file


@pytest.fixture
def model(tmp_path):
    graph = southern_women()
    path = tmp_path / "women.bivec"
    bivec.Embedding(
        bivec.EmbeddingSide(graph.left.ids, [[1, 2]] * 18),
        bivec.EmbeddingSide(graph.right.ids, [[3, 4]] * 14),
        graph=graph,
        method="example",
    ).save(path)
    return path


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_info_is_a_table(capsys, ratings):
    code, out, err = run(capsys, "info", ratings)
    assert code == 0
    assert err == ""
    assert "comma-separated text, 3 columns, header (user, movie, stars)" in " ".join(out.split())
    assert "1, the largest 4 nodes (100.00%)" in out
    assert "3 to 5, sum 12" in out


def test_info_as_json_is_only_json(capsys, ratings):
    code, out, err = run(capsys, "info", ratings, "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (report["left"]["nodes"], report["right"]["nodes"], report["edges"]) == (2, 2, 3)
    assert report["left"]["degree_quantiles"]["1"] == 2
    assert report["density"] == 0.75


def test_info_options_reach_the_reader(capsys, tmp_path):
    file = tmp_path / "odd.txt"
    file.write_text("when|who|what|n\n1|ann|x|2\n2|bob|x|3\n2|bob|x|4\n")
    words = ["info", file, "--left", "who", "--right", "3", "--weight", "n", "--json"]
    _, out, _ = run(capsys, *words, "--duplicates", "max", "--delimiter", "bar", "--header")
    report = json.loads(out)
    assert (report["edges"], report["rows_merged"], report["weight_max"]) == (2, 1, 4)
    _, out, _ = run(capsys, *words[:-3], "--unweighted", "--json")
    assert json.loads(out)["weight_max"] == 2  # how often the edge stands there


def test_info_prunes(capsys, tmp_path):
    file = tmp_path / "path.tsv"
    file.write_text("a\tx\nb\tx\nb\ty\na\ty\nc\ty\n")
    _, out, _ = run(capsys, "info", file, "--json", "--min-degree", 2)
    assert json.loads(out)["left"]["nodes"] == 2


def test_info_of_an_embedding(capsys, model):
    code, out, _ = run(capsys, "info", model)
    assert code == 0
    assert "example" in out
    assert "89" in out
    _, out, _ = run(capsys, "info", model, "--json")
    assert json.loads(out)["graph"]["edges"] == 89


def test_convert_and_back(capsys, ratings, tmp_path):
    target = tmp_path / "ratings.parquet"
    code, out, err = run(capsys, "convert", ratings, target)
    assert (code, out) == (0, "")
    assert "wrote 3 edges" in err
    assert bivec.read_edges(target) == bivec.read_edges(ratings)


def test_convert_takes_the_graph_of_an_embedding(capsys, model, tmp_path):
    code, _, _ = run(capsys, "convert", model, tmp_path / "women.csv")
    assert code == 0
    assert bivec.read_edges(tmp_path / "women.csv") == southern_women()
    emb = bivec.load(model)
    emb.save(tmp_path / "bare.bivec", graph=False)
    code, _, err = run(capsys, "convert", tmp_path / "bare.bivec", tmp_path / "x.csv")
    assert code == 2
    assert "saved without its graph" in err


def test_no_words_show_the_help(capsys):
    code, out, err = run(capsys)
    assert code == 2
    assert "Commands" in out
    assert err == ""


def test_output_that_cannot_be_written(ratings):
    done = subprocess.run(
        f"{sys.executable} -m bivec info '{ratings}' > /dev/full",
        shell=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "bug" not in done.stderr


def test_names_that_the_terminal_cannot_show(tmp_path):
    file = tmp_path / "names.csv"
    file.write_text("zoë,film\nann,x\nbob,x\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-m", "bivec", "info", str(file), "--header"],
        capture_output=True, env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert rb"zo\xeb" in done.stdout


def test_convert_refuses_its_own_source(capsys, ratings):
    code, _, err = run(capsys, "convert", ratings, ratings)
    assert code == 2
    assert "source and target are the same file" in err
    assert ratings.read_text() == RATINGS


def test_export(capsys, model, tmp_path):
    code, out, err = run(capsys, "export", model, tmp_path / "v.txt")
    assert (code, out) == (0, "")
    assert "v.left.txt" in err.replace("\n", "")
    assert (tmp_path / "v.right.txt").read_text().startswith("14 2\n")


def test_doctor(capsys):
    code, out, _ = run(capsys, "doctor", "--json", "--warmup")
    report = json.loads(out)
    assert code == 0
    assert report["bivec"] == bivec.__version__
    assert report["packages"]["core"]["numba"]
    assert set(report["packages"]) >= {"core", "combine", "evaluate", "export", "serve", "index"}
    assert report["memory"]["total"] >= report["memory"]["available"] > 0
    assert report["processors"] >= 1
    assert report["numba"]["cached_files"] >= 1
    assert set(report["warmup_seconds"]) >= {"peel"}
    code, out, _ = run(capsys, "doctor")
    assert code == 0
    assert "numba cache" in out


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"bivec {bivec.__version__}\n", "")


def verbs():
    return sorted(command.name or command.callback.__name__ for command in app.registered_commands)


@pytest.mark.parametrize("verb", verbs())
def test_help_has_examples(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    assert "Examples" in out
    assert out.count(f"bivec {verb}") >= 3  # the usage line and two examples


def test_help_lists_every_format(capsys):
    _, out, _ = run(capsys, "info", "--help")
    for name in FORMATS:
        assert name in out


@pytest.mark.parametrize(
    "words, message",
    [
        (["info", "nothing.csv"], "nothing.csv: there is no such file. Check the path."),
        (["info"], "Missing argument"),
        (["nonsense"], "No such command 'nonsense'. Try 'bivec --help'."),
        (["info", "FILE", "--wrong"], "No such option"),
        (["info", "FILE", "--left", "usr"], "no column named 'usr' for the left side"),
        (["info", "FILE", "--left", "0"], "On the command line columns count from 1"),
        (["info", "FILE", "--left", "9"], "there is no column at position 8"),
        (["info", "FILE", "--weight", "stars", "--unweighted"], "exclude each other"),
        (["info", "FILE", "--format", "xls"], "'xls' is no format. Choose one of text"),
        (["info", "FILE", "--duplicates", "mean"], "Choose one of sum, max, last, error"),
        (["info", "FILE", "--min-degree", "0"], "min-degree"),
        (["convert", "FILE", "x.doc"], "Use one of the suffixes"),
        (["export", "FILE", "x.npz"], "is no saved embedding"),
        (["export", "nothing.bivec", "x.npz"], "there is no nothing.bivec"),
        (["doctor", "extra"], "unexpected extra argument"),
        (["info", "MODEL", "--min-degree", "3"], "do not go with a saved embedding"),
    ],
)
def test_an_error_is_one_line_and_exit_code_2(capsys, ratings, model, words, message):
    paths = {"FILE": ratings, "MODEL": model}
    code, out, err = run(capsys, *[paths.get(word, word) for word in words])
    assert (code, out) == (2, "")
    assert err.startswith("bivec: ")
    assert err.count("\n") == 1
    assert message in err


def test_debug_shows_the_traceback(capsys):
    for words in (["--debug", "info", "nothing.csv"], ["info", "nothing.csv", "--debug"]):
        with pytest.raises(bivec.InputError):
            main(words)


def test_a_bug_is_told_as_such(capsys, ratings, monkeypatch):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("bivec.io.read.read_with_description", broken)
    code, _, err = run(capsys, "info", ratings)
    assert code == 2
    assert "unexpected ZeroDivisionError: division by zero. This is a bug" in err


def test_ctrl_c_is_quiet(capsys, ratings, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("bivec.io.read.read_with_description", interrupted)
    code, out, err = run(capsys, "info", ratings)
    assert (code, out, err) == (130, "", "bivec: interrupted\n")


def test_markup_in_names_is_not_markup(capsys, tmp_path):
    file = tmp_path / "[red]odd[bold].csv"
    file.write_text("[bold]u,[blink]i\na,b\nc,b\n")
    code, out, _ = run(capsys, "info", file, "--header")
    assert code == 0
    assert "[bold]u" in out
    assert "[red]odd" in "".join(out.split())


def test_as_a_process(ratings):
    good = subprocess.run(
        [sys.executable, "-m", "bivec", "info", str(ratings), "--json"],
        capture_output=True,
        text=True,
    )
    assert good.returncode == 0
    assert json.loads(good.stdout)["edges"] == 3
    bad = subprocess.run(
        [sys.executable, "-m", "bivec", "info", "nothing.csv"], capture_output=True, text=True
    )
    assert (bad.returncode, bad.stdout) == (2, "")


def test_a_closed_pipe_is_no_traceback(ratings):
    done = subprocess.run(
        f"{sys.executable} -m bivec info '{ratings}' | true",
        shell=True, capture_output=True, text=True,
    )  # fmt: skip
    assert "Traceback" not in done.stderr


def test_progress_bar_on_a_terminal(ratings, monkeypatch):
    from bivec.cli.options import reading_progress

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with reading_progress(ratings) as progress:
        graph = bivec.read_edges(ratings, progress=progress)
    assert graph.n_edges == 3


def test_the_source_is_missed_before_the_target_is_looked_at(capsys, tmp_path, ratings):
    code, _, err = run(capsys, "convert", tmp_path / "nope.csv", ratings)
    assert code == 2
    assert "nope.csv: there is no such file" in err


def test_an_empty_list_of_an_option_is_named(capsys, ratings):
    for option in ("--methods", "--train-share", "--tasks"):
        code, _, err = run(capsys, "evaluate", "link-prediction", ratings, option, "")
        assert code == 2
        assert f"{option}: nothing is given" in err
