"""The paper's second contribution: one joint embedding from several, by a small network.

torch is needed (the extra ``combine``) and imported by ``fit``, not before.
"""

from bivec.combine.combination import KINDS, METHODS, Combination

__all__ = ["KINDS", "METHODS", "Combination"]
