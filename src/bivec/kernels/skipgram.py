"""Skip-gram with negative sampling, by the owner: one visit of a node steps its two rows.

Every node has an input row (as the centre of a window) and an output row (as a context). The table
holds both: n input rows, then n output rows. The owner finds all its tokens in the walks at hand,
and sums the gradients of both of its rows from the frozen rows of others:

    input   sum over contexts u of (sigmoid(in_v . out_u) - 1) out_u, and over negatives of v
    output  sum over centres u of (sigmoid(in_u . out_v) - 1) in_u, and over centres that draw v

Negatives are not drawn for each pair: consecutive owners share ``POOL`` of them, which stay in the
cache of a core. An owner takes as many of them as it has pairs, at least ``Task.least``, and weighs
each so that the sum is what skip-gram has on average (the idea of shared negatives: Ji et al.,
arXiv:1604.04661).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bivec.kernels.fobe import sigmoids
from bivec.kernels.jit import Array, inner, kernel
from bivec.kernels.rng import below, step_key, stream
from bivec.kernels.train import adagrad
from bivec.kernels.vector import AHEAD, aligned, dots, pointer, prefetch_row, weighted_sum
from bivec.kernels.walk import draw_by_sums

_NOISE, _CENTRES = 302, 303
"""Streams of random numbers."""
POOL = 64
"""Most negatives of a visit."""
SHARING = 64
"""Consecutive nodes that share them."""
CHUNK = 256
"""Pairs that are at work together; a window has to fit."""
_LOG_EVERY = 32
"""Factors between logarithms: 1e-7 to the power of 32 is still far from underflow."""
_ONE, _TINY = np.float32(1), np.float32(1e-7)


class Corpus(NamedTuple):
    """The walks of a sweep: tokens, their windows, the tokens of each node.

    ``noise`` adds up the weights by which nodes are drawn as negatives; entry v is the sum before
    node v. ``owed`` is the weight of each node's own noise in this sweep: more than what it is
    drawn by where other sweeps of the epoch pass it by. ``pairs`` counts the pairs of the corpus by
    the group of the context. Groups are the two sides, where negatives are of the type of the
    context, or one.
    """

    walks: Array
    windows: Array
    indptr: Array
    places: Array
    noise: Array
    owed: Array
    pairs: Array


class Task(NamedTuple):
    """What to do with a corpus: walks are of ``length``, windows reach no further than ``window``.

    ``epoch`` counts the sweeps; ``least`` is the least number of negatives of a visit.
    """

    seed: int
    epoch: int
    n_left: int
    length: int
    window: int
    n_negatives: int
    groups: int
    rate: float
    least: int


class Room(NamedTuple):
    """Room for one visit (pointers inside kernels); each thread needs its own.

    ``contexts`` and ``centres`` are the rows of the pairs at work, pools are by group, gradients by
    input and output.
    """

    contexts: Any
    centres: Any
    x: Any
    context_pool: Any
    centre_pool: Any
    gradient: Any


@inner
def paired(windows: Any, base: int, p: int, q: int) -> bool:  # pragma: no cover
    """Whether positions p < q of the walk that begins at ``base`` are a pair, either way round.

    The window of the earlier one decides. Any pair is as likely as in word2vec, where the window of
    the centre decides; here a pair counts for both of its ends or for neither.
    """
    return bool(q - p <= windows[base + p])


@kernel
def count_pairs(corpus: Any, task: Any) -> None:  # pragma: no cover
    """Fill ``corpus.pairs``: every pair of positions is two pairs, one for each as the context."""
    walks, windows, length = pointer(corpus.walks), pointer(corpus.windows), task.length
    one, other = 0, 0
    for token in range(corpus.walks.size):
        n = min(np.int64(windows[token]), length - 1 - token % length)
        # Sides alternate: of n tokens behind this one, the odd ones are of the other side.
        odd = (n + 1) // 2
        if walks[token] < task.n_left or task.groups == 1:
            one += n + n - odd
            other += odd
        else:
            other += n + n - odd
            one += odd
    if task.groups == 1:
        one, other = one + other, 0
    corpus.pairs[0] = one
    corpus.pairs[1] = other


@inner
def group_of(task: Any, node: Any) -> int:  # pragma: no cover
    """Return the group of a node."""
    return 1 if task.groups == 2 and node >= task.n_left else 0


@inner
def fill_pool(corpus: Any, task: Any, n: int, i: int, room: Any) -> None:  # pragma: no cover
    """Draw the contexts and centres that node i takes for negatives, of each group of contexts.

    Contexts are drawn from the noise, centres from the pairs of the corpus: a uniform token and
    offset, kept if they are a pair whose context is of the group.
    """
    noise, walks = pointer(corpus.noise), pointer(corpus.walks)
    windows, length = pointer(corpus.windows), task.length
    for group in range(task.groups):
        key = step_key(stream(task.seed, _NOISE + 2 * group, i // SHARING), task.epoch)
        low = 0 if group == 0 else task.n_left
        high = task.n_left if task.groups == 2 and group == 0 else n
        for k in range(POOL):
            room.context_pool[group][k] = n + draw_by_sums(noise, low, high, key, k)
        key = step_key(stream(task.seed, _CENTRES + 2 * group, i // SHARING), task.epoch)
        counter = 0
        for k in range(POOL):
            centre: Any = 0
            while True:
                token = below(key, counter, corpus.walks.size)
                p = token % length
                q = p - task.window + below(key, counter + 1, 2 * task.window + 1)
                counter += 2
                base = token - p
                if q == p or q < 0 or q >= length:
                    continue
                if not paired(windows, base, min(p, q), max(p, q)):
                    continue
                centre = np.int64(walks[token])
                if group_of(task, np.int64(walks[base + q])) == group:
                    break
            room.centre_pool[group][k] = centre


@inner
def add_pairs(
    table: Any, dim: int, n: int, own: int, room: Any, count: int
) -> Any:  # pragma: no cover
    """Add the gradients of the pairs at work to both of the owner's; return the loss of one."""
    x, loss = room.x, 0.0
    for m in range(min(AHEAD, count)):
        prefetch_row(table, dim, room.contexts[m])
        prefetch_row(table, dim, room.centres[m])
    dots(table, dim, own, room.contexts, 0, count, x)
    sigmoids(x, 0, count)
    product: float = 1.0
    for m in range(count):
        product *= max(x[m], _TINY)
        x[m] -= _ONE
        if m % _LOG_EVERY == _LOG_EVERY - 1:
            loss -= np.log(product)
            product = 1.0
    loss -= np.log(product)
    weighted_sum(table, dim, room.contexts, x, count, room.gradient[0])
    dots(table, dim, n + own, room.centres, 0, count, x)
    sigmoids(x, 0, count)
    for m in range(count):
        x[m] -= _ONE
    weighted_sum(table, dim, room.centres, x, count, room.gradient[1])
    return loss


