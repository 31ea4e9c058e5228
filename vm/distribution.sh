# Which distribution and which processor the machine has, and what differs between those that the kit
# is provisioned on. To be sourced.
#
# A dry run may be about another machine. VITRINE_OS_RELEASE names the file with its
# distribution, VITRINE_ARCHITECTURE its processor (in Debian's words), and VITRINE_FRESH=yes says that
# nothing is known about its installed packages.

# The distribution, and its folder in the P4 project's package repository. The packages that the kit
# needs have the same names in all of them.
distributions=(
    "debian 12     Debian_12"
    "debian 13     Debian_13"
    "ubuntu 22.04  xUbuntu_22.04"
    "ubuntu 24.04  xUbuntu_24.04"
)
# shellcheck disable=SC2034 # The sourcing script reads it.
distributions_named="Debian 12 and 13 and Ubuntu 22.04 and 24.04"

distribution=$( (. "${VITRINE_OS_RELEASE:-/etc/os-release}" && echo "${ID:-unknown}${VERSION_ID:+ $VERSION_ID}") 2>/dev/null || echo unknown)
# Where there is no dpkg the kernel says it, in words of its own.
# shellcheck disable=SC2034
architecture=${VITRINE_ARCHITECTURE:-$(dpkg --print-architecture 2>/dev/null || uname -m | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/')}

# p4lang_folder: the folder of this distribution; fails where the kit does not know the distribution.
p4lang_folder() {
    local line name version folder
    for line in "${distributions[@]}"; do
        read -r name version folder <<<"$line"
        if [ "$name $version" = "$distribution" ]; then
            echo "$folder"
            return
        fi
    done
    return 1
}

# is_there COMMAND...: whether a probe finds what it looks for. On a machine that is only thought of, it
# finds nothing.
is_there() {
    [ "${VITRINE_FRESH:-no}" = no ] && "$@" >/dev/null 2>&1
}
