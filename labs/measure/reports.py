"""The routers' telemetry reports, as rows on the recording's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labs.errors import MeasurementError

NS_PER_S = 1e9
NS_PER_US = 1e3


@dataclass(frozen=True, slots=True)
class HopReport:
    """One router's report on one packet."""

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
    # The bytes that the packet left behind in its queue; None if they were not requested, as below.
    occupancy_bytes: int | None
    latency_us: float | None
    # Why it was dropped; None: it was not.
    drop_reason: str | None

    @property
    def place(self) -> tuple[str, int, int]:
        """The queue it was in, or was dropped at: router, port, class."""
        return (self.router, self.egress_port, self.queue)


def hop_report(
    row: Mapping[str, object], nodes: Mapping[int, str], zeros: Mapping[str, float]
) -> HopReport:
    """A row of the collector's table.

    `nodes` are the routers by number, `zeros` says where each one's zero lies on the clock.
    """
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
