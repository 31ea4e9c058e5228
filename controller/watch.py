"""Events inside a router, as they happen: samples, drops, marks, every step of every packet.

    with watch(session, queues=[(2, 0)], drops=True, head_bytes=34) as told:
        for event in told:
            match event:
                case QueueChange(): depths.append((told.epoch_s(event.time_ps), event.packets))
                case Drop(): print(event.reason, event.head.hex())

`told.start` says from when on everything is told and what the queues held then. Instants are those
of the modelled router; `told.epoch_s` turns them into seconds since 1970, so that they can be
joined with what iperf3 or ss wrote down. With samples, events come in bunches, each before the next
sample; without, one by one as they happen. A reader that is too slow slows nobody: what it has
missed comes as `Lost` for events and as `missed` in the next sample.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import grpc
from vitrine.v1 import router_pb2

from controller.connection import in_force
from controller.errors import RequestError
from controller.packets import PacketStep, packet_step
from controller.queues import PortState, port_state
from controller.reasons import reason_name
from controller.router_service import RouterStub, refusals
from controller.session import Session

NS_PER_S = 1_000_000_000
PS_PER_NS = 1000


@dataclass(frozen=True)
class Threshold:
    """A depth of a queue whose crossing is reported: in packets or in bytes, not both."""

    port: int
    class_: int
    packets: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Start:
    """The beginning of a watch."""

    time_ps: int
    # Seconds since 1970 are time_ps / 10^12 + epoch_offset_ns / 10^9.
    epoch_offset_ns: int
    # Packets and bytes that the watched queues held, by (port, class).
    held: Mapping[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class QueueChange:
    """A packet entered or left a queue; what waits afterwards."""

    time_ps: int
    port: int
    class_: int
    # ENQUEUED, DEPARTED, or DROPPED after it had waited.
    change: str
    length_bytes: int
    packets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Drop:
    """A packet ended in the switch."""

    time_ps: int
    reason: str
    # Where it came in.
    input: int
    # (port, class) it was for or came from; None if the program had not decided that.
    queue: tuple[int, int] | None
    length_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """A packet departs that active queue management has marked."""

    time_ps: int
    port: int
    class_: int
    length_bytes: int
    head: bytes


@dataclass(frozen=True, slots=True)
class Crossed:
    """A queue's depth became at least the level of a threshold, or less."""

    time_ps: int
    threshold: Threshold
    above: bool
    packets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """The arbiter matched an input with an output, and a packet crosses until `until_ps`."""

    time_ps: int
    input: int
    output: int
    class_: int
    length_bytes: int
    until_ps: int


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the arbiter, in (input, output): outputs grant to inputs, inputs accept."""

    # None with arbiters that match at once.
    grants: tuple[tuple[int, int], ...]
    accepts: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Arbitration:
    """The crossbar's arbiter matched inputs with outputs, or found none to match."""

    time_ps: int
    # The weight of each requested (input, output); 0 if the arbiter does not weigh.
    asks: Mapping[tuple[int, int], int]
    rounds: tuple[Round, ...]
    # Of each port the input that its output looks at first, and the output that its input does.
    pointers: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Link:
    """A port went up or down."""

    time_ps: int
    port: int
    up: bool


@dataclass(frozen=True, slots=True)
class Overrun:
    """The machine was too slow: the model lagged the clock by this much."""

    time_ps: int
    lag_ps: int


@dataclass(frozen=True, slots=True)
class Lost:
    """This many events are missing here, because this reader or the switch was too slow."""

    events: int


@dataclass(frozen=True)
class InputState:
    """The queues of an input of the fabric."""

    port: int
    packets: int
    bytes: int
    # Packets in each virtual output queue that holds some, by (output, class).
    voqs: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Sample:
    """The numbers of one instant."""

    time_ps: int
    # Samples that were left out before this one.
    missed: int
    ports: Mapping[int, PortState]
    # When each line that is busy will have sent its frame.
    sending_until_ps: Mapping[int, int]
    # The busy share of each line in its last window, in 1/1000.
    utilisation_permille: Mapping[int, int]
    # The input stage, by port; empty in an output-queued router.
    inputs: Mapping[int, InputState] = field(default_factory=dict)
    # (input, output) of each packet that is crossing the fabric.
    transfers: Sequence[tuple[int, int]] = ()


Told = (
    QueueChange
    | Drop
    | Mark
    | Crossed
    | Crossing
    | Arbitration
    | Link
    | Overrun
    | PacketStep
    | Lost
    | Sample
)


