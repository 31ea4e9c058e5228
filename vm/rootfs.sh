#!/usr/bin/env bash
# rootfs.sh TREE [PACKAGE...]: makes a Debian system in the folder TREE from Debian's packages alone
# and turns it into a lab machine by vm/provision.sh. Image and chroot test begin with it.
#
# The kit of this clone (its last commit) is put into the home of the user lab. Its programs and
# Python packages come along in /opt/vitrine, so that the machine needs neither Rust nor a network.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/versions.env
. vm/chroot.sh

tree=$1
shift
[ "$(id -u)" -eq 0 ] || fail "a Debian system is made by root only: run the command again with sudo."
for tool in mmdebstrap git; do
    command -v "$tool" >/dev/null || fail "$tool is missing: install it (apt install $tool), then run the command again."
done
for binary in vitrine-p4c vitrine-sim vitrine-switch; do
    [ -x "build/bin/$binary" ] || fail "build/bin/$binary is missing: run make build first."
done

fetch_wheels() {
    # For the Python of the tree, whatever this machine's own is.
    local version tag machine
    version=$(chroot_run "$tree" /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    machine=$(uname -m)
    local platforms=()
    for tag in manylinux2014 manylinux_2_17 manylinux_2_28; do platforms+=(--platform "${tag}_$machine"); done
    build/venv/bin/pip download --disable-pip-version-check --only-binary=:all: \
        --python-version "$version" "${platforms[@]}" \
        --requirement vm/requirements.txt --dest "$tree/opt/vitrine/wheels"
}
make_base() {
    # The first user is the first id, 1000, as on any Debian machine.
    mmdebstrap --variant=minbase --include="$(IFS=,; echo "ca-certificates,git,make,python3,sudo $*" | tr ' ' ',')" \
        "$DEBIAN_RELEASE" "$tree" &&
        chroot_run "$tree" useradd --create-home --shell /bin/bash --groups sudo "$IMAGE_USER" &&
        echo "$IMAGE_USER:$IMAGE_PASSWORD" | chroot_run "$tree" chpasswd &&
        echo "$IMAGE_USER ALL=(ALL) NOPASSWD: ALL" >"$tree/etc/sudoers.d/lab" &&
        chmod 0440 "$tree/etc/sudoers.d/lab"
}
add_kit() {
    mkdir -p "$tree/opt/vitrine/bin"
    cp -L build/bin/vitrine-* "$tree/opt/vitrine/bin/"
    git rev-parse HEAD:switch >"$tree/opt/vitrine/switch-tree"
    fetch_wheels
    git clone --quiet --no-hardlinks --single-branch --depth 1 "file://$PWD" "$tree/home/$IMAGE_USER/vitrine"
    # The copy came from a folder that the machine will not have.
    git -C "$tree/home/$IMAGE_USER/vitrine" remote remove origin
    chroot_run "$tree" chown -R "$IMAGE_USER:$IMAGE_USER" "/home/$IMAGE_USER/vitrine"
}

step "Debian $DEBIAN_RELEASE from its packages into $tree"
quietly build/log/rootfs.log make_base "$@" ||
    fail "mmdebstrap could not make a Debian system (see build/log/rootfs.log): check the network and the room on the disk."
trap 'chroot_umount "$tree"' EXIT
chroot_mount "$tree"
step "The kit, its programs and its Python packages"
quietly build/log/rootfs-kit.log add_kit ||
    fail "the kit could not be put into $tree (see build/log/rootfs-kit.log)."
step "Provisioning inside"
chroot_run "$tree" su - "$IMAGE_USER" -c "cd vitrine && WIRESHARK=tshark P4LANG=${P4LANG:-yes} vm/provision.sh"

step "Warming up what every lab would else do first"
chroot_run "$tree" su - "$IMAGE_USER" -c \
    "cd vitrine && build/venv/bin/python -m compileall -q controller labs topo build/python && sudo build/venv/bin/python -c 'import matplotlib.font_manager'"
