#!/usr/bin/env bash
# Makes the kit ready to run: packages, Rust, Python, the build. Safe to run again: what is there is
# left alone, and a second run takes seconds. Refuses first, installs later: whatever would stop it
# half way is looked for before the first change. vm/provision.sh makes a whole lab machine.
#
# Where there can be no live network it prepares the virtual world only, and says so.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh
. vm/worlds.sh

# While a container is built there are no namespaces yet; the first lab looks again.
if [ "${NAMESPACES:-now}" = later ] || dry_run; then
    export WORLD=live
else
    choose_world
    say_world
    [ "$WORLD" = virtual ] || vm/privilege.sh
fi
vm/packages.sh
is_there vm/prebuilt.sh || (. vm/rust.sh)
vm/modules.sh
vm/build.sh
