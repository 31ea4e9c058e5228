"""The lab that a file describes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from controller.decider import Decider
from labs import classes, expression
from labs import settings as labs_settings
from labs.bench import Bench, FlowPlan, port_name
from labs.declared import document, steps
from labs.declared.document import Description, FigurePart, RunPart
from labs.declared.figures import Canvas, Shown, draw
from labs.declared.measures import Measures
from labs.declared.names import CONSTANTS, Names
from labs.declared.steps import Flow, Ping
from labs.definition import Assessment, Figure, Place, SettlingLab
from labs.expression import Value
from labs.recording import Recording
from labs.run import AROUND_S, Run
from labs.settings import Settings
from topo import load, queueing
from topo.document import Place as YamlPlace
from topo.errors import ModelError
from topo.model import Topology

LABS = Path(__file__).parents[1]


class DeclaredLab(SettlingLab):
    """A lab that is a file; see docs/lab-files.md."""

    description: ClassVar[Description]

    def __init__(self, settings: Settings) -> None:
        """Refuses a file that cannot be run with these settings, before anything is started."""
        super().__init__(settings)
        self._topologies: dict[str, Topology] = {}
        for run in self._parts.values():
            topology = self.topology(run.name)
            names = self._names_of(run)
            for step in run.steps:
                step.check(names, topology)
            for place in run.findings.expressions():
                self._check_measures(place, place.parse(expression.calls), run, topology)
            for figure in self.description.figures:
                if figure.runs == (run.name,):
                    calls = figure.caption.parse(expression.calls_in)
                    self._check_measures(figure.caption, calls, run, topology)
            for place in run.levels.values():
                names.number(place)
        # Only a port with a rate can be used to a part of it.
        _ = self._rate_bps

    # ---- settings --------------------------------------------------------------------------------

    @functools.cached_property
    def names(self) -> Names:
        """The settings, and what is derived from them."""
        given = {
            "rate": self.settings.rate_bps,
            "queue": self.settings.queue_packets,
            "duration": self.settings.seconds,
            "congestion": self.settings.congestion,
            **{name: getattr(self.settings, name) for name in document.CLASSES},
        }
        own = dict(self.description.settings)
        if self.settings.quick:
            own.update(self.description.quick)
        names = Names(CONSTANTS)
        for name, place in own.items():
            names = names.with_values({name: given[name] or document.setting(name, place)})
            if name in document.CLASSES:
                words = classes.words(given[name]) if given[name] else ""
                names = names.with_values({f"{name}_words": words})
        for name, place in self.description.derived.items():
            names = names.with_values({name: names.value(place)})
        return names

    def _names_of(self, run: RunPart) -> Names:
        names = self.names.with_values(self._values(run))
        return names.with_values({"title": names.text(run.title)})

    def _values(self, run: RunPart) -> dict[str, Value]:
        """This run's own values."""
        values: dict[str, Value] = {}
        for name, place in run.values.items():
            values[name] = self.names.with_values(values).value(place)
        return values

    @property
    def _parts(self) -> Mapping[str, RunPart]:
        """The runs whose TCPs the hosts of this world have."""
        return {run.name: run for run in self._wanted if not self._lacks(run)}

    @property
    def _wanted(self) -> list[RunPart]:
        """All runs but those that need a setting which is not given."""
        runs = self.description.runs.values()
        return [run for run in runs if not run.only_with or self.names.values[run.only_with]]

    def _lacks(self, run: RunPart) -> set[str]:
        known = labs_settings.algorithms(self.settings.world)
        names = self._names_of(run)
        used = {step.congestion(names) for step in run.steps if isinstance(step, Flow)}
        return {tcp for tcp in used if tcp not in known and ":" not in tcp}

    @property
    def left_out(self) -> Sequence[str]:
        """The runs whose TCPs they do not have."""
        return [
            f"{self._names_of(run).text(run.title)}: this machine's kernel lacks "
            f"{' or '.join(sorted(lacks))}; --world virtual has it."
            for run in self._wanted
            if (lacks := self._lacks(run))
        ]

    # ---- network ---------------------------------------------------------------------------------

    def topology(self, name: str | None = None) -> Topology:
        """The network of a run; without a name, of the first."""
        run = self.description.runs[name or next(iter(self._parts))]
        if run.name not in self._topologies:
            network = YamlPlace.load(self.description.topology)
            for change in (self.description.change, run.change):
                if change is not None:
                    network = network.overlaid(change, self._names_of(run).text)
            with queueing.trusting(self._own_files):
                self._topologies[run.name] = load.read(network)
        return self._topologies[run.name]

    @property
    def _own_files(self) -> list[Path]:
        """The files of the classes that the user named on the command line."""
        given = (getattr(self.settings, name) for name in document.CLASSES)
        own = (Decider.parse(text, Path()) for text in given if text)
        return [decider.file for decider in own if decider is not None]

    @property
    def _port(self) -> tuple[str, int]:
        end = self.description.port
        assert end.port is not None, "the file was refused else"
        return end.node, end.port

    @functools.cached_property
    def _rate_bps(self) -> int:
        node, number = self._port
        try:
            rate_bps = self.topology().switch(node).port(number).rate_bps
        except ModelError as error:
            raise self.description.place.error(f"port: {error}") from error
        if not rate_bps:
            raise self.description.place.error(
                f"port {node}:{number} has no rate: give it one in the topology, such as "
                "rate: 10 Mb/s."
            )
        return rate_bps

    @property
    def place(self) -> Place:
        """The port of the file."""
        return Place(self.topology(), *self._port)

    # ---- conducting ------------------------------------------------------------------------------

    def runs(self) -> Sequence[Run]:
        """Those of the file, in its order."""
        found = []
        for run in self._parts.values():
            names = self._names_of(run)
            seconds = steps.lasts_s(run.steps, names) + AROUND_S
            found.append(Run(run.name, names.text(run.title), seconds, self._values(run)))
        return found

    def flows(self, name: str) -> list[FlowPlan]:
        """The flows of a run."""
        run = self._parts[name]
        names = self._names_of(run)
        flows = [step for step in run.steps if isinstance(step, Flow)]
        return [plan for step in flows for plan in step.plans(names)]

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """The steps of a run."""
        part = self._parts[run.name]
        bench.bring_up(self.topology(run.name))
        with bench.recording([self._port], senders=steps.senders(part.steps)) as instruments:
            steps.begin(part.steps, instruments, self._names_of(part))
            instruments.finish()
        if part.note is not None:
            names = self._measured(part, instruments.recording)
            _, names = part.findings.found(names, ())
            instruments.note(names.text(part.note))
        return instruments.recording

    # ---- assessing -------------------------------------------------------------------------------

    def _measures(self, recording: Recording) -> Measures:
        settled = self.description.settled
        settled_s = self.names.seconds(settled) if settled is not None else 0.0
        return Measures(recording, port_name(*self._port), self._rate_bps, settled_s)

    def _measured(self, run: RunPart, recording: Recording) -> Names:
        measures = self._measures(recording)
        own = {
            name: functools.partial(found, measures)
            for name, found in self.description.measures.items()
        }
        return self._names_of(run).with_functions(own)

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """The findings of each run, then those of all runs together."""
        several = len(self.description.runs) > 1
        rows, bands = [], []
        numbers: dict[str, float] = {}
        for run in self._parts.values():
            names = self._measured(run, recordings[run.name])
            runs = (run.name,) if several else ()
            found, _ = run.findings.found(names, runs, self.description.prefixes[run.name])
            rows += found.rows
            bands += found.bands
            numbers |= found.numbers
        if len(self._parts) == len(self._wanted):
            # A comparison of runs needs all of them.
            found, _ = self.description.findings.found(self.names.with_values(numbers), ())
            rows += found.rows
            bands += found.bands
            numbers |= found.numbers
        return Assessment(rows, bands, numbers)

    def _check_measures(
        self,
        place: YamlPlace,
        calls: Sequence[tuple[str, Sequence[str]]],
        run: RunPart,
        topology: Topology,
    ) -> None:
        """Refuses a measure of a flow, ping or host that the run does not have."""
        names = self._names_of(run)
        flows = [name for step in run.steps if isinstance(step, Flow) for name in step.names(names)]
        known = {
            "flow": flows,
            "ping": [step.name for step in run.steps if isinstance(step, Ping)],
            "host": [host.name for host in topology.hosts],
        }
        for name, words in calls:
            if name not in self.description.measures:
                continue
            wanted = list(inspect.signature(self.description.measures[name]).parameters)[1:]
            if len(words) != len(wanted):
                place.refuse(f"must say {name}({', '.join(wanted)}).")
            for kind, word in zip(wanted, words, strict=True):
                if kind in known and word not in known[kind]:
                    place.refuse(
                        f"measures the {kind} {word!r}, which this run does not have; there are: "
                        f"{', '.join(known[kind]) or 'none'}."
                    )

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """Those that the file names."""
        numbers = self.assess(recordings).numbers

        def caption(part: FigurePart) -> str:
            names = self.names
            if len(part.runs) == 1 and part.runs[0] in self._parts:
                run = part.runs[0]
                names = self._measured(self._parts[run], recordings[run])
            return names.with_values(numbers).text(part.caption)

        return [
            Figure(
                part.name,
                caption(part),
                functools.partial(self._draw, part, recordings),
                height=part.height,
            )
            for part in self.description.figures
            if set(part.runs) & self._parts.keys()
        ]

    def _draw(self, part: FigurePart, recordings: Mapping[str, Recording], canvas: Canvas) -> None:
        shown = {
            name: self._shown(name, recordings[name]) for name in part.runs if name in self._parts
        }
        if part.draw is not None:
            part.draw(canvas, shown)
            return
        title = self.names.text(part.title) if part.title is not None else self.title
        draw(canvas, title, list(shown.values()), part.panels)

    def _shown(self, name: str, recording: Recording) -> Shown:
        run = self._parts[name]
        names = self._names_of(run)
        node, number = self._port
        return Shown(
            title=names.text(run.title),
            measures=self._measures(recording),
            limit_packets=self.topology(name).switch(node).port(number).queue_packets,
            flows=[step.names(names)[0] for step in run.steps if isinstance(step, Flow)],
            levels={words: names.number(place) for words, place in run.levels.items()},
            classes=run.classes,
        )


def named(name: str) -> type[DeclaredLab]:
    """The class of the lab of this name; for its own parts, which not every lab has."""
    return lab_of(LABS / name.replace("-", "_"))


def lab_of(folder: Path) -> type[DeclaredLab]:
    """The class of the lab whose file lies in this folder."""
    description = document.read(folder / document.FILE)
    settled = description.settled
    own: dict[str, object] = {
        "description": description,
        "name": description.name,
        "title": description.title,
        "summary": description.summary,
        "question": description.question,
        "look_for": description.look_for,
        "original": description.original,
        "needs": description.needs,
        "takes": frozenset(description.settings),
        "settled_s": Names(CONSTANTS).seconds(settled) if settled is not None else 0.0,
    }
    if description.rates_bps is not None:
        own["rates_bps"] = description.rates_bps
    words = description.name.replace("-", " ").title().replace(" ", "")
    return type(words, (DeclaredLab,), own)
