"""Every number of every lab in virtual time, with its bands, and digests of its recordings."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labs import catalogue
from tests.finished import finished
from tests.oracles.running import ROOT, digest, each
from tests.oracles.sections import Files, SectionError
from tests.oracles.sizes import Sizes

_DEADLINE_S = 3600.0
# The entries of results.json about the machine and the process, not the lab.
_OF_THE_MACHINE = frozenset(("machine", "process"))


def record(sizes: Sizes) -> Files:
    def lines(name: str) -> list[str]:
        return _lines(name, sizes)

    names = [lab.name for lab in catalogue.LABS]
    blocks = each("labs", names, lines, sizes.jobs)
    return {f"{name}.txt": block for name, block in zip(names, blocks, strict=True)}


def _lines(name: str, sizes: Sizes) -> list[str]:
    with tempfile.TemporaryDirectory() as place:
        environment = {
            **os.environ,
            "VITRINE_RESULTS": place,
            "VITRINE_RUN_DIR": place,
        }
        words = ["--world=virtual", "--seeds=1", "--no-glass"]
        words += [] if sizes.has_whole_labs else ["--quick"]
        command = (sys.executable, "-m", "vitrine", "run", name, *words)
        done = finished(command, _DEADLINE_S, folder=ROOT, environment=environment, typed="")
        folder = Path(place, name, "latest")
        if not (folder / "results.json").is_file():
            raise SectionError(f"{name}:\n{done.output[-2000:]}")
        results = json.loads((folder / "results.json").read_text("utf-8"))
        kept = {key: value for key, value in results.items() if key not in _OF_THE_MACHINE}
        return [f"status {done.status}", *flat("", kept), *_data(folder)]


def flat(path: str, value: Any) -> Iterator[str]:
    """A line for each number, with its path: `numbers.delay_ms 1.5`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from flat(f"{path}[{index}]", inner)
    else:
        yield f"{path} {json.dumps(value, ensure_ascii=False)}"


def _data(folder: Path) -> Iterator[str]:
    """Digests of the recordings, which have every sample and packet."""
    for file in sorted((folder / "data").rglob("*.csv")):
        yield f"{file.relative_to(folder)} {digest(file.read_bytes())}"