@inner
def add_negatives(
    table: Any, dim: int, own: int, pool: Any, size: int, weight: float, x: Any, gradient: Any
) -> Any:  # pragma: no cover
    """Add the gradient of the first negatives of a pool, each of this weight; return the loss."""
    dots(table, dim, own, pool, 0, size, x)
    sigmoids(x, 0, size)
    loss, product, share = 0.0, 1.0, np.float32(weight)
    for m in range(size):
        product *= max(_ONE - x[m], _TINY)
        x[m] *= share
        if m % _LOG_EVERY == _LOG_EVERY - 1:
            loss -= weight * np.log(product)
            product = 1.0
    loss -= weight * np.log(product)
    weighted_sum(table, dim, pool, x, size, gradient)
    return loss


@inner
def row_gradients(
    table: Any, dim: int, n: int, corpus: Any, task: Any, i: int, room: Any, losses: Any, r: int
) -> bool:  # pragma: no cover
    """Write the gradients of both rows of node i; return whether it has any pair.

    ``losses[2 r]`` is the loss over the pairs of which i is the centre, ``losses[2 r + 1]`` their
    number.
    """
    walks, windows, places = pointer(corpus.walks), pointer(corpus.windows), pointer(corpus.places)
    length = task.length
    for c in range(dim):
        room.gradient[0][c] = 0
        room.gradient[1][c] = 0
    loss, count, pairs, crossed = 0.0, 0, 0, 0
    own_group = group_of(task, i)
    for o in range(corpus.indptr[i], corpus.indptr[i + 1]):
        token = places[o]
        p = token % length
        base = token - p
        for q in range(max(0, p - task.window), min(length, p + task.window + 1)):
            if q == p or not paired(windows, base, min(p, q), max(p, q)):
                continue
            other = np.int64(walks[base + q])
            room.contexts[count] = n + other
            room.centres[count] = other
            count += 1
            if group_of(task, other) != own_group:
                crossed += 1
            if count == CHUNK:
                loss += add_pairs(table, dim, n, i, room, count)
                pairs += count
                count = 0
    if count:
        loss += add_pairs(table, dim, n, i, room, count)
        pairs += count
    losses[2 * r + 1] = pairs
    losses[2 * r] = loss
    if pairs == 0:
        return False
    if task.n_negatives == 0:
        return True
    size = min(POOL, max(task.least, pairs))
    share = task.n_negatives / size
    for group in range(task.groups):
        number = crossed if group != own_group else pairs - crossed
        losses[2 * r] += add_negatives(
            table, dim, i, room.context_pool[group], size, share * number, room.x, room.gradient[0]
        )
    low = task.n_left if own_group == 1 else 0
    high = task.n_left if task.groups == 2 and own_group == 0 else n
    noise = pointer(corpus.noise)
    chance = corpus.owed[i] / (noise[high] - noise[low])
    add_negatives(
        table, dim, n + i, room.centre_pool[own_group], size,
        share * corpus.pairs[own_group] * chance, room.x, room.gradient[1],
    )  # fmt: skip
    return True


