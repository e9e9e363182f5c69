"""A place in the plane for every node of a side, computed once and kept.

UMAP (McInnes, Healy and Melville 2018, arXiv:1802.03426) by cosine, where ``umap-learn`` is
installed; otherwise the first two principal components. Of the two packages that the field uses
for such maps, umap-learn and pacmap, umap-learn is the lighter here: beyond what bivec has anyway
(numba) and its ``evaluate`` extra (scikit-learn) it brings two wheels of pure Python, while pacmap
brings faiss.
"""

from __future__ import annotations

import hashlib
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from bivec.arrow import from_numpy, to_numpy
from bivec.datasets.places import cache_dir
from bivec.errors import InputError, SaveError, require
from bivec.graph import Side
from bivec.io.atomic import atomic_file

METHODS = ("auto", "umap", "pca")
_FEWEST_FOR_UMAP = 20
_MOST_FOR_UMAP = 200_000
_UMAP = {
    "n_neighbors": 15,
    "min_dist": 1.0,  # points apart and groups roomy: a map is looked at, not measured
    "spread": 2.5,
    "metric": "euclidean",  # of unit vectors, which orders as cosine does and is faster
    "init": "pca",
    "random_state": 0,
}

Message = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the nodes of a side are: rows of x and y, within -1 and 1."""

    places: npt.NDArray[np.float32]
    method: str
    note: str = ""


def layout(
    vectors: npt.NDArray[np.float32],
    side: Side,
    folder: Path | None = None,
    method: str = "auto",
    say: Message = lambda text: None,
) -> Layout:
    """Return the layout of a side, from the cache or computed and put there.

    Parameters
    ----------
    vectors : array
        A row for each node.
    side : {"left", "right"}
        Names the file.
    folder : path, optional
        The ``.bivec`` directory. Where it cannot be written, or is not given, the layout goes to
        the user's cache directory (``BIVEC_CACHE``).
    method : {"auto", "umap", "pca"}
        "auto" is UMAP where it is installed and the side is neither tiny nor above 200,000 nodes.
    say : callable
        Told what is being done when it takes time.
    """
    chosen, note = choose(method, len(vectors))
    key = _key(vectors, chosen)
    files = [folder / f"layout.{side}.parquet"] if folder is not None else []
    files.append(_user_file(key))
    for file in files:
        places = _read(file, key, len(vectors))
        if places is not None:
            return Layout(places, chosen, note)
    if chosen == "umap":
        say(f"laying out {len(vectors):,} {side} nodes with UMAP (once; then it is kept) ...")
    places = _fit(umap_places(vectors) if chosen == "umap" else pca_places(vectors))
    for file in files:
        if _written(file, places, key, chosen):
            break
    else:
        say("the layout could not be kept and will be computed again; set BIVEC_CACHE to a place")
    return Layout(places, chosen, note)


def choose(method: str, n: int) -> tuple[str, str]:
    """Return the method for so many nodes, and what the reader should be told about it."""
    if method not in METHODS:
        raise InputError(f"{method!r} is no layout", f"Choose one of {', '.join(METHODS)}.")
    if method != "auto":
        return ("pca", "") if n < _FEWEST_FOR_UMAP else (method, "")
    if n < _FEWEST_FOR_UMAP:
        return "pca", ""
    if n > _MOST_FOR_UMAP:
        return "pca", f"principal components: UMAP takes long above {_MOST_FOR_UMAP:,} nodes"
    if importlib.util.find_spec("umap") is None:
        return "pca", "principal components: for a UMAP layout, pip install 'bivec[serve]'"
    return "umap", ""


def pca_places(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the first two principal components of the directions of the vectors."""
    places = np.zeros((len(vectors), 2), dtype=np.float32)
    if len(vectors) < 2:
        return places
    unit = directions(vectors)
    unit -= unit.mean(axis=0)
    # The d x d covariance is small whatever the number of nodes.
    _, axes = np.linalg.eigh(unit.T.astype(np.float64) @ unit)
    axes = axes[:, ::-1][:, :2]
    # An axis may point either way: its largest entry is made positive, so that maps do not flip.
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    places[:, : axes.shape[1]] = unit @ axes
    return places


def umap_places(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return UMAP's layout by cosine, the same for the same vectors."""
    umap = require("umap", extra="serve", purpose="A UMAP layout")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = {"n_neighbors": min(15, len(vectors) - 1)}
        model = umap.UMAP(**_UMAP | few, n_jobs=1)  # more threads give up reproducibility
        places: npt.NDArray[np.float32] = model.fit_transform(directions(vectors))
    return places


def directions(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scale rows to length 1; zero rows stay."""
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = np.divide(
        vectors, np.where(norm > 0, norm, 1), dtype=np.float32
    )
    return unit


def _fit(places: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Move and scale, both axes alike, into the square from -1 to 1."""
    if not len(places):
        return places.astype(np.float32).reshape(0, 2)
    finite = np.where(np.isfinite(places), places, 0.0).astype(np.float64)
    low, high = finite.min(axis=0), finite.max(axis=0)
    extent = float((high - low).max())
    fitted = (finite - (low + high) / 2) * (2 / extent if extent > 0 else 1.0)
    return np.ascontiguousarray(fitted, dtype=np.float32)


# Keeping


def _key(vectors: npt.NDArray[np.float32], method: str) -> str:
    digest = hashlib.sha256(f"{method} {_UMAP if method == 'umap' else 1} {vectors.shape}".encode())
    digest.update(np.ascontiguousarray(vectors).data)
    return digest.hexdigest()


def _user_file(key: str) -> Path:
    return cache_dir() / "layouts" / f"{key}.parquet"


def _read(file: Path, key: str, n: int) -> npt.NDArray[np.float32] | None:
    """Return the places in a file, or None where it is absent, damaged or of other vectors."""
    try:
        if not file.is_file():
            return None
        table = pq.read_table(file, page_checksum_verification=True)
        if (table.schema.metadata or {}).get(b"key") != key.encode() or table.num_rows != n:
            return None
        places = np.column_stack([to_numpy(table["x"]), to_numpy(table["y"])])
    except (OSError, pa.ArrowException, KeyError):
        return None
    return np.ascontiguousarray(places, dtype=np.float32)


def _written(file: Path, places: npt.NDArray[np.float32], key: str, method: str) -> bool:
    table = pa.table({"x": from_numpy(places[:, 0].copy()), "y": from_numpy(places[:, 1].copy())})
    table = table.replace_schema_metadata({"key": key, "method": method})
    try:
        if file.parent.name == "layouts":  # of the user's cache; a .bivec directory is there
            file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as temporary:
            pq.write_table(table, temporary, write_page_checksum=True)
    except (SaveError, OSError):
        return False
    return True
