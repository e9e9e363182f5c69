"""Viewers and movies with planted tastes: a recommender's world whose answer is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bivec.errors import InputError
from bivec.graph import BipartiteGraph

TASTES = (
    "Animation", "Comedy", "Documentary", "Heist", "Horror", "Musical",
    "Noir", "Romance", "Samurai", "Space", "War", "Western",
)  # fmt: skip
"""In alphabetical order, so that movies sorted by name are sorted by taste."""


@dataclass(frozen=True, slots=True)
class PlantedGraph:
    """A graph and the group of each of its nodes.

    Attributes
    ----------
    graph : BipartiteGraph
    left_labels, right_labels : array of int
        The group of each row.
    names : tuple of str
        What the groups are called.
    """

    graph: BipartiteGraph
    left_labels: npt.NDArray[np.int64]
    right_labels: npt.NDArray[np.int64]
    names: tuple[str, ...]


def viewer_movies(
    n_viewers: int = 600,
    n_movies: int = 240,
    n_tastes: int = 6,
    views: float = 20.0,
    loyalty: float = 0.8,
    random_state: int = 0,
) -> PlantedGraph:
    """Let viewers choose movies, mostly to their taste.

    Every viewer and every movie has one of ``n_tastes`` tastes. How much a viewer watches and how
    popular a movie is are log-normal. With probability ``loyalty`` a view goes to a movie of the
    viewer's own taste, otherwise to any, in proportion to popularity; the weight is a number of
    stars from 1 to 5, higher on average for one's own taste. The movies' ids tell their taste
    (``Western 07``), the viewers' do not.

    Parameters
    ----------
    n_viewers, n_movies, n_tastes : int
        Sizes; there is at least one movie for each taste.
    views : float
        Views of an average viewer, before repeated ones are merged.
    loyalty : float
        From 0 (tastes do not matter) to 1.
    random_state : int
        The same number gives the same graph.

    Examples
    --------
    >>> planted = viewer_movies(n_viewers=50, n_movies=30, n_tastes=3)
    >>> planted.graph.right.ids[0], planted.names[planted.right_labels[0]]
    ('Animation 01', 'Animation')
    """
    if not 1 <= n_tastes <= n_movies or n_viewers < 1:
        raise InputError(
            f"cannot make {n_tastes} tastes of {n_movies} movies for {n_viewers} viewers",
            "There must be at least one viewer and as many movies as tastes.",
        )
    if not 0 <= loyalty <= 1 or not views > 0:
        raise InputError(
            f"loyalty={loyalty} or views={views} makes no sense",
            "Loyalty is between 0 and 1, views are positive.",
        )
    random = np.random.default_rng(random_state)
    names = _names(n_tastes)
    taste = random.integers(n_tastes, size=n_viewers)
    genre = np.sort(np.arange(n_movies) % n_tastes)
    reach = np.append(0.0, np.cumsum(random.lognormal(sigma=0.8, size=n_movies)))
    first, last = np.searchsorted(genre, [np.arange(n_tastes), np.arange(n_tastes) + 1])
    # Views: a point on the line of summed popularity, within the taste or anywhere.
    activity = random.lognormal(mean=np.log(views) - 0.125, sigma=0.5, size=n_viewers)
    viewer = np.repeat(np.arange(n_viewers), np.maximum(1, np.rint(activity)).astype(np.int64))
    loyal = random.random(viewer.size) < loyalty
    low = np.where(loyal, reach[first][taste[viewer]], 0.0)
    high = np.where(loyal, reach[last][taste[viewer]], reach[-1])
    point = low + random.random(viewer.size) * (high - low)
    movie = np.minimum(np.searchsorted(reach, point, side="right") - 1, n_movies - 1)
    # Stars: around 4 for one's own taste, around 3 for another.
    stars = 3.0 + (genre[movie] == taste[viewer]) + random.normal(scale=0.8, size=viewer.size)
    number = np.arange(n_movies) - first[genre] + 1
    width = len(str(number.max()))
    graph = BipartiteGraph(
        viewer,
        movie,
        np.clip(np.rint(stars), 1, 5),
        left_ids=[f"viewer {i + 1:0{len(str(n_viewers))}d}" for i in range(n_viewers)],
        right_ids=[f"{names[g]} {n:0{width}d}" for g, n in zip(genre, number, strict=True)],
        duplicates="last",
    )
    return PlantedGraph(graph, taste, genre, names)


def _names(n: int) -> tuple[str, ...]:
    if n <= len(TASTES):
        return TASTES[:n]
    return tuple(f"Taste {i + 1:0{len(str(n))}d}" for i in range(n))
