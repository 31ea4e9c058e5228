#!/usr/bin/env bash
# Makes build/image/vitrine.qcow2: a bootable lab machine from Debian's packages alone, for this
# machine's architecture. It boots by BIOS (x86-64) and by UEFI, logs in on the screen and on the
# first serial port, and needs no network.
#
#   1  BIOS boot (x86-64)   room for GRUB
#   2  EFI system           GRUB for UEFI, under the name that every firmware looks for
#   3  root                 ext4
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/versions.env
. vm/chroot.sh

[ "$(id -u)" -eq 0 ] || exec vm/as_root.sh "$0"
for tool in mmdebstrap qemu-img sfdisk mkfs.ext4 mkfs.vfat losetup; do
    command -v "$tool" >/dev/null ||
        fail "$tool is missing: apt install mmdebstrap qemu-utils fdisk dosfstools e2fsprogs, then run the command again."
done

case $(dpkg --print-architecture) in
    amd64) kernel=linux-image-amd64 targets=(i386-pc x86_64-efi) loaders=(grub-pc-bin grub-efi-amd64-bin) console=ttyS0 ;;
    arm64) kernel=linux-image-arm64 targets=(arm64-efi) loaders=(grub-efi-arm64-bin) console=ttyAMA0 ;;
    *) fail "images are made for x86-64 and arm64 only." ;;
esac

work=build/image
tree=$work/root
disk=$work/vitrine.raw
loop=
clean_up() {
    chroot_umount "$tree"
    for place in "$tree/boot/efi" "$work/mnt"; do
        ! mountpoint -q "$place" || umount --recursive "$place"
    done
    [ -z "$loop" ] || losetup --detach "$loop"
    rm -rf "$tree" "$disk"
}
rm -rf "$work"
mkdir -p "$work/mnt"
trap clean_up EXIT

vm/rootfs.sh "$tree" "$kernel" "${loaders[@]}" grub2-common systemd-sysv systemd-resolved systemd-timesyncd \
    dbus kmod nano less man-db iputils-ping

# ---- what makes a system of the tree ------------------------------------------------------------

step "Configuring the machine"
echo vitrine >"$tree/etc/hostname"
printf '127.0.0.1 localhost vitrine\n::1 localhost\n' >"$tree/etc/hosts"
printf '[Match]\nName=en* eth*\n\n[Network]\nDHCP=yes\n\n[DHCPv4]\nUseDomains=yes\n' >"$tree/etc/systemd/network/80-dhcp.network"
printf 'LABEL=vitrine / ext4 errors=remount-ro 0 1\nLABEL=EFI /boot/efi vfat umask=0077,nofail 0 2\n' >"$tree/etc/fstab"
cat >"$tree/etc/default/grub" <<END
GRUB_TIMEOUT=1
GRUB_DISTRIBUTOR=Vitrine
GRUB_CMDLINE_LINUX="console=tty0 console=$console,115200"
GRUB_TERMINAL="console serial"
GRUB_SERIAL_COMMAND="serial --speed=115200"
GRUB_DISABLE_OS_PROBER=true
END
cat >"$tree/etc/motd" <<END

  A lab machine of Vitrine. The kit is in ~/vitrine:

      cd vitrine
      make run      # the first lab
      make help     # everything else
      vm/README.md  # about this machine

END
chroot "$tree" systemctl --quiet enable systemd-networkd systemd-resolved systemd-timesyncd "serial-getty@$console"
# Nothing waits for a network that may never come.
chroot "$tree" systemctl --quiet mask systemd-networkd-wait-online.service
chroot "$tree" apt-get clean
rm -rf "$tree"/var/lib/apt/lists/* "$tree"/var/cache/man/*
# Each copy of the image gets an identity of its own when it boots.
: >"$tree/etc/machine-id"

# ---- the disk -----------------------------------------------------------------------------------

step "Filling a disk of $IMAGE_GB GB"
truncate --size "${IMAGE_GB}G" "$disk"
sfdisk --quiet --label gpt "$disk" <<END
size=1MiB, type=21686148-6449-6E6F-744E-656564454649
size=64MiB, type=uefi
type=linux
END
loop=$(losetup --find --show --partscan "$disk")
mkfs.vfat -F 32 -n EFI "${loop}p2" >/dev/null
mkfs.ext4 -q -L vitrine "${loop}p3"
mount "${loop}p3" "$work/mnt"
cp -a "$tree/." "$work/mnt/"
rm -rf "$tree"
tree=$work/mnt
mkdir -p "$tree/boot/efi"
mount "${loop}p2" "$tree/boot/efi"
chroot_mount "$tree"

install_grub() {
    local target
    for target in "${targets[@]}"; do
        # --removable: no entry in this machine's own firmware.
        chroot_run "$tree" grub-install --target="$target" --removable --no-nvram "$loop" || return 1
    done
    chroot_run "$tree" update-grub
}
quietly build/log/grub.log install_grub || fail "GRUB could not be installed (see build/log/grub.log)."
ln -sfn /run/systemd/resolve/stub-resolv.conf "$tree/etc/resolv.conf"
chroot_umount "$tree"
umount "$tree/boot/efi" "$tree"
losetup --detach "$loop"
loop=

qemu-img convert -O qcow2 -c "$disk" "$work/vitrine.qcow2"
[ -z "${SUDO_UID:-}" ] || chown "$SUDO_UID:$SUDO_GID" "$work" "$work/vitrine.qcow2"
step "$work/vitrine.qcow2: $(du -h "$work/vitrine.qcow2" | cut -f1); log in as $IMAGE_USER with the password $IMAGE_PASSWORD"
