"""A recording as files, and back again: what a run has left can be drawn anew at any time.

The CSV files hold what instruments saw, in columns that carry their units, for a spreadsheet or a
script of the reader's own. `recording.json` holds what is no table: which connection was which
flow, the marked instants, and what the run was told.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from labs.measure import iperf
from labs.measure.datagrams import Bursts
from labs.measure.holdups import HoldUps
from labs.measure.page import Fetch
from labs.measure.ping import Echo, Pings
from labs.measure.reports import HopReport
from labs.measure.router import Drop, PortSeries, QueueSeries
from labs.measure.sockets import SocketSample
from labs.recording import Flow, Recording

_RowT = TypeVar("_RowT")
# A week; runs last minutes.
_TIME_S_MAX = 7 * 24 * 3600.0


def write(recording: Recording, folder: Path) -> None:
    """One CSV file for each instrument, and recording.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, series in recording.ports.items():
        _write(folder / f"queues-{name}.csv", *_port_table(series))
        _write_rows(folder / f"drops-{name}.csv", series.drops)
    for host, samples in recording.sockets.items():
        _write_rows(folder / f"sockets-{host}.csv", samples)
    for name, pings in recording.pings.items():
        _write_rows(folder / _ping_file(name), pings.echoes)
    _write_rows(folder / "pages.csv", recording.pages)
    _write_rows(folder / "datagrams.csv", list(recording.bursts.values()))
    _write_rows(folder / "reports.csv", recording.reports)
    for name, rows in recording.tables.items():
        _write(folder / f"table-{name}.csv", list(rows[0]), (list(row.values()) for row in rows))
    text = json.dumps(_rest(recording), indent=2, ensure_ascii=False)
    (folder / "recording.json").write_text(f"{text}\n")


def read(folder: Path) -> Recording:
    """The recording that `write` has written there."""
    rest = json.loads((folder / "recording.json").read_text())
    sockets = {
        host: _read_rows(folder / f"sockets-{host}.csv", SocketSample) for host in rest["sockets"]
    }
    return Recording(
        ports={name: _read_port(folder, name) for name in rest["ports"]},
        flows={name: _flow(name, each, sockets) for name, each in rest["flows"].items()},
        pings={
            name: Pings(sent, tuple(_read_rows(folder / _ping_file(name), Echo)))
            for name, sent in rest["pings_sent"].items()
        },
        pages=_read_rows(folder / "pages.csv", Fetch),
        sockets=sockets,
        bursts={
            name: Bursts(**{**each, "sent_s": tuple(each["sent_s"])})
            for name, each in rest["bursts"].items()
        },
        reports=_read_rows(folder / "reports.csv", HopReport),
        tables={name: _read_table(folder / f"table-{name}.csv") for name in rest["tables"]},
        moments=[(time_s, text) for time_s, text in rest["moments"]],
        remarks=rest["remarks"],
        hold_ups=HoldUps(**rest["hold_ups"]),
        numbers=rest["numbers"],
    )


# ---- recording.json ------------------------------------------------------------------------------


def _rest(recording: Recording) -> dict[str, Any]:
    return {
        "ports": list(recording.ports),
        "sockets": list(recording.sockets),
        "flows": {name: _flow_document(flow) for name, flow in recording.flows.items()},
        "pings_sent": {name: pings.sent for name, pings in recording.pings.items()},
        "bursts": {name: dataclasses.asdict(each) for name, each in recording.bursts.items()},
        "tables": list(recording.tables),
        "moments": recording.moments,
        "remarks": recording.remarks,
        "hold_ups": dataclasses.asdict(recording.hold_ups),
        "numbers": recording.numbers,
    }


def _flow_document(flow: Flow) -> dict[str, Any]:
    return {
        "source": flow.source,
        "target": flow.target,
        "congestion": flow.congestion,
        "result": dataclasses.asdict(flow.result),
        # Its samples are among those of the source.
        "connection": flow.samples[0].connection if flow.samples else None,
    }


def _flow(
    name: str, document: Mapping[str, Any], sockets: Mapping[str, Sequence[SocketSample]]
) -> Flow:
    connection = tuple(document["connection"] or ())
    seen = sockets.get(document["source"], [])
    return Flow(
        name=name,
        source=document["source"],
        target=document["target"],
        congestion=document["congestion"],
        result=iperf.Result(**document["result"]),
        samples=[sample for sample in seen if sample.connection == connection],
    )


