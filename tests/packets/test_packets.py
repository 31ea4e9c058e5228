"""Packet tests: each NAME.p4 is compiled, and the packets of NAME.stf are sent through it.

The expectations were checked with p4c and simple_switch, but for the programs that p4c did not take
when they were written (`header_union_members`, `loops`, `stack_next_written`, `subcontrol_twice`,
`table_twice`), `empty_key_filled` and `header_equality`, which were written without them, as were
the packets of `header_values` with invalid headers, `loop_limit`, which is about a limit of ours,
those that follow the specification where generated programs (tests/generated) showed that we did
not (`argument_order`, `lookahead_if_wanted`, `parser_no_match`, `union_invalid_member`,
`widened_keys`), `action_profile` and `division_by_arguments`, which were written without them, and
the line `check_counter`, which its runner spells differently.
"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
HERE = Path(__file__).parent
DEADLINE_S = 60


@pytest.mark.parametrize("name", sorted(stf.stem for stf in HERE.glob("*.stf")))
def test_packets_leave_as_written(name: str, tmp_path: Path) -> None:
    program = tmp_path / f"{name}.json"
    include: list[str | Path] = ["-I", ROOT / "p4src" / "include"]
    run([BIN / "vitrine-p4c", *include, "-o", program, HERE / f"{name}.p4"])
    run([BIN / "vitrine-sim", "stf", program, HERE / f"{name}.stf"])


def test_a_mismatch_names_the_first_field_that_differs(tmp_path: Path) -> None:
    # Popping one of three labels leaves b, c and a: the third is 0a, not 0b.
    script = tmp_path / "wrong.stf"
    script.write_text("packet 0 01 000000 0a 0b 0c\nexpect 1 01 0b0c0b 0b 0c $\n", "utf-8")
    program = HERE / "stack_moved_out.p4"
    include: list[str | Path] = ["-I", ROOT / "p4src" / "include"]
    done = answer([BIN / "vitrine-sim", "stf", *include, program, script])
    assert done.returncode == 1, done.stdout
    assert "port 1: byte 3 differs, in order.third (expected in line 2)" in done.stdout


def run(command: list[str | Path]) -> None:
    """Runs a command; when it fails, everything it printed is the test's message."""
    done = answer(command)
    assert done.returncode == 0, done.stdout


def answer(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """Runs a command and returns its status and everything it printed."""
    return subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
