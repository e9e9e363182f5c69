# Two commands matter: `make demo` and `make test`. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# Real graphs for tests and benchmarks, where there is a local copy.
BIVEC_DATA ?= $(abspath $(wildcard ../shared/data))
export BIVEC_DATA

.PHONY: help demo test test-browser lint format benchmark clean

help:
	@echo "make demo       run the main job on data that comes with bivec, show the result"
	@echo "make test       linters, type check, tests, doctests"
	@echo "make test-browser  the explorer in headless Chromium (installs it where it can)"
	@echo "make format     put the code into shape"
	@echo "make benchmark  measure against peers (minutes)"
	@echo "make clean      remove the environment and everything made"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bivec needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo-ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	@test -e $(VENV)/dev-ready || echo "installing bivec into $(VENV) ..."
	$(PIP) --editable '.[evaluate,serve]'
	@touch $@

$(VENV)/dev-ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing bivec and its development tools into $(VENV) ..."
	$(PIP) --editable '.[dev]'
	@touch $@

demo: $(VENV)/demo-ready
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest -q

test-browser: $(VENV)/dev-ready
	$(PIP) 'playwright>=1.48'
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
	  { apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium; } || \
	  { echo "There is no chromium on this machine: install it, then again."; exit 1; }
	$(BIN)/python -m pytest -q tests/browser

lint: $(VENV)/dev-ready
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	@out=$$($(BIN)/lint-imports --no-cache) || { echo "$$out"; exit 1; }

format: $(VENV)/dev-ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

benchmark: $(VENV)/dev-ready
	$(BIN)/python benchmarks/read_edges.py
	$(BIN)/python benchmarks/engine_speed.py
	$(BIN)/python benchmarks/link_prediction.py
	$(BIN)/python benchmarks/queries.py
	$(BIN)/python benchmarks/fold_in.py

clean:
	rm -rf $(VENV) demo-output build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
