"""A session and a real switch that goes away and comes back: nothing written is lost."""

import pytest

from controller.classes import Rule
from controller.classes import entries as class_entries
from controller.entities import CloneSession, Group, Member
from controller.entries import Call, Choice, Entry, Exact, Lpm, ToGroup
from controller.errors import ConnectError, EntryError, NotPrimaryError, WriteError
from controller.p4info import P4Info
from controller.queueing import Limit, PortSettings, QueueSettings
from controller.queues import Queues
from controller.session import Packet, Session
from controller.values import Mac
from tests.controller import real_switch
from tests.controller.real_switch import PROGRAM, PROGRAM_INFO, RealSwitch
from topo import wait

pytestmark = real_switch.needed


def hop(port):
    return Call("set_next_hop", port=port, src_addr=Mac(1), dst_addr=Mac(2))


ROUTE = Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(0x0A000200, 24)}, hop(1))
NO_ROUTE = Entry("ipv4_routes", None, Call("no_route"))
SHARED = Entry(
    "next_hop_groups", {"meta.next_hop_group": Exact(1)}, Choice(((hop(1), 1), (hop(2), 3)))
)


@pytest.fixture
def switch(tmp_path):
    switch = RealSwitch(tmp_path)
    yield switch
    switch.end()


@pytest.fixture
def session(switch):
    with Session.connect(switch.address) as session:
        session.load(P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes())
        yield session


def restart(switch, session):
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 5)
    switch.start()


def test_program_and_entries_are_back_after_a_restart(switch, session):
    session.insert([ROUTE, CloneSession(7, ports=(1,)), *class_entries([Rule(2, dscp=46)])])
    session.modify([NO_ROUTE])
    gone = Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(0x0A000900, 24)}, hop(2))
    session.insert([gone])
    session.delete([gone])
    restart(switch, session)
    # The first request waits until everything is as it was.
    (route,) = session.read("ipv4_routes")
    assert route.match == ROUTE.match
    assert len(list(session.read("ipv4_classes"))) == 1
    with Session.connect(switch.address, election_id=2) as other:
        other.use()
        # Inserting what is there is refused, so the clone session is back too.
        with pytest.raises(WriteError, match="refused 1 of 1"):
            other.insert([CloneSession(7, ports=(1,))])


def test_queue_settings_are_back_after_a_restart(switch, session):
    queues = Queues(session)
    every = QueueSettings(limit=Limit(packets=9))
    queues.configure({510: PortSettings(queue_count=2, every_queue=every)})
    queues.configure({510: PortSettings(rate_bps=8_000_000)})
    before = queues.settings()
    restart(switch, session)
    wait.until(lambda: session.is_ready, "the session's return", 10)
    assert queues.settings() == before
    assert before.ports[510].rate_bps == 8_000_000


def test_a_lost_stream_alone_changes_nothing(switch, session):
    session.insert([ROUTE])
    lost = session._stream
    lost._call.cancel()
    wait.until(lambda: session._stream is not lost and session.is_ready, "the return", 10)
    # The entry was not written twice: the switch would have refused that.
    assert len(list(session.read("ipv4_routes"))) == 1


def test_who_is_primary_is_said_and_changes(switch, session):
    assert (session.primary().election_id, session.primary().is_us) == (1, True)
    with Session.connect(switch.address, election_id=5):
        wait.until(lambda: not session.primary().is_us, "the other's rule", 5)
        assert session.primary().election_id == 5
        with pytest.raises(NotPrimaryError, match="election id 5"):
            session.insert([ROUTE])
    # The other is gone, and nobody's id may be below 5 from now on.
    wait.until(lambda: session.primary().is_us, "the return of the role", 5)
    assert session.election_id == 6
    session.insert([ROUTE])


def test_flows_are_shared_between_next_hops_by_choice_or_by_group(session):
    session.insert([SHARED])
    (back,) = session.read("next_hop_groups")
    assert [(call.args["port"], weight) for call, weight in back.call.calls] == [(1, 1), (2, 3)]
    session.delete([SHARED])
    members = [Member("next_hop_selector", number, hop(number)) for number in (1, 2)]
    group = Group("next_hop_selector", 7, {1: 1, 2: 1})
    entry = Entry("next_hop_groups", {"meta.next_hop_group": Exact(1)}, ToGroup(7))
    session.insert([*members, group, entry])
    assert next(session.read("next_hop_groups")).call == ToGroup(7)


def test_an_entry_of_a_shared_table_cannot_hold_a_plain_call(session):
    with pytest.raises(EntryError, match="hold members, groups or a choice"):
        session.insert([Entry("next_hop_groups", {"meta.next_hop_group": Exact(1)}, hop(1))])
    with pytest.raises(EntryError, match="hold calls"):
        session.insert([Entry("ipv4_routes", {}, ToGroup(1))])


def test_a_packet_goes_through_the_program_and_comes_back_with_its_reason(session):
    # Out of the CPU port again, with no program in between that would look at it: the packet-out
    # leaves through port 510 and is the packet-in's payload.
    session.send(Packet(b"\x00\x01\x02" + bytes(60), {"egress_port": 510}))
    packet = session.receive(5)
    assert packet is not None
    # The first three bytes are read as the header packet_in: 7 bits, port 1, reason 2.
    assert packet.metadata["ingress_port"] == 1
    assert packet.metadata["reason"] == 2
    assert packet.payload == bytes(60)


def test_a_packet_out_says_what_it_needs(session):
    with pytest.raises(EntryError, match="needs a value for 'egress_port'"):
        session.send(Packet(b"", {}))
    with pytest.raises(EntryError, match="no 'port'; it has: padding, egress_port"):
        session.send(Packet(b"", {"egress_port": 1, "port": 2}))


def test_a_switch_that_stays_away_is_said_to(switch, session, monkeypatch):
    monkeypatch.setattr("controller.session.REQUEST_DEADLINE_S", 0.5)
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 5)
    with pytest.raises(ConnectError, match="went away and is not back within 0.5 s"):
        session.insert([ROUTE])
