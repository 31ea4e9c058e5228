"""A sweep's file, read: which points there are, and what is measured at each of them.

title: Two flows and a buffer
topology: dumbbell.yaml              # or `lab: bufferbloat`, or `telemetry: {...}`
parameters:
  buffer: [0.5, 1, 2]                # in BDP
derived:
  packets: max(2, round(buffer * 83))
change:                              # in the topology, in its own words
  switches: {s1: {ports: {3: {queue: "{packets} packets"}}}}
flows:
  one: {from: h1, to: h3, congestion: cubic}
measure: {port: s1:3, after: 10 s, during: 60 s}
seeds: 3

Everything is read and every point's network is made before anything starts, so a mistake at the
last point is found at once, with its file and line. docs/sweeps.md lists every key.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from labs import catalogue, expression
from labs.errors import LabError
from labs.expression import Value
from labs.hint import meant
from labs.score.conductor import share_of
from labs.score.line import ONE_GIGABIT, Line, of_rate
from labs.score.numbers import NUMBERS
from labs.score.systems import named
from labs.score.workloads import named as workload_of
from labs.settings import KNOWN, VIRTUAL_ALGORITHMS, Settings
from labs.sweep.figures import FigurePlan, read_figure
from labs.sweep.measuring import network, versions
from labs.sweep.measuring.job import Job
from labs.sweep.measuring.versions import Versions
from labs.sweep.measuring.work import Flows, LabWork, NetworkWork, TelemetryWork, Work
from topo import load, units
from topo.document import Place
from topo.errors import ModelError, TopologyError
from topo.model import End, Topology

SEEDS_DEFAULT = 3
JOBS_MAX = 100_000
# The rows of a file are counted up to here.
_COUNTED_MAX = 10**12
CONNECTIONS_MAX = 100_000
_T = TypeVar("_T")
_COMMON = {"title", "question", "parameters", "derived", "seeds", "repetitions", "figures", "quick"}
# The keys that belong to each subject of a sweep; the first is the subject's own.
_SUBJECTS = {
    "topology": {"topology", "program", "change", "flows", "measure"},
    "lab": {"lab", "settings"},
    "telemetry": {"telemetry"},
}


@dataclass(frozen=True)
class Point:
    """A choice of all parameters, and what is done there."""

    values: Mapping[str, Value]
    work: Work
    versions: Versions


@dataclass(frozen=True)
class Sweep:
    """The measurements and figures of a sweep."""

    name: str
    title: str
    question: str
    # The file, as it was written.
    text: str
    # The axes: the names that each one gives values to, by its own name.
    axes: Mapping[str, tuple[str, ...]]
    points: tuple[Point, ...]
    seeds: tuple[int, ...]
    repetitions: int
    figures: tuple[FigurePlan, ...]

    def jobs(self) -> Iterator[Job]:
        """The rows that are to be, in the order of their points."""
        for point in self.points:
            for seed in self.seeds:
                for repetition in range(1, self.repetitions + 1):
                    yield Job(point.values, seed, repetition, point.work, point.versions)


def read(file: Path, *, quick: bool = False) -> Sweep:
    """The sweep of a file; `quick` as its part of that name shortens it."""
    document = Place.load(file)
    if quick:
        document = _shortened(document)
    fields = document.fields(required={"title"}, optional=_COMMON.union(*_SUBJECTS.values()))
    axes = _axes(fields["parameters"]) if "parameters" in fields else {}
    seeds = _seeds(fields.get("seeds"))
    repetitions = 1
    if "repetitions" in fields:
        repetitions = fields["repetitions"].whole(low=1, high=1000)
    _check_count(document, [*map(len, axes.values()), len(seeds), repetitions])
    every_values = list(_values(axes, fields.get("derived")))
    points = _points(document, fields, every_values)
    names = [*points[0].values, *_numbers(points[0].work)]
    figures = fields["figures"].entries() if "figures" in fields else {}
    return Sweep(
        name=_name(file),
        title=fields["title"].text(),
        question=fields["question"].text() if "question" in fields else "",
        text=file.read_text(),
        axes={name: tuple(choices[0]) for name, choices in axes.items()},
        points=points,
        seeds=seeds,
        repetitions=repetitions,
        figures=tuple(
            read_figure(
                name,
                place,
                list(axes),
                names,
                every_values,
                is_open=isinstance(points[0].work, LabWork),
            )
            for name, place in figures.items()
        ),
    )


def _name(file: Path) -> str:
    """The name of the sweep's folder and of its rows' file."""
    name = file.stem.replace("_", "-")
    if name.startswith(".") or not name.isprintable():
        raise ModelError(
            f"{str(file)!r}: a folder is called like the sweep's file: give it a name of printable "
            "characters that begins without a dot, such as buffers.yaml."
        )
    return name


def _check_count(document: Place, factors: Sequence[int]) -> None:
    """Refuses more rows than there may be, before any of their points is made."""
    count = 1
    for factor in factors:
        count *= factor
        if count > _COUNTED_MAX:
            document.refuse(f"has more than {_COUNTED_MAX:,} rows; the limit is {JOBS_MAX:,}.")
    if count > JOBS_MAX:
        document.refuse(f"has {count:,} rows; the limit is {JOBS_MAX:,}.")


def _shortened(document: Place) -> Place:
    parts = document.entries()
    if "quick" not in parts:
        document.refuse("lacks 'quick', which says what --quick leaves of it.")
    return document.overlaid(parts["quick"], Place.text)


# ---- parameters ----------------------------------------------------------------------------------


def _axes(place: Place) -> dict[str, list[dict[str, Value]]]:
    """The values that each axis gives, choice by choice."""
    axes: dict[str, list[dict[str, Value]]] = {}
    known: dict[str, str] = {}
    for name, choices in place.entries().items():
        axes[name] = [_choice(name, each) for each in choices.items()]
        if not axes[name]:
            choices.refuse("is empty: give at least one value.")
        for each, given in zip(choices.items(), axes[name], strict=True):
            if given.keys() != axes[name][0].keys():
                each.refuse(f"must give values to {', '.join(axes[name][0])}, as the first does.")
        for parameter in axes[name][0]:
            if parameter in known:
                choices.refuse(f"gives a value to {parameter}, as {known[parameter]} does.")
            known[parameter] = name
    return axes


def _choice(axis: str, place: Place) -> dict[str, Value]:
    """A plain value is the axis's own; a mapping moves several parameters together."""
    if place.is_mapping():
        given = {name: each.parse(expression.value_of) for name, each in place.entries().items()}
    else:
        given = {axis: place.parse(expression.value_of)}
    for name in given:
        _check_name(name, place)
    return given


