#!/usr/bin/env bash
# Formatting, lints and types, warnings denied: rustfmt, clippy, ruff, mypy.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

step "rustfmt, clippy, ruff, mypy"
(cd switch && cargo fmt --all --check)
(cd switch && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings)
build/venv/bin/ruff check --quiet .
build/venv/bin/ruff format --quiet --check . ||
    fail "Python files are not in ruff's format: run build/venv/bin/ruff format ."
build/venv/bin/mypy --no-error-summary insides controller topo apps labs vitrine course tests/parity
