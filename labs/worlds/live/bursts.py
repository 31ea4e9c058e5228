"""Senders of datagrams in hosts, and who counts what arrives of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from labs.bench import FIRST_BURST_PORT
from labs.errors import MeasurementError
from labs.measure.datagrams import Bursts
from labs.worlds.live import datagrams
from labs.worlds.live.clock import Clock
from topo import wait
from topo.live import LiveHost
from topo.process import Process

START_DEADLINE_S = 20.0
END_DEADLINE_S = 60.0


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
        """Sends so many datagrams at once, at each of these offsets from now or from an instant."""
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
        command = datagrams.send_command(
            str(target.address),
            port,
            size_bytes=size_bytes,
            burst=burst,
            instants=[now_s + offset_s for offset_s in offsets_s],
        )
        sending = source.start(command, source.logs / f"datagrams-{name}.json")
        self._senders[name] = _Sender(source, target, burst, sending, counting)

    def wait(self) -> None:
        """Waits until the last burst has gone out."""
        for name, sender in self._senders.items():
            sender.sending.wait(f"the bursts {name}", END_DEADLINE_S)

    def results(self) -> dict[str, Bursts]:
        """What each sent and what arrived, once all queues are empty."""
        return {name: self._result(name, sender) for name, sender in self._senders.items()}

    def _result(self, name: str, sender: _Sender) -> Bursts:
        counted = sender.counting.finish(f"the receiver of {name}", END_DEADLINE_S)
        sent_s = datagrams.sent(sender.sending.log.read_text(), self._clock.of_monotonic)
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
    """One sender of bursts and who counts them."""

    source: LiveHost
    target: LiveHost
    burst: int
    sending: Process
    counting: Process
