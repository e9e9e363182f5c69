"""Choosing among shapes of smoothed vectors, by the answers of machines that were trained on them.

A shape is how far vectors were smoothed, and how long they are then by degree
(:mod:`bivec.lengths`). All are asked the same questions (:mod:`bivec.questions`), a quarter of them
first, and the rest where that has not settled it. To be on the safe side of chance, it is the usual
shape unless something else is better by two standard errors, and then the first that is worse than
the best by no more than half of one. At last other norms are tried in the same way.

Where nearly all answers are right, and as many with the most steps there may be, it is a graph of
components: no step can do harm, and 64 are the least.

References
----------
Breiman, Friedman, Olshen, Stone, "Classification and regression trees", 1984: the simplest within a
standard error of the best, of which this is a variant.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bivec.graph import GraphSide
from bivec.lengths import write_degrees
from bivec.parallel import Workers
from bivec.questions import Answers, Questions, Table
from bivec.smoothing import Shape
from bivec.twins import Kinds

LENGTHS = (
    (0.0, 5.0, False), (0.3, 5.0, False), (0.5, 5.0, False), (0.3, 7.0, False), (0.5, 7.0, False),
    (0.5, 10.0, False), (0.0, 7.0, True),
)  # fmt: skip
"""Powers of the degree that vectors are divided by, norms, and whether hubs are at one place: what
is tried at all numbers of steps, the simplest first."""
NORMS = (5.0, 4.0, 7.0, 10.0)
"""Root mean square norms of a side, the usual one first."""
DOUBT, CHANCE = 2.0, 0.5
"""Standard errors that the plain shape may be behind and still be taken; that any other may be."""
SURE, _SAFE_STEPS = 0.9, 64
"""Share of right answers from which on, if no step does harm, so many are taken at least."""


def choose(
    shapes: list[Shape],
    tables: dict[Shape, Table],
    own: GraphSide,
    kinds: Kinds,
    questions: Questions,
    workers: Workers,
    usual: Shape,
    most: int | None = None,
    doubt: float = DOUBT,
) -> tuple[Shape, float]:
    """Return the shape for vectors of one side, given those of some steps and questions about them.

    Beside it is the share of its answers that were right. The usual shape is settled on unless
    others are better beyond doubt. ``most`` is the number of steps that may be safe.
    """

    def ask(shapes: Iterable[Shape], part: slice) -> dict[Shape, Answers]:
        return {
            shape: questions.ask(
                _shaped(kinds.spread(tables[before_lengths(shape)]), own, shape), part, workers
            )
            for shape in shapes
        }

    quarter = len(questions) // 4
    some = ask(shapes, slice(quarter))
    rest = ask(contenders(some, DOUBT), slice(quarter, None))
    near = {shape: np.concatenate([some[shape], rest[shape]]) for shape in rest}
    best = (_safe(near, most) if most is not None else None) or settled(near, usual, doubt)
    norms = [best._replace(norm=norm) for norm in NORMS if norm != best.norm]
    answers = {best: near[best], **ask(norms, slice(None))}
    best = settled(answers, best)
    return best, float(answers[best].mean())


def at_lengths(shapes: Iterable[Shape]) -> list[Shape]:
    """Return these shapes at all lengths that are tried."""
    return [
        shape._replace(power=power, norm=norm, hubs=hubs)
        for shape in shapes
        for power, norm, hubs in LENGTHS
    ]


def before_lengths(shape: Shape) -> Shape:
    """Return what was done to vectors before they got a length."""
    return Shape(shape.steps, evened=shape.evened, place=shape.place)


def settled(answers: dict[Shape, Answers], usual: Shape, doubt: float = DOUBT) -> Shape:
    """Return the usual one unless it is beyond doubt that others are better; then the first."""
    near = contenders(answers, doubt)
    return usual if usual in near else contenders(answers, CHANCE)[0]


def contenders(answers: dict[Shape, Answers], doubt: float) -> list[Shape]:
    """Return those that are behind the best by no more than ``doubt`` standard errors."""
    best = max(answers.values(), key=lambda right: float(right.mean()))
    behind = {shape: best - right for shape, right in answers.items()}
    return [
        shape
        for shape, gap in behind.items()
        if gap.mean() <= doubt * gap.std() / np.sqrt(len(gap))
    ]


def _safe(answers: dict[Shape, Answers], most: int) -> Shape | None:
    """Return a shape of many steps where nearly all answers are right and no step does harm."""
    near = contenders(answers, CHANCE)
    many = near[0]._replace(steps=max(near[0].steps, min(_SAFE_STEPS, most)))
    sure = many.plain and answers[near[0]].mean() > SURE
    return many if sure and {many, many._replace(steps=most)} <= set(near) else None


def _shaped(table: Table, own: GraphSide, shape: Shape) -> Table:
    """Return smoothed vectors with their degrees, at their norm, in place."""
    write_degrees(table, own.degrees, shape.length(own.degrees))
    table *= shape.norm / np.sqrt(max(np.einsum("ij,ij->", table, table) / len(table), 1e-20))
    return table
