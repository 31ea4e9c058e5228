"""A lab's file, read: every key is known, and every expression uses names that there are.

Whether hosts exist and numbers can be computed depends on the settings: from_file checks that
before anything starts.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labs.declared import figures, findings, steps
from labs.declared.figures import Drawing
from labs.declared.findings import Findings
from labs.declared.measures import MEASURES
from labs.declared.names import CONSTANTS, FORMULAS, check_number, check_text
from labs.declared.steps import Step
from labs.expression import Functions
from topo import load, units
from topo.document import Place
from topo.model import End

FILE = "lab.yaml"
# The settings that a file can have, with their units.
SETTINGS = ("rate", "queue", "duration", "congestion")
# Those that name a Python class; the file says `a class`, as the lab has none of its own.
CLASSES = ("aqm", "scheduler", "arbiter")
CLASS = "a class"
REQUIRED = {"title", "summary", "question", "look_for", "port", "runs"}
OPTIONAL = {
    *("original", "needs", "settings", "quick", "rates", "settled", "derived", "topology"),
    *("change", "every_run", "figures", "python", *findings.KEYS),
}
OF_RUNS = {"change", "values", "levels", "classes", "note", *findings.KEYS}
OF_SINGLE_RUNS = {"alone", "only_with"}
OF_FIGURES = {"title", "panels", "draw", "runs", "height"}


@dataclass(frozen=True)
class RunPart:
    """A run as the file has it."""

    name: str
    title: Place
    steps: tuple[Step, ...]
    change: Place | None
    values: Mapping[str, Place]
    levels: Mapping[str, Place]
    classes: Mapping[int, str]
    note: Place | None
    findings: Findings
    # The setting without which there is no such run; empty: there always is.
    only_with: str


@dataclass(frozen=True)
class FigurePart:
    """A figure as the file has it."""

    name: str
    caption: Place
    title: Place | None
    panels: tuple[str, ...]
    # Instead of panels: how the lab's own Python draws it.
    draw: Drawing | None
    runs: tuple[str, ...]
    height: float


@dataclass(frozen=True)
class Description:
    """A lab's file."""

    name: str
    place: Place
    title: str
    summary: str
    question: str
    look_for: tuple[str, ...]
    original: str
    needs: str | None
    settings: Mapping[str, Place]
    quick: Mapping[str, Place]
    rates_bps: tuple[int, int] | None
    settled: Place | None
    derived: Mapping[str, Place]
    topology: Path
    change: Place | None
    port: End
    runs: Mapping[str, RunPart]
    # Of all runs together.
    findings: Findings
    figures: tuple[FigurePart, ...]
    # The measures that there are, with the lab's own.
    measures: Functions = field(default_factory=lambda: MEASURES)

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefix of each run's numbers in results.json; empty if it is the only run."""
        alone = len(self.runs) == 1
        return {name: "" if alone else f"{name.replace('-', '_')}_" for name in self.runs}


def read(file: Path) -> Description:
    """The lab of a file."""
    document = Place.load(file)
    fields = document.fields(required=REQUIRED, optional=OPTIONAL)
    own = _own_python(file, fields["python"]) if "python" in fields else None
    measures = {**MEASURES, **getattr(own, "MEASURES", {})}
    settings = _settings(fields.get("settings"))
    quick = _settings(fields.get("quick"), settings)
    topology = fields.get("topology")
    description = Description(
        name=file.parent.name.replace("_", "-"),
        place=document,
        title=fields["title"].text(),
        summary=fields["summary"].text(),
        question=fields["question"].text(),
        look_for=tuple(each.text() for each in fields["look_for"].items()),
        original=fields["original"].text() if "original" in fields else "none",
        needs=fields["needs"].text() if "needs" in fields else None,
        settings=settings,
        quick=quick,
        rates_bps=_rates(fields["rates"]) if "rates" in fields else None,
        settled=fields.get("settled"),
        derived=fields["derived"].entries() if "derived" in fields else {},
        topology=file.parent / (topology.text() if topology else "topology.yaml"),
        change=fields.get("change"),
        port=fields["port"].parse(load.end),
        runs=_runs(fields["runs"], fields.get("every_run")),
        findings=findings.read(fields),
        figures=_figures(fields, getattr(own, "FIGURES", {})),
        measures=measures,
    )
    if description.port.port is None:
        fields["port"].refuse("must be a router's port, such as s1:2.")
    _check(description)
    return description


def _own_python(file: Path, place: Place) -> object:
    """The module beside the file that has what is special: MEASURES and FIGURES, by name."""
    module = place.text().removesuffix(".py")
    if not module.isidentifier() or not file.with_name(f"{module}.py").is_file():
        place.refuse(f"must be a Python file beside this one, and is {place.text()!r}.")
    try:
        return importlib.import_module(f"labs.{file.parent.name}.{module}")
    except Exception as error:  # noqa: BLE001 (it is the author's file, and may do anything)
        place.refuse(f"cannot be imported: {error}")


def _settings(
    place: Place | None, known: Collection[str] = (*SETTINGS, *CLASSES)
) -> dict[str, Place]:
    if place is None:
        return {}
    fields = place.fields(optional=set(known))
    for name, each in fields.items():
        setting(name, each)
    return fields


