"""The router's insides through `vitrine.v1.Router`: rates, limits, depths and drops of its queues.

    queues = Queues(session)
    queues.configure({2: PortSettings(rate_bps=10_000_000)})
    for sample in queues.watch(interval_ms=20, ports=[2]): ...

What can be set is in `queueing`; the reference of the service is its proto file. Its Python
messages are generated at build time into build/python; the four lines of client code that a gRPC
plugin would write stand at the end of this file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import grpc
from vitrine.v1 import router_pb2

from controller import queue_messages
from controller.columns import Columns, columns_of
from controller.connection import REQUEST_DEADLINE_S, in_force
from controller.queueing import PortSettings, RouterSettings
from controller.reasons import reason_name
from controller.router_service import RouterStub, refusals
from controller.session import Session
from controller.stream import halves

PS_PER_S = 1_000_000_000_000
# Samples that come in one message where one is as good as the other.
_TOGETHER = 1000
# The fields of NetdevCounters that are of this instant.
_HELD_OUTSIDE = ("waiting_bytes", "sending_bytes", "unfinished")


@dataclass(frozen=True)
class QueueState:
    """The counters of one queue at one instant; the totals count from the start of the switch."""

    class_: int
    held_packets: int
    held_bytes: int
    departed_packets: int
    departed_bytes: int
    dropped_packets: Mapping[str, int]


@dataclass(frozen=True)
class PortState:
    """The counters of one port at one instant; the totals count from the start of the switch."""

    port: int
    held_packets: int
    held_bytes: int
    departed_packets: int
    departed_bytes: int
    # By reason, in the words of the proto file: {"QUEUE_LIMIT": 12}.
    dropped_packets: Mapping[str, int]
    # Class 0 first. Packets dropped before they reached a queue are in the port's numbers only.
    queues: Sequence[QueueState] = ()
    # The cable's packets: those that wait in the neighbour's network card, those on their way to
    # the port, and those that have left it. They are not in `held_packets`.
    backlog_packets: int = 0
    arriving_packets: int = 0
    leaving_packets: int = 0
    # Packets that never reached the router, or left it in vain: lost by the kernel or by the
    # network device, by the names of NetdevCounters in the proto file: {"overrun": 3}. Only in
    # reads; samples of a stream do not have it.
    lost_outside: Mapping[str, int] = field(default_factory=dict)
    # The bytes that wait there at this instant, by the same names: {"waiting_bytes": 143360}. As
    # above.
    held_outside: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class VoqState:
    """The depth of one virtual output queue."""

    output: int
    class_: int
    held_packets: int
    held_bytes: int


@dataclass(frozen=True)
class InputState:
    """The queues of one input port before the fabric; the totals count from the start."""

    port: int
    held_packets: int
    held_bytes: int
    dropped_packets: Mapping[str, int]
    # Those that hold something; a FIFO has none.
    voqs: Sequence[VoqState] = ()


@dataclass(frozen=True)
class Sample:
    """All watched ports at one instant."""

    time_s: float
    # Samples that were left out before this one because a reader or the switch was late.
    missed: int
    ports: Mapping[int, PortState]
    # The input stage by port; empty in an output-queued router.
    inputs: Mapping[int, InputState] = field(default_factory=dict)
    # The fabric's matches: (input, output) of each packet that is crossing.
    matches: Sequence[tuple[int, int]] = ()


class Queues:
    """The client of `vitrine.v1.Router` on a session's connection."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stub = RouterStub(session.channel)
        # All settings in force, for a switch that needs them again after a restart.
        self._in_force: router_pb2.DescribeResponse | None = None
        session.on_restored(self._restore)

    def configure(self, changes: RouterSettings | Mapping[int, PortSettings]) -> None:
        """Changes the router, or only ports, all at one instant; or nothing, and says why not."""
        if not isinstance(changes, RouterSettings):
            changes = RouterSettings(changes)
        # Both in one, so that a switch which goes away in between gets them again.
        self._in_force = self._session.patiently(lambda: self._configure(changes))

    def _configure(self, changes: RouterSettings) -> router_pb2.DescribeResponse:
        """Sends the changes, and reads what is in force then."""
        request = self._request()
        if changes.buffer_bytes is not None:
            request.buffer.size_bytes = changes.buffer_bytes
        if changes.input is not None:
            request.input.CopyFrom(queue_messages.input_message(changes.input))
        if changes.drop_mirror is not None:
            request.drop_mirror.CopyFrom(queue_messages.drop_mirror_message(changes.drop_mirror))
        with refusals("the device refused the queue settings"):
            counts = self._queue_counts(changes.ports)
            for port, settings in sorted(changes.ports.items()):
                classes = range(settings.queue_count or counts.get(port, 0))
                config = queue_messages.port_message(settings, classes)
                request.ports.add(port=port, config=config)
            self._stub.configure(request, timeout=REQUEST_DEADLINE_S)
        return self._describe()

    def describe(self, ports: Iterable[int] = ()) -> router_pb2.DescribeResponse:
        """All that can be read of these ports, or of all, and of the router, at one instant.

        In the words of the proto file: what `settings` and `read` leave out is here, such as the
        books (what became of every packet), histograms and how late the switch was.
        """
        return self._session.patiently(lambda: self._describe(ports))

    def _describe(self, ports: Iterable[int] = ()) -> router_pb2.DescribeResponse:
        request = router_pb2.DescribeRequest(ports=sorted(ports), device_id=self._session.device_id)
        with refusals("the device does not describe its queues"):
            return self._stub.describe(request, timeout=REQUEST_DEADLINE_S)

    def settings(self, ports: Iterable[int] = ()) -> RouterSettings:
        """The settings in force: every field of these ports, or of all, and of the router is
        set."""
        answer = self.describe(ports)
        return RouterSettings(
            {port.port: queue_messages.port_settings(port.config) for port in answer.ports},
            answer.buffer.size_bytes,
            queue_messages.input_stage(answer.input),
            queue_messages.drop_mirror(answer.drop_mirror),
        )

    def read(self, ports: Iterable[int] = ()) -> Sample:
        """The counters of these ports, or of all, at this instant."""
        answer = self.describe(ports)
        states = (
            replace(
                port_state(port.port, port.counters),
                lost_outside=lost_outside(port.netdev),
                held_outside=held_outside(port.netdev),
            )
            for port in answer.ports
        )
        return Sample(
            answer.time_ps / PS_PER_S,
            0,
            {state.port: state for state in states},
            _inputs(answer.inputs),
            _matches(answer.transfers),
        )

    def held_up_s(self, least_s: float) -> float:
        """How long the machine has delayed the switch until now, in lags of `least_s` or more."""
        buckets = self.describe().lags.buckets
        lags = ((bucket.up_to_ps / PS_PER_S, bucket.count) for bucket in buckets)
        return sum(lag_s * count for lag_s, count in lags if lag_s >= least_s)

    @contextlib.contextmanager
    def watch(
        self,
        interval_ms: int,
        ports: Iterable[int] = (),
        *,
        on_complete: Callable[[int], None] = lambda time_ps: None,
    ) -> Iterator[Iterator[Sample]]:
        """Samples for as long as the `with` block runs; leaving it ends the stream.

        The iterator may be closed from another thread by leaving the block: it then just ends. In
        virtual time `on_complete` is called with each instant until which all has been told.
        """
        request = router_pb2.WatchRequest(
            interval_ms=interval_ms, ports=sorted(ports), device_id=self._session.device_id
        )
        with in_force(self._stub.watch(request)) as call:
            yield (_sample(message.sample) for message in _told(call, "sample", on_complete))

    @contextlib.contextmanager
    def watch_together(
        self,
        interval_ms: int,
        ports: Iterable[int] = (),
        *,
        on_complete: Callable[[int], None] = lambda time_ps: None,
    ) -> Iterator[Iterator[Columns]]:
        """The same samples, up to a thousand at once, for readers that can wait for them."""
        request = router_pb2.WatchRequest(
            interval_ms=interval_ms,
            ports=sorted(ports),
            device_id=self._session.device_id,
            samples_together=_TOGETHER,
        )
        with in_force(self._stub.watch(request)) as call:
            yield (columns_of(message.columns) for message in _told(call, "columns", on_complete))

    def _restore(self) -> None:
        if self._in_force is None:
            return
        request = self._request()
        request.buffer.CopyFrom(self._in_force.buffer)
        request.input.CopyFrom(self._in_force.input)
        request.drop_mirror.CopyFrom(self._in_force.drop_mirror)
        for port in self._in_force.ports:
            request.ports.add(port=port.port, config=port.config)
            # The cables are restored by their own service.
            request.ports[-1].config.ClearField("link")
        self._stub.configure(request, timeout=REQUEST_DEADLINE_S)

    def _request(self) -> router_pb2.ConfigureRequest:
        return router_pb2.ConfigureRequest(
            device_id=self._session.device_id,
            election_id=router_pb2.ElectionId(**halves(self._session.election_id)),
        )

    def _queue_counts(self, ports: Mapping[int, PortSettings]) -> dict[int, int]:
        """How many queues the ports have now, for those whose every queue is to change."""
        unknown = [port for port, settings in ports.items() if settings.every_queue is not None]
        if not unknown:
            return {}
        return {port.port: port.config.queue_count for port in self._describe(unknown).ports}


