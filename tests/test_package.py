"""The package as a whole: what importing costs, what it offers, what is said of a missing part."""

import subprocess
import sys
from pathlib import Path

import pytest

import bivec
from bivec.errors import BivecError, InputError, MissingExtraError, require

HEAVY = ("numba", "torch", "sklearn", "matplotlib", "pandas", "bivec.kernels")


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


@pytest.mark.parametrize("code", ["import bivec", "import bivec; bivec.read_edges; bivec.load"])
def test_import_is_light(code):
    loaded = run_python(f"{code}; import sys; print(*(m for m in {HEAVY} if m in sys.modules))")
    assert loaded == ""


def test_import_is_quick():
    code = "import time; t = time.process_time(); import bivec; print(time.process_time() - t)"
    assert min(float(run_python(code)) for _ in range(3)) < 0.25


def test_every_public_name_loads():
    for name in bivec.__all__:
        assert getattr(bivec, name) is not None
    assert set(dir(bivec)) == set(bivec.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bivec.nothing


def test_public_names_are_declared_for_type_checkers():
    declared = Path(bivec.__file__).read_text(encoding="utf-8").split("_HOME")[0]
    for name in bivec.__all__:
        assert f" as {name}\n" in declared or name == "__version__"


def test_missing_extra_names_the_extra():
    with pytest.raises(MissingExtraError) as caught:
        require("no_such_package.part", extra="combine", purpose="combining embeddings")
    assert "combining embeddings needs the package 'no_such_package'" in str(caught.value)
    assert "pip install 'bivec[combine]'" in str(caught.value)
    assert isinstance(caught.value, ImportError)


def test_errors_can_be_caught_together_and_survive_pickling():
    import pickle

    error = InputError("too short", "Add more.", path="a.csv", line=3, column="2", side="left")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, BivecError)
    assert str(again) == str(error) == "a.csv, line 3, column 2: too short. Add more."
    assert (again.line, again.side) == (3, "left")
