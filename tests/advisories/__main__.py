"""`make advisories ADVISORIES=<checkout of RustSec's advisory-db>`: what is known of our crates.

Every version in the lock files is compared with the list. The list comes from outside, so no test
has it; what it says decides the exit status.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tomllib

from controller.toolchain import ROOT
from tests.advisories.versions import Version

LOCKS = ("switch/Cargo.lock", "switch/fuzz/Cargo.lock")


@dataclass(frozen=True)
class Advisory:
    """What is known of some versions of a crate."""

    number: str
    package: str
    title: str
    # Nothing is wrong with it but that nobody looks after it, or the like.
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
        """Whether this version has what it tells of."""
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
    checkout = Path(os.environ.get("ADVISORIES", ""))
    if not os.environ.get("ADVISORIES") or not (checkout / "crates").is_dir():
        print(
            "vitrine: say where RustSec's advisory-db is: make advisories ADVISORIES=<checkout>",
            file=sys.stderr,
        )
        return 2
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
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