def _check_name(name: str, place: Place) -> None:
    if not name.isidentifier():
        place.refuse(f"{name!r} is no name: use letters, digits and _, such as buffer_bdp.")
    if name in ("seed", "repetition"):
        place.refuse(f"{name!r} is the table's own: choose another name.")


def _values(
    axes: Mapping[str, Sequence[Mapping[str, Value]]], derived: Place | None
) -> Iterator[dict[str, Value]]:
    """The parameters of every point, with the derived ones."""
    further = {} if derived is None else derived.entries()
    for choices in itertools.product(*axes.values()):
        values: dict[str, Value] = {}
        for choice in choices:
            values.update(choice)
        for name, place in further.items():
            _check_name(name, place)
            if name in values:
                place.refuse("is a parameter already.")
            values[name] = place.parse(functools.partial(expression.evaluated, values=values))
        yield values


def _seeds(place: Place | None) -> tuple[int, ...]:
    """So many, from 1; or those of a list."""
    if place is None:
        return tuple(range(1, SEEDS_DEFAULT + 1))
    if not place.is_list():
        return tuple(range(1, place.whole(low=1, high=10_000) + 1))
    seeds = [each.whole(high=2**63 - 1) for each in place.items()]
    if not seeds or len(set(seeds)) < len(seeds):
        place.refuse("must be different numbers, at least one.")
    return tuple(seeds)


