"""Entries of PyPA's advisory-database for the installed Python packages."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from packaging.version import InvalidVersion, Version

# Ours is installed in place; pip is the distribution's, which put it there.
LEFT_OUT = frozenset({"vitrine", "pip"})
# Advisories that name one of our versions but do not affect us, with the reason.
HARMLESS = {
    "PYSEC-2023-17": "on Windows alone; p4runtime-shell 0.0.6 asks for this IPython",
}
_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Advisory:
    """A known problem of some versions of a package."""

    number: str
    title: str
    # Versions that it names, and spans of versions that it concerns: from the first until before
    # the second, or until the third; None has no end.
    versions: frozenset[str]
    spans: tuple[tuple[Version, Version | None, Version | None], ...]

    @classmethod
    def parse(cls, document: Mapping[str, Any], package: str) -> Advisory | None:
        """From its file. None: it was withdrawn."""
        if "withdrawn" in document:
            return None
        about = [
            each
            for each in document.get("affected", ())
            if normal(each["package"]["name"]) == normal(package)
        ]
        ranges = [
            events["events"]
            for each in about
            for events in each.get("ranges", ())
            if events["type"] == "ECOSYSTEM"
        ]
        title = document.get("summary") or document.get("details", "").split(". ")[0]
        return cls(
            document["id"],
            " ".join(title.split()),
            frozenset(str(it) for each in about for it in each.get("versions", ())),
            tuple(span for events in ranges for span in _spans(events)),
        )

    def concerns(self, version: str) -> bool:
        """Whether it affects this version."""
        if version in self.versions:
            return True
        own = Version(version)
        return any(
            first <= own and (end is None or own < end) and (last is None or own <= last)
            for first, end, last in self.spans
        )


def _spans(
    events: list[Mapping[str, str]],
) -> Iterator[tuple[Version, Version | None, Version | None]]:
    first: Version | None = None
    for event in events:
        ((kind, text),) = event.items()
        version = Version(str(text))
        if kind == "introduced":
            if first is not None:
                yield first, None, None
            first = version
        elif first is not None and kind in ("fixed", "last_affected"):
            yield first, version if kind == "fixed" else None, None if kind == "fixed" else version
            first = None
    if first is not None:
        yield first, None, None


def normal(name: str) -> str:
    """A package's name as indexes have it: case, dots and dashes tell none apart."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, str]:
    """The version of each package that set-up has brought from an index.

    Those of the distribution can be seen from here as well. It mends them without another version,
    and tells of that in its own way.
    """
    brought = metadata.distributions(path=[sysconfig.get_path("purelib")])
    found = {normal(each.metadata["Name"]): each.version for each in brought}
    return {name: version for name, version in found.items() if name not in LEFT_OUT}


def concerning(checkout: Path, packages: Mapping[str, str]) -> Iterator[tuple[Advisory, str]]:
    """The advisories that concern one of these, each with the package and its version."""
    for name, version in sorted(packages.items()):
        for file in sorted((checkout / "vulns" / name).glob("*.yaml")):
            with file.open() as stream:
                document = yaml.load(stream, _FAST)
            try:
                advisory = Advisory.parse(document, name)
            except InvalidVersion as error:
                raise ValueError(f"{file}: {error}") from error
            if advisory is not None and advisory.concerns(version):
                yield advisory, f"{name} {version}"
