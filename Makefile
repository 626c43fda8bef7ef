# The tasks of a developer. `make setup` makes .venv; everything else runs in it.

# The first interpreter that is new enough; `make PYTHON=/path/to/python3` names another.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	command -v $(name) >/dev/null 2>&1 && $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && echo $(name))))
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEMO := samples/demo/cpu-offload-pipeline.log

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: bench help setup demo test snapshots docs lint format types patterns package check clean

help:
	@echo 'make setup     an environment in $(VENV) with everything that development needs'
	@echo 'make demo      diagnose a real log'
	@echo 'make test      the tests'
	@echo 'make snapshots store what the reports print now, in the tests and in the README'
	@echo 'make docs      write the pages of the patterns, docs/patterns'
	@echo 'make lint      formatting and lint'
	@echo 'make format    format the code'
	@echo 'make types     static types'
	@echo 'make patterns  check the pattern files and run their samples'
	@echo 'make bench     time it against ripgrep; docs/performance.md tells how'
	@echo 'make package   build the packages, install the wheel elsewhere and try it'
	@echo 'make check     all of these, as the continuous integration runs them'
	@echo 'make clean     remove what was built'

setup: $(STAMP)

$(STAMP): pyproject.toml
	@test -n '$(PYTHON)' || { echo 'setup: Python 3.11 or later was not found; name it with make PYTHON=/path/to/python3' >&2; exit 1; }
	@'$(PYTHON)' -c 'import ensurepip, venv' 2>/dev/null || { echo 'setup: $(PYTHON) has no venv or no ensurepip; install them (Debian and Ubuntu: the package python3-venv)' >&2; exit 1; }
	@test -x $(BIN)/python && $(BIN)/python -m pip --version >/dev/null 2>&1 || '$(PYTHON)' -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --editable '.[dev,fast]'
	@touch $@

demo: setup
	@$(BIN)/diagnose $(DEMO)

test: setup
	@$(BIN)/python -m pytest

snapshots: setup
	@UPDATE_SNAPSHOTS=1 $(BIN)/python -m pytest tests/report tests/test_readme.py

docs: setup
	@$(BIN)/diagnose patterns docs --shipped

lint: setup
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .

format: setup
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

types: setup
	@$(BIN)/mypy

patterns: setup
	@$(BIN)/diagnose patterns check
	@$(BIN)/diagnose patterns test
	@$(BIN)/diagnose patterns docs --shipped --check

bench: setup
	@$(BIN)/python benchmarks/bench.py

package: setup
	@.ci/package '$(PYTHON)' $(BIN)/python

check: lint types patterns package test

clean:
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
