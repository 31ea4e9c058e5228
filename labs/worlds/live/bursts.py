"""Senders of datagrams in hosts, and counters of their arrivals."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from labs.bench import FIRST_BURST_PORT
from labs.errors import MeasurementError
from labs.measure.datagrams import Bursts
from labs.worlds.live import datagrams
from labs.worlds.live.clock import Clock
from topo import wait
from topo.live import LiveHost
from topo.process import Process

# Less than a frame takes on the lines of most labs, and a share of late ones without effect.
LATE_S, TOLERATED_SHARE = 0.001, 0.05
START_DEADLINE_S = 20.0
END_DEADLINE_S = 60.0


def lateness(name: str, due_s: Sequence[float], sent_s: Sequence[float]) -> str:
    """The remark on a sender's instants; nothing if it was as punctual as it should be."""
    late_s = [sent - due for due, sent in zip(due_s, sent_s, strict=True)]
    share = sum(late > LATE_S for late in late_s) / max(1, len(late_s))
    if share <= TOLERATED_SHARE:
        return ""
    return (
        f"{name} sent {share:.0%} of its bursts more than {LATE_S * 1000:g} ms late, one of them "
        f"by {max(late_s) * 1000:.0f} ms: this machine was too busy to be punctual"
    )


class Senders:
    """All senders of one recording."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._senders: dict[str, _Sender] = {}

    def start(
        self,
        name: str,
        source: LiveHost,
        target: LiveHost,
        *,
        size_bytes: int,
        burst: int,
        offsets_s: Sequence[float],
        start_s: float | None = None,
    ) -> None:
        """Sends `burst` datagrams at once, at each of these offsets from now or from an instant."""
        port = FIRST_BURST_PORT + len(self._senders)
        counting = target.start(
            datagrams.receive_command(port), target.logs / f"datagrams-{name}-receiver.log"
        )
        wait.until(
            lambda: "receiving" in counting.log.read_text(),
            f"the receiver of datagrams in {target.name}",
            START_DEADLINE_S,
        )
        ahead_s = 0.0 if start_s is None else start_s - self._clock.now_s()
        if ahead_s < 0:
            raise MeasurementError(
                f"the senders of {name} were not ready when they were to begin: end other work on "
                "this machine, and run the lab again."
            )
        now_s = time.monotonic() + ahead_s
        due_s = [now_s + offset_s for offset_s in offsets_s]
        command = datagrams.send_command(
            str(target.address), port, size_bytes=size_bytes, burst=burst, instants=due_s
        )
        sending = source.start(command, source.logs / f"datagrams-{name}.json")
        self._senders[name] = _Sender(source, target, burst, due_s, sending, counting)

    def wait(self) -> None:
        """Waits until the last burst has gone out."""
        for name, sender in self._senders.items():
            sender.sending.wait(f"the bursts {name}", END_DEADLINE_S)

    def results(self) -> dict[str, Bursts]:
        """The datagrams that each sent and those that arrived, once all queues are empty."""
        return {name: self._result(name, sender) for name, sender in self._senders.items()}

    def remarks(self) -> list[str]:
        """The senders that were late, and so sent other traffic than requested: to be called after
        `wait`."""
        late = {
            name: lateness(name, sender.due_s, sender.went_out_s)
            for name, sender in self._senders.items()
        }
        return [said for said in late.values() if said]

    def _result(self, name: str, sender: _Sender) -> Bursts:
        counted = sender.counting.finish(f"the receiver of {name}", END_DEADLINE_S)
        sent_s = tuple(self._clock.of_monotonic(at) for at in sender.went_out_s)
        arrived = datagrams.received(counted)
        return Bursts(
            source=sender.source.name,
            target=sender.target.name,
            sent_s=sent_s,
            sent=len(sent_s) * sender.burst,
            received=arrived.get(str(sender.source.address), 0),
        )


@dataclass(frozen=True)
class _Sender:
    """One sender of bursts and its counter."""

    source: LiveHost
    target: LiveHost
    burst: int
    # The monotonic clock's instants.
    due_s: Sequence[float]
    sending: Process
    counting: Process

    @cached_property
    def went_out_s(self) -> Sequence[float]:
        """When its bursts went out, by the same clock: to be called once it has ended."""
        return datagrams.went_out(self.sending.log.read_text())
