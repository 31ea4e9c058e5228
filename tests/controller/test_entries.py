"""Entries in names and as messages."""

from ipaddress import IPv4Address

import pytest

from controller.entries import Call, Entry, Exact, Lpm, Range, Ternary, from_message, to_message
from controller.errors import EntryError, NameNotFoundError, ValueRangeError
from controller.values import Mac
from tests.program import INFO

NEXT_HOP = Call(
    "set_next_hop",
    port=2,
    src_addr=Mac.parse("00:aa:00:00:00:02"),
    dst_addr=Mac.parse("00:00:0a:00:02:01"),
)
RULE_MATCH = {"port": Exact(1), "proto": Ternary(6, 0xFF), "dst_port": Range(80, 443)}


def route(address: str, prefix_len: int, call: Call = NEXT_HOP) -> Entry:
    return Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(IPv4Address(address), prefix_len)}, call)


def rule(**changes) -> Entry:
    return Entry("rules", {**RULE_MATCH, **changes}, Call("classify.drop"), priority=10)


def test_a_route_becomes_ids_and_canonical_bytes():
    message = to_message(route("10.0.2.0", 24), INFO)
    assert message.table_id == 0x02000001
    assert not message.is_default_action
    (field,) = message.match
    assert (field.field_id, field.lpm.value, field.lpm.prefix_len) == (1, b"\x0a\x00\x02\x00", 24)
    assert message.action.action.action_id == 0x01000001
    assert [(param.param_id, param.value) for param in message.action.action.params] == [
        (1, b"\x02"),
        (2, b"\xaa\x00\x00\x00\x02"),
        (3, b"\x0a\x00\x02\x01"),
    ]


@pytest.mark.parametrize(
    "entry",
    [
        route("10.0.2.0", 24),
        Entry("ipv4_routes", {}, Call("routing.drop")),
        Entry("ipv4_routes", None, Call("routing.drop")),
        rule(),
    ],
    ids=["route", "matches anything", "default", "rule"],
)
def test_what_a_device_reports_is_the_entry_that_was_written(entry):
    message = to_message(entry, INFO)
    # Names come back in full and values as integers: writing them again gives the same message.
    assert to_message(from_message(message, INFO), INFO) == message


def test_no_match_is_the_default_entry_and_an_empty_match_is_not():
    assert to_message(Entry("ipv4_routes", None, Call("routing.drop")), INFO).is_default_action
    assert not to_message(Entry("ipv4_routes", {}, Call("routing.drop")), INFO).is_default_action


def test_bits_behind_the_prefix_are_refused():
    with pytest.raises(EntryError, match=r"10\.0\.2\.1 has bits set behind its /24"):
        to_message(route("10.0.2.1", 24), INFO)


@pytest.mark.parametrize("prefix_len", [0, 33, -1])
def test_a_prefix_length_that_the_field_has_not_is_refused(prefix_len):
    with pytest.raises(EntryError, match="does not exist in 32"):
        to_message(route("0.0.0.0", prefix_len), INFO)


def test_a_missing_exact_key_is_refused_and_a_missing_ternary_key_is_not():
    whole = {"port": Exact(1), "proto": Ternary(6, 0xFF)}
    to_message(Entry("rules", {"port": Exact(1)}, Call("classify.drop"), 1), INFO)
    del whole["port"]
    with pytest.raises(EntryError, match="key 'port' is missing"):
        to_message(Entry("rules", whole, Call("classify.drop"), 1), INFO)


def test_an_unknown_key_is_refused_with_the_closest_one():
    with pytest.raises(NameNotFoundError, match="did you mean 'dst_port'"):
        to_message(rule(dst_prot=Exact(1)), INFO)


def test_a_match_of_another_kind_is_refused():
    with pytest.raises(EntryError, match="matched as exact"):
        to_message(rule(port=Ternary(1, 1)), INFO)


def test_a_ternary_value_outside_its_mask_is_refused():
    with pytest.raises(EntryError, match="bits set that the mask leaves out"):
        to_message(rule(proto=Ternary(6, 4)), INFO)


def test_an_empty_range_is_refused():
    with pytest.raises(EntryError, match="the range 443 to 80 is empty"):
        to_message(rule(dst_port=Range(443, 80)), INFO)


def test_a_table_whose_entries_overlap_needs_a_priority():
    with pytest.raises(EntryError, match="give a priority above 0"):
        to_message(Entry("rules", RULE_MATCH, Call("classify.drop")), INFO)


def test_a_table_whose_entries_cannot_overlap_takes_no_priority():
    with pytest.raises(EntryError, match="give no priority"):
        to_message(Entry("ipv4_routes", {}, Call("routing.drop"), priority=1), INFO)


def test_an_action_of_another_table_is_refused():
    with pytest.raises(NameNotFoundError, match=r"action of ingress\.classify\.rules"):
        to_message(Entry("rules", RULE_MATCH, NEXT_HOP, 1), INFO)


def test_every_parameter_must_be_given_and_no_other():
    with pytest.raises(EntryError, match="needs a value for 'src_addr'"):
        to_message(route("10.0.2.0", 24, Call("set_next_hop", port=1)), INFO)
    with pytest.raises(NameNotFoundError, match="parameter of ingress.routing.drop"):
        to_message(route("10.0.2.0", 24, Call("routing.drop", port=1)), INFO)


def test_a_parameter_wider_than_declared_is_refused():
    wide = Call("set_next_hop", **{**NEXT_HOP.args, "port": 512})
    with pytest.raises(ValueRangeError, match="port of ingress.routing.set_next_hop is 9 bits"):
        to_message(route("10.0.2.0", 24, wide), INFO)


def test_an_entry_reads_as_people_write_it():
    assert str(route("10.0.2.0", 24)) == (
        "ipv4_routes[hdr.ipv4.dst_addr=10.0.2.0/24] -> set_next_hop"
    )
    assert str(rule()) == "rules[port=1, proto=6 &&& 255, dst_port=80 to 443] -> classify.drop"
    assert str(Entry("ipv4_routes", None, NEXT_HOP)) == "ipv4_routes[default] -> set_next_hop"
