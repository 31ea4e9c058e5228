# A Debian tree with the kernel's file systems mounted, so that programs run inside. To be sourced.

# chroot_mount TREE: mounts /proc, /sys and /dev of this machine, and takes over its name servers.
chroot_mount() {
    # A root that is no mount point cannot be made private, which `unshare --mount` wants to do.
    mountpoint -q "$1" || mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount -t sysfs sysfs "$1/sys"
    mount --rbind --make-rslave /dev "$1/dev"
    # In Debian it may be a link to a file that only a running system has.
    rm -f "$1/etc/resolv.conf"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
}

# chroot_umount TREE: the reverse; also after a half-done chroot_mount.
chroot_umount() {
    local place
    for place in dev sys proc .; do
        ! mountpoint -q "$1/$place" || umount --recursive "$1/$place"
    done
}

# chroot_run TREE COMMAND...: runs a command inside, with an environment of its own.
chroot_run() {
    local tree=$1
    shift
    chroot "$tree" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# chroot_network TREE COMMAND...: the same with a network of its own and with the tree as the root of a
# mount namespace. A process that enters a Mininet host's namespaces would leave a mere chroot, and
# /sys shows the network of the process that mounted it.
chroot_network() {
    local tree=$1
    shift
    # shellcheck disable=SC2016 # Expanded inside.
    unshare --mount --net --propagation private bash -ec '
        cd "$1"
        mkdir -p .outside
        pivot_root . .outside
        umount --lazy /.outside
        rmdir /.outside
        ip link set lo up
        mount -t sysfs sysfs /sys
        shift
        exec /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            TERM=dumb LC_ALL=C.UTF-8 "$@"' chroot_network "$tree" "$@"
}
