"""The shape of every answer.

Ids are text in every answer, integer ids included: a browser would round large integers.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bivec.graph import Side


class Hit(BaseModel):
    """An id and its score, the higher the better; none where it has no finite score."""

    id: str
    score: float | None


class Ranking(BaseModel):
    """What was found for one node, best first."""

    id: str
    side: Side
    found_on: Side = Field(description="The side of the ids below.")
    scorer: str = Field(description="How the scores were made.")
    items: list[Hit]


class Rankings(BaseModel):
    """What was found for many nodes, in the order of the request."""

    results: list[Ranking]
    unknown: list[str] = Field(description="Ids that the embedding does not hold.")


class Bridge(BaseModel):
    """A path left - shared - other - right, and what it is worth."""

    shared: str = Field(description="The right node that left and other have in common.")
    other: str = Field(description="The left node that has both shared and right.")
    left_shared: float | None
    other_shared: float | None
    other_right: float | None
    strength: float | None = Field(description="Of the algebraic similarities of its edges.")
    estimate: float | None = Field(description="By the vectors.")
    share: float | None = Field(description="Its estimate over the sum of all bridges.")
    contribution: float | None = Field(
        description="Its part of the score; none where the score is no sum over neighbours."
    )


class Explanation(BaseModel):
    """Why a left and a right node may go together."""

    left: str
    right: str
    known: bool = Field(description="Whether they are neighbours.")
    score: float | None
    scorer: str
    observation: float | None = Field(description="The strength of the strongest bridge.")
    estimate: float | None = Field(description="The mean estimate by the vectors.")
    bridged: float | None = Field(description="The share of it that bridges carry.")
    n_bridges: int
    bridges: list[Bridge] = Field(description="The strongest first.")
    text: str = Field(description="The same in words.")


class Explanations(BaseModel):
    """Explanations of many pairs, in the order of the request."""

    results: list[Explanation]
    unknown: list[str] = Field(description="Ids that the embedding does not hold.")


class Health(BaseModel):
    """Whether the server works, and on what."""

    status: Literal["ok"]
    version: str
    title: str
    method: str
    dim: int
    left: int
    right: int
    edges: int | None


class Problem(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    problem: str


class Failure(BaseModel):
    """Why there is no answer, in a sentence; for a malformed request also item by item."""

    detail: str
    errors: list[Problem] = []


class SearchHit(BaseModel):
    """A node that a search found."""

    id: str
    name: str = Field(description="What people read in place of the id; empty where nothing.")
    side: Side
    degree: int | None


class SearchResult(BaseModel):
    """What a search found, best first."""

    items: list[SearchHit]


class Neighbour(BaseModel):
    """A neighbour in the graph."""

    id: str
    weight: float


class Value(BaseModel):
    """What a node has in a column."""

    name: str
    value: str


class Node(BaseModel):
    """A node, where it is on the map, and its neighbours on the other side."""

    id: str
    name: str = Field(description="What people read in place of the id; empty where nothing.")
    side: Side
    row: int
    x: float
    y: float
    degree: int | None = Field(description="None without a graph.")
    neighbours: list[Neighbour]
    values: list[Value]


class Ids(BaseModel):
    """Ids of a run of rows."""

    start: int
    ids: list[str]
    names: list[str] = Field(description="What people read in place of the ids.")


class Rows(BaseModel):
    """Rows of ids, -1 where there is none."""

    rows: list[int]
    names: list[str] = Field(description="What people read in place of the ids.")


class ColumnSummary(BaseModel):
    """What a legend needs of a column."""

    name: str
    kind: Literal["number", "category"]
    note: str
    categories: list[str]
    counts: list[int]
    low: float | None
    high: float | None
    missing: int


class SideSummary(BaseModel):
    """One side."""

    name: str
    nodes: int
    named: bool = Field(description="Whether nodes have names beside their ids.")
    layout: str
    note: str
    columns: list[ColumnSummary]


class Sides(BaseModel):
    """Both sides."""

    left: SideSummary
    right: SideSummary


class Summary(BaseModel):
    """What the page shows first."""

    title: str
    method: str
    dim: int
    edges: int | None
    weighted: bool
    sides: Sides
