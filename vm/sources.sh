# The identity of the switch's sources.
# To be sourced.

# switch_sources: one sum over the names and contents of all files in switch/ but what a build leaves.
# It needs no git, so it serves in copies of the kit too: a container's, a shared folder's.
switch_sources() {
    (cd switch && find . -name target -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) |
        sha256sum | cut -d' ' -f1
}
