#!/usr/bin/env bash
# make bless: what the compiler says now becomes what tests/diagnostics expect. Read the difference
# before you commit it: it is what users will see.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

(cd switch && BLESS=1 cargo test --quiet --locked -p vitrine-p4c --test diagnostics >/dev/null)
git diff --stat -- tests/diagnostics
