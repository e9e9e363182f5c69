"""The shape of every request and answer; what is not named here is refused.

Ids are text in every answer, integer ids included: a browser would round large integers.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints

Side = Literal["left", "right"]

MOST_RESULTS = 1_000
MOST_IDS = 1_000
MOST_LISTED = 10_000
MOST_BRIDGES = 100
MOST_PAIRS = 100
MOST_ROWS = 10_000

IdText = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]


def _a_number(value: Any) -> Any:
    """Refuse digits, which are text, and true and false, which Python takes for 1 and 0."""
    if isinstance(value, (bool, str)):
        raise ValueError("this is no number")
    return value


# JSON has no larger integers that every program reads alike: such ids are sent as text.
_IdNumber = Annotated[int, Field(ge=1 - 2**53, le=2**53 - 1), BeforeValidator(_a_number)]
AnyId = _IdNumber | IdText
# In an address everything is text; in a body a number is no text, and 0 is not false.
Count = Annotated[int, Field(ge=1, le=MOST_RESULTS)]
Bridges = Annotated[int, Field(ge=1, le=MOST_BRIDGES)]
BodyCount = Annotated[Count, BeforeValidator(_a_number)]
BodyBridges = Annotated[Bridges, BeforeValidator(_a_number)]


class Strict(BaseModel):
    """A request; names that it does not know are errors."""

    model_config = ConfigDict(extra="forbid")


# Requests for one node


class RecommendQuery(Strict):
    """Recommend for one node."""

    id: IdText = Field(description="The node to recommend for.")
    side: Side = Field("left", description="Its side; what is recommended is on the other.")
    n: Count = Field(10, description="How many, fewer where fewer exist.")
    exclude_known: bool = Field(True, description="Leave the node's neighbours out.")


class SimilarQuery(Strict):
    """Find nodes of the same side that are like one node."""

    id: IdText = Field(description="The node.")
    side: Side = Field("left", description="Its side, and that of the answer.")
    n: Count = Field(10, description="How many, fewer where fewer exist.")


class ExplainQuery(Strict):
    """Explain why a left and a right node belong together."""

    left: IdText
    right: IdText
    n: Bridges = Field(5, description="How many bridges.")


class SearchQuery(Strict):
    """Find nodes by a part of their id."""

    q: IdText = Field(description="A part of the id; capitals do not matter.")
    side: Side | None = Field(None, description="Only on this side.")
    n: Annotated[int, Field(ge=1, le=100)] = 10


class NodeQuery(Strict):
    """Look at one node."""

    id: IdText
    side: Side
    n: Count = Field(50, description="How many neighbours, heaviest first.")


class IdsQuery(Strict):
    """A run of rows of one side."""

    side: Side
    start: Annotated[int, Field(ge=0, le=2**40)] = 0
    count: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 1_000


class SideQuery(Strict):
    """One side."""

    side: Side


class ColumnQuery(Strict):
    """One column of one side."""

    side: Side
    name: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


# Requests for many nodes


class RecommendBatch(Strict):
    """Recommend for many nodes at once."""

    ids: Annotated[list[AnyId], Field(min_length=1, max_length=MOST_IDS)]
    side: Side = "left"
    n: BodyCount = 10
    exclude_known: StrictBool = True
    allow: Annotated[list[AnyId], Field(max_length=MOST_LISTED)] | None = Field(
        None, description="Recommend only these."
    )
    deny: Annotated[list[AnyId], Field(max_length=MOST_LISTED)] | None = Field(
        None, description="Never recommend these."
    )


class SimilarBatch(Strict):
    """Find similar nodes for many nodes at once."""

    ids: Annotated[list[AnyId], Field(min_length=1, max_length=MOST_IDS)]
    side: Side = "left"
    n: BodyCount = 10


class Pair(Strict):
    """A left and a right node."""

    left: AnyId
    right: AnyId


class ExplainBatch(Strict):
    """Explain many pairs at once."""

    pairs: Annotated[list[Pair], Field(min_length=1, max_length=MOST_PAIRS)]
    n: BodyBridges = 5


class RowsRequest(Strict):
    """Find the rows of ids."""

    side: Side
    ids: Annotated[list[AnyId], Field(min_length=1, max_length=MOST_IDS)]


# Answers


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
