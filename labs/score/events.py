"""Pauses of a queue's line, and changes of paths.

    for pause in pauses(run.truth): ...          # it held packets, and nothing left
    for change in path_changes(steps): ...       # a flow leaves by another queue

A pause has many causes, such as a shaper, a stalled cable or another queue's turn; the queue's own
packets show it in the same way. docs/telemetry-score.md defines both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from controller.packets import PacketCopied, PacketQueued, PacketReceived, PacketStep, Queue
from labs.score.flow import Flow
from labs.score.truth import Truth


@dataclass(frozen=True, slots=True)
class Pause:
    """A period in which the queue held packets while nothing of it was on the line."""

    begin_ps: int
    end_ps: int
    # At the end of the pause.
    waiting_bytes: int


@dataclass(frozen=True, slots=True)
class PathChange:
    """The packets of a flow leave by another queue than before."""

    # The first packet entered the new queue.
    time_ps: int
    flow: Flow
    before: Queue
    after: Queue


def pauses(truth: Truth) -> Iterator[Pause]:
    """In the order of time."""
    # Since when the line is free, and since when packets wait; None: none does.
    free_ps = 0
    waiting_ps: int | None = None
    held_bytes = 0
    for change in truth.changes:
        if not change.entered and change.packet.departed_ps == change.time_ps:
            since_ps = free_ps if waiting_ps is None else max(free_ps, waiting_ps)
            if change.time_ps > since_ps:
                yield Pause(since_ps, change.time_ps, held_bytes)
            free_ps = change.packet.line_free_ps or change.time_ps
        if change.entered and held_bytes == 0:
            waiting_ps = change.time_ps
        held_bytes = change.bytes
        if held_bytes == 0:
            waiting_ps = None
    if waiting_ps is not None and truth.end_ps > max(free_ps, waiting_ps):
        yield Pause(max(free_ps, waiting_ps), truth.end_ps, held_bytes)


def path_changes(steps: Iterable[PacketStep]) -> Iterator[PathChange]:
    """Over all output queues of a switch, in the order of time."""
    flows: dict[int, Flow] = {}
    last: dict[Flow, Queue] = {}
    for step in steps:
        match step:
            case PacketReceived():
                flows[step.packet] = Flow.of_head(step.head)
            # A copy goes where it is sent, and says nothing about the path of its flow.
            case PacketCopied():
                flows.pop(step.packet, None)
            case PacketQueued() if step.packet in flows:
                flow = flows[step.packet]
                before = last.setdefault(flow, step.queue)
                if before != step.queue:
                    last[flow] = step.queue
                    yield PathChange(step.time_ps, flow, before, step.queue)
