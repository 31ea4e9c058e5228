"""How differences from the P4 project's programs are sorted; they themselves are not needed."""

from tests.generated import oracle, play
from tests.parity import __main__ as parity

TABLE = """\
#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> v; bit<4> half; bit<4> rest; }
struct headers_t { byte_t h; }
struct metadata_t {}
parser read(packet_in b, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { b.extract(h.h); transition accept; }
}
control nothing(inout headers_t h, inout metadata_t m) { apply {} }
control ingress(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    table t { key = { h.h.KEY : lpm; } actions = { NoAction; } }
    apply { t.apply(); }
}
control egress(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply {} }
control write(packet_out b, in headers_t h) { apply { b.emit(h.h); } }
V1Switch(read(), nothing(), ingress(), egress(), nothing(), write()) main;
"""


def test_what_is_refused_though_the_specification_has_it_is_told_with_its_sentence():
    known = oracle.refused("p4c refuses", "a.p4(7): error: BMV2 does not support for-in loops\nfor")
    assert known.is_known
    assert known.kind == "p4c refuses: for-in loops are statements (12, `for`)"
    new = oracle.refused("p4c refuses", "a.p4(1): warning: unused\na.p4(2): error: odd\n  x = y;")
    assert (new.is_known, new.text) == (False, "a.p4(2): error: odd")


def test_prefixes_of_whole_bytes_and_registers_of_ingress_excuse_nothing(tmp_path):
    def why(key: str, script: str) -> str | None:
        source, stem = tmp_path / f"{key}.p4", tmp_path / key / "program"
        source.write_text(TABLE.replace("KEY", key))
        parity.compile_by_ours(source, stem)
        return oracle.cause(play.Case(source.read_text(), script, 0), stem)

    assert why("v", "check_register ingress.cells(0) 1\n") is None
    assert why("v", "check_register egress.cells(0) 1\n") == oracle.RACES
    assert why("half", "") == oracle.PREFIXES
