"""Graphs in and out: files of many formats, and objects of other libraries."""

from bivec.io.memory import as_graph
from bivec.io.read import FORMATS, read_edges
from bivec.io.write import write_graph

__all__ = ["FORMATS", "as_graph", "read_edges", "write_graph"]
