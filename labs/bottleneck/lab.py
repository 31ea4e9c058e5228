"""The first lab: one TCP flow from h1 to h2 through a slow line, and the queue before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import matplotlib.figure

from controller.queueing import Limit, QueueSettings
from labs.bench import Bench
from labs.definition import Assessment, Band, Figure, Place, Row, SettlingLab
from labs.frames import payload_share, queue_delay_s
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import Port, Topology
from topo.units import counted

# The port of s1 toward h2: the bottleneck.
BOTTLENECK = 2
# One ping before the flow, to see the path without it.
IDLE_S = 1
# The first second is slow start.
SETTLED_S = 1.0


class Bottleneck(SettlingLab):
    """One flow, one slow line."""

    name: ClassVar = "bottleneck"
    title: ClassVar = "One flow, one slow line"
    summary: ClassVar = "one TCP flow, one slow line: who fills the queue?"
    question: ClassVar = "How full is the queue in front of the slow line, and who decides that?"
    look_for: ClassVar = (
        "The queue fills, overflows and falls, again and again: a saw whose height is the limit.",
        "At each drop the window is halved; between two drops it grows by a packet a round trip.",
        "As long as the queue is not empty the line is busy, whatever the window does.",
        "A ping waits behind the queue: its round trip has the shape of the saw.",
    )
    original: ClassVar = "none: this lab is the kit's own first look at a queue"
    settled_s: ClassVar = SETTLED_S
    takes: ClassVar = frozenset({"rate", "queue", "duration", "congestion"})

    @property
    def seconds(self) -> int:
        """How long the flow runs."""
        return self.settings.seconds or (4 if self.settings.quick else 15)

    @property
    def place(self) -> Place:
        """The queue before the slow line."""
        return Place(self.topology(), "s1", BOTTLENECK)

    @property
    def congestion(self) -> str:
        """The TCP of the flow."""
        return self.settings.congestion or "reno"

    def topology(self) -> Topology:
        """The lab's network with the user's rate and queue at the bottleneck."""
        base = load.load(Path(__file__).with_name("topology.yaml"))
        port = base.switch("s1").port(BOTTLENECK)
        limit = Limit(packets=self.settings.queue_packets or port.queue_packets)
        return base.with_settings(
            "s1",
            BOTTLENECK,
            rate_bps=self.settings.rate_bps or port.rate_bps,
            every_queue=QueueSettings(limit=limit),
        )

    def _port(self) -> Port:
        return self.topology().switch("s1").port(BOTTLENECK)

    def runs(self) -> Sequence[Run]:
        """One flow, after a ping alone."""
        title = f"One flow of TCP {self.congestion} for {self.seconds} s"
        seconds = IDLE_S + self.seconds + AROUND_S
        return [Run("flow", title, seconds, {"tcp": self.congestion})]

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Ping alone, then a flow with pings beside it."""
        bench.bring_up(self.topology())
        with bench.recording([("s1", BOTTLENECK)], senders=["h1"]) as instruments:
            instruments.ping("alone", "h1", "h2", seconds=IDLE_S)
            instruments.hold(IDLE_S)
            instruments.flow("flow", "h1", "h2", seconds=self.seconds, congestion=self.congestion)
            instruments.ping("during the flow", "h1", "h2", seconds=self.seconds)
            instruments.finish()
        return instruments.recording

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """What was set, what the hosts saw, what the router saw."""
        recording, port = recordings["flow"], self._port()
        assert port.rate_bps is not None and port.queue_packets is not None
        series = recording.ports[f"s1-eth{BOTTLENECK}"]
        flow = recording.flows["flow"]
        begin_s, end_s = flow.samples[0].time_s + SETTLED_S, flow.samples[-1].time_s
        busy_bps = series.rate_bps(begin_s, end_s)
        alone_ms = recording.pings["alone"].mean_ms
        loaded_ms = recording.pings["during the flow"].mean_ms
        # A packet that finds the queue full but for its own place waits for all before it.
        full_ms = queue_delay_s(port.queue_packets, port.rate_bps) * 1000
        mean = series.mean_packets(begin_s, end_s)
        payload_bps = port.rate_bps * payload_share()
        numbers = {
            "received_bps": flow.result.received_bps,
            "line_carried_bps": busy_bps,
            "dropped_packets": series.dropped_packets,
            "retransmits": flow.result.retransmits,
            "queue_mean_packets": mean,
            "queue_highest_packets": max(series.packets),
            "ping_alone_ms": alone_ms,
            "ping_loaded_ms": loaded_ms,
        }
        rows = [
            Row(
                "h2 received, payload",
                "",
                units.format_rate(payload_bps),
                units.format_rate(flow.result.received_bps),
            ),
            Row(
                "the line carried, frames",
                "",
                units.format_rate(port.rate_bps),
                units.format_rate(busy_bps),
            ),
            Row("packets the router dropped", "", "", str(series.dropped_packets)),
            Row("segments TCP sent again", "", "", str(flow.result.retransmits)),
            Row("queue, mean", "", "", f"{mean:.1f} packets"),
            Row("queue, highest", "", f"{port.queue_packets} packets", f"{max(series.packets)}"),
            Row("ping before the flow", "", "", f"{alone_ms:.1f} ms"),
            Row("ping during the flow", "", f"up to {full_ms:.1f} ms more", f"{loaded_ms:.1f} ms"),
        ]
        bands = [
            Band("the line is busy", busy_bps / port.rate_bps, least=0.97, most=1.005),
            Band("the queue's limit holds", max(series.packets), most=port.queue_packets),
        ]
        return Assessment(rows, bands, numbers)

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """The queue, and what made it so."""
        recording, port = recordings["flow"], self._port()
        series, flow = recording.ports[f"s1-eth{BOTTLENECK}"], recording.flows["flow"]

        def draw(figure: matplotlib.figure.Figure) -> None:
            queue, window, rate, rtt = drawing.stack(
                figure,
                [2, 1.3, 1, 1],
                title=f"s1 toward h2: {units.format_rate(port.rate_bps or 0)}, "
                f"{port.queue_packets} packets, TCP {self.congestion}",
            )
            drawing.queue_depth(queue, series, limit_packets=port.queue_packets)
            drawing.congestion_window(window, {"flow": flow.samples})
            drawing.throughput(
                rate,
                {"sent on the line": drawing.port_rate(series, 0.2)},
                line_rate_bps=port.rate_bps,
            )
            drawing.round_trips(
                rtt, {f"ping, {name}": p.echoes for name, p in recording.pings.items()}
            )

        begin_s, end_s = flow.samples[0].time_s, flow.samples[-1].time_s
        depths = series.packets[series.rows(begin_s, end_s)]
        dropped = series.dropped_between(begin_s, end_s)
        alone_ms, loaded_ms = (
            recording.pings[name].mean_ms for name in ("alone", "during the flow")
        )
        caption = (
            "The queue before the slow line, the window of the TCP that fills it, the line's rate, "
            "and what a ping pays. While the flow ran, the router dropped "
            f"{counted(dropped, 'packet')}, and the queue was empty for "
            f"{depths.count(0) / max(1, len(depths)):.0%} of the time; a ping took "
            f"{alone_ms:.1f} ms without the flow and {loaded_ms:.1f} ms beside it."
        )
        return [Figure("queue", caption, draw, height=8)]
