#!/usr/bin/env bash
# bench.sh CRATE: runs the benchmarks of one Rust crate on an otherwise idle machine.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh
cd switch && exec cargo bench --locked --package "vitrine-$1"
