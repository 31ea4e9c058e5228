#!/usr/bin/env bash
# The results of `make dist` work on this machine: in a clone without Rust on its path `make` uses
# the tarball's programs and runs a lab, and the wheel alone, in an environment of its own, does
# too. It takes minutes and the network that pip needs, so the release runs it and `make test` does
# not.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
name=vitrine-$version-linux-$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# without_rust COMMAND...: runs it without cargo on the path.
without_rust() {
    env -i HOME="$work/home" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}
mkdir "$work/home"
! without_rust sh -c 'command -v cargo' || fail "cargo is in /usr/bin, so nothing could be told here."

tar --extract --gzip --file "out/dist/$name.tar.gz" --directory "$work"
tar --extract --file "out/dist/$name"-python*.tar --directory "$work"
git clone --quiet . "$work/clone"
before=$SECONDS
# The packages are there, so set-up needs no index.
without_rust PIP_INDEX_URL=http://127.0.0.1:9/ VITRINE_PREBUILT="$work/$name" \
    make --no-print-directory -C "$work/clone" lab LAB=bufferbloat
took=$((SECONDS - before))
step "From a clean clone to the end of the lab: $took s"
[ "$took" -le 90 ] || fail "that is more than the 90 s that were promised until a lab has begun."
# The page's module comes along.
without_rust VITRINE_PREBUILT="$work/$name" make --no-print-directory -C "$work/clone" page
[ -s "$work/clone/out/vitrine.html" ] || fail "make page made nothing of the release's module."

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check out/dist/vitrine-"$version"-*.whl
cd "$work"
without_rust "$work/venv/bin/vitrine-sim" queue --loads 0.5 --seconds 1 >/dev/null
without_rust "$work/venv/bin/vitrine" run bufferbloat --world virtual --quick
without_rust "$work/venv/bin/vitrine" exercise fair-queues --student "Ada Lovelace"
without_rust "$work/venv/bin/vitrine-page" | grep -q "file://.*/out/vitrine.html"
# The start is not enough, and the check says so.
without_rust "$work/venv/bin/vitrine" check fair-queues || [ $? -eq 1 ]
