"""The queues of the P4 project's simple_switch, through its Thrift service.

    with SimpleSwitch("127.0.0.1", 9090) as switch:
        switch.configure(converted(settings, class_count=8))

That switch knows two things about a queue: how many packets it holds, and how many packets a second
leave it. `converted` says what a router's settings come to there, and refuses, with a sentence for
each, everything it has no words for: doing something similar in silence would make a lab's result
wrong. P4Runtime has no words for queues at all, hence the second connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from controller.errors import ControllerError, RequestError
from controller.queueing import (
    ETHERNET_FRAME_BYTES,
    OFF,
    Groups,
    InputQueueing,
    PacketShaper,
    PortSettings,
    QueueOrder,
    QueueSettings,
    RouterSettings,
)
from controller.thrift import Argument, ThriftClient, i32, i64, text

# Where the kit lets a switch serve Thrift, counted from its P4Runtime port.
THRIFT_OFFSET = 1000
# bmv2 numbers its contexts; simple_switch has this one only.
_CONTEXT = 0


class UnsupportedError(ControllerError):
    """Settings that simple_switch cannot have; each limit is one sentence."""

    def __init__(self, limits: Sequence[str]) -> None:
        self.limits = tuple(dict.fromkeys(limits))
        super().__init__("simple_switch cannot do this: " + " ".join(self.limits))


@dataclass(frozen=True)
class QueueSetting:
    """One queue as simple_switch knows it; None leaves a value as it is."""

    port: int
    class_: int
    depth_packets: int | None
    # 0: as fast as the machine.
    rate_pps: int | None


@dataclass(frozen=True)
class Conversion:
    """The result of converting a router's settings, and the notes about it."""

    queues: tuple[QueueSetting, ...] = ()
    remarks: tuple[str, ...] = field(default=())


def packets_per_second(rate_bps: int, frame_bytes: int = ETHERNET_FRAME_BYTES) -> int:
    """A rate in bits as full frames a second, which is all that simple_switch counts in."""
    return max(1, round(rate_bps / (frame_bytes * 8)))


def converted(
    settings: RouterSettings,
    class_count: int,
    frame_bytes: Mapping[int, int] | None = None,
) -> Conversion:
    """Everything in simple_switch's words, or an error with all that it cannot do.

    `frame_bytes` is the longest frame of a port's line, where that is not the usual one.
    """
    limits = list(_router_limits(settings))
    queues: list[QueueSetting] = []
    remarks: list[str] = []
    for number, port in sorted(settings.ports.items()):
        limits += (f"Port {number}: {limit}" for limit in _port_limits(port))
        rate_pps = None
        if port.rate_bps is not None:
            longest = (frame_bytes or {}).get(number, ETHERNET_FRAME_BYTES)
            rate_pps = packets_per_second(port.rate_bps, longest) if port.rate_bps else 0
            remarks += _rate_remark(number, port.rate_bps, rate_pps, longest)
        for class_ in range(port.queue_count or class_count):
            own = port.queues.get(class_, port.every_queue) or QueueSettings()
            limits += (f"Port {number}, class {class_}: {limit}" for limit in _queue_limits(own))
            depth = own.limit.packets if own.limit else None
            shaped_pps = own.shaper.rate_pps if isinstance(own.shaper, PacketShaper) else rate_pps
            if depth is not None or shaped_pps is not None:
                queues.append(QueueSetting(number, class_, depth, shaped_pps))
    if limits:
        raise UnsupportedError(limits)
    return Conversion(tuple(queues), tuple(remarks))


def _rate_remark(port: int, rate_bps: int, rate_pps: int, frame_bytes: int) -> Iterator[str]:
    if rate_bps:
        carried_bps = rate_pps * frame_bytes * 8
        yield (
            f"Port {port}: {rate_bps:,} b/s became {rate_pps:,} packets a second, which is "
            f"{carried_bps:,} b/s in full frames of {frame_bytes} bytes; a short packet "
            "takes as long as a full one."
        )


# ---- what simple_switch cannot do ----------------------------------------------------------------