# ---- points --------------------------------------------------------------------------------------


def _points(
    document: Place, fields: Mapping[str, Place], every_values: Sequence[dict[str, Value]]
) -> tuple[Point, ...]:
    subjects = [name for name in _SUBJECTS if name in fields]
    if len(subjects) != 1:
        document.refuse("must have one of 'topology', 'lab' and 'telemetry': what is swept.")
    (subject,) = subjects
    others = set().union(*_SUBJECTS.values()) - _SUBJECTS[subject]
    for name in sorted(others & fields.keys()):
        fields[name].refuse(f"does not go with '{subject}'.")
    if subject == "lab":
        return tuple(_lab_point(fields, values) for values in every_values)
    if subject == "telemetry":
        return tuple(_telemetry_point(fields["telemetry"], values) for values in every_values)
    for name in ("flows", "measure"):
        if name not in fields:
            document.refuse(f"lacks {name!r}, which a sweep of a topology needs.")
    file = fields["topology"].folder / fields["topology"].text()
    # Alone first: what is wrong with it is not the sweep's fault.
    load.load(file)
    networks = _Networks(Place.load(file), file, fields)
    return tuple(networks.point(values) for values in every_values)


def _filled(place: Place, values: Mapping[str, Value]) -> str:
    return place.parse(lambda text: expression.filled(text, values))


def _lab_point(fields: Mapping[str, Place], values: dict[str, Value]) -> Point:
    place = fields["lab"]
    try:
        kind = catalogue.named(_filled(place, values))
    except LabError as error:
        raise place.error(str(error)) from error
    given: dict[str, str | bool | None] = {"world": "virtual", "seeds": "1"}
    parts = fields["settings"].entries() if "settings" in fields else {}
    for name, each in parts.items():
        option = name.lower()
        if option not in (*KNOWN, "quick", "program"):
            each.refuse(f"is no setting of a lab: {meant(option, KNOWN)}")
        given[option] = _filled(each, values)
    try:
        settings = Settings.chosen(given, kind.takes)
        lab = kind(settings)
    except LabError as error:
        # The message begins with the option.
        option = str(error).split()[0].strip("-:")
        written = {name.lower(): each for name, each in parts.items()}
        raise written.get(option, fields.get("settings", place)).error(str(error)) from error
    work = LabWork(kind.name, settings.document(), sum(run.seconds for run in lab.runs()))
    return Point(values, work, versions.of_lab(settings.program))


def _telemetry_point(place: Place, values: dict[str, Value]) -> Point:
    fields = place.fields(required={"system", "workload"}, optional={"rate", "lost"})

    def read(name: str, of: Callable[[str], _T]) -> _T:
        try:
            return of(_filled(fields[name], values))
        except LabError as error:
            raise fields[name].error(f"{fields[name].name}: {error}") from error

    system = read("system", named).name
    workload = read("workload", workload_of).name
    line = read("rate", of_rate) if "rate" in fields else ONE_GIGABIT
    lost = read("lost", share_of) if "lost" in fields else 0.0
    work = TelemetryWork(system, workload, line.faster, lost)
    return Point(values, work, _telemetry_versions(system, line))


@functools.cache
def _telemetry_versions(system: str, line: Line) -> Versions:
    return versions.of_telemetry(system, line)


def _numbers(work: Work) -> list[str]:
    """The names of the numbers, as far as they are known before."""
    match work:
        case NetworkWork():
            return network.numbers_of(work.flows)
        case TelemetryWork():
            return list(NUMBERS)
        case LabWork():
            return []


