#!/usr/bin/env bash
# Makes build/image/vitrine.qcow2: a bootable lab machine from Debian's packages alone. It boots by BIOS
# (x86-64) and by UEFI, logs in on the screen and on the first serial port, and needs no network.
# ARCHITECTURE=arm64 makes build/image/vitrine-arm64.qcow2 on x86-64, and the other way round.
#
#   1  BIOS boot (x86-64)   GRUB's core for a BIOS
#   2  EFI system           GRUB for UEFI, under the name that every firmware looks for
#   3  root                 ext4, with the one grub.cfg that both read
#
# The disk is written as a file, part by part: neither loop devices nor partitions of this machine's
# kernel are needed, so this works in a container too.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/versions.env
. vm/chroot.sh

[ "$(id -u)" -eq 0 ] || exec vm/as_root.sh "$0"
for tool in mmdebstrap qemu-img sfdisk mke2fs mkfs.vfat mcopy; do
    command -v "$tool" >/dev/null ||
        fail "$tool is missing: apt install mmdebstrap qemu-utils fdisk dosfstools e2fsprogs mtools, then run the command again."
done

architecture=${ARCHITECTURE:-$(dpkg --print-architecture)}
case $architecture in
    amd64) kernel=linux-image-amd64 loaders=(grub-pc-bin grub-efi-amd64-bin) efi=x86_64-efi boot=BOOTX64.EFI console=ttyS0 ;;
    arm64) kernel=linux-image-arm64 loaders=(grub-efi-arm64-bin) efi=arm64-efi boot=BOOTAA64.EFI console=ttyAMA0 ;;
    *) fail "images are made for x86-64 and arm64 only." ;;
esac

case $SUITE in
    bookworm | trixie) ;;
    *) fail "images are made of Debian (bookworm or trixie), and not of $SUITE." ;;
esac

image=build/image/vitrine${ARCHITECTURE:+-$ARCHITECTURE}.qcow2
work=build/image/${ARCHITECTURE:-native}
tree=$work/root
disk=$work/vitrine.raw
clean_up() {
    chroot_umount "$tree"
    rm -rf "$work"
}
clean_up
rm -f "$image"
mkdir -p "$work"
trap clean_up EXIT

vm/rootfs.sh "$tree" "$kernel" "${loaders[@]}" grub-common systemd-sysv systemd-resolved systemd-timesyncd \
    dbus e2fsprogs kmod nano less man-db iputils-ping

# ---- what makes a system of the tree ------------------------------------------------------------

step "Configuring the machine"
echo vitrine >"$tree/etc/hostname"
printf '127.0.0.1 localhost vitrine\n::1 localhost\n' >"$tree/etc/hosts"
printf '[Match]\nName=en* eth*\n\n[Network]\nDHCP=yes\n\n[DHCPv4]\nUseDomains=yes\n' >"$tree/etc/systemd/network/80-dhcp.network"
printf 'LABEL=vitrine / ext4 errors=remount-ro 0 1\n' >"$tree/etc/fstab"
cat >"$tree/etc/motd" <<END

  A lab machine of Vitrine. The kit is in ~/vitrine:

      cd vitrine
      make run             # the first lab
      make help            # everything else
      less vm/README.md    # about this machine

