"""Rust tests, examples and benchmarks as programs: cargo builds them, sections run them."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.finished import Finished, finished
from tests.oracles.running import ROOT
from tests.oracles.sections import SectionError

_SWITCH = ROOT / "switch"
_DEADLINE_S = 24 * 3600.0
# The benchmark whose instructions are counted, in the profile of the tests.
_BENCH = "world"
_KINDS = ("example", "bench")


@dataclass(frozen=True)
class TestProgram:
    """The tests of one target of a crate."""

    # The crate's folder below switch/crates, and the target's name: `agent`, `all`.
    crate: str
    target: str
    folder: Path
    path: Path

    def run(self, *words: object, environment: Mapping[str, str] | None = None) -> Finished:
        """Runs it as cargo does; `words` are for Rust's test harness."""
        place = {"CARGO_MANIFEST_DIR": str(self.folder)}
        all_of_it = {**os.environ, **place, **(environment or {})}
        command = (self.path, *words)
        return finished(command, _DEADLINE_S, folder=self.folder, environment=all_of_it)


def test_programs(*crates: str) -> list[TestProgram]:
    """The test programs of these crates, or of all, built if need be."""
    packages = [word for crate in crates for word in ("--package", f"vitrine-{crate}")]
    found = []
    for made in _artifacts("test", "--no-run", *packages):
        if made["profile"]["test"] and made["executable"]:
            folder = Path(made["manifest_path"]).parent
            path = Path(made["executable"])
            found.append(TestProgram(folder.name, made["target"]["name"], folder, path))
    return sorted(found, key=lambda program: (program.crate, program.target))


def test_program(crate: str, target: str = "all") -> TestProgram:
    """One of them; by default the integration tests of a crate."""
    for program in test_programs(crate):
        if program.target == target:
            return program
    raise SectionError(f"no tests {target!r} in {crate}")


def made(name: str) -> Path:
    """The program of an example or benchmark, built with the features that the tests have."""
    for artifact in _artifacts("build", "--bins", "--examples", "--bench", _BENCH):
        if artifact["target"]["name"] == name and artifact["target"]["kind"][0] in _KINDS:
            return Path(artifact["executable"])
    raise SectionError(f"no example or benchmark {name!r}")


@functools.cache
def _artifacts(*words: str) -> list[dict[str, Any]]:
    """The results of a cargo command; its progress and messages go to standard error."""
    command = ("cargo", *words, "--locked", "--message-format=json-render-diagnostics")
    done = subprocess.run(command, cwd=_SWITCH, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SectionError(f"{' '.join(command)} failed; its messages are above")
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return [each for each in messages if each["reason"] == "compiler-artifact"]