class Watched:
    """An open watch: iterate over it for events, in the order of time."""

    def __init__(self, call: grpc.Call, thresholds: Sequence[Threshold]) -> None:
        self._call = call
        self._thresholds = thresholds
        first = self._next()
        if first is None:
            raise RequestError("the device ended the watch at once.")
        depths = {
            (queue.port, _class(queue)): (queue.held.packets, queue.held.bytes)
            for queue in first.start.queues
        }
        self.start = Start(first.start.time_ps, first.start.epoch_offset_ns, depths)

    def epoch_s(self, time_ps: int) -> float:
        """Seconds since 1970 of an instant of the router."""
        return (time_ps // PS_PER_NS + self.start.epoch_offset_ns) / NS_PER_S

    def end(self) -> None:
        """Ends the watch from a signal handler or another thread: the iteration just ends."""
        self._call.cancel()

    def __iter__(self) -> Iterator[Told]:
        while (message := self._next()) is not None:
            if message.lost_events:
                yield Lost(message.lost_events)
            for event in message.events:
                yield self._event(event)
            if message.HasField("sample"):
                yield _sample(message.sample)

    def _next(self) -> router_pb2.WatchResponse | None:
        try:
            return next(self._call, None)
        except grpc.RpcError as error:
            # Cancelling is how a reader says it has seen enough.
            if error.code() is grpc.StatusCode.CANCELLED:
                return None
            with refusals("the device does not stream events"):
                raise

    def _event(self, event: router_pb2.Event) -> Told:
        at = event.time_ps
        kind = event.WhichOneof("kind")
        told = getattr(event, kind)
        if kind == "queue":
            change = router_pb2.QueueEvent.Change.Name(told.change)
            queue, held = told.queue, told.held
            place = (queue.port, _class(queue))
            return QueueChange(at, *place, change, told.length_bytes, held.packets, held.bytes)
        if kind == "packet":
            return packet_step(at, told)
        if kind == "drop":
            decided = told.HasField("queue")
            its_queue = (told.queue.port, _class(told.queue)) if decided else None
            reason = reason_name(told.reason)
            return Drop(at, reason, told.input, its_queue, told.length_bytes, told.head)
        if kind == "mark":
            return Mark(at, told.queue.port, _class(told.queue), told.length_bytes, told.head)
        if kind == "threshold":
            threshold = self._thresholds[told.threshold]
            return Crossed(at, threshold, told.above, told.held.packets, told.held.bytes)
        if kind == "crossing":
            sides = (told.input, told.output, _class(told))
            return Crossing(at, *sides, told.length_bytes, told.until_ps)
        if kind == "arbitration":
            return _arbitration(at, told)
        if kind == "link":
            return Link(at, told.port, told.up)
        return Overrun(at, told.lag_ps)


@contextlib.contextmanager
def watch(
    session: Session,
    *,
    interval_ms: int = 0,
    ports: Iterable[int] = (),
    drops: bool | Iterable[str] = False,
    marks: bool = False,
    thresholds: Sequence[Threshold] = (),
    queues: Iterable[tuple[int, int]] = (),
    crossings: bool = False,
    links: bool = False,
    overruns: bool = False,
    packets: bool = False,
    arbitrations: bool = False,
    head_bytes: int = 0,
) -> Iterator[Watched]:
    """Reports the requested events while the `with` block runs; leaving it ends the stream.

    `interval_ms` asks for samples (1 to 1000), `drops` for all drops or those of some reasons
    (`["QUEUE_LIMIT", "AQM"]`), `queues` for every packet in and out of each (port, class),
    `crossings` for every packet through the fabric, `arbitrations` for what the crossbar's arbiter
    does, `packets` for every step of every packet (controller.packets), `head_bytes` for that many
    bytes of packets that are dropped or marked or, with `packets`, new. `ports` limits samples and
    events to these ports.
    """
    request = router_pb2.WatchRequest(
        interval_ms=interval_ms,
        ports=sorted(ports),
        marks=marks,
        crossings=crossings,
        links=links,
        overruns=overruns,
        packets=packets,
        arbitrations=arbitrations,
        head_bytes=head_bytes,
        device_id=session.device_id,
    )
    if drops:
        request.drops.SetInParent()
        if not isinstance(drops, bool):
            request.drops.reasons.extend(router_pb2.DropReason.Value(name) for name in drops)
    for wanted in thresholds:
        request.thresholds.add(
            port=wanted.port,
            packets=wanted.packets,
            bytes=wanted.bytes,
            **{"class": wanted.class_},
        )
    for port, class_ in queues:
        request.queues.add(port=port, **{"class": class_})
    with in_force(RouterStub(session.channel).watch(request)) as call:
        yield Watched(call, thresholds)


def _class(message: object) -> int:
    # `class` is a word of Python, so the field of that name is reached this way.
    class_: int = getattr(message, "class")
    return class_


def _arbitration(at: int, event: router_pb2.ArbitrationEvent) -> Arbitration:
    def pairs(matches: Iterable[router_pb2.Match]) -> tuple[tuple[int, int], ...]:
        return tuple((it.input, it.output) for it in matches)

    return Arbitration(
        time_ps=at,
        asks={(ask.input, ask.output): ask.weight for ask in event.asks},
        rounds=tuple(Round(pairs(it.grants), pairs(it.accepts)) for it in event.rounds),
        pointers={it.port: (it.grant, it.accept) for it in event.pointers},
    )


def _sample(sample: router_pb2.Sample) -> Sample:
    ports = {port.port: port.counters for port in sample.ports}
    sending = {port: it.sending_until_ps for port, it in ports.items() if it.sending_until_ps}
    return Sample(
        time_ps=sample.time_ps,
        missed=sample.missed,
        ports={port: port_state(port, counters) for port, counters in ports.items()},
        sending_until_ps=sending,
        utilisation_permille={port: it.utilisation_permille for port, it in ports.items()},
        inputs={it.port: _input_state(it) for it in sample.inputs},
        transfers=tuple((it.input, it.output) for it in sample.transfers),
    )


def _input_state(counters: router_pb2.InputCounters) -> InputState:
    voqs = {(voq.output, _class(voq)): voq.held.packets for voq in counters.voqs}
    return InputState(counters.port, counters.held.packets, counters.held.bytes, voqs)
