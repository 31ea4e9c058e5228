"""Which networks a checkout of p4-learning has, and what is run of each."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.p4_learning.networks import Described, networks, stage


def checkout(root: Path) -> Path:
    texts = {
        "examples/ecmp/p4app.json": json.dumps({"topology": {}}),
        "examples/ecmp/topology.json": json.dumps({"topology": {}}),
        "examples/ecmp/notes.json": json.dumps(["topology"]),
        "examples/ecmp/network.py": "",
        "examples/ecmp/send.py": "",
        "examples/README.md": "",
        "exercises/05-ECMP/p4app.json": "the starter's",
        "exercises/05-ECMP/send.py": "the starter's",
        "exercises/05-ECMP/solution/p4app.json": json.dumps({"topology": {}}),
        "exercises/05-ECMP/solution/network_generator.py": "",
        "exercises/05-ECMP/solution/p4src/ecmp.p4": "solved",
        "exercises/05-ECMP/p4src/ecmp.p4": "to be solved",
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_network_is_what_is_described_in_an_example_or_a_solution(tmp_path: Path) -> None:
    found = {network.name: network.command for network in networks(checkout(tmp_path))}
    assert found == {
        "examples/ecmp/network.py": ["python3", "network.py"],
        "examples/ecmp/p4app.json": ["p4run", "--config", "p4app.json"],
        "exercises/05-ECMP/p4app.json": ["p4run", "--config", "p4app.json"],
    }


def test_a_solution_is_laid_over_its_exercise_in_a_copy(tmp_path: Path) -> None:
    root = checkout(tmp_path / "checkout")
    folder = stage(root, Described("exercises/05-ECMP", "p4app.json"), tmp_path / "scratch")
    assert (folder / "p4src/ecmp.p4").read_text() == "solved"
    assert (folder / "send.py").read_text() == "the starter's"
    assert (root / "exercises/05-ECMP/p4src/ecmp.p4").read_text() == "to be solved"
