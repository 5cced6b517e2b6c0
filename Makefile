# make install   .venv with the program              make test    everything CI checks
# make demo      one question of the bundled papers  make bench   speed beside other programs
# make docs      docs/cli.md from the help texts     make constraints   pin dependencies anew
# make clean     remove .venv and caches

# The first interpreter that is new enough; PYTHON=/path/to/python overrides.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt
PINS := pyproject.toml constraints.txt

.PHONY: install dev demo test format lint types unit bench bench-full docs constraints clean
.DEFAULT_GOAL := install

install: $(VENV)/.installed
dev: $(VENV)/.dev

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is not Python 3.11 or newer; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || \
	  { echo "$(PYTHON) has no venv module (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.python $(PINS)
	@echo "Installing into $(VENV) (about 700 MB, a minute or two) ..."
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@echo "Installing the tools for checking ..."
	@$(PIP) -e '.[dev]'
	@touch $@

demo: install
	$(BIN)/rag ask "By how much did SpecPrefill improve time-to-first-token for Llama-3.1-405B?" --quotes
	@echo; echo "To use it as rag in this shell:  . $(VENV)/bin/activate"

test: format lint types unit

format: dev
	$(BIN)/ruff format --check .
lint: dev
	$(BIN)/ruff check .
types: dev
	$(BIN)/mypy
unit: dev
	$(BIN)/pytest -n auto --dist loadfile --cov --cov-report=term:skip-covered

bench: dev
	$(BIN)/python eval/benchmarks/run.py
bench-full: dev
	$(BIN)/python eval/benchmarks/run.py
	$(BIN)/python eval/benchmarks/run.py --large
	$(BIN)/python eval/benchmarks/retrieval.py

docs: dev
	$(BIN)/python tools/cli_docs.py

constraints:
	$(PYTHON) tools/constraints.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
