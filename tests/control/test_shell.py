"""p4runtime-shell, as anybody would use it, on our switch: every entity it has words for."""

from __future__ import annotations

from collections.abc import Iterator

import p4runtime_sh.shell as sh
import pytest
from google.protobuf.message import Message
from p4runtime_sh.p4runtime import P4RuntimeWriteException

from tests.control.conftest import DEVICE_ID, Compiled


@pytest.fixture(autouse=True)
def shell(switch_address: str, compiled: Compiled) -> Iterator[None]:
    sh.setup(
        device_id=DEVICE_ID,
        grpc_addr=switch_address,
        election_id=(0, 1),
        config=sh.FwdPipeConfig(str(compiled.p4info), str(compiled.json)),
        verbose=False,
    )
    yield
    sh.teardown()


def canonical(message: Message) -> Message:
    """The message with byte strings in their shortest form: the shell pads them to their width."""
    copy = type(message)()
    copy.CopyFrom(message)
    _shorten(copy)
    return copy


def _shorten(message: Message) -> None:
    for field, value in message.ListFields():
        if field.type == field.TYPE_BYTES:
            setattr(message, field.name, value.lstrip(b"\0") or b"\0")
        elif field.type == field.TYPE_MESSAGE:
            for part in value if field.label == field.LABEL_REPEATED else [value]:
                _shorten(part)


def test_the_version_of_the_api_is_told():
    assert sh.APIVersion().startswith("1.4")


def test_entries_of_all_match_kinds_are_inserted_modified_read_and_deleted():
    exact = sh.TableEntry("ingress.exact_table")(action="ingress.forward_and_meter")
    exact.match["hdr.ethernet.dst_addr"] = "00:00:00:00:00:0a"
    exact.action["port"] = "2"
    exact.insert()

    lpm = sh.TableEntry("ingress.lpm_table")(action="ingress.forward")
    lpm.match["hdr.ethernet.src_addr"] = "0a:00:00:00:00:00/8"
    lpm.action["port"] = "3"
    lpm.insert()

    ternary = sh.TableEntry("ingress.ternary_table")(action="ingress.drop", priority=10)
    ternary.match["hdr.ethernet.dst_addr"] = "00:00:00:00:01:00 &&& 00:00:00:00:ff:00"
    ternary.match["hdr.ethernet.ether_type"] = "0x800"
    ternary.match["std_meta.ingress_port"] = "1..3"
    ternary.insert()

    exact.action["port"] = "7"
    exact.modify()
    for entry, table in (
        (exact, "ingress.exact_table"),
        (lpm, "ingress.lpm_table"),
        (ternary, "ingress.ternary_table"),
    ):
        (found,) = sh.TableEntry(table).read()
        assert canonical(found.msg()) == canonical(entry.msg())
        entry.delete()
        assert list(sh.TableEntry(table).read()) == []


def test_the_default_entry_is_changed_and_reset():
    entry = sh.TableEntry("ingress.ternary_table")(action="ingress.forward", is_default=True)
    entry.action["port"] = "1"
    entry.modify()
    (found,) = sh.TableEntry("ingress.ternary_table")(is_default=True).read()
    assert found.action.action_name == "ingress.forward"


def test_counters_and_meters_are_written_and_read():
    counter = sh.CounterEntry("ingress.port_counter")
    counter.index = 3
    counter.packet_count = 12
    counter.modify()
    counter = sh.CounterEntry("ingress.port_counter")
    counter.index = 3
    assert [found.packet_count for found in counter.read()] == [12]

    meter = sh.MeterEntry("ingress.port_meter")
    meter.index = 1
    meter.cir, meter.cburst, meter.pir, meter.pburst = 100, 200, 300, 400
    meter.modify()
    meter = sh.MeterEntry("ingress.port_meter")
    meter.index = 1
    assert [(found.cir, found.pburst) for found in meter.read()] == [(100, 400)]


def test_direct_counters_and_meters_belong_to_their_entry():
    entry = sh.TableEntry("ingress.exact_table")(action="ingress.drop")
    entry.match["hdr.ethernet.dst_addr"] = "00:00:00:00:00:0a"
    entry.insert()
    counter = sh.DirectCounterEntry("ingress.exact_counter")
    counter.table_entry.match["hdr.ethernet.dst_addr"] = "00:00:00:00:00:0a"
    counter.packet_count = 5
    counter.modify()
    counter.packet_count = 0
    assert [found.packet_count for found in counter.read()] == [5]
    meter = sh.DirectMeterEntry("ingress.exact_meter")
    meter.table_entry.match["hdr.ethernet.dst_addr"] = "00:00:00:00:00:0a"
    meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
    meter.modify()
    assert [found.pir for found in meter.read()] == [3]


def test_members_groups_and_one_shot_entries():
    member = sh.ActionProfileMember("ingress.next_hops")(action="ingress.forward", member_id=1)
    member.action["port"] = "1"
    member.insert()
    group = sh.ActionProfileGroup("ingress.next_hops")(group_id=7)
    group.max_size = 4
    group.add(1, weight=2)
    group.insert()
    entry = sh.TableEntry("ingress.selector_table")(group_id=7)
    entry.match["hdr.ethernet.ether_type"] = "0x800"
    entry.insert()
    (found,) = sh.TableEntry("ingress.selector_table").read()
    assert found.group_id == 7
    with pytest.raises(P4RuntimeWriteException, match="in use"):
        group.delete()
    entry.delete()
    group.delete()
    member.delete()

    entry = sh.TableEntry("ingress.selector_table")
    entry.match["hdr.ethernet.ether_type"] = "0x800"
    action = sh.Action("ingress.forward")
    action["port"] = "1"
    entry.oneshot.add(action, weight=3)
    entry.insert()
    (found,) = sh.TableEntry("ingress.selector_table").read()
    assert canonical(found.msg()) == canonical(entry.msg())


def test_multicast_groups_clone_sessions_and_digests():
    multicast = sh.MulticastGroupEntry(1)
    multicast.add(1, 1).add(2, 1)
    multicast.insert()
    (found,) = sh.MulticastGroupEntry().read()
    assert found.msg() == multicast.msg()
    multicast.delete()

    session = sh.CloneSessionEntry(5)
    session.add(510, 1)
    session.cos = 1
    session.packet_length_bytes = 128
    session.insert()
    (found,) = sh.CloneSessionEntry().read()
    assert found.msg() == session.msg()

    digest = sh.DigestEntry("learned_t")
    digest.max_list_size = 10
    digest.insert()
    (found,) = sh.DigestEntry("learned_t").read()
    assert found.max_list_size == 10


def test_an_error_says_what_and_where():
    entry = sh.TableEntry("ingress.exact_table")(action="ingress.drop")
    entry.match["hdr.ethernet.dst_addr"] = "00:00:00:00:00:0a"
    entry.insert()
    with pytest.raises(P4RuntimeWriteException, match="exists already"):
        entry.insert()
