#!/usr/bin/env bash
# dist.sh: makes out/dist, what people install who do not build: a tarball and a Debian package of the
# programs, a wheel of the whole kit for networks in virtual time, and the page that is one file. ARCHITECTURE=arm64 makes them for
# another machine, where vm/cross.sh can build for it.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

architecture=${ARCHITECTURE:-$(dpkg --print-architecture)}
binaries=$(vm/cross.sh "$architecture")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
name=vitrine-$version-linux-$architecture
work=build/dist/$architecture
rm -rf "$work"
mkdir -p "$work" out/dist

# The oldest C library with all functions that the programs, which are one file, use.
glibc=$(readelf --version-info "$binaries/vitrine" | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1)
glibc=${glibc#GLIBC_}

# A page of other sources is not carried along.
rm -f "out/dist/vitrine-$version.html" out/vitrine.html
module=
if vm/wasm.sh; then
    vm/page.sh
    cp out/vitrine.html "out/dist/vitrine-$version.html"
    module=build/page/page.wasm
else
    step "Left out: the page that is one file."
fi

step "Packing the programs for $architecture"
vm/carry.sh "$binaries" "$work/$name" "$module"
cp LICENSE "$work/$name/"
vm/dist/notes.sh "$version" "$architecture" "$glibc" >"$work/$name/README.md"
# Symbols for debuggers are most of their size.
case $architecture in amd64) machine=x86_64 ;; *) machine=aarch64 ;; esac
strip=$machine-linux-gnu-strip
! command -v "$strip" >/dev/null || "$strip" --strip-debug "$work/$name/bin/vitrine"
# The same sources make the same archive: no owner, and the instant of the last commit.
stamp=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --create --gzip --file "out/dist/$name.tar.gz" --directory "$work" \
    --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$stamp" "$name"

# Of this machine's own kind only, whose Python says what it needs.
python=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ "$architecture" = "$(dpkg --print-architecture)" ]; then
    step "Packing the Python packages for Python $python"
    vm/dist/packages.sh "out/dist/$name-python$python.tar" "$name"
fi
vm/dist/deb.sh "$work/$name" "$version" "$architecture" "$glibc" "$stamp"
build/venv/bin/python vm/dist/wheel.py "$work/$name/bin" "$architecture" "$glibc" "$stamp" out/dist
(cd out/dist && sha256sum -- *"$version"*) >out/dist/SHA256SUMS.new
mv out/dist/SHA256SUMS.new out/dist/SHA256SUMS
step "out/dist has:"
(cd out/dist && ls -sh1 -- *"$version"* SHA256SUMS) >&2