def _told(
    call: grpc.Call, what: str, on_complete: Callable[[int], None]
) -> Iterator[router_pb2.WatchResponse]:
    """The messages that have such a field."""
    try:
        for message in call:
            if message.HasField(what):
                yield message
            # Called when the reader wants the next one, so it has taken the one before.
            if message.complete_until_ps:
                on_complete(message.complete_until_ps)
    except grpc.RpcError as error:
        # Cancelling is how a reader says it has seen enough.
        if error.code() is not grpc.StatusCode.CANCELLED:
            with refusals("the device ended the samples"):
                raise


def _sample(sample: router_pb2.Sample) -> Sample:
    states = (port_state(port.port, port.counters) for port in sample.ports)
    return Sample(
        sample.time_ps / PS_PER_S,
        sample.missed,
        {state.port: state for state in states},
        _inputs(sample.inputs),
        _matches(sample.transfers),
    )


def _inputs(messages: Iterable[router_pb2.InputCounters]) -> dict[int, InputState]:
    return {it.port: _input_state(it) for it in messages}


def _input_state(counters: router_pb2.InputCounters) -> InputState:
    held = (it for it in counters.voqs if it.held.packets)
    return InputState(
        port=counters.port,
        held_packets=counters.held.packets,
        held_bytes=counters.held.bytes,
        dropped_packets=_dropped(counters.counters),
        voqs=tuple(
            VoqState(it.output, getattr(it, "class"), it.held.packets, it.held.bytes) for it in held
        ),
    )


