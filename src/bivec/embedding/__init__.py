"""Vectors for both sides of a graph: the object, its home on disk, and its ways out."""

from bivec.embedding.embedding import Embedding, EmbeddingSide
from bivec.embedding.export import EXPORTS, export
from bivec.embedding.store import load

__all__ = ["EXPORTS", "Embedding", "EmbeddingSide", "export", "load"]
