#!/usr/bin/env bash
# Formatting, lints and types, warnings denied: rustfmt, clippy, ruff, mypy. The build runs clippy
# (vm/rustc_with_lints.sh), so its warnings are those of a build that has nothing to compile any more.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

step "rustfmt, clippy, ruff, mypy"
# Ruff and mypy use one processor, cargo the other.
build/venv/bin/mypy --no-error-summary insides controller topo apps labs vitrine course tests/parity &
types=$!
(cd switch && cargo fmt --all --check)
warnings=$(mktemp)
trap 'rm -f "$warnings"' EXIT
(cd switch && cargo test --quiet --locked --no-run 2>"$warnings") || { cat "$warnings" >&2; exit 1; }
if grep -q '^warning' "$warnings"; then
    cat "$warnings" >&2
    fail "rustc and clippy have the warnings above."
fi
build/venv/bin/ruff check --quiet .
build/venv/bin/ruff format --quiet --check . ||
    fail "Python files are not in ruff's format: run build/venv/bin/ruff format ."
wait "$types"
