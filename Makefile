# make demo, make test, make bench and make study do their own set-up: a virtual environment in .venv, kept for the next run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK ?=

.PHONY: demo test check bench study clean

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

test: $(VENV)/ready check
	sh tests/real_pages.sh
	sh tests/browser.sh
	$(BIN)/python -m pytest -n auto --dist worksteal

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
