"""The measures of lab files, by name: numbers from the recording of a run.

Unless it says otherwise a measure is of the settled part: from the time `settled` after the start
of the last flow, as the file says it, until the first flow ends. Without flows it is of all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TypeVar

from labs.errors import MeasurementError
from labs.expression import Functions
from labs.frames import FRAME_BYTES
from labs.measure.ping import Pings
from labs.measure.router import PortSeries
from labs.recording import Flow, Recording

T = TypeVar("T")


class Measures:
    """A run's recording, at one port of a router."""

    def __init__(self, recording: Recording, port: str, rate_bps: float, settled_s: float) -> None:
        """`port` as recordings name it: s1-eth2."""
        self.recording = recording
        self.rate_bps = rate_bps
        self.port = port
        self._settled_s = settled_s

    @property
    def functions(self) -> Functions:
        """Every measure by its name."""
        return {name: functools.partial(found, self) for name, found in MEASURES.items()}

    @property
    def series(self) -> PortSeries:
        """The lab's port."""
        return self.recording.ports[self.port]

    @functools.cached_property
    def span_s(self) -> tuple[float, float]:
        """From when to when flows are settled."""
        every = [flow.samples for flow in self.recording.flows.values()]
        if not all(every):
            raise MeasurementError("nothing was seen of a flow's connection: run the lab again.")
        if not every:
            return self.series.time_s[0], self.series.time_s[-1]
        begin_s = max(samples[0].time_s for samples in every) + self._settled_s
        return begin_s, min(samples[-1].time_s for samples in every)

    @property
    def rows(self) -> slice:
        """The port's samples of that time."""
        return self.series.rows(*self.span_s)

    @property
    def delays_ms(self) -> list[float]:
        """The delay of the queue, sample by sample."""
        return self.all_delays_ms[self.rows]

    @functools.cached_property
    def all_delays_ms(self) -> list[float]:
        """The same of the whole run."""
        return [each * 8 / self.rate_bps * 1000 for each in self.series.bytes]

    def flow(self, name: str) -> Flow:
        """A flow by its name."""
        return _named(self.recording.flows, "flow", name)

    def pings(self, name: str) -> Pings:
        """A ping by its name."""
        return _named(self.recording.pings, "ping", name)


def line_bps(run: Measures) -> float:
    """The rate of frames on the line."""
    return run.series.rate_bps(*run.span_s)


def line_share(run: Measures) -> float:
    """The same as a part of the line's rate."""
    return line_bps(run) / run.rate_bps


def queue_packets(run: Measures) -> float:
    """Packets that wait, on average."""
    return run.series.mean_packets(*run.span_s)


def queue_ms(run: Measures) -> float:
    """The mean delay of the queue."""
    return sum(run.delays_ms) / len(run.delays_ms)


def queue_empty_share(run: Measures) -> float:
    """The part of the time in which nothing waits."""
    depths = run.series.packets[run.rows]
    return depths.count(0) / max(1, len(depths))


def queue_highest_packets(run: Measures) -> float:
    """The most packets that waited, in the whole run."""
    return max(run.series.packets)


def class_wait_ms(run: Measures, class_: float) -> float:
    """The mean wait of a class, by Little's law: the bytes that wait through the rate."""
    queue = run.series.queues.get(int(class_))
    if queue is None:
        raise MeasurementError(f"the port has no queue of class {class_:g}.")
    waiting = queue.bytes[run.rows]
    times, sent = run.series.time_s[run.rows], queue.departed_bytes[run.rows]
    bytes_a_s = (sent[-1] - sent[0]) / (times[-1] - times[0])
    return sum(waiting) / len(waiting) / bytes_a_s * 1000


def dropped(run: Measures) -> float:
    """Packets that the router dropped."""
    return run.series.dropped_between(*run.span_s)


def dropped_in_all(run: Measures) -> float:
    """Packets that the router dropped in the whole run."""
    return run.series.dropped_packets


def loss_share(run: Measures) -> float:
    """The part of the packets that was dropped, counted in full frames."""
    lost, sent = dropped(run), run.series.departed_bytes[run.rows]
    return lost / (lost + (sent[-1] - sent[0]) / FRAME_BYTES)


def received_bps(run: Measures, flow: str) -> float:
    """The payload that a flow's receiver got in the whole run, a second."""
    return run.flow(flow).result.received_bps


def flow_bps(run: Measures, flow: str) -> float:
    """The payload of a flow that arrived, a second."""
    return run.flow(flow).throughput_bps(*run.span_s)


def host_share(run: Measures, host: str) -> float:
    """A host's part of the payload of all flows."""
    got = {flow.source: 0.0 for flow in run.recording.flows.values()}
    for flow in run.recording.flows.values():
        got[flow.source] += flow.throughput_bps(*run.span_s)
    return _named(got, "sender", host) / sum(got.values())


def resent(run: Measures, flow: str) -> float:
    """Segments that a flow sent again in the whole run."""
    return run.flow(flow).result.retransmits


def ping_ms(run: Measures, ping: str) -> float:
    """The mean round trip of a ping."""
    return run.pings(ping).between(*run.span_s).mean_ms


def whole_ping_ms(run: Measures, ping: str) -> float:
    """The mean round trip of a ping in the whole run."""
    return run.pings(ping).mean_ms


def _named(found: Mapping[str, T], what: str, name: str) -> T:
    if name not in found:
        raise MeasurementError(
            f"there is no {what} {name!r} in this run; there are: {', '.join(found) or 'none'}."
        )
    return found[name]


MEASURES: Mapping[str, Callable[..., float]] = {
    each.__name__: each
    for each in (
        line_bps,
        line_share,
        queue_packets,
        queue_ms,
        queue_empty_share,
        queue_highest_packets,
        class_wait_ms,
        dropped,
        dropped_in_all,
        loss_share,
        received_bps,
        flow_bps,
        host_share,
        resent,
        ping_ms,
        whole_ping_ms,
    )
}
