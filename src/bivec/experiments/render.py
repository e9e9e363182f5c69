"""Blocks of a report as Markdown, as one HTML page without anything from outside, or as text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A heading; 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Text; ``warning`` sets it apart."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of text; ``ours`` are the rows that were computed here, set off from published ones."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    ours: frozenset[int] = frozenset()
    folded: bool = False

    def words(self) -> list[bool]:
        """Tell which columns hold words, to be set flush left; the others hold figures."""
        columns = [[row[i] for row in self.rows] for i in range(len(self.header))]
        return [
            i == 0 or any(cell[:1].isalpha() for cell in column) for i, column in enumerate(columns)
        ]


@dataclass(frozen=True)
class Figure:
    """A picture as SVG, what it shows in words, and the name of its file beside Markdown."""

    svg: str
    caption: str
    file: str


Block = Heading | Paragraph | Bullets | Table | Figure


def markdown(blocks: Iterable[Block]) -> str:
    """Return a report as Markdown; figures are files beside it."""
    parts = []
    for block in blocks:
        match block:
            case Heading(text, level):
                parts.append(f"{'#' * level} {text}")
            case Paragraph(text, warning):
                parts.append(f"**{text}**" if warning else text)
            case Bullets(items):
                parts.append("\n".join(f"- {item}" for item in items))
            case Figure(_, caption, file):
                parts.append(f"![{_one_line(caption)}]({file})\n\n{caption}")
            case Table():
                parts.append(_markdown_table(block))
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_one_line(cell).replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "".join("---|" if words else "---:|" for words in table.words())
    rows = [
        (f"**{row[0]}**", *row[1:]) if i in table.ours and row[0] else row
        for i, row in enumerate(table.rows)
    ]
    lines = [line(table.header), rule, *map(line, rows)]
    return "\n".join([f"{table.caption}:\n", *lines] if table.caption else lines)


def text_table(table: Table) -> str:
    """Return a table as aligned columns, for a terminal or a pipe alike."""
    rows = [table.header, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    lines = [
        "  ".join(
            cell.ljust(width) if words else cell.rjust(width)
            for cell, width, words in zip(row, widths, table.words(), strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([table.caption, *lines] if table.caption else lines)


def page(title: str, blocks: Iterable[Block]) -> str:
    """Return a report as one HTML page that loads nothing."""
    body = "\n".join(map(_html, blocks))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Paragraph(text, warning):
            return f"<p{' class=warning' if warning else ''}>{html.escape(text)}</p>"
        case Bullets(items):
            return "<ul>" + "".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"
        case Figure(svg, caption, _):
            return f"<figure>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>"
        case Table():
            return _html_table(block)


def _html_table(table: Table) -> str:
    words = ["" if word else " class=n" for word in table.words()]
    head = "".join(
        f"<th scope=col{kind}>{html.escape(cell)}</th>"
        for cell, kind in zip(table.header, words, strict=True)
    )
    rows = "\n".join(
        f"<tr{' class=ours' if i in table.ours else ''}>"
        + "".join(
            f"<th scope=row>{html.escape(cell)}</th>"
            if j == 0
            else f"<td{words[j]}>{html.escape(cell)}</td>"
            for j, cell in enumerate(row)
        )
        + "</tr>"
        for i, row in enumerate(table.rows)
    )
    caption = html.escape(table.caption)
    inner = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    if table.folded:
        return (
            f"<details><summary>{caption or 'Table'}</summary><div class=wide><table>{inner}"
            "</details>"
        )
    shown = f"<caption>{caption}</caption>" if caption else ""
    return f"<div class=wide><table>{shown}{inner}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --dim: #5a5a5a; --line: #d4d4d4; --paper: #fff;
  --ours: #eaf3fa; --warn: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --dim: #a8a8a8; --line: #444;
  --paper: #161616; --ours: #1d2f3d; --warn: #3a3115; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul { max-width: 52rem; }
.warning { background: var(--warn); padding: .6rem .8rem; border-radius: .4rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); padding-bottom: .3rem; }
th, td { padding: .22rem .7rem; border-bottom: 1px solid var(--line); text-align: left;
  white-space: nowrap; font-weight: inherit; }
thead th { font-weight: 600; }
.n { text-align: right; }
.ours { background: var(--ours); font-weight: 600; }
figure { margin: 1rem 0; }
figure svg { background: #fff; border-radius: .4rem; max-width: 100%; height: auto; display: block;
  padding: .4rem; box-sizing: border-box; }
figcaption { color: var(--dim); font-size: .9rem; margin-top: .4rem; max-width: 52rem; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--dim); }
@media print { main { max-width: none; } .wide { overflow: visible; } }
"""
