"""A Watch's reports of a router with frames in it: marks, crossings, links, overruns; and filters.

The program is everything.p4, which forwards IPv4 to port 1.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from fractions import Fraction

import pytest

from controller.p4info import P4Info
from controller.packets import (
    InputQueue,
    PacketCrossing,
    PacketDeparted,
    PacketDropped,
    PacketFiled,
    PacketInside,
    PacketQueued,
    PacketReceived,
    PacketTransmitted,
)
from controller.queueing import (
    OFF,
    Aqm,
    Arbiter,
    BitShaper,
    InputQueueing,
    InputStage,
    Limit,
    PortSettings,
    QueueSettings,
    RouterSettings,
)
from controller.queues import Queues
from controller.session import Session
from controller.watch import (
    Arbitration,
    Crossing,
    Link,
    Mark,
    Overrun,
    QueueChange,
    Round,
    watch,
)
from tests.control.conftest import DEVICE_ID, Compiled, RunningSwitch

# An Ethernet and an IPv4 header that says: may be marked, ECT(1).
IPV4_ECT = bytes(12) + bytes.fromhex("0800 4501 002e 0000 0000 4000 0000 0a000001 0a000002")
FRAME = IPV4_ECT.ljust(60, b"\0")


@pytest.fixture
def session(cabled_switch: RunningSwitch, compiled: Compiled) -> Iterator[Session]:
    with Session.connect(cabled_switch.address, device_id=DEVICE_ID, election_id=1) as made:
        made.load(P4Info.load(compiled.p4info), compiled.json.read_bytes())
        yield made


@pytest.fixture
def queues(session: Session) -> Queues:
    return Queues(session)


def test_a_mark_is_told_when_the_packet_departs_and_only_to_those_who_watch_its_port(
    session, queues, cabled
):
    # At 1 b/s nothing follows the first frame; an arrival that finds one waiting is marked.
    slow = QueueSettings(shaper=BitShaper(1), aqm=Aqm("ecn_step", threshold=Limit(packets=1)))
    queues.configure({1: PortSettings(queues={0: slow})})
    with (
        watch(session, queues=[(1, 0)], marks=True, head_bytes=16) as told,
        watch(session, ports=[3], marks=True, links=True) as told_of_port_3,
    ):
        events, others = iter(told), iter(told_of_port_3)
        cabled[2].send(FRAME)
        entered, left = next(events), next(events)
        assert isinstance(entered, QueueChange) and isinstance(left, QueueChange)
        assert (entered.change, left.change) == ("ENQUEUED", "DEPARTED")
        for waiting in (1, 2):
            cabled[2].send(FRAME)
            assert next(events).packets == waiting
        queues.configure({1: PortSettings(queues={0: QueueSettings(shaper=OFF)})})
        # Two departures; the second frame to wait carries the mark.
        told_now = [next(events) for _ in range(3)]
        (mark,) = (event for event in told_now if isinstance(event, Mark))
        assert (mark.port, mark.class_, mark.length_bytes) == (1, 0, 60)
        # The last two bits of the second byte of the IPv4 header: congestion experienced.
        assert mark.head[:14] == FRAME[:14]
        assert mark.time_ps == max(event.time_ps for event in told_now)
        cabled[3].set_up(False)
        link = next(others)
        assert isinstance(link, Link), "port 3 has seen no mark"
        assert (link.port, link.up) == (3, False)


def test_a_crossing_lasts_as_long_as_the_crossbar_takes_for_the_packet(session, queues, cabled):
    # 60 bytes at twice 1 Gb/s: 240 ns.
    stage = InputStage(
        InputQueueing.VOQ, rate_bps=10**9, speedup=Fraction(2), arbiter=Arbiter.ISLIP, iterations=1
    )
    queues.configure(RouterSettings(input=stage))
    with (
        watch(session, crossings=True) as told,
        watch(session, crossings=True, ports=[3]) as told_of_port_3,
    ):
        events, others = iter(told), iter(told_of_port_3)
        for source in (2, 3):
            cabled[source].send(FRAME)
            crossing = next(events)
            assert isinstance(crossing, Crossing)
            ends = (crossing.input, crossing.output, crossing.class_, crossing.length_bytes)
            assert ends == (source, 1, 0, 60)
            assert crossing.until_ps - crossing.time_ps == 240_000
        # Of port 3 only the second.
        assert next(others) == crossing


def test_an_arbitration_tells_who_asks_who_accepts_and_where_the_pointers_stand(
    session, queues, cabled
):
    stage = InputStage(InputQueueing.VOQ, rate_bps=10**9, arbiter=Arbiter.ISLIP)
    queues.configure(RouterSettings(input=stage))
    with watch(session, arbitrations=True, ports=[3]) as told:
        cabled[2].send(FRAME)
        arbitration = next(iter(told))
    assert isinstance(arbitration, Arbitration)
    assert arbitration.asks == {(2, 1): 0}
    assert arbitration.rounds == (Round(grants=((2, 1),), accepts=((2, 1),)),)
    # Output 1 goes on with the input after 2, input 2 with the output after 1.
    assert arbitration.pointers[1][0] == 3
    assert arbitration.pointers[2][1] == 2


def test_a_packet_is_told_of_from_its_arrival_to_its_end_and_who_comes_late_finds_it(
    session, queues, cabled
):
    # A crossbar, and behind it a line that takes 480 bits at 1 b/s: the first frame leaves, the
    # second waits, the third finds the queue full.
    stage = InputStage(InputQueueing.VOQ, rate_bps=10**9, arbiter=Arbiter.ISLIP, lossy=True)
    slow = QueueSettings(shaper=BitShaper(1), limit=Limit(packets=1))
    queues.configure(RouterSettings(input=stage))
    queues.configure({1: PortSettings(queues={0: slow})})
    voq, queue = InputQueue(2, 1, 0), (1, 0)
    through = [PacketReceived, PacketFiled, PacketCrossing]
    with watch(session, packets=True, head_bytes=14) as told:
        steps = iter(told)
        cabled[2].send(FRAME)
        life = [next(steps) for _ in range(6)]
        assert [type(step) for step in life] == [
            *through,
            PacketQueued,
            PacketDeparted,
            PacketTransmitted,
        ]
        assert {step.packet for step in life} == {life[0].packet}
        assert (life[0].port, life[0].length_bytes, life[0].head) == (2, 60, FRAME[:14])
        assert (life[1].queue, life[2].queue, life[3].queue) == (voq, voq, queue)
        assert (life[5].port, life[5].is_last, life[4].is_last) == (1, True, False)
        cabled[2].send(FRAME)
        waiting = [next(steps) for _ in range(4)]
        assert [type(step) for step in waiting] == [*through, PacketQueued]
        with watch(session, packets=True, ports=[1], head_bytes=20) as told_late:
            inside = next(iter(told_late))
            assert inside == PacketInside(
                told_late.start.time_ps,
                waiting[0].packet,
                input=2,
                length_bytes=60,
                head=FRAME[:20],
                since_ps=waiting[3].time_ps,
                place=queue,
            )
        cabled[2].send(FRAME)
        refused = [next(steps) for _ in range(4)]
        assert [type(step) for step in refused] == [*through, PacketDropped]
        assert (refused[3].reason, refused[3].queue) == ("QUEUE_LIMIT", queue)
        numbers = [step.packet for step in (life[0], waiting[0], refused[0])]
        assert numbers == sorted(set(numbers))


def test_links_are_told_down_and_up_to_those_who_watch_the_port(session, cabled):
    with (
        watch(session, links=True) as told,
        watch(session, links=True, ports=[2]) as told_of_port_2,
    ):
        events, others = iter(told), iter(told_of_port_2)
        for port in (3, 2):
            for up in (False, True):
                cabled[port].set_up(up)
                link = next(events)
                assert isinstance(link, Link)
                assert (link.port, link.up) == (port, up)
        assert [(link.port, link.up) for link in (next(others), next(others))] == [
            (2, False),
            (2, True),
        ]


@contextlib.contextmanager
def held_up_now_and_then(process):
    """Stops the process for a fifth of a second at a time, until the block is left."""
    leaving = threading.Event()

    def hold_up():
        while not leaving.is_set():
            process.send_signal(signal.SIGSTOP)
            # However late this thread is woken, the process was stopped for that long.
            leaving.wait(0.2)
            process.send_signal(signal.SIGCONT)
            leaving.wait(0.1)

    thread = threading.Thread(target=hold_up)
    thread.start()
    try:
        yield
    finally:
        leaving.set()
        thread.join()


def test_an_overrun_is_told_when_the_process_was_held_up(session, queues, cabled, cabled_switch):
    # A frame leaves every 10 ms (480 bits at 48 kb/s) for ten seconds.
    every = QueueSettings(limit=Limit(packets=1000))
    queues.configure({1: PortSettings(rate_bps=48_000, every_queue=every)})
    with watch(session, overruns=True) as told:
        for _ in range(1000):
            cabled[2].send(FRAME)
        # The first time may pass before the watch is in force.
        with held_up_now_and_then(cabled_switch.process):
            overrun = next(iter(told))
    assert isinstance(overrun, Overrun)
    # More than a millisecond is an overrun.
    assert overrun.lag_ps > 10**9
    lags = queues.describe().lags
    assert lags.count >= 1
    assert lags.max_ps >= overrun.lag_ps