class _Networks:
    """Makes each point's network of one topology."""

    def __init__(self, base: Place, file: Path, fields: Mapping[str, Place]) -> None:
        self._base = base
        self._file = file
        self._fields = fields
        # Versions of a network cost a compilation; most points have the same.
        self._versions: dict[str, Versions] = {}

    def point(self, values: dict[str, Value]) -> Point:
        """The work for these parameters."""
        document, topology = self._network(values)
        flows = tuple(
            _flows(name, place, topology, values)
            for name, place in self._fields["flows"].entries().items()
        )
        if not any(each.connections for each in flows):
            self._fields["flows"].refuse("is empty: nothing would be sent.")
        measure = self._fields["measure"].fields(required={"port", "after", "during"})
        end = measure["port"].parse(load.end)
        port = _port(measure["port"], topology, end)
        program = _filled(self._fields["program"], values) if "program" in self._fields else ""
        during_ns = _span_ns(measure["during"], values)
        if during_ns < network.LOOKS:
            measure["during"].refuse("is too short: nothing would be seen.")
        work = NetworkWork(
            topology=document,
            file=str(self._file),
            program=program,
            flows=flows,
            switch=end.node,
            port=end.port or 0,
            rate_bps=port,
            after_ns=_span_ns(measure["after"], values),
            during_ns=during_ns,
        )
        return Point(values, work, self._versions_of(topology, program))

    def _network(self, values: Mapping[str, Value]) -> tuple[str, Topology]:
        document = self._base
        if "change" in self._fields:
            change = self._fields["change"]
            document = document.overlaid(change, lambda place: _filled(place, values))
        return document.dump(), load.read(document)

    def _versions_of(self, topology: Topology, program: str) -> Versions:
        own = " ".join(switch.program or "" for switch in topology.switches)
        key = f"{program}: {own}"
        if key not in self._versions:
            self._versions[key] = versions.of_network(topology, program)
        return self._versions[key]


def _port(place: Place, topology: Topology, end: End) -> int:
    """The rate of the port that is measured."""
    if end.port is None:
        place.refuse("must be a router's port, such as s1:2.")
    try:
        rate_bps = topology.switch(end.node).port(end.port).rate_bps
    except ModelError as error:
        raise place.error(f"{place.name}: {error}") from error
    if not rate_bps:
        place.refuse("has no rate, so its utilisation is not defined: give it one.")
    return rate_bps


def _span_ns(place: Place, values: Mapping[str, Value]) -> int:
    return place.parse(lambda text: units.span_ns(expression.filled(text, values)))


def _flows(name: str, place: Place, topology: Topology, values: Mapping[str, Value]) -> Flows:
    _check_name(name, place)
    fields = place.fields(
        required={"from", "to"}, optional={"congestion", "connections", "begin_within"}
    )
    source = fields["from"]
    sources = source.items() if source.is_list() else [source]
    if not sources:
        source.refuse("is empty: name at least one host.")
    connections = 1
    if "connections" in fields:
        text = _filled(fields["connections"], values)
        if not text.isdigit() or int(text) > CONNECTIONS_MAX:
            fields["connections"].refuse(
                f"must be a whole number up to {CONNECTIONS_MAX:,}, and is {text!r}."
            )
        connections = int(text)
    congestion = _filled(fields["congestion"], values) if "congestion" in fields else ""
    if congestion and congestion not in VIRTUAL_ALGORITHMS:
        hint = meant(congestion, VIRTUAL_ALGORITHMS, "is one of ")
        fields["congestion"].refuse(f"is {congestion!r}: {hint}")
    within = fields.get("begin_within")
    return Flows(
        name=name,
        sources=tuple(_host(each, topology) for each in sources),
        target=_host(fields["to"], topology),
        connections=connections,
        congestion=congestion,
        begin_within_ns=_span_ns(within, values) if within else 0,
    )


def _host(place: Place, topology: Topology) -> str:
    try:
        return topology.host(place.text()).name
    except TopologyError as error:
        raise place.error(f"{place.name}: {error}") from error
