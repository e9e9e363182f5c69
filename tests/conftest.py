"""Settings for all tests."""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

# No deadline, as the first example may compile a kernel; the same examples in every run.
settings.register_profile(
    "bivec",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("bivec")


@pytest.fixture
def printed_with_blas_threads():
    """Return what a program prints where BLAS is told to take one thread, and two: a set."""

    def run(code):
        return {
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n},
                capture_output=True, text=True, check=True,
            ).stdout
            for n in ("1", "2")
        }  # fmt: skip

    return run
