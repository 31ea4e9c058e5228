"""Samples of a router's ports as columns: the numbers of `Sample`, by name instead of by instant.

    with queues.watch_together(interval_ms=1, ports=[2]) as told:
        for columns in told:
            for time_s, held in zip(columns.time_s, columns.ports[2].total.held_packets): ...

A thousand samples cost about as much as ten that come one by one. Each list has a number for every
instant of `time_s`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vitrine.v1 import router_pb2

from controller.reasons import reason_name

_PS_PER_S = 1_000_000_000_000


@dataclass(frozen=True)
class Counts:
    """The depth of one place, and totals from the start of the switch."""

    held_packets: Sequence[int]
    held_bytes: Sequence[int]
    departed_packets: Sequence[int]
    departed_bytes: Sequence[int]
    # By reason, in the words of the proto file.
    dropped_packets: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class PortColumns:
    """A port, and its queues by class."""

    total: Counts
    queues: Mapping[int, Counts]
    # The cable's packets: those that wait in the neighbour's network card, and those under way.
    backlog_packets: Sequence[int]
    arriving_packets: Sequence[int]
    leaving_packets: Sequence[int]


@dataclass(frozen=True)
class InputColumns:
    """The queues of an input port before the fabric."""

    total: Counts
    # Virtual output queues by output, all classes together; those that were ever used.
    voqs: Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class Columns:
    """Samples of some instants."""

    time_s: Sequence[float]
    # Samples that were left out, before these or between them.
    missed: int
    ports: Mapping[int, PortColumns]
    # Empty in an output-queued router.
    inputs: Mapping[int, InputColumns]


def columns_of(message: router_pb2.Columns) -> Columns:
    """The columns of a message."""
    rows = len(message.time_ps)
    return Columns(
        time_s=[time_ps / _PS_PER_S for time_ps in message.time_ps],
        missed=message.missed,
        ports={each.port: _port(each, rows) for each in message.ports},
        inputs={each.port: _input(each, rows) for each in message.inputs},
    )


def _port(message: router_pb2.PortColumns, rows: int) -> PortColumns:
    queues = {class_: _counts(queue, rows) for class_, queue in enumerate(message.queues)}
    return PortColumns(
        _counts(message.counters, rows),
        queues,
        backlog_packets=_whole(message.receive_line.backlog_packets, rows),
        arriving_packets=_whole(message.receive_line.under_way_packets, rows),
        leaving_packets=_whole(message.transmit_line.under_way_packets, rows),
    )


def _input(message: router_pb2.InputColumns, rows: int) -> InputColumns:
    voqs: dict[int, Sequence[int]] = {}
    for voq in message.voqs:
        held = _whole(voq.held_packets, rows)
        before = voqs.get(voq.output)
        voqs[voq.output] = (
            held if before is None else list(map(sum, zip(before, held, strict=True)))
        )
    return InputColumns(_counts(message.counters, rows), voqs)


def _counts(message: router_pb2.CounterColumns, rows: int) -> Counts:
    return Counts(
        held_packets=_whole(message.held_packets, rows),
        held_bytes=_whole(message.held_bytes, rows),
        departed_packets=_whole(message.departed_packets, rows),
        departed_bytes=_whole(message.departed_bytes, rows),
        dropped_packets={
            reason_name(each.reason): _whole(each.packets, rows) for each in message.dropped
        },
    )


def _whole(column: Iterable[Any], rows: int) -> Sequence[int]:
    """A column with a number for each instant: one that does not change is sent once."""
    numbers = list(column)
    return numbers * rows if len(numbers) == 1 else numbers
