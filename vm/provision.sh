#!/usr/bin/env bash
# Makes a fresh machine ready: packages, Rust, Python, the build. Safe to run again: what is there is
# left alone, and a second run takes seconds. Refuses first, installs later: whatever would stop it
# half way is looked for before the first change.
set -euo pipefail
cd "$(dirname "$0")/.."

vm/privilege.sh
vm/packages.sh
(. vm/rust.sh)
vm/python.sh
vm/build.sh