def _router_limits(settings: RouterSettings) -> Iterator[str]:
    if settings.buffer_bytes:
        yield "It has no shared buffer: every queue has its own limit in packets."
    if settings.input is not None and settings.input.queueing is not InputQueueing.NONE:
        yield "It has no input stage: one queue takes the packets of all ports."


def _port_limits(port: PortSettings) -> Iterator[str]:
    if port.overhead_bytes:
        yield "it counts packets, so a frame's overhead has no effect."
    if port.limit is not None:
        yield "it has no limit over all queues of a port."
    if port.shaper not in (None, OFF):
        yield "it has no shaper for a port, only a rate for each queue."
    if port.utilisation_window_ns is not None:
        yield "it does not measure a line's utilisation."
    if port.rate_bps and port.queue_count != 1:
        yield (
            "it has no rate for a port, and each of several queues would get the whole of it: "
            "give the port one class (classes: 1), or its queues rates in packets/s."
        )
    if isinstance(port.scheduler, Groups):
        if any(len(group.weights) > 1 for group in port.scheduler.groups):
            yield "it has no weights (DRR, WRR, WFQ), only strict priority."
    elif port.scheduler is not None:
        yield "it has no hierarchy of classes, only strict priority."


def _queue_limits(queue: QueueSettings) -> Iterator[str]:
    if queue.limit is not None and queue.limit.bytes is not None:
        yield "it has no limits in bytes, only in packets."
    if isinstance(queue.shaper, PacketShaper):
        if queue.shaper.burst_packets > 1:
            yield "its rates know no burst."
    elif queue.shaper not in (None, OFF):
        yield "it has no rates in bits a second: give the shaper a rate in packets/s."
    if queue.aqm not in (None, OFF):
        yield "it has no queue management but dropping what does not fit."
    if queue.share is not None:
        yield "it has no shared buffer, so no shares of one."
    if queue.order is QueueOrder.BY_RANK:
        yield "it has no ranks: packets leave a queue in the order of arrival."


# ---- the connection ------------------------------------------------------------------------------


class SimpleSwitch:
    """The calls of simple_switch's Thrift service that the kit uses."""

    def __init__(self, host: str, port: int) -> None:
        self._client = ThriftClient(host, port)

    def __enter__(self) -> SimpleSwitch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()

    def configure(self, conversion: Conversion) -> None:
        """Sets depths and rates; a new rate acts on packets that come from now on."""
        for queue in conversion.queues:
            place = (i32(queue.port), i32(queue.class_))
            if queue.depth_packets is not None:
                self._set("set_egress_priority_queue_depth", *place, i32(queue.depth_packets))
            if queue.rate_pps is not None:
                self._set("set_egress_priority_queue_rate", *place, i64(queue.rate_pps))

    def register(self, name: str) -> list[int]:
        """All cells of a register, which simple_switch_grpc does not give through P4Runtime."""
        return self._client.call("standard", "bm_register_read_all", i32(_CONTEXT), text(name))

    def write_register(self, name: str, index: int, value: int) -> None:
        """Sets one cell of a register."""
        arguments = (i32(_CONTEXT), text(name), i32(index), i64(value))
        self._client.call("standard", "bm_register_write", *arguments)

    def counter(self, name: str, index: int) -> tuple[int, int]:
        """One cell of an indexed counter: packets and bytes."""
        cell = (i32(_CONTEXT), text(name), i32(index))
        value = self._client.call("standard", "bm_counter_read", *cell)
        # The struct's fields are bytes, then packets.
        return value[2], value[1]

    def entry_counter(self, table: str, handle: int) -> tuple[int, int]:
        """The direct counter of a table's entry, the first one being 0: packets and bytes."""
        value = self._client.call(
            "standard", "bm_mt_read_counter", i32(_CONTEXT), text(table), i32(handle)
        )
        return value[2], value[1]

    def _set(self, method: str, *arguments: Argument) -> None:
        status = self._client.call("simple_switch", method, *arguments)
        if status != 0:
            raise RequestError(f"simple_switch refused {method}: status {status}.")
