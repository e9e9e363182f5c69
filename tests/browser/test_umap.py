"""The real UMAP, which compiles for a quarter of a minute: here, where tests are slow anyway."""

import numpy as np
import pytest

from bivec.serve import layout as module
from bivec.serve.layout import layout

pytestmark = pytest.mark.usefixtures("chromium")


def test_umap_keeps_groups_together_and_is_the_same_again(tmp_path):
    pytest.importorskip("umap", reason="umap-learn is not installed")
    random = np.random.default_rng(0)
    centres = np.repeat(np.eye(3, 8), 25, axis=0)
    vectors = (centres + 0.1 * random.normal(size=(75, 8))).astype(np.float32)
    places = layout(vectors, "left", None, "umap").places
    gaps = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    group = np.repeat(np.arange(3), 25)
    assert (group[gaps.argmin(axis=1)] == group).all()
    assert np.array_equal(module._fit(module.umap_places(vectors)), places)