def setting(name: str, place: Place) -> int | str:
    """The value of a setting: bits a second, packets, seconds, or a TCP's name."""
    if name == "rate":
        return place.parse(units.rate_bps)
    if name == "queue":
        return place.parse(units.packets)
    if name == "duration":
        seconds, rest = divmod(place.parse(units.span_ns), 10**9)
        if rest or not seconds:
            place.refuse("must be whole seconds, such as 20 s.")
        return seconds
    if name in CLASSES:
        place.one_of({CLASS: CLASS})
        return ""
    steps.check_tcp(place, place.text())
    return place.text()


def _rates(place: Place) -> tuple[int, int]:
    both = [each.parse(units.rate_bps) for each in place.items()]
    if len(both) != 2 or both[0] > both[1]:
        place.refuse("must be the slowest and the fastest rate, such as [2 Mb/s, 1 Gb/s].")
    return both[0], both[1]


# ---- runs ----------------------------------------------------------------------------------------


def _runs(place: Place, every: Place | None) -> dict[str, RunPart]:
    if every is not None:
        every.fields(optional={"title", "steps", *OF_RUNS})
    runs = {
        name: _run(name, each if every is None or _is_alone(each) else each.merged_into(every))
        for name, each in place.entries().items()
    }
    if not runs:
        place.refuse("is empty: describe at least one run.")
    return runs


def _is_alone(place: Place) -> bool:
    """Whether a run takes nothing of `every_run`."""
    parts = place.entries()
    return "alone" in parts and parts["alone"].flag()


def _run(name: str, place: Place) -> RunPart:
    if not name.replace("-", "_").isidentifier() or not name.isascii():
        place.refuse("is no name of a run: use letters, digits, - and _, such as tail-drop.")
    fields = place.fields(required={"title", "steps"}, optional=OF_RUNS | OF_SINGLE_RUNS)
    only = fields.get("only_with")

    def parts(key: str) -> dict[str, Place]:
        return fields[key].entries() if key in fields else {}

    return RunPart(
        name=name,
        title=fields["title"],
        steps=steps.read(fields["steps"]),
        change=fields.get("change"),
        values=parts("values"),
        levels=parts("levels"),
        classes={
            each.parse_text(number, int): each.text() for number, each in parts("classes").items()
        },
        note=fields.get("note"),
        findings=findings.read(fields),
        only_with=only.one_of({name: name for name in CLASSES}) if only else "",
    )


# ---- figures -------------------------------------------------------------------------------------


def _figures(fields: Mapping[str, Place], own: Mapping[str, Drawing]) -> tuple[FigurePart, ...]:
    runs = fields["runs"].entries()
    places = fields["figures"].entries() if "figures" in fields else {}
    return tuple(_figure(name, place, tuple(runs), own) for name, place in places.items())


def _figure(
    name: str, place: Place, runs: tuple[str, ...], own: Mapping[str, Drawing]
) -> FigurePart:
    fields = place.fields(required={"caption"}, optional=OF_FIGURES)
    if ("panels" in fields) == ("draw" in fields):
        place.refuse("must have either 'panels' or 'draw', a function of the lab's Python.")
    panels: tuple[str, ...] = ()
    if "panels" in fields:
        known = {panel: panel for panel in figures.PANELS}
        panels = tuple(each.one_of(known) for each in fields["panels"].items())
        if not panels:
            fields["panels"].refuse(f"is empty; there are: {', '.join(known)}.")
    shown = runs
    if "runs" in fields:
        shown = tuple(each.one_of({run: run for run in runs}) for each in fields["runs"].items())
    return FigurePart(
        name=name,
        caption=fields["caption"],
        title=fields.get("title"),
        panels=panels,
        draw=fields["draw"].one_of(own) if "draw" in fields else None,
        runs=shown,
        height=fields["height"].parse(_inches)
        if "height" in fields
        else figures.height(panels, shown),
    )


def _inches(text: str) -> float:
    height = float(text)
    if not 1 <= height <= 20:
        raise ValueError(f"a height is from 1 to 20 inches, and not {text}.")
    return height


# ---- names ---------------------------------------------------------------------------------------


def _check(lab: Description) -> None:
    """Refuses expressions whose names are not known there, before anything is computed."""
    known = {*CONSTANTS, *lab.settings}
    known |= {f"{name}_words" for name in CLASSES if name in lab.settings}
    for name, place in lab.derived.items():
        _check_new(name, place, known)
        check_number(place, known)
        known.add(name)
    functions = {**FORMULAS, **lab.measures}
    every: set[str] = set()
    for run in lab.runs.values():
        if run.only_with and run.only_with not in lab.settings:
            run.title.refuse(f"needs the setting {run.only_with}, which this lab does not take.")
        names = {*known, "title"}
        for name, place in run.values.items():
            _check_new(name, place, names)
            check_number(place, names)
            names.add(name)
        check_text(run.title, names - {"title"})
        for place in run.levels.values():
            check_number(place, names)
        run.findings.check(names, lab.measures)
        if run.note is not None:
            check_text(run.note, {*names, *run.findings.numbers})
        every |= {f"{lab.prefixes[run.name]}{name}" for name in run.findings.numbers}
    lab.findings.check({*known, *every}, {})
    for figure in lab.figures:
        seen = {*known, *every, *lab.findings.numbers}
        # A figure of one run may measure in it.
        check_text(figure.caption, seen, functions if len(figure.runs) == 1 else FORMULAS)
        if figure.title is not None:
            check_text(figure.title, known)


def _check_new(name: str, place: Place, known: Collection[str]) -> None:
    if not name.isidentifier():
        place.refuse("is no name: use letters, digits and _, such as bdp.")
    if name in known:
        place.refuse("is the name of something else already: choose another name.")
