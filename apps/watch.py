"""Records what happens inside a router: samples and events, as CSV or Parquet.

    python -m apps.watch --samples out/samples.parquet --events out/events.csv

The ending of a name says the format. Ends with Ctrl-C, SIGTERM or after --seconds. Anybody may
watch: this neither becomes a controller nor disturbs one. Times are seconds since 1970, as iperf3
and ss write them, of instants of the modelled router.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from apps import options
from controller import reader
from controller.errors import ControllerError
from controller.session import Session
from controller.tables import Row, Table, open_table
from controller.watch import (
    Crossed,
    Crossing,
    Drop,
    Link,
    Lost,
    Mark,
    Overrun,
    QueueChange,
    Sample,
    Told,
    Watched,
    watch,
)

# One line a queue and sample; the totals count from the start of the switch. The state of the
# port's cable is in each of its queues' lines.
SAMPLE_COLUMNS = {"time_s": float} | dict.fromkeys(
    (
        *("port", "class", "held_packets", "held_bytes"),
        *("departed_packets", "departed_bytes", "dropped_packets", "missed_samples"),
        *("backlog_packets", "arriving_packets", "leaving_packets"),
    ),
    int,
)
# One line an event; what an event does not have stays empty.
EVENT_COLUMNS = {
    **{"time_s": float, "kind": str, "port": int, "class": int, "what": str},
    **{"length_bytes": int, "held_packets": int, "held_bytes": int},
    **{"input": int, "until_s": float, "head": str},
}


def sample_rows(sample: Sample, watched: Watched) -> Iterator[Row]:
    """A row for each queue of each port."""
    for state in sample.ports.values():
        for queue in state.queues:
            yield {
                "time_s": watched.epoch_s(sample.time_ps),
                "port": state.port,
                "class": queue.class_,
                "held_packets": queue.held_packets,
                "held_bytes": queue.held_bytes,
                "departed_packets": queue.departed_packets,
                "departed_bytes": queue.departed_bytes,
                "dropped_packets": sum(queue.dropped_packets.values()),
                "missed_samples": sample.missed,
                "backlog_packets": state.backlog_packets,
                "arriving_packets": state.arriving_packets,
                "leaving_packets": state.leaving_packets,
            }


def event_row(event: Told, watched: Watched) -> Row:
    """The row of one event."""
    row: Row = dict.fromkeys(EVENT_COLUMNS)
    if isinstance(event, Lost):
        return row | {"kind": "lost", "what": str(event.events)}
    row |= {"time_s": watched.epoch_s(event.time_ps)}
    match event:
        case QueueChange(_, port, class_, change, length, packets, held):
            row |= {"kind": "queue", "port": port, "class": class_, "what": change}
            row |= {"length_bytes": length, "held_packets": packets, "held_bytes": held}
        case Drop(_, reason, source, queue, length, head):
            row |= {"kind": "drop", "what": reason}
            row |= {"port": queue[0], "class": queue[1]} if queue else {}
            row |= {"input": source, "length_bytes": length, "head": head.hex()}
        case Mark(_, port, class_, length, head):
            row |= {"kind": "mark", "port": port, "class": class_}
            row |= {"length_bytes": length, "head": head.hex()}
        case Crossed(_, threshold, above, packets, held):
            row |= {"kind": "threshold", "port": threshold.port, "class": threshold.class_}
            row |= {"what": "above" if above else "below"}
            row |= {"held_packets": packets, "held_bytes": held}
        case Crossing(_, source, output, class_, length, until_ps):
            row |= {"kind": "crossing", "port": output, "class": class_, "input": source}
            row |= {"length_bytes": length, "until_s": watched.epoch_s(until_ps)}
        case Link(_, port, up):
            row |= {"kind": "link", "port": port, "what": "up" if up else "down"}
        case Overrun(_, lag_ps):
            row |= {"kind": "overrun", "what": f"{lag_ps} ps"}
    return row


def record(watched: Watched, samples: Table | None, events: Table | None) -> tuple[int, int]:
    """Writes events until the watch ends; returns the numbers of samples and events."""
    sample_count = event_count = 0
    for told in watched:
        if isinstance(told, Sample):
            sample_count += 1
            for row in sample_rows(told, watched):
                if samples is not None:
                    samples.write(row)
        else:
            event_count += 1
            if events is not None:
                events.write(event_row(told, watched))
    return sample_count, event_count


@reader.ends_unread
def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    given = _parser().parse_args(arguments)
    try:
        if given.samples is None and given.events is None:
            raise ControllerError("say what is to be kept: --samples FILE, --events FILE, or both.")
        wants_events = given.events is not None
        with (
            Session.observe(given.router) as session,
            watch(
                session,
                interval_ms=given.interval if given.samples else 0,
                ports=given.port,
                queues=[_queue(text) for text in given.queue],
                crossings=given.crossings,
                head_bytes=given.head,
                drops=wants_events,
                marks=wants_events,
                links=wants_events,
                overruns=wants_events,
            ) as watched,
        ):
            # Once there is something to write: where no router answers, an earlier file stays.
            tables = [
                open_table(path, columns) if path else None
                for path, columns in (
                    (given.samples, SAMPLE_COLUMNS),
                    (given.events, EVENT_COLUMNS),
                )
            ]
            _end_on_request(watched, given.seconds)
            counts = record(watched, *tables)
        for table in tables:
            if table is not None:
                table.close()
    except (ControllerError, OSError) as error:
        print(f"watch: {error}", file=sys.stderr)
        return 1
    print(f"{counts[0]} samples, {counts[1]} events")
    return 0


def _end_on_request(watched: Watched, seconds: float | None) -> None:
    """Ends the watch at Ctrl-C, SIGTERM or after a while; events until then are kept."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: watched.end())
    if seconds is not None:
        timer = threading.Timer(seconds, watched.end)
        timer.daemon = True
        timer.start()


def _queue(text: str) -> tuple[int, int]:
    port, _, class_ = text.partition(":")
    if not (port.isdigit() and class_.isdigit()):
        raise ControllerError(f"{text!r} is no queue: write port and class, such as 2:0.")
    return int(port), int(class_)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="watch", description=__doc__.splitlines()[0])
    options.add_router(parser)
    parser.add_argument("--samples", type=Path, metavar="FILE", help="numbers of all queues")
    parser.add_argument("--events", type=Path, metavar="FILE", help="drops, marks, ports, overruns")
    parser.add_argument("--interval", type=int, default=100, help="of samples, ms, %(default)s")
    parser.add_argument("--port", type=int, action="append", default=[], help="only this one")
    parser.add_argument(
        "--queue", action="append", default=[], metavar="PORT:CLASS", help="every packet of it"
    )
    parser.add_argument("--crossings", action="store_true", help="every packet over the fabric")
    parser.add_argument("--head", type=int, default=0, help="bytes of dropped and marked packets")
    parser.add_argument("--seconds", type=float, help="end by itself")
    return parser


if __name__ == "__main__":
    sys.exit(main())
