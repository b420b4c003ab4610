# All targets do their own set-up: a virtual environment in .venv, kept for the next run.
#   make quick   while working: style, types, imports and the fast tests
#   make test    before pushing, and in CI: style, types, imports and all tests
#   make wheel   a wheel with compiled kernels, and an sdist (make sdist), in dist
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK ?=
# One more than processors: many tests wait for other processes.
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')
# Tests start many processes; each of them would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

KERNELS := src/pagekin/kernels
MACHINE := $(KERNELS)/machine.abi3.so
INSTALL := sh tools/dots.sh $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check

.PHONY: demo quick outside test test-numba check bench study campaign docs wheel sdist clean

$(VENV)/demo: pyproject.toml
	@echo 'Installing what pagekin needs into $(VENV)'
	@sh tools/dots.sh $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --editable '.[serve]'
	@touch $@

$(VENV)/ready: $(VENV)/demo
	$(INSTALL) --editable '.[serve,test]'
	touch $@

$(VENV)/bench: $(VENV)/ready
	$(INSTALL) --editable '.[serve,test,bench]'
	touch $@

$(VENV)/release: $(VENV)/ready
	$(INSTALL) --editable '.[serve,test,release]'
	touch $@

# Without a C compiler this makes nothing, and numba compiles kernels when they are used.
$(MACHINE): $(wildcard $(KERNELS)/*.py src/pagekin/model/*.py tools/machine_code/*) $(KERNELS)/signatures.json | $(VENV)/demo
	@$(BIN)/python -m tools.machine_code

demo: $(VENV)/demo $(MACHINE)
	@$(BIN)/pagekin demo

check: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quick: check $(MACHINE)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not browser and not campaign"

# What is not Python and comes from Debian or npm, one after the other: apt-get works alone.
outside:
	sh tests/real_pages.sh
	sh tests/browser.sh
	sh tests/java.sh
	sh tests/generators.sh
	sh tests/system_tools.sh

# Checks, compiling and installing take turns on the processors.
test:
	$(MAKE) --no-print-directory --jobs=3 --output-sync=target check $(MACHINE) outside
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=25

bench: $(VENV)/bench $(MACHINE) outside
	sh benchmarks/manuals.sh
	QUICK=$(QUICK) $(BIN)/python -m benchmarks

study: $(VENV)/bench $(MACHINE)
	sh tests/real_pages.sh
	sh benchmarks/manuals.sh
	QUICK=$(QUICK) $(BIN)/python -m benchmarks.study

# Attacks on files, builds and the server: more than an hour; `make campaign SECONDS=10 CASES=500 ERRORS=50 KILLS=20 LOAD=60` is a look.
CASES ?= 10000
ERRORS ?= 500
KILLS ?= 1000
SECONDS ?= 60
LOAD ?= 600
campaign: $(VENV)/bench $(MACHINE)
	HYPOTHESIS_PROFILE=campaign $(BIN)/python -m pytest tests/robustness/test_kernel_modes.py
	HYPOTHESIS_PROFILE=campaign $(BIN)/python -m pytest tests/engines/test_spark.py -k "killed or many_links"
	$(BIN)/python -m benchmarks.hostile --cases $(CASES)
	sh tests/system_tools.sh slowhttptest
	$(BIN)/python -m benchmarks.injected --cases $(ERRORS)
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.power_loss
	$(BIN)/python -m benchmarks.kills --kills $(KILLS)
	$(BIN)/python -m benchmarks.fuzz --seconds $(SECONDS)
	$(BIN)/python -m benchmarks.slow_clients
	$(BIN)/python -m benchmarks.load --seconds $(LOAD)

# The oldest and the newest numba that pyproject.toml allows.
test-numba:
	for version in 0.61.0 '0.*'; do \
		$(PYTHON) -m venv --clear build/numba && \
		build/numba/bin/python -m pip install --quiet --no-compile --editable '.[serve,test]' "numba==$$version" && \
		PAGEKIN_KERNELS=numba NUMBA_CACHE_DIR=build/numba/cache build/numba/bin/python -m pytest tests/kernels || exit 1; \
	done

docs: $(VENV)/ready $(MACHINE)
	$(BIN)/mkdocs build --strict --quiet
	@echo 'The docs, with related pages, are in build/docs'

wheel: $(VENV)/release $(MACHINE)
	rm -rf dist/*.whl
	$(BIN)/python -m build --wheel
	$(BIN)/twine check --strict dist/*.whl

sdist: $(VENV)/release
	rm -rf dist/*.tar.gz
	$(BIN)/python -m build --sdist
	$(BIN)/twine check --strict dist/*.tar.gz

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist $(MACHINE)
