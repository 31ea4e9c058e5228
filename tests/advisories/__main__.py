"""`make advisories ADVISORIES=<checkouts>`: what is known of the crates and packages we use.

    make advisories ADVISORIES=advisory-db:advisory-database

Every version in Rust's lock files is compared with RustSec's advisory-db, every Python package that
is installed with PyPA's advisory-database (`python.py`); either may be left out. The lists come
from outside, so no test has them; what they say decides the exit status.

An index of packages knows advisories, too, but it has to be asked for each package by its name and
version, and would answer another way tomorrow; a checkout has a date that can be told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tomllib

from controller.toolchain import ROOT
from tests.advisories import python
from tests.advisories.versions import Version

LOCKS = ("switch/Cargo.lock", "switch/fuzz/Cargo.lock")


@dataclass(frozen=True)
class Advisory:
    """A known problem of some versions of a crate."""

    number: str
    package: str
    title: str
    # It reports no vulnerability; the crate is unmaintained, for example.
    is_informational: bool
    patched: tuple[str, ...]
    unaffected: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Advisory | None:
        """From its file: TOML between fences, then prose. None: it was withdrawn."""
        _, _, rest = text.partition("```toml")
        head, _, prose = rest.partition("```")
        document = tomllib.loads(head)
        about, versions = document["advisory"], document.get("versions", {})
        if "withdrawn" in about:
            return None
        title = next((line[1:].strip() for line in prose.splitlines() if line.startswith("#")), "")
        return cls(
            about["id"],
            about["package"],
            title,
            "informational" in about,
            tuple(versions.get("patched", ())),
            tuple(versions.get("unaffected", ())),
        )

    def concerns(self, version: Version) -> bool:
        """Whether it affects this version."""
        return not any(version.meets(it) for it in (*self.patched, *self.unaffected))


def locked(lock: Path) -> dict[str, list[Version]]:
    """The versions of each crate that come from a registry."""
    found: dict[str, list[Version]] = {}
    for package in tomllib.loads(lock.read_text())["package"]:
        if "source" in package:
            found.setdefault(package["name"], []).append(Version.parse(package["version"]))
    return found


def concerning(checkout: Path, crates: dict[str, list[Version]]) -> Iterator[tuple[Advisory, str]]:
    """The advisories that concern one of these, each with the version."""
    for name, versions in sorted(crates.items()):
        for file in sorted((checkout / "crates" / name).glob("*.md")):
            advisory = Advisory.parse(file.read_text())
            for version in versions if advisory else ():
                if advisory.concerns(version):
                    yield advisory, ".".join(map(str, version.numbers))


def main() -> int:
    """Returns the exit status."""
    checkouts = [Path(each) for each in filter(None, os.environ.get("ADVISORIES", "").split(":"))]
    of_rust = [each for each in checkouts if (each / "crates").is_dir()]
    of_python = [each for each in checkouts if (each / "vulns").is_dir()]
    unknown = [str(each) for each in checkouts if each not in (*of_rust, *of_python)]
    if unknown or not checkouts:
        said = f"{', '.join(unknown)} is neither: " if unknown else ""
        print(
            f"vitrine: {said}say where RustSec's advisory-db is, or PyPA's advisory-database, or "
            "both: make advisories ADVISORIES=<checkout>:<checkout>",
            file=sys.stderr,
        )
        return 2
    found_any = [_rust(each) for each in of_rust] + [_python(each) for each in of_python]
    return 1 if any(found_any) else 0


def _rust(checkout: Path) -> bool:
    """Says what is known of our crates; whether something is wrong with one."""
    is_wrong = False
    for lock in LOCKS:
        crates = locked(ROOT / lock)
        found = list(concerning(checkout, crates))
        for advisory, version in found:
            kind = "note" if advisory.is_informational else "advisory"
            is_wrong |= not advisory.is_informational
            name = advisory.package
            print(f"{lock}: {name} {version}: {kind} {advisory.number}: {advisory.title}")
        print(f"{lock}: {len(crates)} crates, {len(found)} of which there is something to say.")
    return is_wrong


def _python(checkout: Path) -> bool:
    """The same of Python's packages."""
    packages = python.installed()
    found = list(python.concerning(checkout, packages))
    for advisory, package in found:
        why = python.HARMLESS.get(advisory.number)
        kind = f"note ({why})" if why else "advisory"
        print(f"Python: {package}: {kind} {advisory.number}: {advisory.title}")
    print(f"Python: {len(packages)} packages, {len(found)} of which there is something to say.")
    return any(advisory.number not in python.HARMLESS for advisory, _ in found)


if __name__ == "__main__":
    sys.exit(main())
