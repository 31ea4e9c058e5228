"""With what a row is measured: the kit's code, the simulator, the P4 programs, each by its digest.

A digest changes when a single byte does, so rows of an older kit are never taken for this one's,
and a cluster's worker that has another kit is refused.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.programming import source_of
from controller import compiling
from controller.toolchain import ROOT, Toolchain
from labs.errors import LabError
from labs.score.line import Line
from labs.score.systems import named, sink_source, source
from labs.worlds.virtual.server import BINARY
from topo.model import Topology

# The kit's Python, and what of it changes no number: a figure may be redrawn, and rows stay.
_PACKAGES = ("controller", "topo", "apps", "labs")
_SHOWING = ("labs/glass", "labs/report", "labs/sweep", "labs/sweeps", "labs/top")
_MEASURING = "labs/sweep/measuring"
# The program that labs run unless another one is chosen.
_LAB_PROGRAMS = ("router", "int_router", "balancing_router", "metering_router")
_DIGITS = 16


@dataclass(frozen=True)
class Versions:
    """The versions that a number depends on beside the experiment itself."""

    # Of the kit's Python files and its topologies.
    code: str
    # Of build/bin/vitrine-sim.
    simulator: str
    # The P4 programs by name, and of their compiled form.
    program: str
    program_digest: str

    def check(self, here: Versions, place: str) -> None:
        """Raises unless `here`, found at `place`, is the same."""
        for what, wanted, found in (
            ("Python code", self.code, here.code),
            ("vitrine-sim", self.simulator, here.simulator),
            ("P4 program", self.program_digest, here.program_digest),
        ):
            if wanted != found:
                raise LabError(
                    f"the {what} at {place} is another one ({found}) than where the sweep was "
                    f"begun ({wanted}): put the same kit, built, onto every machine."
                )


def of_network(topology: Topology, program: str | None) -> Versions:
    """The versions that measure a network; programs are compiled first if need be."""
    sources = {source_of(switch, program or None, None) for switch in topology.switches}
    return _of(sources)


def of_lab(program: str | None) -> Versions:
    """The versions that measure a lab; its routers run `program`, or the kit's."""
    return _of(compiling.find(name) for name in ((program,) if program else _LAB_PROGRAMS))


def of_telemetry(name: str, line: Line) -> Versions:
    """The versions that score a telemetry system."""
    system = named(name)
    return _of({sink_source(system), source(system)}, line.defines)


def _of(sources: Iterable[Path], defines: Sequence[str] = ()) -> Versions:
    ordered = sorted(sources)
    return Versions(
        code=code(),
        simulator=simulator(),
        program=" ".join(source.stem for source in ordered),
        program_digest=_digest(program_bytes(source, defines) for source in ordered),
    )


def program_bytes(source: Path, defines: Sequence[str] = ()) -> bytes:
    """A program as routers load it."""
    return Toolchain.VITRINE.compiled(source, defines)[1]


@functools.cache
def code() -> str:
    """The digest of the kit's Python files."""
    files = sorted(
        file for package in _PACKAGES for file in (ROOT / package).rglob("*") if _counts(file)
    )
    return _digest(
        part for file in files for part in (str(file.relative_to(ROOT)).encode(), file.read_bytes())
    )


def _counts(file: Path) -> bool:
    folder = file.parent.relative_to(ROOT)
    only_shows = any(folder.is_relative_to(each) for each in _SHOWING)
    return file.suffix in (".py", ".yaml") and (not only_shows or folder.is_relative_to(_MEASURING))


@functools.cache
def simulator() -> str:
    """The digest of the program that virtual networks live in."""
    try:
        return hashlib.sha256(BINARY.read_bytes()).hexdigest()[:_DIGITS]
    except OSError:
        raise LabError(f"there is no {BINARY}: run `make build` first.") from None


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        # With lengths, so that no two lists of parts read the same.
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()[:_DIGITS]
