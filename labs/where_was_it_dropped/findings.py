"""The books of one run: what hosts miss, what routers counted, what reports say of each packet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from labs.measure.reports import HopReport
from labs.recording import Recording

# Router, port, queue, reason.
Place = tuple[str, int, int, str]


class Findings:
    """Three ways to count the same drops."""

    def __init__(self, recording: Recording, addresses: Mapping[str, str]) -> None:
        """`addresses` are the hosts' by name."""
        self.recording = recording
        self._hosts = {address: host for host, address in addresses.items()}
        self.reports = [report for report in recording.reports if report.drop_reason is not None]

    def sender(self, report: HopReport) -> str:
        """The host whose packet it was."""
        address = report.flow.partition(" ")[2].partition(":")[0]
        return self._hosts.get(address, address)

    # ---- the three ways --------------------------------------------------------------------------

    @property
    def missed(self) -> dict[str, int]:
        """Datagrams that did not arrive, by sender: what the hosts themselves can know."""
        return {name: bursts.lost for name, bursts in self.recording.bursts.items()}

    @property
    def counted(self) -> Counter[Place]:
        """Drops by place: what the routers' counters say."""
        counts: Counter[Place] = Counter()
        for name, series in self.recording.ports.items():
            router, _, port = name.partition("-eth")
            for drop in series.drops:
                counts[router, int(port), drop.class_ or 0, drop.reason] += drop.packets
        return counts

    @property
    def reported(self) -> dict[Place, Counter[str]]:
        """Drops by place and sender: what the reports say."""
        counts: dict[Place, Counter[str]] = {}
        for report in self.reports:
            place = (*report.place, report.drop_reason or "")
            counts.setdefault(place, Counter())[self.sender(report)] += 1
        return counts

    # ---- held against each other -----------------------------------------------------------------

    @property
    def places(self) -> list[Place]:
        """Where anything was dropped, in the order of the way."""
        return sorted(self.counted.keys() | self.reported.keys())

    @property
    def unexplained(self) -> int:
        """Datagrams that a host misses without a report, or the other way round."""
        told = Counter(self.sender(report) for report in self.reports)
        return sum(abs(lost - told[sender]) for sender, lost in self.missed.items())

    @property
    def uncounted(self) -> int:
        """Drops that the counters have and the reports have not, or the other way round."""
        counted, reported = self.counted, self.reported
        return sum(
            abs(counted[place] - reported.get(place, Counter()).total()) for place in self.places
        )

    def dropped_of(self, sender: str, router: str, reason: str) -> int:
        """A host's packets that ended in a router for a reason."""
        return sum(
            counts[sender]
            for (at, _, _, why), counts in self.reported.items()
            if (at, why) == (router, reason)
        )

    def share_of(self, sender: str, router: str, reason: str) -> float:
        """The same as a part of all that the host sent."""
        sent = self.recording.bursts[sender].sent
        return self.dropped_of(sender, router, reason) / sent if sent else 0.0
