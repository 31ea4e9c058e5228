"""p4runtime-shell drives every entity, and packets on cables show what each of them does.

The program is driven.p4: its frames come back with what befell them.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import p4runtime_sh.shell as sh
import pytest
from p4.v1 import p4runtime_pb2
from vitrine.v1 import router_pb2

from controller.router_service import RouterStub
from tests.control.cables import Cable
from tests.control.conftest import CPU_PORT, DEVICE_ID, Compiled, RunningSwitch
from topo import wait

EXACT, LPM, TERNARY, SELECTOR, PROFILE = range(0x8801, 0x8806)
FRAME_BYTES = 60
DEADLINE_S = 30

# v1model's instance types.
NORMAL, CLONE, REPLICA = 0, 1, 5


@dataclass(frozen=True)
class Told:
    """The events of a frame: the `told` header of driven.p4."""

    color: int = 0
    direct_color: int = 0
    seen: int = 0
    is_known: int = 0
    instance_type: int = NORMAL
    rid: int = 0
    qid: int = 0


def mac(number: int) -> str:
    """The address as the shell takes it."""
    return ":".join(f"{byte:02x}" for byte in number.to_bytes(6, "big"))


def frame(kind: int, to: int, source: int = 1) -> bytes:
    ethernet = to.to_bytes(6, "big") + source.to_bytes(6, "big") + kind.to_bytes(2, "big")
    return ethernet.ljust(FRAME_BYTES, b"\0")


def told(received: bytes) -> Told:
    return Told(*struct.unpack_from(">BBIBBHB", received, 14))


@pytest.fixture(autouse=True)
def shell(cabled_switch: RunningSwitch, driven: Compiled) -> Iterator[None]:
    sh.setup(
        device_id=DEVICE_ID,
        grpc_addr=cabled_switch.address,
        election_id=(0, 1),
        config=sh.FwdPipeConfig(str(driven.p4info), str(driven.json)),
        verbose=False,
    )
    yield
    sh.teardown()


def entry(table: str, action: str, to: str | None = None, **params: str) -> sh.TableEntry:
    made = sh.TableEntry(f"ingress.{table}")(action=f"ingress.{action}")
    if to is not None:
        made.match["hdr.ethernet.dst_addr"] = to
    for name, value in params.items():
        made.action[name] = value
    return made


def forward_exact(to: int, port: int) -> sh.TableEntry:
    made = entry("exact_table", "forward_metered", mac(to), port=str(port))
    made.insert()
    return made


def one_at(cable: Cable) -> bytes:
    """The frame that comes; there is no other."""
    (received,) = cable.receive(1, DEADLINE_S)
    return received


def write_text(folder: Path, update: str) -> None:
    """Updates that the shell has no words for go in as text."""
    request = folder / "request.txtpb"
    request.write_text(f"updates {{ {update} }}")
    sh.Write(str(request))


# ---- tables --------------------------------------------------------------------------------------


def test_every_match_kind_sends_frames_where_its_entry_says(cabled):
    forward_exact(7, port=2)
    entry("lpm_table", "forward", "0a:00:00:00:00:00/8", port="2").insert()
    entry("lpm_table", "forward", "0a:0b:00:00:00:00/16", port="3").insert()
    low = entry("ternary_table", "forward", f"{mac(0x100)}&&&{mac(0xFF00)}", port="2")
    low.match["std_meta.ingress_port"] = "1..2"
    low.priority = 10
    low.insert()
    high = entry("ternary_table", "forward", f"{mac(0x100)}&&&{mac(0xFF00)}", port="3")
    high.match["hdr.ethernet.src_addr"] = mac(9)
    high.priority = 20
    high.insert()

    for sent, port in (
        (frame(EXACT, 7), 2),
        (frame(LPM, 0x0A0C_0000_0001), 2),
        # The longer prefix wins.
        (frame(LPM, 0x0A0B_0000_0001), 3),
        # The optional field is unset in the first entry and set in the second, which goes first.
        (frame(TERNARY, 0x1FF, source=1), 2),
        (frame(TERNARY, 0x1FF, source=9), 3),
    ):
        cabled[1].send(sent)
        assert one_at(cabled[port])[:14] == sent[:14]
    # Outside the range of ports, and unknown to every table: dropped.
    cabled[3].send(frame(TERNARY, 0x1FF))
    cabled[1].send(frame(EXACT, 8))
    cabled[1].send(frame(EXACT, 7))
    assert one_at(cabled[2])[:6] == (7).to_bytes(6, "big")
    assert cabled[2].waiting() == cabled[3].waiting() == []


def test_the_default_entry_takes_what_no_entry_takes_until_it_is_reset(cabled):
    default = entry("lpm_table", "forward", port="3")
    default.is_default = True
    default.modify()
    cabled[1].send(frame(LPM, 5))
    assert one_at(cabled[3])[:6] == (5).to_bytes(6, "big")
    # Without an action: back to the program's own, which drops.
    reset = sh.TableEntry("ingress.lpm_table")(is_default=True)
    reset.modify()
    (found,) = sh.TableEntry("ingress.lpm_table")(is_default=True).read()
    assert found.action.action_name == "ingress.drop"
    forward_exact(7, port=3)
    cabled[1].send(frame(LPM, 5))
    cabled[1].send(frame(EXACT, 7))
    assert one_at(cabled[3])[:6] == (7).to_bytes(6, "big")


def test_an_idle_entry_is_told_of_and_says_how_long_it_has_been_idle():
    idle = entry("exact_table", "drop", mac(7))
    idle.idle_timeout_ns = 200_000_000
    idle.insert()
    notices = sh.IdleTimeoutNotification()
    notice = notices.notification_queue.get(timeout=DEADLINE_S).idle_timeout_notification
    (expired,) = notice.table_entry
    assert int.from_bytes(expired.match[0].exact.value, "big") == 7
    query = sh.TableEntry("ingress.exact_table")
    query.time_since_last_hit  # noqa: B018 - asking for it makes the query ask for it
    (found,) = query.read()
    assert found.idle_timeout_ns == 200_000_000
    assert found.msg().HasField("time_since_last_hit")


# ---- action profiles -----------------------------------------------------------------------------


def test_a_member_is_what_its_entries_do(cabled):
    member = sh.ActionProfileMember("ingress.hops")(member_id=1, action="ingress.forward")
    member.action["port"] = "2"
    member.insert()
    through = sh.TableEntry("ingress.profile_table")(member_id=1)
    through.match["hdr.ethernet.dst_addr"] = mac(7)
    through.insert()
    cabled[1].send(frame(PROFILE, 7))
    assert len(one_at(cabled[2])) == FRAME_BYTES
    member.action["port"] = "3"
    member.modify()
    cabled[1].send(frame(PROFILE, 7))
    assert len(one_at(cabled[3])) == FRAME_BYTES


FLOWS = 64
# Addresses without a pattern: CRC-16 of neighbours differs in few bits.
SOURCES = [random.Random(number).getrandbits(47) for number in range(FLOWS)]


def shares(cabled: dict[int, Cable]) -> tuple[int, int]:
    """How many of the flows leave by port 2, and how many by port 3."""
    for source in SOURCES:
        cabled[1].send(frame(SELECTOR, 7, source))
    # Frames of one instant leave in order, so behind the last flow comes this one, at both ports.
    cabled[1].send(frame(EXACT, 100))
    found = []
    for port in (2, 3):
        count = 0
        while one_at(cabled[port])[:6] != (100).to_bytes(6, "big"):
            count += 1
        found.append(count)
    assert sum(found) == FLOWS
    return found[0], found[1]


def mark_the_end_of_flows() -> None:
    """Frames to 100 leave by both ports."""
    sh.MulticastGroupEntry(100).add(2, 0).add(3, 0).insert()
    entry("exact_table", "to_group", mac(100), group="100").insert()


def wait_for_link(switch: RunningSwitch, port: int, up: bool) -> None:
    with grpc.insecure_channel(switch.address) as channel:
        router = RouterStub(channel)

        def follows() -> bool:
            (found,) = router.describe(router_pb2.DescribeRequest(ports=[port])).ports
            return found.counters.up == up

        wait.until(follows, f"port {port} {'up' if up else 'down'}", DEADLINE_S)


def test_a_group_shares_flows_by_weight(cabled):
    mark_the_end_of_flows()
    for number, port in ((1, "2"), (2, "3")):
        member = sh.ActionProfileMember("ingress.next_hops")(
            member_id=number, action="ingress.forward"
        )
        member.action["port"] = port
        member.insert()
    group = sh.ActionProfileGroup("ingress.next_hops")(group_id=4)
    group.max_size = 8
    group.add(1, weight=1).add(2, weight=3)
    group.insert()
    to_group = sh.TableEntry("ingress.selector_table")(group_id=4)
    to_group.match["hdr.ethernet.dst_addr"] = mac(7)
    to_group.insert()
    few, many = shares(cabled)
    # A quarter and three quarters of 64 flows, by a hash that is the same everywhere.
    assert 8 <= few <= 24 < many
    group.clear()
    group.add(1)
    group.modify()
    assert shares(cabled) == (FLOWS, 0)


def test_a_one_shot_choice_counts_only_while_the_port_it_watches_is_up(cabled, cabled_switch):
    mark_the_end_of_flows()
    through = sh.TableEntry("ingress.selector_table")
    through.match["hdr.ethernet.dst_addr"] = mac(7)
    for port, weight in ((2, 1), (3, 3)):
        action = sh.Action("ingress.forward")
        action["port"] = str(port)
        through.oneshot.add(action, weight=weight, watch_port=port.to_bytes(1, "big"))
    through.insert()
    few, many = shares(cabled)
    assert 8 <= few <= 24 < many

    # Port 2 goes; the frames that mark the end are looked for where the flows are.
    cabled[2].set_up(False)
    wait_for_link(cabled_switch, 2, up=False)
    for source in SOURCES:
        cabled[1].send(frame(SELECTOR, 7, source))
    assert len(cabled[3].receive(FLOWS, DEADLINE_S)) == FLOWS
    (found,) = sh.TableEntry("ingress.selector_table").read()
    assert len(found.oneshot.actions) == 2, "what was written reads back"
    cabled[2].set_up(True)
    wait_for_link(cabled_switch, 2, up=True)
    cabled[2].waiting()
    assert shares(cabled) == (few, many)


# ---- counters, meters, registers, value sets -----------------------------------------------------


def test_counters_count_frames_and_bytes_and_take_what_is_written(cabled):
    forward_exact(7, port=2)
    for _ in range(3):
        cabled[1].send(frame(EXACT, 7))
    assert len(cabled[2].receive(3)) == 3
    (cell,) = sh.CounterEntry("ingress.port_counter")(index=1).read()
    assert (cell.packet_count, cell.byte_count) == (3, 3 * FRAME_BYTES)
    direct = sh.DirectCounterEntry("ingress.exact_counter")
    direct.table_entry.match["hdr.ethernet.dst_addr"] = mac(7)
    (found,) = direct.read()
    assert (found.packet_count, found.byte_count) == (3, 3 * FRAME_BYTES)
    direct.packet_count, direct.byte_count = 100, 1000
    direct.modify()
    cabled[1].send(frame(EXACT, 7))
    one_at(cabled[2])
    (found,) = sh.TableEntry("ingress.exact_table")(counter_data=None).read() and direct.read()
    assert (found.packet_count, found.byte_count) == (101, 1000 + FRAME_BYTES)


def test_meters_colour_frames(cabled):
    forward_exact(7, port=2)
    # No tokens come, one frame is within the committed burst and one more within the peak burst:
    # green 0, yellow 1, red 2, however long the machine takes between them.
    of_port = sh.MeterEntry("ingress.port_meter")(index=1)
    of_port.cir, of_port.cburst, of_port.pir, of_port.pburst = 0, 1, 0, 2
    of_port.modify()
    of_entry = sh.DirectMeterEntry("ingress.exact_meter")
    of_entry.table_entry.match["hdr.ethernet.dst_addr"] = mac(7)
    of_entry.cir, of_entry.cburst, of_entry.pir, of_entry.pburst = 0, 2, 0, 3
    of_entry.modify()
    for _ in range(4):
        cabled[1].send(frame(EXACT, 7))
    colors = [told(received) for received in cabled[2].receive(4)]
    assert [it.color for it in colors] == [0, 1, 2, 2]
    assert [it.direct_color for it in colors] == [0, 0, 1, 2]
    (found,) = sh.MeterEntry("ingress.port_meter")(index=1).read()
    assert (found.cburst, found.pburst) == (1, 2)


def test_a_register_is_written_met_by_a_frame_and_read(cabled, tmp_path):
    forward_exact(7, port=2)
    (register_id,) = (
        each.preamble.id for each in sh.context.p4info.registers if "seen" in each.preamble.name
    )
    name = f"register_id: {register_id} index {{ index: 1 }}"
    value = 'data { bitstring: "\\x29" }'
    write_text(tmp_path, f"type: MODIFY entity {{ register_entry {{ {name} {value} }} }}")
    cabled[1].send(frame(EXACT, 7))
    assert told(one_at(cabled[2])).seen == 0x29
    entity = p4runtime_pb2.Entity()
    entity.register_entry.register_id = register_id
    entity.register_entry.index.index = 1
    (answer,) = sh.client.read_one(entity)
    assert answer.entities[0].register_entry.data.bitstring == b"\x2a"
    # Without an index: the whole array.
    entity.register_entry.ClearField("index")
    (answer,) = sh.client.read_one(entity)
    values = [each.register_entry.data.bitstring for each in answer.entities]
    assert values == [b"\0", b"\x2a", *[b"\0"] * 14]


def test_a_value_set_steers_the_parser(cabled, tmp_path):
    forward_exact(7, port=2)
    cabled[1].send(frame(EXACT, 7))
    assert told(one_at(cabled[2])).is_known == 0
    (value_set,) = sh.context.p4info.value_sets
    member = 'members { match { field_id: 1 exact { value: "\\x07" } } }'
    name = f"value_set_id: {value_set.preamble.id}"
    write_text(tmp_path, f"type: MODIFY entity {{ value_set_entry {{ {name} {member} }} }}")
    cabled[1].send(frame(EXACT, 7))
    assert told(one_at(cabled[2])).is_known == 1


# ---- copies --------------------------------------------------------------------------------------


def test_a_multicast_group_makes_a_replica_for_each_port_and_instance(cabled):
    entry("exact_table", "to_group", mac(7), group="4").insert()
    group = sh.MulticastGroupEntry(4)
    group.add(2, 5).add(3, 6).add(3, 7)
    group.insert()
    cabled[1].send(frame(EXACT, 7))
    assert told(one_at(cabled[2])) == Told(instance_type=REPLICA, rid=5)
    at_3 = {told(received).rid for received in cabled[3].receive(2)}
    assert at_3 == {6, 7}


def test_a_clone_is_cut_and_waits_in_the_class_of_its_session(cabled):
    entry("exact_table", "forward_and_clone", mac(7), port="2", session="5").insert()
    session = sh.CloneSessionEntry(5)
    session.add(3, 9)
    session.cos = 6
    session.packet_length_bytes = 40
    session.insert()
    cabled[1].send(frame(EXACT, 7))
    assert told(one_at(cabled[2])) == Told()
    clone = one_at(cabled[3])
    assert len(clone) == 40
    assert told(clone) == Told(instance_type=CLONE, rid=9, qid=6)


# ---- to the controller and from it ---------------------------------------------------------------


def test_packets_go_in_and_out_with_their_metadata(cabled):
    sent = frame(EXACT, 1)
    sh.PacketOut(sent, egress_port="2", pad="0").send()
    assert one_at(cabled[2]) == sent

    entry("exact_table", "to_controller", mac(7)).insert()
    packets = sh.PacketIn()
    cabled[3].send(frame(EXACT, 7))
    packet = packets.packet_in_queue.get(timeout=DEADLINE_S).packet
    assert packet.payload[:14] == frame(EXACT, 7)[:14]
    assert [int.from_bytes(each.value, "big") for each in packet.metadata] == [3, 0]
    assert CPU_PORT not in cabled


def test_a_digest_is_told_once_until_it_is_acknowledged(cabled):
    entry("exact_table", "learn", mac(7)).insert()
    digest = sh.DigestEntry("learned_t")
    digest.max_list_size = 1
    digest.ack_timeout_ns = 3_600_000_000_000
    digest.insert()

    def told_of() -> p4runtime_pb2.DigestList:
        return sh.client.get_stream_packet("digest", timeout=DEADLINE_S).digest

    def source_of(found: p4runtime_pb2.DigestList) -> int:
        (data,) = found.data
        return int.from_bytes(data.struct.members[0].bitstring, "big")

    for source in (8, 8, 9):
        cabled[2].send(frame(EXACT, 7, source))
    first, second = told_of(), told_of()
    # The second frame of host 8 says nothing new.
    assert [source_of(first), source_of(second)] == [8, 9]
    # An acknowledged message is news again; the shell's own class acknowledges what it takes.
    lists = sh.DigestList()
    ack = p4runtime_pb2.StreamMessageRequest()
    ack.digest_ack.digest_id, ack.digest_ack.list_id = first.digest_id, first.list_id
    sh.client.stream_out_q.put(ack)
    sent = 0

    def told_again() -> bool:
        # The acknowledgement overtakes no frame, nor the other way round: they come by two ways.
        nonlocal sent
        cabled[2].send(frame(EXACT, 7, 8))
        sent += 1
        return not lists.digest_list_queue.empty()

    wait.until(told_again, "host 8 told again", DEADLINE_S)
    assert source_of(lists.digest_list_queue.get().digest) == 8
