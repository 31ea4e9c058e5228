"""The bands of a bufferbloat run on any machine, however slow.

    python3 vm/check_lab.py out/bufferbloat/latest

Bands depend on how fast a machine is; these do not, because the router's times are the modelled
line's own: a queue never holds more than its limit, the line never carries more than its rate, and
neither a ping nor a page is quicker than the cable and the line allow. Needs Python alone.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

# The lab's network: labs/bufferbloat/topology.yaml, and the page that it fetches.
ROUND_TRIP_MS = 20.0
PAGE_BYTES = 177_669
FRAME_BYTES = 1514
REPORT_BYTES_MIN = 100_000


def main(folder: Path) -> int:
    """Returns the exit status."""
    broken = list(violations(folder))
    for sentence in broken:
        print(f"broken: {sentence}")
    if not broken:
        print("the invariants of the lab hold")
    return 1 if broken else 0


def violations(folder: Path) -> Iterator[str]:
    """A sentence for each thing that cannot be."""
    results = json.loads((folder / "results.json").read_text())
    report = folder / "report.html"
    if not report.exists() or report.stat().st_size < REPORT_BYTES_MIN:
        yield f"{report} is missing, or has no figures in it."
    if len(results["runs"]) != 3:
        yield f"there are {len(results['runs'])} runs, expected 3."
    for run in results["runs"]:
        data = folder / "data" / run["name"]
        parameters = run["parameters"]
        queues = 2 if parameters["fair"] else 1
        for sentence in (
            *_queue(data, parameters["queue_packets"] * queues, parameters["rate_bps"]),
            *_hosts(data, parameters["rate_bps"]),
        ):
            yield f"{run['name']}: {sentence}"


def _queue(data: Path, limit_packets: int, rate_bps: int) -> Iterator[str]:
    rows = _rows(data / "queues-s1-eth2.csv")
    if len(rows) < 100:
        yield f"the router was sampled {len(rows)} times only."
        return
    most = max(int(row["packets"]) for row in rows)
    if most > limit_packets:
        yield f"the queue held {most} packets, and its limit is {limit_packets}."
    if most == 0:
        yield "nothing ever waited, so there was no download."
    first = rows[0]
    for row in rows:
        sent_bits = (int(row["departed_bytes"]) - int(first["departed_bytes"])) * 8
        span_s = float(row["time_s"]) - float(first["time_s"])
        # One frame may have been on the line when the recording began.
        if sent_bits > rate_bps * span_s + FRAME_BYTES * 8:
            yield f"{sent_bits} bits left within {span_s:.3f} s, more than the line carries."
            return


def _hosts(data: Path, rate_bps: int) -> Iterator[str]:
    pings = _rows(data / "ping-ping.csv")
    if not pings:
        yield "no ping was answered."
    for row in pings:
        if float(row["rtt_ms"]) < ROUND_TRIP_MS:
            yield f"a ping took {row['rtt_ms']} ms, less than the cable's {ROUND_TRIP_MS:g} ms."
    pages = _rows(data / "pages.csv")
    if len(pages) < 2:
        yield f"{len(pages)} pages were fetched, expected one alone and one beside the download."
    for row in pages:
        least_s = PAGE_BYTES * 8 / rate_bps
        span_s = float(row["end_s"]) - float(row["start_s"])
        if span_s < least_s:
            yield f"a page took {span_s:.3f} s, and the line needs {least_s:.3f} s for it."


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
