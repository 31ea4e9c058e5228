"""The truth of a run as Parquet: packets, build-ups and pauses of the queue, changes of paths.

    write(run, Path("out"))      # out/packets.parquet, and buildups, pauses and paths

docs/telemetry-score.md describes the columns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from labs.score.events import PathChange
from labs.score.flow import Flow
from labs.score.run import Run
from labs.score.truth import BuildUp, Packet

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


_PAUSES = pa.schema([(name, pa.int64()) for name in ("begin_ps", "end_ps", "waiting_bytes")])
_QUEUE = pa.struct([("port", pa.int64()), ("class", pa.int64())])
_PATHS = pa.schema(
    [("time_ps", pa.int64()), ("flow", pa.string()), ("before", _QUEUE), ("after", _QUEUE)]
)


def write(run: Run, folder: Path) -> None:
    """Writes the four files."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = run.truth
    ahead = {packet.number: [each.number for each in before] for packet, before in truth.waits()}
    packets = [_packet(packet, ahead.get(packet.number, [])) for packet in truth.packets]
    tables = {
        "packets": (packets, _PACKETS),
        "buildups": ([_buildup(each) for each in run.buildups], _BUILDUPS),
        "pauses": ([asdict(each) for each in run.pauses], _PAUSES),
        "paths": ([_path_change(each) for each in run.path_changes], _PATHS),
    }
    for name, (rows, schema) in tables.items():
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / f"{name}.parquet")


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


def _path_change(change: PathChange) -> dict[str, object]:
    before, after = (
        {"port": port, "class": class_} for port, class_ in (change.before, change.after)
    )
    return {"time_ps": change.time_ps, "flow": str(change.flow), "before": before, "after": after}


def _flows(packets: Counter[Flow]) -> list[dict[str, object]]:
    return [{"flow": str(flow), "packets": packets[flow]} for flow in sorted(packets)]