END
mkdir -p "$tree/boot/grub"
# /vmlinuz and /initrd.img are Debian's links to the newest kernel, so an upgrade needs no new menu.
cat >"$tree/boot/grub/grub.cfg" <<END
set timeout=1
serial --unit=0 --speed=115200
terminal_input console serial
terminal_output console serial
menuentry "Vitrine" {
    linux /vmlinuz root=LABEL=vitrine ro console=tty0 console=$console,115200
    initrd /initrd.img
}
END
chroot "$tree" systemctl --quiet enable systemd-networkd systemd-resolved systemd-timesyncd "serial-getty@$console"
# Nothing waits for a network that may never come.
chroot "$tree" systemctl --quiet mask systemd-networkd-wait-online.service
chroot "$tree" apt-get clean
rm -rf "$tree"/var/lib/apt/lists/* "$tree"/var/cache/man/*
ln -sfn /run/systemd/resolve/stub-resolv.conf "$tree/etc/resolv.conf"
# Each copy of the image gets an identity of its own when it boots.
: >"$tree/etc/machine-id"

# ---- GRUB, which looks for the root by its label ------------------------------------------------

cat >"$tree/boot/grub/find.cfg" <<'END'
search --no-floppy --label vitrine --set=root
set prefix=($root)/boot/grub
configfile $prefix/grub.cfg
END
modules=(part_gpt ext2 search search_label normal configfile linux serial terminal echo test)
chroot "$tree" grub-mkstandalone --format="$efi" --output="/boot/grub/$boot" \
    --modules="${modules[*]}" --locales= --fonts= --themes= boot/grub/grub.cfg=/boot/grub/find.cfg

# ---- the disk, in sectors of 512 bytes ----------------------------------------------------------

step "Filling a disk of $IMAGE_GB GB"
mib=2048
bios_at=$((1 * mib)) bios_size=$((1 * mib))
efi_at=$((2 * mib)) efi_size=$((64 * mib))
# The last MiB of the disk holds the copy of its partition table.
root_at=$((66 * mib)) root_size=$(((IMAGE_GB * 1024 - 67) * mib))

truncate --size "${IMAGE_GB}G" "$disk"
sfdisk --quiet --label gpt "$disk" <<END
start=$bios_at, size=$bios_size, type=21686148-6449-6E6F-744E-656564454649
start=$efi_at, size=$efi_size, type=uefi
start=$root_at, size=$root_size, type=linux
END

mkfs.vfat -C "$work/efi.vfat" -F 32 -n EFI $((efi_size / 2)) >/dev/null
mmd -i "$work/efi.vfat" ::/EFI ::/EFI/BOOT
mcopy -i "$work/efi.vfat" "$tree/boot/grub/$boot" ::/EFI/BOOT/
dd if="$work/efi.vfat" of="$disk" seek="$efi_at" conv=notrunc,sparse status=none

if [ -d "$tree/usr/lib/grub/i386-pc" ]; then
    chroot "$tree" grub-mkimage --format=i386-pc --output=/boot/grub/core.img --config=/boot/grub/find.cfg \
        --prefix=/boot/grub biosdisk "${modules[@]}"
    # le VALUE BYTES: a number as its bytes, the lowest first.
    le() {
        local value=$1 count
        for ((count = $2; count > 0; count--, value >>= 8)); do
            printf '%b' "\\x$(printf %02x $((value & 255)))"
        done
    }
    # The boot sector's code ends before the partition table; at 0x5c it keeps the sector of the core.
    # The core's first sector keeps, 12 bytes before its end, the sector where the rest of it begins.
    dd if="$tree/usr/lib/grub/i386-pc/boot.img" of="$disk" bs=440 count=1 conv=notrunc status=none
    le "$bios_at" 8 | dd of="$disk" bs=1 seek=$((0x5c)) conv=notrunc status=none
    dd if="$tree/boot/grub/core.img" of="$disk" seek="$bios_at" conv=notrunc status=none
    le $((bios_at + 1)) 8 | dd of="$disk" bs=1 seek=$((bios_at * 512 + 0x1f4)) conv=notrunc status=none
fi

# Only what GRUB of Debian 12 can read, whatever this machine's mke2fs would choose.
features=none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,flex_bg,sparse_super,large_file,huge_file,dir_nlink,extra_isize
chroot_umount "$tree"
mke2fs -q -F -t ext4 -O "$features" -L vitrine -d "$tree" -E offset=$((root_at * 512)) "$disk" $((root_size / 2))k

qemu-img convert -O qcow2 -c "$disk" "$image"
if [ -n "${SUDO_UID:-}" ]; then chown "$SUDO_UID" "${image%/*}" "$image"; fi
step "$image: $(du -h "$image" | cut -f1); log in as $IMAGE_USER with the password $IMAGE_PASSWORD"
