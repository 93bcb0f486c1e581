# The verbs of this house; `make` alone lists them. Needs Python 3.11, git and make; everything else is fetched by setup.

BIN := .venv/bin
STAMP := .venv/.complete
WORKERS ?= 2

# By hand the slow tests are left out and the campaigns are small; with CI=true nothing is left out.
FAULTS_IN_TEST ?= 100
ifeq ($(CI),true)
SELECT ?=
else
SELECT ?= not slow
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format types imports bench faults ci-check lock clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

setup: $(STAMP)  ## .venv with the pinned versions (again only when the pins change)

$(STAMP): pyproject.toml requirements.lock tools/setup tools/uv.txt
	@tools/setup
	@touch $@

demo: setup  ## a small life, imported into a fresh instance and looked at
	@demo/run

test: setup lint types imports  ## everything for every day; names what it left out
	LUMEN_FAULT_COUNT=$${LUMEN_FAULT_COUNT:-$(FAULTS_IN_TEST)} $(BIN)/python -m pytest -n $(WORKERS) -m "$(SELECT)"
	@[ -z "$(SELECT)" ] || echo "left out: some tests (selected: $(SELECT); make test CI=true runs them all)"
	@$(BIN)/python tools/needs.py

lint: setup  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup  ## ruff: put both right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: setup  ## mypy --strict
	$(BIN)/mypy

imports: setup  ## import-linter: one direction, over rooms and modules
	$(BIN)/lint-imports

bench: setup  ## side-by-side measurements, one table
	$(BIN)/python -m bench

faults: setup  ## crashes, kills and damaged files; LUMEN_FAULT_COUNT=20000 for a long run
	LUMEN_FAULT_COUNT=$${LUMEN_FAULT_COUNT:-2000} $(BIN)/python -m pytest -n $(WORKERS) -m faults tests/faults

ci-check:  ## .ci/run on a fresh copy of every file that is not ignored, in an empty environment
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && git init -q "$$copy" && \
	git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$$copy" && \
	env -i HOME="$$HOME" PATH="$$PATH" "$$copy/.ci/run"

lock:  ## newest versions, pinned anew (needs a uv: from the PATH, or from an earlier setup)
	@python3 tools/lock.py "$$([ -x .tools/bin/uv ] && echo $(CURDIR)/.tools/bin/uv || command -v uv)"

clean:  ## removes everything that make has made
	rm -rf .venv .tools .demo dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache uv.lock
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
