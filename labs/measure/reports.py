"""What the routers' telemetry reports told: a collector in a host, and its rows on the lab's clock.

    collector = Collector(host)
    ...packets pass...
    collector.wait_for(sent)
    rows = collector.finish({1: "s1"}, {"s1": 0.25})

Every router has a clock of its own that starts with it; the second mapping says where each one's
zero lies on the clock of the recording.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow.parquet as pq

from labs.errors import MeasurementError
from topo import wait
from topo.live import LiveHost

START_DEADLINE_S = 20.0
END_DEADLINE_S = 60.0
NS_PER_S = 1e9
NS_PER_US = 1e3


@dataclass(frozen=True, slots=True)
class HopReport:
    """What one router told of one packet."""

    # When it left its queue; of a packet that was dropped, when it came in.
    time_s: float
    router: str
    # In words: `tcp 10.0.1.1:5001 > 10.0.2.1:80`.
    flow: str
    # The report that said so: hops of one packet have the same one.
    reporter: str
    sequence: int
    ingress_port: int
    egress_port: int
    queue: int
    # What the packet left behind in its queue; None where it was not asked for, as below.
    occupancy_bytes: int | None
    latency_us: float | None
    # Why it was dropped; None: it was not.
    drop_reason: str | None

    @property
    def place(self) -> tuple[str, int, int]:
        """The queue it was in, or was dropped at: router, port, class."""
        return (self.router, self.egress_port, self.queue)


class Collector:
    """`apps.collector` in a host."""

    def __init__(self, host: LiveHost) -> None:
        self._host = host
        self._file = host.logs / "reports.parquet"
        argv = [sys.executable, "-m", "apps.collector", "--listen", "0.0.0.0"]
        argv += ["--parquet", str(self._file)]
        self._process = host.start(argv, host.logs / "collector.log")
        wait.until(
            lambda: self._process.has_ended() or "reports on" in self._process.log.read_text(),
            f"the collector in {host.name}",
            START_DEADLINE_S,
        )

    def wait_for(self, sent: Callable[[], int]) -> None:
        """Waits until as many reports have been read as `sent` says that left for the collector."""
        wait.until(
            lambda: self._read_count() == sent(), "the last report's arrival", END_DEADLINE_S
        )

    def finish(self, nodes: Mapping[int, str], zeros: Mapping[str, float]) -> list[HopReport]:
        """Ends the collector; every row that it wrote, in the order of arrival."""
        said = self._process.finish(f"the collector in {self._host.name}", END_DEADLINE_S)
        if "; 0 missing in sequence, 0 dropped here, 0 malformed" not in said:
            raise MeasurementError(
                f"the collector in {self._host.name} missed reports: {said.strip()}"
            )
        table = pq.read_table(self._file)
        return [_row(row, nodes, zeros) for row in table.to_pylist()]

    def _read_count(self) -> int:
        """Datagrams that programs of the host have read, or that were dropped before they could."""
        lines = self._host.run(["cat", "/proc/net/snmp"]).splitlines()
        names, values = (line.split() for line in lines if line.startswith("Udp:"))
        counts = dict(zip(names, values, strict=True))
        return int(counts["InDatagrams"]) + int(counts["RcvbufErrors"])


def _row(
    row: Mapping[str, object], nodes: Mapping[int, str], zeros: Mapping[str, float]
) -> HopReport:
    router = nodes[_whole(row["node_id"])]
    time_ns = row["egress_time"] if row["egress_time"] is not None else row["ingress_time"]
    latency_ns = row["hop_latency"]
    occupancy = row["queue_occupancy"]
    return HopReport(
        time_s=zeros[router] + _whole(time_ns) / NS_PER_S,
        router=router,
        flow=str(row["flow"]),
        reporter=nodes[_whole(row["reporter"])],
        sequence=_whole(row["sequence"]),
        ingress_port=_whole(row["ingress_port"]),
        egress_port=_whole(row["egress_port"]),
        queue=_whole(row["queue_id"]),
        occupancy_bytes=None if occupancy is None else _whole(occupancy),
        latency_us=None if latency_ns is None else _whole(latency_ns) / NS_PER_US,
        drop_reason=None if row["drop_reason"] is None else str(row["drop_reason"]),
    )


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise MeasurementError(f"a report lacks what the lab asked for: {value!r} is no number.")
    return value
