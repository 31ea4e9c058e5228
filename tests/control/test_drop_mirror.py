"""The mirror of drops through a real switch: set, refused, read back, and copies that arrive.

The switch of these tests has one port, the controller's: what a packet-out sends there comes back
as a packet-in.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from controller.entities import CloneSession
from controller.errors import RequestError
from controller.p4info import P4Info
from controller.queueing import OFF, BitShaper, Limit, PortSettings, QueueSettings, RouterSettings
from controller.queues import Queues
from controller.session import Packet, Session
from tests.control.conftest import CPU_PORT, DEVICE_ID, Compiled

SESSION = 500
DEADLINE_S = 30


@pytest.fixture
def session(switch_address: str, compiled: Compiled) -> Iterator[Session]:
    with Session.connect(switch_address, device_id=DEVICE_ID, election_id=1) as made:
        made.load(P4Info.load(compiled.p4info), compiled.json.read_bytes())
        yield made


@pytest.fixture
def queues(session: Session) -> Queues:
    return Queues(session)


def test_a_session_that_does_not_exist_is_refused_with_what_to_do(queues):
    with pytest.raises(RequestError, match="clone session 500: no such session; write it through"):
        queues.configure(RouterSettings(drop_mirror=SESSION))
    assert queues.settings().drop_mirror == OFF


def test_the_mirror_reads_back_until_it_is_taken_away(session, queues):
    session.insert([CloneSession(SESSION, (CPU_PORT,))])
    queues.configure(RouterSettings(drop_mirror=SESSION))
    queues.configure({CPU_PORT: PortSettings(overhead_bytes=24)})
    assert queues.settings().drop_mirror == SESSION, "what is not named stays"
    queues.configure(RouterSettings(drop_mirror=OFF))
    assert queues.settings().drop_mirror == OFF


def test_what_a_full_queue_drops_arrives_as_a_cut_copy_and_counts_as_dropped(session, queues):
    # Class 0 sends its first packet and the next 800 s later (100 bytes at 1 b/s); one may wait.
    # Of four more packets three are dropped, however slow the machine is. Copies take class 1.
    slow = QueueSettings(limit=Limit(packets=1), shaper=BitShaper(1))
    queues.configure({CPU_PORT: PortSettings(queue_count=2, queues={0: slow})})
    session.insert([CloneSession(SESSION, (CPU_PORT,), class_=1, length_bytes_max=40)])
    queues.configure(RouterSettings(drop_mirror=SESSION))
    sent = Packet(bytes(100), {"egress_port": CPU_PORT, "pad": 0})
    session.send(sent)
    # A packet-in is the frame without the two bytes of its controller header.
    assert len(session.receive(DEADLINE_S).payload) == 98
    for _ in range(4):
        session.send(sent)
    copies = [session.receive(DEADLINE_S) for _ in range(3)]
    assert [len(packet.payload) for packet in copies] == [38, 38, 38]
    assert queues.read([CPU_PORT]).ports[CPU_PORT].dropped_packets == {"QUEUE_LIMIT": 3}
    port = queues.read([CPU_PORT]).ports[CPU_PORT]
    assert [queue.departed_packets for queue in port.queues] == [1, 3]
    assert port.held_packets == 1
