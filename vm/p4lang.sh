#!/usr/bin/env bash
# p4lang.sh: installs the P4 project's p4c and simple_switch from its own package repository for this
# distribution, for `--toolchain p4lang`. The kit works without them: a failure is a note and
# exit status 0. Programs that are on the path already stay.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh
. vm/versions.env

# note REASON: the P4 project's tools are missing, which is no failure.
note() {
    step "Without the P4 project's p4c and simple_switch: $1. The kit's own compiler and switch are complete without them; --toolchain p4lang is not available on this machine."
    exit 0
}

if is_there command -v p4c && is_there command -v simple_switch_grpc; then exit 0; fi

folder=$(p4lang_folder) || note "there are no packages for '$distribution'"
address=$P4LANG_REPOSITORY/$folder
if would "install p4c $P4LANG_P4C_VERSION and simple_switch $P4LANG_BMV2_VERSION from $address, if it can be reached"; then exit 0; fi
mkdir -p build/log build/p4lang-packages
key=build/p4lang-packages/Release.key

curl --proto '=https,http' --location --silent --show-error --fail --max-time 60 \
    --output "$key" "$address/Release.key" 2>build/log/p4lang.log ||
    note "$address cannot be reached, or has nothing for this distribution (see build/log/p4lang.log)"
gpg --batch --yes --dearmor --output "$key.gpg" "$key" 2>>build/log/p4lang.log ||
    note "what $address/Release.key holds is no key (see build/log/p4lang.log)"

# add_source: the repository beside the distribution's own, good for its own packages only.
add_source() {
    vm/as_root.sh install -D -m 0644 "$key.gpg" /usr/share/keyrings/p4lang.gpg &&
        echo "deb [signed-by=/usr/share/keyrings/p4lang.gpg] $address/ /" >"$key.list" &&
        vm/as_root.sh install -m 0644 "$key.list" /etc/apt/sources.list.d/p4lang.list &&
        vm/as_root.sh apt-get update -q
}
# A source that does not answer would make every later apt-get fail.
drop_source() {
    vm/as_root.sh rm -f /etc/apt/sources.list.d/p4lang.list
}
# install_tools P4C BMV2: both packages, each with `=VERSION` or in its newest version.
install_tools() {
    vm/as_root.sh env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qy --no-install-recommends "p4lang-p4c$1" "p4lang-bmv2$2"
}

step "Installing p4c and simple_switch from $address"
if ! quietly build/log/p4lang.log add_source; then
    drop_source
    note "$address is no package source that can be used (see build/log/p4lang.log)"
fi
if ! quietly build/log/p4lang.log install_tools "=$P4LANG_P4C_VERSION*" "=$P4LANG_BMV2_VERSION*" 2>/dev/null; then
    step "$address does not have p4c $P4LANG_P4C_VERSION and bmv2 $P4LANG_BMV2_VERSION, with which the kit was tried; taking its newest"
    if ! quietly build/log/p4lang.log install_tools "" ""; then
        drop_source
        note "its packages cannot be installed for $(dpkg --print-architecture) (see build/log/p4lang.log)"
    fi
fi
