"""A session and a real switch that goes away and comes back: nothing written is lost."""

import contextlib
import threading
import time

import grpc
import pytest
from p4.v1 import p4runtime_pb2

from controller.classes import Rule
from controller.classes import entries as class_entries
from controller.entities import CloneSession, Group, Member
from controller.entries import Call, Choice, Entry, Exact, Lpm, ToGroup, ToMember
from controller.errors import (
    ConnectError,
    ControllerError,
    EntryError,
    NotPrimaryError,
    WriteError,
)
from controller.keeper import State
from controller.lines import Lines
from controller.p4info import P4Info
from controller.ports import Ports
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
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
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
    # Beside it, another user's session takes an election id by itself.
    with Session.connect(switch.address) as other:
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
    wait.until(lambda: session.is_ready, "the session's return", 60)
    assert queues.settings() == before
    assert before.ports[510].rate_bps == 8_000_000


def test_a_lost_stream_alone_changes_nothing(switch, session):
    session.insert([ROUTE])
    lost = session._keeper.stream
    lost._call.cancel()
    wait.until(lambda: session._keeper.stream is not lost and session.is_ready, "the return", 60)
    # The entry was not written twice: the switch would have refused that.
    assert len(list(session.read("ipv4_routes"))) == 1


def test_who_is_primary_is_said_and_changes(switch, session):
    assert (session.primary().election_id, session.primary().is_us) == (1, True)
    with Session.connect(switch.address, election_id=5):
        wait.until(lambda: not session.primary().is_us, "the other's rule", 60)
        assert session.primary().election_id == 5
        with pytest.raises(NotPrimaryError, match="election id 5"):
            session.insert([ROUTE])
    # The other is gone, and no id may be below 5 from now on.
    wait.until(lambda: session.primary().is_us, "the return of the role", 60)
    assert session.election_id == 6
    session.insert([ROUTE])


def test_a_session_beside_another_and_after_it_gets_a_working_election_id(switch, session):
    for _ in range(3):
        with Session.connect(switch.address) as other:
            other.use()
            other.insert([CloneSession(7, ports=(1,))])
            other.delete([CloneSession(7, ports=(1,))])
        wait.until(lambda: session.primary().is_us, "the return of the role", 60)
    session.insert([ROUTE])
    with (
        Session.connect(switch.address, election_id=1 << 100) as other,
        Session.connect(switch.address) as another,
    ):
        assert another.election_id == (1 << 100) + 1
        wait.until(lambda: not other.primary().is_us, "word of the other", 60)


def member(number):
    return Member("next_hop_selector", number, hop(number))


def to_member(number):
    return Entry("next_hop_groups", {"meta.next_hop_group": Exact(1)}, ToMember(number))


def test_an_entry_that_names_a_younger_member_is_back_after_a_restart(switch, session):
    session.insert([member(1)])
    session.insert([to_member(1)])
    session.insert([member(2)])
    session.modify([to_member(2)])
    session.delete([member(1)])
    restart(switch, session)
    (back,) = session.read("next_hop_groups")
    assert back.call == ToMember(2)


def test_a_restoration_that_was_cut_short_is_taken_up_again(switch, session, monkeypatch):
    session.insert([ROUTE])
    session.modify([NO_ROUTE])
    write_back = Session._write_back
    calls = []

    def cut_short(self, updates):
        calls.append(len(updates))
        if len(calls) == 1:
            # The program is there, its cookie matches; the connection breaks before the entries.
            self._keeper.stream._call.cancel()
            raise ConnectError("cut short") from Unavailable()
        write_back(self, updates)

    monkeypatch.setattr(Session, "_write_back", cut_short)
    restart(switch, session)
    assert [route.match for route in session.read("ipv4_routes")] == [ROUTE.match]
    assert calls == [2, 2]


class Unavailable(grpc.RpcError):
    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return "Socket closed"

    def trailing_metadata(self):
        return ()


def test_what_another_session_restored_first_is_completed(switch, session):
    # Another controller gives the restarted switch the same program, so the cookie matches.
    session.insert([ROUTE, CloneSession(7, ports=(1,))])
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    with stopped(session):
        switch.start()
        with Session.connect(switch.address) as other:
            other.load(P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes())
            other.insert([SHARED])
    # Its entry stays, and ours are there again.
    assert [route.match for route in session.read("ipv4_routes")] == [ROUTE.match]
    assert len(list(session.read("next_hop_groups"))) == 1
    assert [each.id for each in session.clone_sessions()] == [7]


