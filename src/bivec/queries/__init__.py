"""Using vectors: which nodes of the other side go with a node."""

from __future__ import annotations

from bivec.queries.blend import Blend

__all__ = ["Blend"]
