"""How `make conformance-testgen` handles P4Testgen's tests, with a program in P4Testgen's place.

The texts are written as P4Testgen writes: its names are in quotes.
"""

from pathlib import Path

import pytest

from tests.conformance.testgen import __main__ as testgen
from tests.conformance.testgen.programs import Group, Program, found
from tests.conformance.testgen.tools import ROOT, Tools, complaint

TABLE = Program("table_exact", ROOT / "tests" / "packets" / "table_exact.p4")
HOLDS = """\
# p4testgen seed: 1
# Current node coverage: 0.5
# Traces
# [Parser] ingress_parser

# Table ingress.t
add "ingress.t" "hdr.h.a":0x01 "third":0x02 "ingress.set"("port":0x003,"value":0x44)

packet 0 01000200000055
expect 3 01440200000055$
"""


def in_its_place(folder: Path, *, tests: tuple[str, ...] = (), words: str = "") -> Tools:
    """A folder with a p4testgen that makes these tests and says these words."""
    for number, text in enumerate(tests, start=1):
        (folder / f"program_{number}.stf").write_text(text)
    script = folder / "p4testgen"
    script.write_text(
        "#!/bin/sh\n"
        'while [ $# -gt 1 ]; do [ "$1" = --out-dir ] && to=$2; shift; done\n'
        f'for each in "{folder}"/*.stf; do [ -e "$each" ] && cp "$each" "$to"; done\n'
        + (f"echo 'warning: it is early'; echo '{words}' >&2; exit 1\n" if words else "exit 0\n")
    )
    script.chmod(0o755)
    return Tools(folder)


def outcome_of(tools: Tools, folder: Path) -> testgen.Outcome:
    return testgen.check(testgen.Bench(tools), TABLE, folder / "made")


def test_a_test_that_holds_passes_and_one_that_does_not_says_where(tmp_path):
    wrong = HOLDS.replace("expect 3 0144", "expect 3 0145")
    outcome = outcome_of(in_its_place(tmp_path, tests=(HOLDS, wrong)), tmp_path)
    assert (outcome.tests, outcome.passed, list(outcome.failures)) == (2, 1, ["2"])
    assert "byte 1 differs" in outcome.failures["2"]
    line = testgen.line("packets", [outcome])
    assert line.endswith("programs    1 of    1    tests     1 of     2")


def test_a_test_without_an_expected_packet_wants_none_at_any_port(tmp_path):
    silent = HOLDS.partition("expect")[0]
    outcome = outcome_of(in_its_place(tmp_path, tests=(silent,)), tmp_path)
    assert "port 3" in outcome.failures["1"]


def test_a_program_that_it_cannot_handle_is_named_with_its_words(tmp_path):
    tools = in_its_place(tmp_path, words="error: match kind is not known")
    outcome = outcome_of(tools, tmp_path)
    assert outcome.tests == 0
    assert outcome.lines() == ["no tests table_exact: error: match kind is not known"]


def test_tests_made_before_it_gave_up_count(tmp_path):
    outcome = outcome_of(in_its_place(tmp_path, tests=(HOLDS,), words="error: no"), tmp_path)
    assert (outcome.passed, outcome.ungenerated) == (1, None)


def test_a_program_that_does_not_compile_fails_every_test(tmp_path):
    source = tmp_path / "wrong.p4"
    source.write_text("control c() { apply { x = 1; } }")
    tools = in_its_place(tmp_path, tests=(HOLDS, HOLDS))
    outcome = testgen.check(testgen.Bench(tools), Program("wrong", source), tmp_path / "made")
    assert list(outcome.failures) == ["1", "2"]
    assert "error" in outcome.failures["1"]


def test_what_it_reads_otherwise_is_counted_apart():
    told = testgen.Outcome("p", tests=3, failures={"2": "byte 1 differs"}, known="it reads so")
    assert told.unexplained == 0
    assert told.lines() == ["expected (it reads so) p 2: byte 1 differs"]
    assert testgen.line("kit", [told]).endswith("2 of     2    P4Testgen reads it otherwise 1")
    told.failures.clear()
    assert told.lines() == ["passes p, though expected.py says: it reads so"]


def test_a_program_is_what_has_a_main_for_v1model(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.p4").write_text("#include <v1model.p4>\nV1Switch(p(), v()) main;")
    (tmp_path / "sub" / "b.p4").write_text("#include <v1model.p4>\nV1Switch(p(), v()) main;")
    (tmp_path / "part.p4").write_text("#include <v1model.p4>\ncontrol c() { apply {} }")
    (tmp_path / "other.p4").write_text("#include <psa.p4>\nPSA_Switch(p(), v()) main;")
    group = Group("samples", found(tmp_path))
    assert [each.name for each in group.programs] == ["a", "sub/b"]
    assert [each.name for each in group.only(["sub/b"]).programs] == ["sub/b"]
    assert group.only([]) == group


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 0", None),
        ("echo fine; echo 'Error: cast failed'; echo more; exit 1", "Error: cast failed"),
        ("kill -9 $$", "exit status -9"),
        ("exec tail -f /dev/null", "sh was not done after 0 s"),
    ],
)
def test_of_a_tool_that_fails_the_telling_line_is_kept(script, told):
    assert complaint(["sh", "-c", script], 0.4 if "tail" in script else 30) == told
