#!/usr/bin/env bash
# Succeeds where the Rust programs need not be built: a lab machine carries them in /opt/vitrine/bin,
# with the identity of the sources they were made from (vm/carry.sh), and these are still the sources
# here. So a machine without Rust and without a network works until the switch is changed.
#
# VITRINE_PREBUILT names another folder.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/sources.sh

prebuilt=${VITRINE_PREBUILT:-/opt/vitrine}
[ -x "$prebuilt/bin/vitrine" ] && [ -r "$prebuilt/switch-sources" ] || exit 1
[ "$(cat "$prebuilt/switch-sources")" = "$(switch_sources)" ]
