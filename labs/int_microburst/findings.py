"""The lab's conclusions from one run: from the counters, and from the packets' telemetry."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Mapping

from labs.int_microburst import bursts
from labs.int_microburst.bursts import Burst
from labs.measure.reports import HopReport
from labs.recording import Recording

# A burst that packets show this long after it was sent (or before: clocks err) is that one.
MATCH_S = (-0.05, 0.5)
US_PER_MS = 1000.0


class Findings:
    """Both views of the run."""

    def __init__(self, recording: Recording, addresses: Mapping[str, str], line_bps: int) -> None:
        """`addresses` are the hosts' by name; `line_bps` is the rate of the lines looked at."""
        self.recording = recording
        self._hosts = {address: host for host, address in addresses.items()}
        self._line_bps = line_bps
        self.found = bursts.find(recording.reports)
        # Packets that a busy machine held up look like a burst, too, now here and now there.
        places = Counter(burst.place for burst in self.found)
        self.place = places.most_common(1)[0][0] if places else ("none", 0, 0)
        self.sent_s = recording.bursts["h4"].sent_s
        # Each burst that was sent, and what packets showed of it.
        self.matched = {sent_s: self._shown(sent_s) for sent_s in self.sent_s}
        self.flows = Counter(report.flow for report in recording.reports)
        self.background = bursts.ways(recording.reports, self.flow_of("h1"))

    def _shown(self, sent_s: float) -> Burst | None:
        early_s, late_s = MATCH_S
        shown = [
            burst
            for burst in self.found
            if burst.place == self.place and sent_s + early_s <= burst.start_s <= sent_s + late_s
        ]
        return max(shown, key=lambda burst: burst.peak_bytes, default=None)

    # ---- what packets say ------------------------------------------------------------------------

    @property
    def shown(self) -> list[Burst]:
        """The bursts that were sent, as packets show them."""
        return [burst for burst in self.matched.values() if burst is not None]

    @property
    def others(self) -> int:
        """Times when a queue was as full without a burst that was sent."""
        return len(self.found) - len(self.shown)

    @property
    def median_burst(self) -> Burst | None:
        """The one in the middle by its height: what a picture should show."""
        ordered = sorted(self.shown, key=lambda burst: burst.peak_bytes)
        return ordered[len(ordered) // 2] if ordered else None

    @property
    def culprit(self) -> str:
        """The host behind most bursts."""
        culprits = Counter(self.host_of(burst.culprit) for burst in self.shown)
        return culprits.most_common(1)[0][0] if culprits else "nobody"

    def part_of(self, place: tuple[str, int, int], host: str) -> float:
        """The part of the bursts that packets show in this queue, as this host's doing."""
        right = [
            burst
            for burst in self.shown
            if burst.place == place and self.host_of(burst.culprit) == host
        ]
        return len(right) / len(self.sent_s) if self.sent_s else 0.0

    def host_of(self, flow: str) -> str:
        """The host that sends a flow: `udp 10.0.4.1:40000 > 10.0.5.1:7000` is h4's."""
        address = flow.partition(" ")[2].partition(":")[0]
        return self._hosts.get(address, address)

    def flow_of(self, host: str) -> str:
        """The flow of a host with the most reports."""
        own = {flow: rows for flow, rows in self.flows.items() if self.host_of(flow) == host}
        return max(own, key=lambda flow: own[flow], default="")

    def worst_of(self, burst: Burst) -> dict[str, HopReport] | None:
        """The background's packet that a burst held up the longest."""
        router = burst.place[0]
        met = [
            way
            for way in self.background
            if router in way and burst.start_s <= way[router].time_s <= burst.end_s
        ]
        return max(met, key=latency_ms, default=None)

    @property
    def worst(self) -> list[dict[str, HopReport]]:
        """Of each burst the background's packet that it held up the longest."""
        found = [self.worst_of(burst) for burst in self.shown]
        return [way for way in found if way is not None]

    @property
    def ordinary_ms(self) -> float:
        """The routers' delay of a packet of the background, in the middle."""
        return statistics.median(map(latency_ms, self.background)) if self.background else 0.0

    # ---- what counters say -----------------------------------------------------------------------

    @property
    def busiest_second(self) -> float:
        """The highest use of the line between two readings of its counters."""
        series = self.recording.ports["s2-eth2"]
        readings = list(zip(series.time_s, series.departed_bytes, strict=True))
        shares = [
            (after - before) * 8 / (end_s - start_s) / self._line_bps
            for (start_s, before), (end_s, after) in itertools.pairwise(readings)
        ]
        return max(shares, default=0.0)

    @property
    def deepest_reading(self) -> int:
        """The most packets that a reading found in the queue."""
        return max(self.recording.ports["s2-eth2"].packets, default=0)

    @property
    def dropped(self) -> int:
        """Drops at all ports that were watched."""
        return sum(series.dropped_packets for series in self.recording.ports.values())


def latency_ms(way: Mapping[str, HopReport]) -> float:
    """The routers' delay of a packet, all together."""
    return sum(hop.latency_us or 0.0 for hop in way.values()) / US_PER_MS


def part_at(way: Mapping[str, HopReport], router: str) -> float:
    """The part of a packet's latency that one router is to blame for."""
    total = latency_ms(way)
    return (way[router].latency_us or 0.0) / US_PER_MS / total if total else 0.0
