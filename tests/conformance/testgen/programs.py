"""The programs that tests are made of, in groups of one origin."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from tests.conformance.__main__ import V1MODEL

from .tools import ROOT, Tools

# Those of P4Testgen's own tests are in the checkout, too.
_SAMPLES = (
    "testdata/p4_16_samples",
    "backends/p4tools/modules/testgen/targets/bmv2/test/p4-programs",
)
_MAIN = re.compile(r"\bmain\b")


@dataclass(frozen=True)
class Program:
    """A program, under the name that it has in its group."""

    name: str
    source: Path


@dataclass(frozen=True)
class Group:
    """Programs of one origin."""

    name: str
    programs: Sequence[Program]

    def only(self, names: Sequence[str]) -> Group:
        """Those with one of these names; all, if no name is given."""
        chosen = [each for each in self.programs if not names or each.name in names]
        return replace(self, programs=chosen)


def groups(p4c: Path | None) -> Iterator[Group]:
    """The programs that are there: the kit's, and those of a checkout of p4c."""
    yield Group("kit", found(ROOT / "p4src" / "programs"))
    packets = ROOT / "tests" / "packets"
    tested = [script.with_suffix(".p4") for script in sorted(packets.glob("*.stf"))]
    yield Group("packets", [Program(each.stem, each) for each in tested])
    if p4c is not None:
        yield Group("samples", [each for folder in _SAMPLES for each in found(p4c / folder)])


def found(folder: Path) -> list[Program]:
    """The programs for v1model below a folder."""
    programs = []
    for source in sorted(folder.rglob("*.p4")):
        # Programs of others have whatever bytes they have.
        text = source.read_text("utf-8", errors="replace")
        if V1MODEL.search(text) and _MAIN.search(text):
            name = source.relative_to(folder).with_suffix("").as_posix()
            programs.append(Program(name, source))
    return programs


def random_programs(tools: Tools, folder: Path, seeds: Iterable[int]) -> Group:
    """The programs that p4smith makes from these seeds, without those that p4c itself refuses."""
    folder.mkdir(parents=True, exist_ok=True)

    def made(seed: int) -> list[Program]:
        source = tools.random_program(folder, seed)
        return [] if tools.refused_by_p4c(source) else [Program(source.stem, source)]

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        return Group("smith", [each for found in workers.map(made, seeds) for each in found])
