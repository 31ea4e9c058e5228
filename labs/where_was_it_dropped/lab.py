"""Three hosts lose datagrams at three places for three reasons; drop reports say which were whose.

The hosts know how many did not arrive. The routers' counters know how many each queue dropped, and
why. Only the reports know both ends: this packet, of this flow, in that queue, for that reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from apps import domain as domains
from labs.bench import Bench
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.recording import Recording
from labs.report import drawing as shared
from labs.run import AROUND_S, COLLECTING_S, Run
from labs.where_was_it_dropped import drawing
from labs.where_was_it_dropped.findings import Findings
from topo import load
from topo.model import Topology

HERE = Path(__file__).parent
# Where something can be dropped; the live view shows the first.
WATCHED = (("s1", 2), ("s2", 2), ("s3", 2))
COUNTERS_INTERVAL_MS = 100
FIRST_S, EVERY_S = 1.0, 0.5


@dataclass(frozen=True)
class Sender:
    """A host that sends bursts, and the place that is too small for them."""

    name: str
    target: str
    burst: int
    # From the begin of each half second, so that bursts do not meet.
    offset_s: float
    router: str
    reason: str
    # The part of its datagrams that is dropped there; None where chance decides.
    dropped: float | None


PAYLOAD_BYTES = 1200
# The burst comes on a line ten times as fast as the one behind it: a packet each unit of 9.936 us,
# while one leaves at 0, 10, 20, ... units. Of 40 packets 4 leave meanwhile and 20 find room, so 16
# are dropped; of 50 packets 5 leave and 30 find room, so 15 are dropped.
SENDERS = (
    Sender("h1", "h5", 40, 0.0, "s1", "QUEUE_LIMIT", 16 / 40),
    Sender("h4", "h5", 50, 0.17, "s2", "PORT_LIMIT", 15 / 50),
    Sender("h3", "h2", 30, 0.34, "s3", "AQM", None),
)


class WhereWasItDropped(Lab):
    """Three books of the same drops."""

    name: ClassVar = "where-was-it-dropped"
    title: ClassVar = "Where was it dropped, and why?"
    summary: ClassVar = "three hosts lose packets at three places: drop reports against counters"
    question: ClassVar = "Some datagrams do not arrive: which router dropped whose, where and why?"
    look_for: ClassVar = (
        "Counters say that and where packets were dropped, not whose.",
        "Reports say of each packet whose it was, where it ended and why.",
        "Counter and reports agree to the packet, place by place.",
    )
    original: ClassVar = (
        "the specification of telemetry reports 2.0, which defines drop reports without numbers"
    )
    takes: ClassVar = frozenset({"duration"})
    needs: ClassVar = "a switch that reports the packets that its queues drop"

    @property
    def seconds(self) -> int:
        """How long bursts are sent."""
        return self.settings.seconds or (6 if self.settings.quick else 20)

    @property
    def least_seconds(self) -> int:
        """A burst of each host, and time for the reports about it."""
        return 3

    @property
    def least_seconds_for(self) -> str:
        """Bursts begin after a second."""
        return "for a burst of each host"

    @property
    def place(self) -> Place:
        """The first of the three places."""
        return Place(self.topology(), *WATCHED[0])

    def runs(self) -> Sequence[Run]:
        """One: all three at once."""
        seconds = self.seconds + AROUND_S + COLLECTING_S
        return [Run("bursts", "Three hosts send bursts", seconds)]

    def topology(self) -> Topology:
        """The three routers of the file."""
        return load.load(HERE / "topology.yaml")

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Bursts, counters and reports."""
        domain = domains.load(HERE / "domain.yaml")
        bench.bring_up(self.topology(), domain)
        with bench.recording(WATCHED, senders=[], interval_ms=COUNTERS_INTERVAL_MS) as instruments:
            count = int((self.seconds - FIRST_S) / EVERY_S)
            for sender in SENDERS:
                instruments.send_bursts(
                    sender.name,
                    sender.name,
                    sender.target,
                    size_bytes=PAYLOAD_BYTES,
                    burst=sender.burst,
                    offsets_s=[
                        FIRST_S + sender.offset_s + EVERY_S * index for index in range(count)
                    ],
                )
            instruments.hold(self.seconds)
            instruments.finish()
        found = self._findings({run.name: instruments.recording})
        instruments.note(f"{len(found.reports)} drops were reported")
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The three books, held against each other."""
        findings = self._findings(recordings)
        return Assessment(_rows(findings), _bands(findings), _numbers(findings))

    def _findings(self, recordings: Mapping[str, Recording]) -> Findings:
        addresses = {host.name: str(host.address.ip) for host in self.topology().hosts}
        return Findings(recordings["bursts"], addresses)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """When and where; then both books."""
        findings = self._findings(recordings)
        return [
            Figure(
                "timeline",
                "Above: what counters say, that some packets were dropped. Below: what reports "
                "say, each dropped packet at its place, in the colour of its sender. There are "
                f"{len(findings.reports)} of them, at {len(findings.places)} places.",
                lambda canvas: drawing.timeline(canvas, findings),
                height=6.0,
            ),
            Figure(
                "books",
                "For each place the number that the router's counter has, and below it the "
                "reports, by flow. Counters and reports differ by "
                f"{findings.uncounted} packets.",
                lambda canvas: drawing.books(canvas, findings),
                height=4.0,
            ),
        ]


def _rows(findings: Findings) -> list[Row]:
    rows = []
    for sender in SENDERS:
        bursts = findings.recording.bursts[sender.name]
        there = findings.dropped_of(sender.name, sender.router, sender.reason)
        theory = "" if sender.dropped is None else f"{sender.dropped:.1%}"
        missed = f"{bursts.lost} of {bursts.sent}, {bursts.lost / max(1, bursts.sent):.1%}"
        where = f"{sender.router}, {shared.words(sender.reason)}"
        rows.append(Row(f"{sender.name} misses", "", theory, missed))
        rows.append(
            Row(f"reports on {sender.name}: {where}", "", f"{bursts.lost}", f"{there} packets")
        )
    counted, reported = findings.counted, findings.reported
    for place in findings.places:
        router, port, queue, reason = place
        told = sum(reported.get(place, {}).values())
        what = f"reports at {router} port {port}, queue {queue}, {shared.words(reason)}"
        rows.append(Row(what, "", f"{counted[place]} by the counter", f"{told}"))
    return rows


def _bands(findings: Findings) -> list[Band]:
    differ = "drops in which counters and reports differ"
    missing = "datagrams that hosts miss and reports do not explain"
    return [
        *(_share_band(findings, sender) for sender in SENDERS),
        Band(missing, findings.unexplained, most=0),
        Band(differ, findings.uncounted, most=0),
    ]


def _share_band(findings: Findings, sender: Sender) -> Band:
    share = 100 * findings.share_of(sender.name, sender.router, sender.reason)
    claim = f"{sender.name}'s part that ended in {sender.router}, {shared.words(sender.reason)}"
    if sender.dropped is None:
        # Chance decides how many; that there are any follows from the burst's length.
        return Band(claim, share, least=0.1, unit="%")
    expected = 100 * sender.dropped
    # Bursts that a busy machine sent late may meet others.
    return Band(claim, share, expected - 5, expected + 5, "%")


def _numbers(findings: Findings) -> dict[str, float]:
    numbers = {
        "unexplained_packets": float(findings.unexplained),
        "uncounted_packets": float(findings.uncounted),
        "reports_count": float(len(findings.reports)),
    }
    for sender in SENDERS:
        bursts = findings.recording.bursts[sender.name]
        there = findings.dropped_of(sender.name, sender.router, sender.reason)
        numbers[f"{sender.name}_sent_packets"] = float(bursts.sent)
        numbers[f"{sender.name}_lost_packets"] = float(bursts.lost)
        numbers[f"{sender.name}_dropped_there_packets"] = float(there)
    return numbers
