"""Community files as SNAP writes them: a line is a group, its cells are the members.

The members are the left side, the groups the right side; a group's id is its line number, counted
from 1. Blank lines are passed over but counted.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from bivec.arrow import from_numpy, to_numpy
from bivec.errors import InputError
from bivec.graph import BipartiteGraph
from bivec.io.columns import graph_from_columns
from bivec.io.diagnose import diagnose_lines
from bivec.io.sniff import is_comment
from bivec.io.source import Progress, Source

_LINE_END_ONLY = "\x1e"  # a delimiter that stands in no line, so that a line is one cell


def read_communities(
    source: Source, weighted: bool, duplicates: str, progress: Progress | None
) -> tuple[BipartiteGraph, str]:
    """Read a hypergraph, one hyperedge a line; there are no weights to look at."""
    skipped = 0
    for line in source.head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip() and not is_comment(line):
            break
        skipped += 1
    else:
        raise _no_communities(source)
    lines = _lines(source, skipped, progress)
    members = pc.ascii_split_whitespace(pc.ascii_trim(lines, " \t\r"))
    sizes = to_numpy(pc.list_value_length(members))
    groups = np.repeat(np.arange(len(sizes)) + 1 + skipped, sizes)
    nodes = pc.list_flatten(members)
    present = pc.binary_length(nodes).cast(pa.bool_())  # splitting a blank line leaves ""
    nodes, groups = nodes.filter(present), groups[to_numpy(present.cast(pa.int8())) == 1]
    if len(groups) == 0:
        raise _no_communities(source)

    def fail(problem: str, row: int) -> NoReturn:
        raise InputError(f"the {problem} id is missing", "Mend the file.", path=source.path)

    graph = graph_from_columns(
        nodes,
        pa.chunked_array([from_numpy(groups)]),
        None,
        duplicates=duplicates,
        fail=fail,
        infer_integers=True,
    )
    return graph, "communities, one a line; left is the member, right the line number, unweighted"


def _no_communities(source: Source) -> InputError:
    return InputError(
        "the file holds no communities",
        "Each line lists the members of one group, separated by tabs or blanks.",
        path=source.path,
    )


def _lines(source: Source, skipped: int, progress: Progress | None) -> pa.ChunkedArray:
    with source.open(progress) as stream:
        try:
            table = pa_csv.read_csv(
                stream,
                read_options=pa_csv.ReadOptions(
                    column_names=["line"], skip_rows=skipped, block_size=1 << 24
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=_LINE_END_ONLY, quote_char=False, ignore_empty_lines=False
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types={"line": pa.large_string()}, strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            diagnose_lines(source)
            raise InputError(
                f"the lines cannot be read ({error})",
                "A community line may be at most 16 MB long.",
                path=source.path,
            ) from error
    return table["line"]
