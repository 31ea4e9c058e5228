#!/usr/bin/env bash
# Makes the kit ready to run: packages, Rust, Python, the build. Safe to run again: what is there is
# left alone, and a second run takes seconds. Refuses first, installs later: whatever would stop it
# half way is looked for before the first change. vm/provision.sh makes a whole lab machine.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

# While a container is built there are no namespaces yet; the first lab looks again.
[ "${NAMESPACES:-now}" = later ] || dry_run || vm/privilege.sh
vm/packages.sh
is_there vm/prebuilt.sh || (. vm/rust.sh)
vm/python.sh
vm/build.sh
