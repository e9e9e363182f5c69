"""Verbs that ask a saved embedding: recommend, similar, score, predict-links, explain, index."""

from __future__ import annotations

import csv
import dataclasses
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bivec.cli.options import Json, example, messages
from bivec.cli.show import print_json, print_table
from bivec.errors import InputError

if TYPE_CHECKING:
    from bivec.embedding import Embedding
    from bivec.graph import Side
    from bivec.queries import Ranking

Model = Annotated[Path, typer.Argument(help="A saved embedding (.bivec).")]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", help="One id or more; - reads them, one a line.")
]
Number = Annotated[int, typer.Option("-n", "--number", min=0, help="Length of a list.")]
Scorer = Annotated[
    str | None,
    typer.Option(
        help="How scores are made: blend (the default), blend-new, centroid (the paper's), "
        "centroid-cosine, dot, cosine, popularity."
    ),
]
Approximate = Annotated[
    bool, typer.Option("--approximate", help="Use the index that 'bivec index' has built.")
]


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command(
        epilog=example(
            "bivec recommend ratings.bivec ann",
            "bivec recommend ratings.bivec ann bob -n 5 --json",
            "bivec recommend ratings.bivec Alien --side right",
            "bivec recommend ratings.bivec ann --allow in-stock.txt --deny seen.txt",
            "cut -d, -f1 users.csv | bivec recommend ratings.bivec - --json",
        )
    )(recommend)
    app.command(
        epilog=example(
            "bivec similar ratings.bivec ann",
            "bivec similar ratings.bivec Alien --side right -n 5 --json",
        )
    )(similar)
    app.command(
        epilog=example(
            "bivec score ratings.bivec ann Alien",
            "bivec score ratings.bivec --pairs pairs.csv --json",
        )
    )(score)
    app.command(
        "predict-links",
        epilog=example(
            "bivec predict-links ratings.bivec -n 20",
            "bivec predict-links ratings.bivec --json",
        ),
    )(predict_links)
    app.command(
        epilog=example(
            "bivec explain ratings.bivec ann Alien",
            "bivec explain ratings.bivec ann Alien -n 3 --json",
        )
    )(explain)
    app.command(
        epilog=example(
            "bivec index ratings.bivec",
            "bivec index ratings.bivec --expansion 256 --jobs 1 --json",
            "bivec recommend ratings.bivec ann --approximate",
        )
    )(index)


def recommend(
    model: Model,
    ids: Ids,
    n: Number = 10,
    side: Annotated[str, typer.Option(help="The side of the ids: left or right.")] = "left",
    allow: Annotated[
        Path | None, typer.Option(help="Only the ids in this file, one a line.")
    ] = None,
    deny: Annotated[Path | None, typer.Option(help="None of the ids in this file.")] = None,
    keep_known: Annotated[
        bool, typer.Option("--keep-known", help="Keep neighbours in the training graph.")
    ] = False,
    scorer: Scorer = None,
    approximate: Approximate = False,
    json: Json = False,
) -> None:
    """Suggest nodes of the other side, known neighbours left out."""
    embedding = _load(model)
    if embedding.graph is None and not keep_known:
        messages().print(
            "this embedding was saved without its graph: what is known cannot be left out",
            soft_wrap=True,
        )
    rankings = embedding.recommend(
        _ids(ids), n, side=cast("Side", side), exclude_known=not keep_known,
        allow=_file_ids(allow), deny=_file_ids(deny), scorer=scorer, approximate=approximate,
    )  # fmt: skip
    _print_rankings(rankings, json)


def similar(
    model: Model,
    ids: Ids,
    side: Annotated[str, typer.Option(help="The side of the ids: left or right.")] = "left",
    n: Number = 10,
    approximate: Approximate = False,
    json: Json = False,
) -> None:
    """Find the nodes of the same side that are most alike, by cosine."""
    found = _load(model).similar(_ids(ids), cast("Side", side), n, approximate=approximate)
    _print_rankings(found, json)


