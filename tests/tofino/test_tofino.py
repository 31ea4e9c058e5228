"""Packet tests of Tofino: each NAME.p4 is compiled, and the packets of NAME.stf pass through it.

The expectations are computed by hand; the comments in the scripts say how.
"""

from pathlib import Path

import pytest

from tests.packets.test_packets import BIN, ROOT, run

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(stf.stem for stf in HERE.glob("*.stf")))
def test_packets_leave_as_written(name: str, tmp_path: Path) -> None:
    program = tmp_path / f"{name}.json"
    include: list[str | Path] = ["-I", ROOT / "p4src" / "include"]
    run([BIN / "vitrine-p4c", *include, "-o", program, HERE / f"{name}.p4"])
    run([BIN / "vitrine-sim", "stf", program, HERE / f"{name}.stf"])