def _matches(messages: Iterable[router_pb2.Transfer]) -> tuple[tuple[int, int], ...]:
    return tuple((it.input, it.output) for it in messages)


def port_state(port: int, counters: router_pb2.PortCounters) -> PortState:
    """The counters of a port in a message."""
    total = counters.counters
    return PortState(
        port=port,
        held_packets=counters.held.packets,
        held_bytes=counters.held.bytes,
        departed_packets=total.departed.packets,
        departed_bytes=total.departed.bytes,
        dropped_packets=_dropped(total),
        queues=tuple(_queue_state(queue) for queue in counters.queues),
        backlog_packets=counters.receive_line.backlog.packets,
        arriving_packets=counters.receive_line.under_way.packets,
        leaving_packets=counters.transmit_line.under_way.packets,
    )


def lost_outside(netdev: router_pb2.NetdevCounters) -> dict[str, int]:
    """The losses between a network device and the router; none for a port without device."""
    return {
        counter.name: number
        for counter, number in netdev.ListFields()
        if counter.name not in ("received", "sent", *_HELD_OUTSIDE)
    }


def held_outside(netdev: router_pb2.NetdevCounters) -> dict[str, int]:
    """The bytes that wait between the two at this instant."""
    return {
        counter.name: number
        for counter, number in netdev.ListFields()
        if counter.name in _HELD_OUTSIDE
    }


def _queue_state(queue: router_pb2.QueueCounters) -> QueueState:
    return QueueState(
        class_=getattr(queue, "class"),
        held_packets=queue.held.packets,
        held_bytes=queue.held.bytes,
        departed_packets=queue.counters.departed.packets,
        departed_bytes=queue.counters.departed.bytes,
        dropped_packets=_dropped(queue.counters),
    )


def _dropped(counters: router_pb2.Counters) -> dict[str, int]:
    return {reason_name(drop.reason): drop.tally.packets for drop in counters.dropped}
