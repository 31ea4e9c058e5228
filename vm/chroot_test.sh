#!/usr/bin/env bash
# Runs vm/provision.sh in a fresh Debian in build/chroot, as the container file does, then again, and
# looks at what is there: the same script makes the image, the virtual machine and the container.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/versions.env
. vm/chroot.sh

[ "$(id -u)" -eq 0 ] || exec vm/as_root.sh "$0"
tree=build/chroot
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

step "Provisioning a second time: nothing is left to do"
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
    'make --no-print-directory labs' \
    'test -x /usr/local/bin/p4runtime-sh' \
    'sudo build/venv/bin/python -m topo.down'; do
    said=$(inside "$probe" 2>&1) || fail "in the fresh machine \`$probe\` failed: $said"
done
step "A fresh Debian $DEBIAN_RELEASE becomes a lab machine, and stays one"
