"""A collector of telemetry reports in a host, and its rows on the recording's clock.

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

import pyarrow.parquet as pq

from labs.errors import MeasurementError
from labs.measure.reports import HopReport, hop_report
from topo import wait
from topo.live import LiveHost

START_DEADLINE_S = 20.0
END_DEADLINE_S = 60.0


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
        return [hop_report(row, nodes, zeros) for row in table.to_pylist()]

    def _read_count(self) -> int:
        """Datagrams that programs of the host have read, or that were dropped before they could."""
        lines = self._host.run(["cat", "/proc/net/snmp"]).splitlines()
        names, values = (line.split() for line in lines if line.startswith("Udp:"))
        counts = dict(zip(names, values, strict=True))
        return int(counts["InDatagrams"]) + int(counts["RcvbufErrors"])