@kernel
def visit_rows(
    corpus: Any,
    task: Any,
    table: Array,
    squares: Array,
    arrays: Any,
    fresh: Array,
    losses: Array,
    first: int,
    start: int,
    stop: int,
) -> None:  # pragma: no cover
    """Compute new rows of nodes ``first + start`` to ``first + stop``.

    Those of node ``first + r`` go to ``fresh[2 r]`` (input) and ``fresh[2 r + 1]`` (output). A node
    that is in no pair keeps them.
    """
    n, dim = table.shape[0] // 2, table.shape[1]
    room = Room(
        pointer(arrays.contexts), pointer(arrays.centres), pointer(arrays.x),
        (pointer(arrays.context_pool[0]), pointer(arrays.context_pool[1])),
        (pointer(arrays.centre_pool[0]), pointer(arrays.centre_pool[1])),
        (pointer(arrays.gradient[0]), pointer(arrays.gradient[1])),
    )  # fmt: skip
    rows, sums, out, loss = pointer(table), pointer(squares), pointer(fresh), pointer(losses)
    for r in range(start, stop):
        i = first + r
        if task.n_negatives and (r == start or i % SHARING == 0):
            fill_pool(corpus, task, n, i, room)
        if row_gradients(rows, dim, n, corpus, task, i, room, loss, r):
            adagrad(rows, dim, i, room.gradient[0], sums, task.rate, out, 2 * r)
            adagrad(rows, dim, n + i, room.gradient[1], sums, task.rate, out, 2 * r + 1)
        else:
            for c in range(dim):
                out[2 * r * dim + c] = rows[i * dim + c]
                out[(2 * r + 1) * dim + c] = rows[(n + i) * dim + c]


def room_arrays(dim: int) -> Room:
    """Return room for one visit."""
    return Room(
        np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64), np.empty(CHUNK, np.float32),
        np.empty((2, POOL), np.int64), np.empty((2, POOL), np.int64), aligned((2, dim)),
    )  # fmt: skip


def warmup() -> None:
    """Compile for walks of 32-bit nodes."""
    corpus = Corpus(
        np.array([0, 1], np.int32), np.ones(2, np.uint8), np.array([0, 1, 2]), np.array([0, 1]),
        np.array([0.0, 1.0, 2.0]), np.ones(2), np.zeros(2, np.int64),
    )  # fmt: skip
    task = Task(0, 0, 1, 2, 1, 1, 2, 0.1, 8)
    table = aligned((4, 8))
    table[:] = 0
    count_pairs(corpus, task)
    visit_rows(
        corpus, task, table, np.zeros(4, np.float32), room_arrays(8), aligned((4, 8)),
        np.empty((2, 2)), 0, 0, 2,
    )  # fmt: skip
