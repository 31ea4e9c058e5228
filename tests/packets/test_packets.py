"""Packet tests: each NAME.p4 is compiled, and the packets of NAME.stf are sent through it.

The expectations were checked with p4c and simple_switch, but for the programs that p4c did not
take when they were written (`header_union_members`, `loops`, `stack_next_written`,
`subcontrol_twice`, `table_twice`) and the line `check_counter`, which its runner spells
differently.
"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
HERE = Path(__file__).parent
DEADLINE_S = 20


@pytest.mark.parametrize("name", sorted(stf.stem for stf in HERE.glob("*.stf")))
def test_packets_leave_as_written(name: str, tmp_path: Path) -> None:
    program = tmp_path / f"{name}.json"
    include = ["-I", ROOT / "p4src" / "include"]
    run([BIN / "vitrine-p4c", *include, "-o", program, HERE / f"{name}.p4"])
    run([BIN / "vitrine-sim", "stf", program, HERE / f"{name}.stf"])


def run(command: list[str | Path]) -> None:
    """Runs a command; when it fails, everything it printed is the test's message."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
