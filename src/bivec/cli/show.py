"""Summaries for people, as tables on the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bivec.memory import format_bytes

if TYPE_CHECKING:
    from bivec.graph import GraphSummary


_ANY = 1 << 16
"""Columns of what is no terminal: a file or a pipe."""


def print_json(value: Any) -> None:
    """Print data for a script: one JSON document."""
    Console(soft_wrap=True, highlight=False, markup=False).print(
        Text(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
    )


def print_table(
    rows: Sequence[tuple[str, ...]], header: tuple[str, ...] | None = None, names: int = 1
) -> None:
    """Print rows as a plain table: names left, numbers right; cells are text, never markup."""
    table = Table(box=None, show_header=header is not None, pad_edge=False, header_style="bold")
    for i, name in enumerate(header or [""] * len(rows[0])):
        table.add_column(name, justify="left" if i < names else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    _console().print(table)


def print_facts(rows: list[tuple[str, str]]) -> None:
    """Print names and values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    _console().print(table)


def _console() -> Console:
    """Return what prints tables: as wide as the terminal, or as the table where there is none."""
    wide = Console(highlight=False)
    return (
        wide
        if wide.is_terminal or "COLUMNS" in os.environ
        else Console(highlight=False, width=_ANY)
    )


def print_summary(summary: GraphSummary, title: str, how: str | None = None) -> None:
    """Print a graph's summary."""
    largest = f"{summary.largest_component_nodes:,} nodes ({summary.largest_component_share:.2%})"
    facts = [("graph", title)]
    if how:
        facts.append(("read as", how))
    facts += [
        ("edges", f"{summary.edges:,}"),
        ("density", f"{summary.density:.3g}"),
        ("weights", _weights(summary)),
        ("components", f"{summary.components:,}, the largest {largest}"),
        ("memory", format_bytes(summary.memory_bytes)),
    ]
    if summary.rows_merged:
        facts.append(("repeated", f"{summary.rows_merged:,} of {summary.rows_read:,} rows merged"))
    if summary.rows_zero_weight:
        facts.append(("no edge", f"{summary.rows_zero_weight:,} pairs with weight 0 left out"))
    print_facts(facts)
    Console().print()
    names = {"0": "min", "0.5": "median", "1": "max"}
    quantiles = list(summary.left.degree_quantiles)
    header = ("side", "nodes", "isolated", "mean degree")
    rows = [
        (
            name, f"{side.nodes:,}", f"{side.isolated:,}", f"{side.mean_degree:.2f}",
            *(f"{side.degree_quantiles[q]:,.4g}" for q in quantiles),
        )
        for name, side in (("left", summary.left), ("right", summary.right))
    ]  # fmt: skip
    print_table(rows, (*header, *(names.get(q, f"{float(q):.0%}") for q in quantiles)))


def _weights(summary: GraphSummary) -> str:
    if not summary.weighted:
        return "none"
    low, high = summary.weight_min, summary.weight_max
    return f"{low:g} to {high:g}, sum {summary.weight_sum:,.6g}"