@contextlib.contextmanager
def stopped(session):
    """Keeps a session from coming back for the length of a `with` block."""
    opens = session._keeper._open
    go_on = threading.Event()
    session._keeper._open = lambda election_id: (go_on.wait(), opens(election_id))
    try:
        yield
    finally:
        session._keeper._open = opens
        go_on.set()


def test_another_primary_after_a_restart_is_waited_for(switch, session):
    session.insert([ROUTE])
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    with stopped(session):
        switch.start()
        other = Session.connect(switch.address, election_id=9)
    with other:
        wait.until(lambda: session.state is State.SUPERSEDED, "word of the other", 60)
        with pytest.raises(NotPrimaryError, match="election id 9"):
            session.insert([ROUTE])
    wait.until(lambda: session.is_ready, "the return of the role", 60)
    assert [route.match for route in session.read("ipv4_routes")] == [ROUTE.match]


def test_another_controller_with_our_election_id_is_waited_for(switch, session):
    session.insert([ROUTE])
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    with stopped(session):
        switch.start()
        other = Session.connect(switch.address, election_id=session.election_id)
    with other:
        wait.until(lambda: session.state is State.SUPERSEDED, "word of the other", 60)
    wait.until(lambda: session.is_ready, "the return of the role", 60)
    assert len(list(session.read("ipv4_routes"))) == 1


def test_a_device_that_refuses_what_it_had_accepted_ends_the_session_and_wakes_who_waits(
    switch, session, monkeypatch
):
    session.insert([ROUTE])
    # As of a switch whose new version has no such table.
    session._ledger._entities[b"none"] = p4runtime_pb2.Entity(
        table_entry=p4runtime_pb2.TableEntry(table_id=session.program.tables["ipv4_routes"].id + 1)
    )
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    told = []

    def read():
        begun_s = time.monotonic()
        try:
            list(session.read("ipv4_routes"))
        except ControllerError as error:
            told.append((str(error), time.monotonic() - begun_s))

    reader = threading.Thread(target=read)
    reader.start()
    switch.start()
    reader.join(20)
    ((text, waited_s),) = told
    assert "refused" in text
    assert "switch running?" not in text
    assert waited_s < 15
    assert session.state is State.FAILED


class Refused(Unavailable):
    def code(self):
        return grpc.StatusCode.INVALID_ARGUMENT

    def details(self):
        return "no such table"


def test_a_refusal_that_comes_as_a_bare_grpc_error_is_not_tried_again(switch, session, monkeypatch):
    session.insert([ROUTE])
    tried = []

    def refuse(*_):
        tried.append(1)
        raise Refused

    monkeypatch.setattr(Session, "_write_back", refuse)
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    switch.start()
    wait.until(lambda: session.state is State.FAILED, "the end of the session", 60)
    assert tried == [1]
    with pytest.raises(ControllerError, match="refuses what it had accepted before: no such table"):
        session.insert([ROUTE])


def test_who_waits_is_woken_when_the_session_is_closed(switch, session):
    switch.end()
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    threading.Timer(0.3, session.close).start()
    with pytest.raises(ControllerError, match="the session is closed"):
        session.insert([ROUTE])


