#!/usr/bin/env bash
# make conformance P4C=<checkout of p4lang/p4c>; see __main__.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${P4C:-}" ]; then
    echo "P4C must name a checkout of p4lang/p4c: make conformance P4C=../p4c" >&2
    exit 2
fi
list=${P4C_LIST:-../shared/conformance/p4c-compiles.txt}
exec build/venv/bin/python -m tests.conformance --p4c "$P4C" --list "$list"
