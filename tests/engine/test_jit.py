"""Machine code in the cache belongs to the sources of all kernels, not of one file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bivec.kernels

CODE = "import numpy as np; from bivec.kernels import rng; t = np.empty((1, 2), np.float32);\
rng.fill_uniform(t, 0, 0, 0, 0.0, 1.0); s = rng.fill_uniform.stats;\
print(sum(s.cache_hits.values()), sum(s.cache_misses.values()))"


def test_a_change_in_another_kernel_file_makes_the_cache_stale(tmp_path):
    shutil.copytree(
        Path(bivec.kernels.__file__).parents[1],
        tmp_path / "bivec",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }

    def hits_and_misses():
        done = subprocess.run(
            [sys.executable, "-c", CODE],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    assert hits_and_misses() == ["0", "1"]
    assert hits_and_misses() == ["1", "0"]
    with (tmp_path / "bivec" / "kernels" / "vector.py").open("a") as file:
        file.write("# changed\n")
    assert hits_and_misses() == ["0", "1"]
