#!/usr/bin/env bash
# Succeeds where the Rust programs need not be built: a lab machine carries them in /opt/vitrine/bin,
# with the identity of the sources they were made from, and these are still the sources here.
# So a machine without Rust and without a network works until somebody changes the switch.
#
# VITRINE_PREBUILT names another folder (used by the tests).
set -euo pipefail
cd "$(dirname "$0")/.."

prebuilt=${VITRINE_PREBUILT:-/opt/vitrine}
[ -x "$prebuilt/bin/vitrine-switch" ] && [ -r "$prebuilt/switch-tree" ] || exit 1
# Another owner's repository would be refused by git; whoever may read the sources may compare them.
repository=(git -c safe.directory='*')
[ "$(cat "$prebuilt/switch-tree")" = "$("${repository[@]}" rev-parse HEAD:switch 2>/dev/null)" ] || exit 1
"${repository[@]}" diff --quiet HEAD -- switch
