"""Recognition of programs and checkouts by `make conformance-guests`."""

from pathlib import Path

from tests.conformance.guests.__main__ import ROOT, SIMULATOR, Result, check
from tests.conformance.guests.expected import cause
from tests.conformance.guests.projects import (
    PROJECTS,
    Flavour,
    Project,
    checkout_of,
    programs,
)
from tests.conformance.guests.scripts import Script, run, scripts
from tests.conformance.guests.shipped import same_to_controllers

EMPTY = """\
#include <v1model.p4>
struct headers_t {}
struct metadata_t {}
parser read(packet_in b, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control nothing(inout headers_t h, inout metadata_t m) { apply {} }
control stay(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = 1; }
}
control write(packet_out b, in headers_t h) { apply {} }
V1Switch(read(), nothing(), stay(), stay(), nothing(), write()) main;
"""


def test_a_program_is_what_has_a_main(tmp_path):
    (tmp_path / "a").mkdir()
    texts = {
        "a/program.p4": "V1Switch(p(), v(), i(), e(), c(), d()) main;",
        "a/psa.p4": "PSA_Switch(ip, pre, ep, bqe) main;",
        "architecture.p4": "package V1Switch<H, M>(Parser<H, M> p);",
        "commented.p4": "// V1Switch(p()) main;",
        "headers.p4": "header h_t { bit<8> a; }",
        "old.p4": "header_type h_t { fields { a : 8; } }\n// V1Switch(\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "a/program.p4.p4info.txtpb").write_text("")
    found = {program.path.name: program.p4info for program in programs(tmp_path)}
    assert set(found) == {"program.p4", "psa.p4"}
    assert found["psa.p4"] is None
    shipped = found["program.p4"]
    assert shipped is not None
    assert shipped.name == "program.p4.p4info.txtpb"


def test_a_checkout_goes_by_its_project_whoever_it_is_of(tmp_path):
    for name in ("p4lang-tutorials", "p4-guide", "not-p4-learning-at-all"):
        (tmp_path / name).mkdir()
    found = {project.name: checkout_of(project, tmp_path) for project in PROJECTS}
    assert found["tutorials"] == tmp_path / "p4lang-tutorials"
    assert found["p4-guide"] == tmp_path / "p4-guide"
    assert found["p4-learning"] is None


def test_what_fails_is_named_with_its_reason(tmp_path):
    (tmp_path / "good.p4").write_text(EMPTY)
    (tmp_path / "bad.p4").write_text(EMPTY.replace("egress_spec", "egress_spek"))
    (tmp_path / "good.p4info.txtpb").write_text('pkg_info { arch: "another" }\n')
    compiler: Path = ROOT / "build/bin/vitrine-p4c"
    result: Result = check(compiler, Project("a-test"), tmp_path)
    assert result.line("a-test").split() == [
        *("a-test", "compile", "1", "of", "2", "p4info", "0", "of", "1")
    ]
    assert list(result.failures) == ["bad.p4"]
    assert "egress_spek" in result.failures["bad.p4"]
    assert list(result.differences) == ["good.p4"]


def test_a_shipped_p4info_may_be_older_and_in_another_order():
    def action(number: int, extra: str = "") -> str:
        return f'actions {{ preamble {{ id: {number} name: "a{number}" {extra} }} }}\n'

    newer = r'annotations: "@noWarn(\"unused\")"'
    ours = action(1) + action(2, newer) + "tables { size: 4 initial_default_action { id: 1 } }\n"
    assert same_to_controllers(ours, action(2) + action(1) + "tables { size: 4 }\n") is None
    # Everything in the file is compared.
    assert same_to_controllers(ours, ours.replace("id: 1 }", "id: 2 }")) is not None
    assert same_to_controllers(ours, action(2) + action(1) + "tables { size: 5 }\n") is not None


def test_a_program_is_compiled_in_every_flavour(tmp_path):
    (tmp_path / "main.p4").write_text(EMPTY.replace("apply {}", "PORT", 1))
    flavours = (
        Flavour("with", "main.p4", "with.txt", ("-DPORT=apply{}",)),
        Flavour("without", "main.p4", "without.txt"),
    )
    compiler: Path = ROOT / "build/bin/vitrine-p4c"
    result: Result = check(compiler, Project("a-test", flavours=flavours), tmp_path)
    assert result.compiled == 2
    assert list(result.failures) == ["main.p4 (without)"]


def test_what_is_not_meant_to_compile_is_counted_apart(tmp_path):
    folder = tmp_path / "preprocessor"
    folder.mkdir()
    (folder / "exper1a.p4").write_text(EMPTY.replace("egress_spec", "egress_spek"))
    compiler: Path = ROOT / "build/bin/vitrine-p4c"
    result: Result = check(compiler, Project("p4-guide"), tmp_path)
    assert list(result.expected) == ["preprocessor/exper1a.p4"]
    assert result.compiled == 0
    # One that compiles after all is a failure: of the list.
    (folder / "exper1a.p4").write_text(EMPTY)
    again = check(compiler, Project("p4-guide"), tmp_path)
    assert list(again.failures) == ["preprocessor/exper1a.p4"]


def test_a_cause_is_of_one_project():
    assert cause("p4-guide", "preprocessor/exper1a.p4") is not None
    assert cause("tutorials", "preprocessor/exper1a.p4") is None


def test_a_shipped_p4info_may_have_the_shorter_ids_of_older_compilers():
    def table(number: int, size: int = 4) -> str:
        return f"tables {{ preamble {{ id: {number} }} match_fields {{ id: 1 }} size: {size} }}\n"

    assert same_to_controllers(table(0x02AB1234), table(0x02001234)) is None
    assert same_to_controllers(table(0x02AB1234), table(0x02001235)) is not None
    assert same_to_controllers(table(0x02AB1234), table(0x02001234, 5)) is not None
    # With ids of today they must be the same.
    assert same_to_controllers(table(0x02AB1234), table(0x02CD1234)) is not None


def test_a_script_is_run_on_what_is_shipped_beside_it(tmp_path):
    for name in ("a.stf", "a.json", "a.p4", "a.p4c-2018.json", "ab.json", "b.stf", "b.p4"):
        (tmp_path / name).write_text("")
    found = {script.name(tmp_path) for script in scripts(tmp_path)}
    assert found == {"a.json", "a.p4c-2018.json", "b.p4"}


def test_a_packet_that_a_script_misses_is_told(tmp_path):
    program, stf = tmp_path / "stay.p4", tmp_path / "stay.stf"
    program.write_text(EMPTY)
    stf.write_text("packet 0 0102\nexpect 1 0102 $\n")
    assert run(SIMULATOR, Script(stf, program)) is None
    stf.write_text("packet 0 0102\nexpect 1 0103 $\n")
    assert "port 1: byte 1 differs" in str(run(SIMULATOR, Script(stf, program)))
