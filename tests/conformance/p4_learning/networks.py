"""Which networks a checkout of p4-learning has, and how each is started.

An example is a folder under `examples`; an exercise is one under `exercises` with a folder
`solution`, which is laid over it. Both describe their networks twice, as JSON for `p4run` and as a
script in Python, and each description is a network here.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.isolated.prompt import Network

# Scripts and files of JSON that are not networks.
_OTHERS = ("network_generator.py", "topology.json")


@dataclass(frozen=True)
class Described:
    """One description of a network: a file in the folder of an example or exercise."""

    # The folder, from the checkout on.
    folder: str
    file: str

    @property
    def name(self) -> str:
        """As the table says it."""
        return f"{self.folder}/{self.file}"

    @property
    def command(self) -> list[str]:
        """The command in its README, without `sudo`."""
        if self.file.endswith(".py"):
            return ["python3", self.file]
        return ["p4run", "--config", self.file]


# A check of a network: returns the observation.
Check = Callable[[Network, Described], str]


def networks(checkout: Path) -> Iterator[Described]:
    """All networks of a checkout, in order."""
    for folder in _folders(checkout):
        solution = folder / "solution"
        for file in sorted((solution if solution.is_dir() else folder).iterdir()):
            if file.name not in _OTHERS and _is_network(file):
                yield Described(folder.relative_to(checkout).as_posix(), file.name)


def _folders(checkout: Path) -> list[Path]:
    solved = [solution.parent for solution in (checkout / "exercises").rglob("solution")]
    shown = [folder for folder in (checkout / "examples").iterdir() if folder.is_dir()]
    return sorted(shown) + sorted(solved)


def _is_network(file: Path) -> bool:
    if file.suffix == ".py":
        return file.name.startswith("network")
    if file.suffix != ".json":
        return False
    described = json.loads(file.read_text())
    return isinstance(described, dict) and "topology" in described


def stage(checkout: Path, network: Described, scratch: Path) -> Path:
    """Copies the folder of a network, with its solution laid over it; the checkout is only read."""
    if scratch.exists():
        shutil.rmtree(scratch)
    folder = scratch / Path(network.folder).name
    shutil.copytree(checkout / network.folder, folder)
    if (folder / "solution").is_dir():
        shutil.copytree(folder / "solution", folder, dirs_exist_ok=True)
    return folder
