#!/usr/bin/env bash
# packages.sh [first|tests]: installs the distribution's packages that the kit needs and does not find
# (vm/distribution.sh lists the distributions): with `first` only those that compiler and Python need, with
# `tests` also the browser of the tests. A tool that is there already, however it was installed, is left
# alone, so this works on other distributions too once their owner has installed the tools.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

# package, and the shell condition that says it is there.
needed=(
    "build-essential    command -v cc || vm/prebuilt.sh"
    "ca-certificates    test -e /etc/ssl/certs/ca-certificates.crt"
    "curl               command -v curl"
    "pkg-config         command -v pkg-config || vm/prebuilt.sh"
    "python3            test -x /usr/bin/python3"
    "python3-venv       /usr/bin/python3 -c 'import ensurepip, venv'"
)
# Additional requirements of live networks.
[ "${WORLD:-live}" = virtual ] || [ "${1:-}" = first ] || needed+=(
    "ethtool            command -v ethtool"
    "iperf3             command -v iperf3"
    "iproute2           command -v ss"
    "iputils-ping       command -v ping"
    "libpcap0.8         ldconfig -p | grep -q 'libpcap\.so'"
    "mininet            command -v mnexec && /usr/bin/python3 -c 'import mininet.net'"
    "procps             command -v sysctl"
)

# Tools such as ethtool live in sbin, which is not on every user's path.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
missing=()
for line in "${needed[@]}"; do
    read -r package probe <<<"$line"
    is_there bash -c "$probe" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    [ "${1:-}" != tests ] || vm/browser.sh
    exit 0
fi

p4lang_folder >/dev/null ||
    fail "this is '$distribution', and packages are installed on $distributions_named only: install ${missing[*]} yourself, then run the command again."

if would "install the packages ${missing[*]}"; then exit 0; fi
step "Installing packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# Recommended packages would bring Open vSwitch and its daemons, which nothing here uses.
install_missing() {
    vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
}
quietly build/log/packages.log install_missing ||
    fail "the packages ${missing[*]} could not be installed (see build/log/packages.log): check the network and the package sources (on Ubuntu, universe must be one of them), then run the command again."
[ "${1:-}" != tests ] || vm/browser.sh
