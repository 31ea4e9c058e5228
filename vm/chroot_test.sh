#!/usr/bin/env bash
# Runs vm/provision.sh in a fresh Debian or Ubuntu in build/chroot, as the container file does, then
# again, and looks at what is there: the same script makes the image, the virtual machine and the
# container. SUITE=noble tries Ubuntu 24.04, ARCHITECTURE=arm64 the other processor (see vm/rootfs.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/versions.env
. vm/chroot.sh

[ "$(id -u)" -eq 0 ] || exec vm/as_root.sh "$0"
tree=build/chroot-$SUITE${ARCHITECTURE:+-$ARCHITECTURE}
clean_up() {
    chroot_umount "$tree"
    rm -rf "$tree"
}
rm -rf "$tree"
trap clean_up EXIT
vm/rootfs.sh "$tree" procps
chroot_mount "$tree"

# inside COMMAND: as the lab's user, in the kit.
inside() {
    chroot_run "$tree" su - "$IMAGE_USER" -c "cd vitrine && $1"
}

step "A second time: nothing is left to do"
left=$(inside 'WIRESHARK=tshark P4LANG=no vm/provision.sh --dry-run') || fail "the dry run failed: $left"
[ "$(wc -l <<<"$left")" -eq 1 ] || fail "after provisioning there is something left to do: $left"
again=$(inside 'WIRESHARK=tshark vm/provision.sh' 2>&1) || fail "the second run failed: $again"
if grep -E 'Installing|Building|Compiling' <<<"$again" | grep -v "P4 project"; then
    fail "the second run did again what the first one had done (the lines above)."
fi

step "What is there"
for probe in \
    'build/bin/vitrine-switch --version' \
    'build/dropin/simple_switch_grpc --version' \
    'test -s build/p4/router.json' \
    'mnexec -h || test $? -le 1' \
    'iperf3 --version' \
    'tshark -G protocols | grep "In-band Network Telemetry"' \
    'build/venv/bin/python -c "import p4runtime_sh.shell, mininet.net, matplotlib"' \
    'build/bin/vitrine labs' \
    'test -x /usr/local/bin/p4runtime-sh' \
    'build/bin/vitrine down'; do
    said=$(inside "$probe" 2>&1) || fail "in the fresh machine \`$probe\` failed: $said"
done
step "The kit's Python under $(inside 'python3 --version')"
said=$(inside 'build/venv/bin/python -m pytest -q -m "not live" tests/controller tests/topo tests/apps tests/labs' 2>&1) ||
    fail "the Python tests failed there: $said"
tail -n 1 <<<"$said"

if [ "${ARCHITECTURE:-native}" = native ]; then
    step "The first lab, in a network namespace of its own"
    said=$(chroot_network "$tree" su - "$IMAGE_USER" -c "cd vitrine && make --no-print-directory run DURATION=5" 2>&1) ||
        fail "the first lab failed there: $said"
    inside 'test -s out/bufferbloat/latest/report.html' || fail "the first lab left no report."
fi
step "A fresh $SUITE becomes a lab machine, and stays one"
