# All targets do their own set-up: a virtual environment in .venv, kept for the next run.
#   make quick   while working: style, types, imports and the fast tests
#   make test    before pushing, and in CI: style, types, imports and all tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK ?=
# One more than processors: many tests wait for other processes.
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')
# Tests start many processes; each of them would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo quick test check bench study clean

$(VENV)/demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[serve]'
	touch $@

$(VENV)/ready: $(VENV)/demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[serve,test]'
	touch $@

$(VENV)/bench: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[serve,test,bench]'
	touch $@

demo: $(VENV)/demo
	$(BIN)/pagekin demo

check: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quick: check
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not browser and not campaign"

test: check
	sh tests/real_pages.sh
	sh tests/browser.sh
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=25

bench: $(VENV)/bench
	sh tests/real_pages.sh
	sh tests/browser.sh
	sh benchmarks/manuals.sh
	QUICK=$(QUICK) $(BIN)/python -m benchmarks

study: $(VENV)/bench
	sh tests/real_pages.sh
	sh benchmarks/manuals.sh
	QUICK=$(QUICK) $(BIN)/python -m benchmarks.study

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist
