"""The methods that the paper compares with, as estimators like its own; each in a file of its name.

``METHODS`` has the baselines, ``ALL_METHODS`` the paper's own methods before them.
"""

from bivec.models import METHODS as _PAPER
from bivec.models.base import BipartiteEstimator

METHODS: dict[str, type[BipartiteEstimator]] = {}
"""Every baseline by its name on the command line."""

ALL_METHODS: dict[str, type[BipartiteEstimator]] = {**_PAPER, **METHODS}
"""Every method by its name on the command line."""

__all__ = ["ALL_METHODS", "METHODS"]
