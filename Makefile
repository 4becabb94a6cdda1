# Everything a newcomer needs: make demo, make test. Each target sets up what it needs by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.complete
# a process per core and one more, each with a server of its own: tests wait more than they compute
PARALLEL ?= -n 3 --no-loadscope-reorder

.PHONY: setup demo test lint bench soak chaos schema lock clean
.DELETE_ON_ERROR:

setup: $(SETUP)

$(SETUP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "penstock needs Python 3.11 or later, this is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11 setup")'
	$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	@$(BIN)/penstock demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

test: setup
	$(BIN)/python -m pytest $(PARALLEL)
	@if $(BIN)/python -c 'import sys; from penstock.embedded import system_binaries; sys.exit(system_binaries(15) is None)'; then \
	  echo "the kernel's tests again, on this machine's PostgreSQL 15"; \
	  PENSTOCK_TEST_POSTGRES=15 $(BIN)/python -m pytest $(PARALLEL) tests/sql tests/concurrency tests/migration tests/ingest tests/events tests/playbooks; \
	else \
	  echo "no PostgreSQL 15 on this machine: the kernel's tests ran on the bundled one only"; \
	fi

bench: setup
	$(BIN)/python -m bench

soak: setup
	$(BIN)/python -m bench.soak

chaos: setup  ## STORM_SECONDS, STORM_RESTARTS, STORM_PAUSES, STORM_RATE, STORM_SEED change the long storm; FLOOD_MESSAGES the long flood
	$(BIN)/python -m pytest -s -m long tests

schema: setup  ## rewrite src/penstock/sql/schema.sql after a change of the SQL
	$(BIN)/python -m tests.schema_dump

lock: setup  ## resolve the newest versions pyproject.toml allows; of these, what the image needs
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --extra dev --extra spark --extra otlp --all-build-deps --allow-unsafe --strip-extras --generate-hashes \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links -o requirements.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python deploy/cloud-run/lock.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
