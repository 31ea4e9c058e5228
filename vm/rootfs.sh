#!/usr/bin/env bash
# rootfs.sh TREE [PACKAGE...]: makes a Debian or Ubuntu system in the folder TREE from the distribution's
# packages alone and turns it into a lab machine by vm/provision.sh. Image and chroot test begin with it.
# SUITE is the distribution's release, such as bookworm or noble; ARCHITECTURE (arm64) is another one than
# this machine's, whose programs then run through qemu-user-static.
#
# The kit of this clone (its last commit, whose switch must be the one that was built) is put into the
# home of the user lab. Its programs and Python packages come along in /opt/vitrine, so that the machine
# needs neither Rust nor a network.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/versions.env
. vm/chroot.sh

tree=$1
shift
native=$(dpkg --print-architecture)
architecture=${ARCHITECTURE:-$native}
binaries=$(vm/cross.sh "$architecture")
[ "$(id -u)" -eq 0 ] || fail "a Debian system is made by root only: run the command again with sudo."
for tool in mmdebstrap git; do
    command -v "$tool" >/dev/null || fail "$tool is missing: install it (apt install $tool), then run the command again."
done

fetch_wheels() {
    # By the tree's own Python: which packages another one needs beside the pinned ones, pip cannot say.
    # This machine's authorities are lent to it, for a network that looks into encrypted connections.
    local fetcher=/tmp/fetcher authorities=/tmp/authorities.crt
    cp -L /etc/ssl/certs/ca-certificates.crt "$tree$authorities" &&
        chroot_run "$tree" /usr/bin/python3 -m venv "$fetcher" &&
        fetch_listed requirements.txt &&
        fetch_listed overrides.txt --no-deps &&
        rm -rf "$tree$fetcher" "$tree$authorities"
}
# fetch_listed LIST [OPTION]: the packages of a list in vm.
fetch_listed() {
    chroot_run "$tree" env PIP_CERT="$authorities" "$fetcher/bin/pip" download --disable-pip-version-check \
        --no-cache-dir --only-binary=:all: --dest /opt/vitrine/wheels \
        --requirement "/home/$IMAGE_USER/vitrine/vm/$1" "${@:2}"
}
archive=()
case $SUITE in
    bookworm | trixie) ;;
    jammy | noble)
        [ -r "$UBUNTU_KEYRING" ] ||
            fail "$UBUNTU_KEYRING is missing, which says whose packages are Ubuntu's: install ubuntu-keyring, or name the file with UBUNTU_KEYRING=."
        archive=("--components=main,universe" --keyring="$UBUNTU_KEYRING")
        ;;
    *) fail "'$SUITE' is none of the releases that the kit is for: bookworm, trixie, jammy, noble." ;;
esac
make_base() {
    # The first user is the first id, 1000, as on any Debian machine.
    mmdebstrap --variant=minbase --architectures="$architecture" "${archive[@]}" --include="$(IFS=,; echo "apt,ca-certificates,git,make,python3,sudo $*" | tr ' ' ',')" \
        "$SUITE" "$tree" &&
        echo vitrine >"$tree/etc/hostname" &&
        printf '127.0.0.1 localhost vitrine %s\n::1 localhost\n' "$(uname -n)" >"$tree/etc/hosts" &&
        chroot_run "$tree" useradd --create-home --shell /bin/bash --groups sudo "$IMAGE_USER" &&
        echo "$IMAGE_USER:$IMAGE_PASSWORD" | chroot_run "$tree" chpasswd &&
        echo "$IMAGE_USER ALL=(ALL) NOPASSWD: ALL" >"$tree/etc/sudoers.d/lab" &&
        chmod 0440 "$tree/etc/sudoers.d/lab"
}
add_kit() {
    local kit=/home/$IMAGE_USER/vitrine
    vm/carry.sh "$binaries" "$tree/opt/vitrine" &&
        git clone --quiet --no-hardlinks --single-branch --depth 1 "file://$PWD" "$tree$kit" &&
        # The copy came from a folder that the machine will not have.
        git -C "$tree$kit" remote remove origin &&
        chroot_run "$tree" chown -R "$IMAGE_USER:$IMAGE_USER" "$kit" &&
        chroot_run "$tree" su - "$IMAGE_USER" -c "cd vitrine && vm/packages.sh" &&
        fetch_wheels
}

step "A system of $SUITE ($architecture) from its packages into $tree"
quietly build/log/rootfs.log make_base "$@" ||
    fail "mmdebstrap could not make a system of $SUITE (see build/log/rootfs.log): check the network and the room on the disk."
trap 'chroot_umount "$tree"' EXIT
chroot_mount "$tree"
step "The kit, its programs, the distribution's packages and those of Python"
git diff --quiet HEAD || step "What is not committed stays here: the copy is that of the last commit"
quietly build/log/rootfs-kit.log add_kit ||
    fail "the kit could not be put into $tree (see build/log/rootfs-kit.log): check the network and the room on the disk."
chroot_run "$tree" su - "$IMAGE_USER" -c "cd vitrine && vm/prebuilt.sh" ||
    fail "the programs in build/bin are not made from the last commit's switch/: commit or remove what git status --ignored switch names, run make build, then run the command again."
step "Provisioning inside"
chroot_run "$tree" su - "$IMAGE_USER" -c "cd vitrine && WIRESHARK=tshark P4LANG=${P4LANG:-yes} vm/provision.sh"

step "Warming up what every lab would else do first"
chroot_run "$tree" su - "$IMAGE_USER" -c \
    "cd vitrine && build/venv/bin/python -m compileall -q controller topo apps labs vitrine && sudo build/venv/bin/python -c 'import matplotlib.font_manager'"
