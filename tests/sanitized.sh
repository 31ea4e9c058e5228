#!/usr/bin/env bash
# sanitized.sh: the tests of `ports` and `wire` under AddressSanitizer. An access outside of an
# allocation, or after it is freed, ends its test. Like the fuzzers' instruments it is a part of the
# pinned compiler. Without root, tests that open packet sockets are left out, with a note.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

target=$(rustc -vV | sed -n 's/^host: //p')
packages=(vitrine-ports vitrine-wire)
step "AddressSanitizer: ${packages[*]} (a build of its own)"
# With a target named, what runs while building is not instrumented.
(cd switch && RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/sanitized \
    cargo test --quiet --locked --target "$target" "${packages[@]/#/--package=}")