def _ping_file(name: str) -> str:
    return f"ping-{name.replace(' ', '-')}.csv"


# ---- ports ---------------------------------------------------------------------------------------

# Written where there was ever anything.
_ON_CABLES = ("backlog_packets", "arriving_packets", "leaving_packets")


def _port_table(series: PortSeries) -> tuple[list[str], Iterable[Sequence[Any]]]:
    columns: dict[str, Sequence[Any]] = {
        "time_s": [f"{time_s:.6f}" for time_s in series.time_s],
        "packets": series.packets,
        "bytes": series.bytes,
        "departed_packets": series.departed_packets,
        "departed_bytes": series.departed_bytes,
    }
    columns |= {name: getattr(series, name) for name in _ON_CABLES if any(getattr(series, name))}
    if series.input.packets:
        columns["input_packets"] = series.input.packets
    for output, packets in sorted(series.input.voqs.items()):
        columns[f"voq_to_{output}_packets"] = packets
    for class_, queue in sorted(series.used_queues().items()):
        columns[f"queue{class_}_packets"] = queue.packets
        columns[f"queue{class_}_bytes"] = queue.bytes
        columns[f"queue{class_}_departed_bytes"] = queue.departed_bytes
    # A run that was interrupted may end within a sample.
    length = min(map(len, columns.values()))
    return list(columns), zip(*(column[:length] for column in columns.values()), strict=True)


def _read_port(folder: Path, name: str) -> PortSeries:
    with (folder / f"queues-{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    columns = {name: [row[index] for row in rows] for index, name in enumerate(header)}
    series = PortSeries(time_s=[_time_s(text) for text in columns.pop("time_s")])
    counts = {column: [int(text) for text in texts] for column, texts in columns.items()}
    series.packets, series.bytes = counts["packets"], counts["bytes"]
    series.departed_packets = counts["departed_packets"]
    series.departed_bytes = counts["departed_bytes"]
    for column in _ON_CABLES:
        setattr(series, column, counts.get(column, [0] * len(series.time_s)))
    series.input.packets = counts.get("input_packets", [])
    for column, values in counts.items():
        if column.startswith("voq_to_"):
            series.input.voqs[int(column.split("_")[2])] = values
        elif column.startswith("queue") and column.count("_") == 1 and column.endswith("_packets"):
            class_ = int(column.removeprefix("queue").removesuffix("_packets"))
            series.queues[class_] = QueueSeries(
                values, counts[f"queue{class_}_bytes"], counts[f"queue{class_}_departed_bytes"]
            )
    series.drops = _read_rows(folder / f"drops-{name}.csv", Drop)
    return series


# ---- rows ----------------------------------------------------------------------------------------


def _write_rows(path: Path, rows: Sequence[Any]) -> None:
    """Dataclasses as a table; a file without rows is not written."""
    if rows:
        names = [each.name for each in dataclasses.fields(rows[0])]
        _write(path, names, ([getattr(row, name) for name in names] for row in rows))


def _read_rows(path: Path, kind: type[_RowT]) -> list[_RowT]:
    if not path.exists():
        return []
    parsers = {name: _parser(name, hint) for name, hint in typing.get_type_hints(kind).items()}
    with path.open(newline="") as file:
        return [
            kind(**{name: parsers[name](text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


def _parser(name: str, hint: Any) -> Any:
    """The reader of a field of that type; a missing value is written as nothing."""
    if isinstance(hint, types.UnionType):
        (kind,) = (each for each in typing.get_args(hint) if each is not type(None))
        return lambda text: None if text == "" else kind(text)
    return _time_s if name == "time_s" else hint


def _time_s(text: str) -> float:
    """An instant of a run. Figures divide the whole time into windows, so it has a bound."""
    time_s = float(text)
    if not -_TIME_S_MAX <= time_s <= _TIME_S_MAX:
        raise ValueError(f"{text} is no instant of a run")
    return time_s


def _read_table(path: Path) -> list[dict[str, float | str]]:
    with path.open(newline="") as file:
        return [{name: _cell(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _cell(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
