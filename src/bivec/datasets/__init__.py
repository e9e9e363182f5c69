"""Data sets: a registry of public graphs, how to get and load them, and graphs that are included.

>>> load("southern-women").graph
BipartiteGraph(18 left, 14 right, 89 edges)
"""

from bivec.datasets.dataset import Dataset, Edges, GivenSplit
from bivec.datasets.fetching import fetch
from bivec.datasets.loading import load
from bivec.datasets.places import FileCheck, available, cache_dir, path, verify
from bivec.datasets.registry import Counts, Download, Entry, File, describe, names
from bivec.datasets.southern_women import southern_women
from bivec.datasets.viewer_movies import PlantedGraph, viewer_movies

__all__ = [
    "Counts",
    "Dataset",
    "Download",
    "Edges",
    "Entry",
    "File",
    "FileCheck",
    "GivenSplit",
    "PlantedGraph",
    "available",
    "cache_dir",
    "describe",
    "fetch",
    "load",
    "names",
    "path",
    "southern_women",
    "verify",
    "viewer_movies",
]
