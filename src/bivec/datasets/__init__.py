"""Graphs that come with bivec: a classic table and a generator with a known answer."""

from bivec.datasets.southern_women import southern_women
from bivec.datasets.viewer_movies import PlantedGraph, viewer_movies

__all__ = ["PlantedGraph", "southern_women", "viewer_movies"]
