"""Packet tests of the kit's own programs: the packets of PROGRAM/*.stf go through PROGRAM.p4.

What must come out was computed by another implementation of the protocols (scapy). Of the programs
in p4src/programs p4c's compiler with simple_switch and eight priority queues give the same, but for
`accounting.stf`, whose `check_counter` its runner spells differently, and metering_router, which is
for PSA.
"""

from pathlib import Path

import pytest

from tests.packets.test_packets import BIN, ROOT, run

HERE = Path(__file__).parent
SOURCES = sorted((ROOT / "p4src").glob("programs/*.p4")) + sorted(
    (ROOT / "p4src").glob("classics/*.p4")
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The JSON of each program, compiled once."""
    folder = tmp_path_factory.mktemp("programs")
    for source in SOURCES:
        include = ["-I", ROOT / "p4src" / "include"]
        run([BIN / "vitrine-p4c", *include, "-o", folder / f"{source.stem}.json", source])
    return folder


@pytest.mark.parametrize(
    "test", sorted(HERE.glob("*/*.stf")), ids=lambda test: f"{test.parent.name}-{test.stem}"
)
def test_packets_leave_as_written(test, compiled):
    run([BIN / "vitrine-sim", "stf", compiled / f"{test.parent.name}.json", test])


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_kit_s_own_programs_compile_without_a_warning(source, tmp_path):
    include = ["-I", ROOT / "p4src" / "include"]
    run([BIN / "vitrine-p4c", "--Werror", *include, "-o", tmp_path / "program.json", source])
