#!/usr/bin/env bash
# Removes what the build made: build/, out/, Rust's target folder and Python's caches.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build out switch/target ./*.egg-info .pytest_cache .ruff_cache
find apps controller course guests insides labs tests topo vitrine -name __pycache__ -type d -prune -exec rm -rf {} +
