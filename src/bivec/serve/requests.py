"""The shape of every request, with its limits; what is not named here is refused."""

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
