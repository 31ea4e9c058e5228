#!/usr/bin/env bash
# Installs the browser that the page's tests drive, Debian's Chromium. Ubuntu has Chromium as a snap
# only, which cannot be driven; there the tests of the page in a browser are skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

if is_there command -v chromium; then exit 0; fi
case $distribution in
debian*) ;;
*)
    say "no chromium here: the tests of the page in a browser are left out"
    exit 0
    ;;
esac
if would "install the package chromium, for the tests of the page"; then exit 0; fi
step "Installing chromium, for the tests of the page"
install_chromium() {
    vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium fonts-dejavu-core
}
quietly build/log/browser.log install_chromium ||
    fail "chromium could not be installed (see build/log/browser.log): check the network and the package sources, then run the command again."
