"""Names of a program."""

import pytest

from controller.errors import ControllerError, NameNotFoundError
from controller.p4info import MatchKind, P4Info
from tests.program import INFO


@pytest.mark.parametrize(
    "name", ["ingress.routing.ipv4_routes", "routing.ipv4_routes", "ipv4_routes"]
)
def test_a_table_is_found_by_its_full_name_and_by_every_unique_end_of_it(name):
    table = INFO.tables[name]
    assert table.id == 0x02000001
    assert [(key.name, key.width_bits, key.kind) for key in table.keys] == [
        ("hdr.ipv4.dst_addr", 32, MatchKind.LPM)
    ]


def test_an_end_that_two_names_share_is_ambiguous_and_both_are_named():
    with pytest.raises(ControllerError, match=r"ingress\.classify\.drop, ingress\.routing\.drop"):
        INFO.actions["drop"]
    assert INFO.actions["classify.drop"].id == 0x01000003


def test_part_of_a_word_is_no_end_of_a_name():
    with pytest.raises(NameNotFoundError):
        INFO.tables["routes"]


def test_a_mistyped_name_is_answered_with_the_closest_one():
    with pytest.raises(NameNotFoundError, match=r"did you mean 'ingress\.classify\.rules'"):
        INFO.tables["ingress.clasify.rules"]


def test_an_unknown_name_is_answered_with_all_there_are():
    with pytest.raises(NameNotFoundError, match=r"there are: ingress\.port_counter\."):
        INFO.counters["x"]


def test_a_missing_file_says_to_compile_first(tmp_path):
    with pytest.raises(ControllerError, match="compile the P4 program first"):
        P4Info.load(tmp_path / "none.txtpb")


def test_a_file_that_is_no_p4info_is_refused_with_the_place(tmp_path):
    path = tmp_path / "bad.txtpb"
    path.write_text("tables { nonsense: 1 }")
    with pytest.raises(ControllerError, match="bad.txtpb is not P4Info in text form: 1:10"):
        P4Info.load(path)
