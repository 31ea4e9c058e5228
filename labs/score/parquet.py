"""The truth as Parquet: a row for each packet of the queue, and one for each build-up.

    write(run.truth, 30_000, Path("out"))      # out/packets.parquet and out/buildups.parquet

docs/telemetry-score.md describes the columns.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from labs.score.flow import Flow
from labs.score.truth import BuildUp, Packet, Truth

_FLOWS = pa.list_(pa.struct([("flow", pa.string()), ("packets", pa.int64())]))
_PACKETS = pa.schema(
    [
        ("packet", pa.int64()),
        ("flow", pa.string()),
        ("length_bytes", pa.int64()),
        ("arrived_ps", pa.int64()),
        ("enqueued_ps", pa.int64()),
        ("found_bytes", pa.int64()),
        ("ahead", pa.list_(pa.int64())),
        ("departed_ps", pa.int64()),
        ("dropped", pa.string()),
        ("dropped_ps", pa.int64()),
    ]
)
_BUILDUPS = pa.schema(
    [
        *((f"{instant}_ps", pa.int64()) for instant in ("begin", "crossed", "peak", "end")),
        ("peak_bytes", pa.int64()),
        *((of, _FLOWS) for of in ("culprits", "contributors", "victims", "dropped")),
    ]
)


def write(truth: Truth, threshold_bytes: int, folder: Path) -> None:
    """Writes both files."""
    folder.mkdir(parents=True, exist_ok=True)
    ahead = {packet.number: [each.number for each in before] for packet, before in truth.waits()}
    packets = [_packet(packet, ahead.get(packet.number, [])) for packet in truth.packets]
    buildups = [_buildup(each) for each in truth.buildups(threshold_bytes)]
    pq.write_table(pa.Table.from_pylist(packets, _PACKETS), folder / "packets.parquet")
    pq.write_table(pa.Table.from_pylist(buildups, _BUILDUPS), folder / "buildups.parquet")


def _packet(packet: Packet, ahead: list[int]) -> dict[str, object]:
    return {
        "packet": packet.number,
        "flow": str(packet.flow),
        "length_bytes": packet.length_bytes,
        "arrived_ps": packet.arrived_ps,
        "enqueued_ps": packet.enqueued_ps,
        "found_bytes": packet.found_bytes,
        "ahead": ahead,
        "departed_ps": packet.departed_ps,
        "dropped": packet.dropped or None,
        "dropped_ps": packet.dropped_ps,
    }


def _buildup(buildup: BuildUp) -> dict[str, object]:
    return {
        "begin_ps": buildup.begin_ps,
        "crossed_ps": buildup.crossed_ps,
        "peak_ps": buildup.peak_ps,
        "end_ps": buildup.end_ps,
        "peak_bytes": buildup.peak_bytes,
        "culprits": _flows(buildup.culprits),
        "contributors": _flows(buildup.contributors),
        "victims": _flows(buildup.victims),
        "dropped": _flows(buildup.dropped),
    }


def _flows(packets: Counter[Flow]) -> list[dict[str, object]]:
    return [{"flow": str(flow), "packets": packets[flow]} for flow in sorted(packets)]