# Requests right after the switch has gone, while its end is still on the way to us.
REQUESTS = {
    "insert": lambda session: session.insert([CloneSession(7, ports=(1,))]),
    "modify": lambda session: session.modify([NO_ROUTE]),
    "delete": lambda session: session.delete([ROUTE]),
    "read": lambda session: list(session.read("ipv4_routes")),
    "use": lambda session: session.use(),
    "load": lambda session: session.load(P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes()),
    "swap": lambda session: session.swap(
        P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes(), [ROUTE], [NO_ROUTE]
    ),
    "queues, configure": lambda session: Queues(session).configure(
        {510: PortSettings(rate_bps=8_000_000)}
    ),
    "queues, read": lambda session: Queues(session).read(),
    "cables, read": lambda session: Lines(session).read(),
    "ports": lambda session: Ports(session).devices(),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_request_right_after_the_end_of_the_switch_waits_for_its_return(
    switch, session, request_
):
    session.insert([ROUTE])
    switch.end()
    starter = threading.Thread(target=switch.start)
    starter.start()
    request_(session)
    starter.join()
    assert session.is_ready


def cut_off(session, monkeypatch, count):
    """The first `count` writes are carried out, but the connection breaks before the answer."""
    write = session._stub.Write
    cut = []

    def write_and_break(request, timeout):
        answer = write(request, timeout=timeout)
        if len(cut) < count:
            cut.append([update.type for update in request.updates])
            session._keeper.stream._call.cancel()
            raise Unavailable()
        return answer

    monkeypatch.setattr(session._stub, "Write", write_and_break)
    return cut


def test_a_batch_that_was_carried_out_before_the_connection_broke_is_as_if_made_once(
    session, monkeypatch
):
    gone = Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(0x0A000900, 24)}, hop(2))
    session.insert([gone])
    cut = cut_off(session, monkeypatch, 1)
    session._write(
        [
            (kind, item, entity)
            for kind, items in (
                (p4runtime_pb2.Update.INSERT, [ROUTE]),
                (p4runtime_pb2.Update.DELETE, [gone]),
            )
            for item, entity in session._entities(items)
        ]
    )
    # Made again as it was, the switch would have refused both.
    assert cut == [[p4runtime_pb2.Update.INSERT, p4runtime_pb2.Update.DELETE]]
    assert [route.match for route in session.read("ipv4_routes")] == [ROUTE.match]
    # And a session that restores the switch from now on knows it, too.
    assert len(session._ledger.updates()) == 1


def test_a_request_that_is_cut_off_twice_says_so(session, monkeypatch):
    cut_off(session, monkeypatch, 2)
    with pytest.raises(ConnectError, match="went away during a request, came back, and went away"):
        session.insert([ROUTE])


def test_a_batch_that_meets_a_device_that_does_not_know_us_yet_waits_until_it_does(
    session, monkeypatch
):
    class PermissionDenied(grpc.RpcError):
        def code(self):
            return grpc.StatusCode.PERMISSION_DENIED

        def trailing_metadata(self):
            return ()

    write, denied = session._stub.Write, []

    def write_too_early(request, timeout):
        if not denied:
            denied.append(request)
            # The device has restarted, and that our stream has ended is not known here yet.
            threading.Timer(0.2, session._keeper.stream._call.cancel).start()
            raise PermissionDenied()
        return write(request, timeout=timeout)

    monkeypatch.setattr(session._stub, "Write", write_too_early)
    session.insert([ROUTE])
    assert denied
    assert [route.match for route in session.read("ipv4_routes")] == [ROUTE.match]


def test_a_batch_that_was_given_up_because_the_clock_was_set_is_as_if_made_once(
    session, monkeypatch
):
    class DeadlineExceeded(grpc.RpcError):
        def code(self):
            return grpc.StatusCode.DEADLINE_EXCEEDED

        def details(self):
            return "Deadline Exceeded"

        def trailing_metadata(self):
            return ()

    write, given_up = session._stub.Write, []

    def write_and_give_up(request, timeout):
        answer = write(request, timeout=timeout)
        if not given_up:
            given_up.append(request)
            raise DeadlineExceeded()
        return answer

    monkeypatch.setattr(session._stub, "Write", write_and_give_up)
    session.insert([ROUTE])
    assert given_up
    assert [route.match for route in session.read("ipv4_routes")] == [ROUTE.match]
    assert len(session._ledger.updates()) == 1
    # A request that used up the promised time gets an error.
    monkeypatch.setattr("controller.connection.REQUEST_DEADLINE_S", 0.0)
    given_up.clear()
    with pytest.raises(ConnectError, match="did not answer within 30 s: it may carry"):
        session.delete([ROUTE])


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
    # Out of the CPU port again, without a program in between that reads it: the packet-out
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
    wait.until(lambda: not session.is_ready, "the end of the stream", 60)
    with pytest.raises(ConnectError, match="went away and is not back within 0.5 s"):
        session.insert([ROUTE])