def score(
    model: Model,
    pair: Annotated[
        list[str] | None, typer.Argument(metavar="[LEFT RIGHT]", help="A left and a right id.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="A comma-separated file without a header: left id, right id."),
    ] = None,
    scorer: Scorer = None,
    json: Json = False,
) -> None:
    """Score pairs of a left and a right node."""
    from bivec.queries.results import number

    given = _pairs(pair, pairs)
    scores = _load(model).score(given, scorer=scorer).tolist()
    if json:
        print_json(
            [
                {"left": a, "right": b, "score": number(s)}
                for (a, b), s in zip(given, scores, strict=True)
            ]
        )
        return
    rows = [(_shown(a), _shown(b), f"{s:.4f}") for (a, b), s in zip(given, scores, strict=True)]
    print_table(rows, ("left", "right", "score"), names=2)


def predict_links(
    model: Model,
    n: Annotated[int, typer.Option("-n", "--number", min=0, help="How many pairs.")] = 100,
    scorer: Scorer = None,
    json: Json = False,
) -> None:
    """Find the pairs without an edge that score best, over the whole graph."""
    links = _load(model).predict_links(n, scorer=scorer)
    if json:
        print_json(links.to_dict())
        return
    rows = [(_shown(a), _shown(b), f"{s:.4f}") for a, b, s in links]
    print_table(rows or [("", "", "")], ("left", "right", "score"), names=2)


def explain(
    model: Model,
    left: Annotated[str, typer.Argument(help="A left id.")],
    right: Annotated[str, typer.Argument(help="A right id.")],
    n: Annotated[int, typer.Option("-n", "--number", min=0, help="How many bridges.")] = 5,
    scorer: Scorer = None,
    json: Json = False,
) -> None:
    """Say why a left and a right node may go together: the strongest bridges between them."""
    explanation = _load(model).explain(left, right, n, scorer=scorer)
    if json:
        print_json(explanation.to_dict())
    else:
        sys.stdout.write(f"{explanation}\n")


def index(
    model: Model,
    expansion: Annotated[
        int, typer.Option(min=1, help="Nodes looked at: higher finds more and takes longer.")
    ] = 128,
    jobs: Annotated[int | None, typer.Option(help="Threads. Default: every core.")] = None,
    json: Json = False,
) -> None:
    """Build an approximate index, save it with the embedding, and say how much it finds."""
    embedding = _load(model)
    reports = embedding.build_index(expansion=expansion, n_jobs=jobs)
    embedding.save(model)
    if json:
        print_json([dataclasses.asdict(report) for report in reports])
        return
    rows = [(r.side, r.kind, f"{r.vectors:,}", f"{r.recall:.4f}", f"{r.sample:,}") for r in reports]
    print_table(rows, ("side", "for", "vectors", "recall at 10", "lists"), names=2)


def _load(path: Path) -> Embedding:
    from bivec.embedding import load

    return load(path)


def _shown(key: Any) -> str:
    from bivec.queries.results import printable

    return printable(key)


def _ids(words: list[str]) -> list[str]:
    """Return the ids of the command line, or those of standard input for a single dash."""
    if words != ["-"]:
        return words
    return _lines(sys.stdin.read())


def _file_ids(path: Path | None) -> list[str] | None:
    return None if path is None else _lines(_read(path))


def _lines(text: str) -> list[str]:
    """Return an id a line, as it stands; only empty lines and ends of lines go."""
    return [line.removesuffix("\r") for line in text.split("\n") if line.strip("\r")]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read it ({reason})", path=path) from None


def _pairs(pair: list[str] | None, file: Path | None) -> list[tuple[str, str]]:
    if (file is None) == (not pair):
        raise InputError("give a left and a right id, or --pairs FILE")
    rows = [(None, pair or [])] if file is None else _rows(file)
    for line, row in rows:
        if len(row) != 2:
            raise InputError(
                f"found {len(row)} where a left and a right id belong", path=file, line=line
            )
    return [(row[0], row[1]) for _, row in rows]


def _rows(file: Path) -> list[tuple[int | None, list[str]]]:
    """Return the lines of a comma-separated file that are not empty, numbered."""
    csv.field_size_limit(1 << 30)
    reader = csv.reader(io.StringIO(_read(file), newline=""), strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InputError(
            f"this is no comma-separated text ({error})", path=file, line=reader.line_num
        ) from None


def _print_rankings(rankings: list[Ranking], json: bool) -> None:
    if json:
        print_json([ranking.to_dict() for ranking in rankings])
        return
    rows = [
        (_shown(ranking.of) if place == 0 else "", _shown(key), f"{value:.4f}")
        for ranking in rankings
        for place, (key, value) in enumerate(ranking if len(ranking) else [("(none)", 0.0)])
    ]
    print_table(rows or [("", "", "")], ("of", "node", "score"), names=2)
