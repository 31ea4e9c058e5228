"""The instruments of labs whose routers report their packets: a collector, and bursts to be found.

    with bench.recording(...) as instruments:
        telemetry = Telemetry(bench, instruments, domain)
        telemetry.send_bursts("burst", "h4", "h5", size_bytes=1200, burst=50, offsets_s=[3, 5])
        instruments.finish()
    telemetry.finish()

`finish` leaves the reports and what became of the bursts in the recording.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from apps.domain import Domain
from controller.queues import Queues
from labs.bench import Bench, Instruments
from labs.measure import datagrams
from labs.measure.datagrams import Bursts
from labs.measure.reports import Collector
from topo import wait
from topo.live import LiveHost
from topo.process import Process

FIRST_PORT = 7000
START_DEADLINE_S = 20.0
END_DEADLINE_S = 60.0


class Telemetry:
    """A domain's collector, and datagrams beside the TCP flows of the bench."""

    def __init__(self, bench: Bench, instruments: Instruments, domain: Domain) -> None:
        self._bench = bench
        self._instruments = instruments
        self._domain = domain
        self._collector = Collector(bench.host(domain.collector))
        self._senders: list[_Sender] = []

    def send_bursts(
        self,
        name: str,
        source: str,
        target: str,
        *,
        size_bytes: int,
        burst: int,
        offsets_s: Sequence[float],
    ) -> None:
        """Sends so many datagrams at once, at each of these offsets from now."""
        port = FIRST_PORT + len(self._senders)
        sender, receiver = self._bench.host(source), self._bench.host(target)
        counting = receiver.start(
            datagrams.receive_command(port), receiver.logs / f"datagrams-{name}-receiver.log"
        )
        wait.until(
            lambda: "receiving" in counting.log.read_text(),
            f"the receiver of datagrams in {target}",
            START_DEADLINE_S,
        )
        now_s = time.monotonic()
        command = datagrams.send_command(
            str(receiver.address),
            port,
            size_bytes=size_bytes,
            burst=burst,
            instants=[now_s + offset_s for offset_s in offsets_s],
        )
        sending = sender.start(command, sender.logs / f"datagrams-{name}.json")
        self._senders.append(_Sender(name, sender, receiver, burst, sending, counting))

    def finish(self) -> None:
        """Waits until the last packet has arrived and the last report is read."""
        recording = self._instruments.recording
        for sender in self._senders:
            sender.sending.wait(f"the bursts {sender.name}", END_DEADLINE_S)
        wait.until(self._is_empty, "the end of all queues", END_DEADLINE_S)
        self._collector.wait_for(self._reports_sent)
        clock = self._instruments.clock
        zeros = {
            switch.name: clock.router_zero_s(
                Queues(self._bench.session(switch.name)), switch.ports[0].number
            )
            for switch in self._bench.topology.switches
        }
        nodes = {node: name for name, node in self._domain.nodes.items()}
        recording.reports = self._collector.finish(nodes, zeros)
        for sender in self._senders:
            recording.bursts[sender.name] = sender.result(self._instruments)

    def _is_empty(self) -> bool:
        return not any(
            port.held_packets
            for switch in self._bench.topology.switches
            for port in Queues(self._bench.session(switch.name)).read().ports.values()
        )

    def _reports_sent(self) -> int:
        """Nothing but reports goes to the collector's host."""
        switch, port = self._bench.topology.attachment(self._domain.collector)
        state = Queues(self._bench.session(switch.name)).read([port.number])
        return state.ports[port.number].departed_packets


class _Sender:
    """One sender of bursts and who counts them."""

    def __init__(
        self,
        name: str,
        source: LiveHost,
        target: LiveHost,
        burst: int,
        sending: Process,
        counting: Process,
    ) -> None:
        self.name = name
        self._source = source
        self._target = target
        self._burst = burst
        self.sending = sending
        self._counting = counting

    def result(self, instruments: Instruments) -> Bursts:
        """What was sent and what arrived, once both have ended."""
        counted = self._counting.finish(f"the receiver of {self.name}", END_DEADLINE_S)
        sent_s = datagrams.sent(self.sending.log.read_text(), instruments.clock.of_monotonic)
        arrived = datagrams.received(counted)
        return Bursts(
            source=self._source.name,
            target=self._target.name,
            sent_s=sent_s,
            sent=len(sent_s) * self._burst,
            received=arrived.get(str(self._source.address), 0),
        )
