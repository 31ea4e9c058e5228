#!/usr/bin/env bash
# deb.sh FOLDER VERSION ARCHITECTURE GLIBC STAMP: the folder of programs as a Debian package, which puts
# it into /opt/vitrine, where the kit's set-up finds it, and the programs onto every user's path.
set -euo pipefail
cd "$(dirname "$0")/../.."
. vm/say.sh

folder=$1 version=$2 architecture=$3 glibc=$4
export SOURCE_DATE_EPOCH=$5
command -v dpkg-deb >/dev/null ||
    fail "dpkg-deb is missing, which makes Debian packages: apt install dpkg, then run the command again."

tree=build/dist/$architecture/deb
rm -rf "$tree"
mkdir -p "$tree/DEBIAN" "$tree/opt" "$tree/usr/bin" "$tree/usr/share/doc/vitrine"
cp -r "$folder" "$tree/opt/vitrine"
cp LICENSE "$tree/usr/share/doc/vitrine/copyright"
for program in vitrine vitrine-p4c vitrine-sim vitrine-switch; do
    ln -s "/opt/vitrine/bin/$program" "$tree/usr/bin/$program"
done
cat >"$tree/DEBIAN/control" <<END
Package: vitrine
Version: $version
Architecture: $architecture
Maintainer: The authors of Vitrine <vitrine@localhost>
Section: net
Priority: optional
Depends: libc6 (>= $glibc), libgcc-s1
Installed-Size: $(du -sk "$tree" | cut -f1)
Description: P4 switch with glass walls: compiler, switch and simulator
 The programs of Vitrine, a lab kit around a P4-programmable router whose queues,
 schedulers and fabric can be seen at work. With them the kit's sources of the same
 version run without Rust.
END
# xz, which is what it would take by itself, takes minutes on a busy machine.
find "$tree" -type d -exec chmod 0755 {} +
dpkg-deb --root-owner-group -Zgzip --build "$tree" "out/dist/vitrine_${version}_$architecture.deb" >/dev/null
