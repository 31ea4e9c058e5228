#!/usr/bin/env bash
# tools.sh: what a lab machine has beside the kit itself: Wireshark with the kit's dissectors,
# tcpdump, p4runtime-shell on the path. Safe to run again.
#
# WIRESHARK=tshark leaves the window out, for machines without a screen.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
wanted=(tcpdump tshark git make gpg)
[ "${WIRESHARK:-wireshark}" = tshark ] || wanted+=(wireshark)
missing=()
for tool in "${wanted[@]}"; do
    is_there command -v "$tool" || missing+=("$tool")
done

install_missing() {
    # Whether users may capture: only root does here, and the labs run as root.
    echo "wireshark-common wireshark-common/install-setuid boolean false" |
        vm/as_root.sh debconf-set-selections &&
        vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
}
if [ ${#missing[@]} -gt 0 ] && ! would "install the tools ${missing[*]}"; then
    step "Installing tools: ${missing[*]}"
    quietly build/log/tools.log install_missing ||
        fail "the packages ${missing[*]} could not be installed (see build/log/tools.log): check the network and the package sources, then run the command again."
fi

vm/wireshark.sh

# `vitrine shell` does the same; this is the name that the field knows.
command=/usr/local/bin/p4runtime-sh
printf -v content '#!/bin/sh\nexec make --no-print-directory -C %q shell "$@"' "$PWD"
# leads_here: whether the command is there and leads to this clone.
leads_here() {
    [ "$(cat "$command" 2>/dev/null)" = "$content" ]
}
if ! is_there leads_here && ! would "put p4runtime-sh into ${command%/*}"; then
    echo "$content" >build/p4runtime-sh
    vm/as_root.sh install -m 0755 build/p4runtime-sh "$command"
fi
