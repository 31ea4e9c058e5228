"""A network in virtual time, for a notebook: describe the traffic, run it, see the results."""

from __future__ import annotations

import dataclasses
import io
import tempfile
from pathlib import Path

import yaml

from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs import palette
from labs.bench import FlowPlan, port_name
from labs.glass import onefile
from labs.glass.tape import Tape
from labs.narration import Narrator
from labs.recording import Recording
from labs.report import drawing
from labs.worlds.virtual.bench import VirtualBench
from topo import load, queueing
from topo.document import Place
from topo.model import Topology
from vitrine.experiments import written
from vitrine.shown import Glass, Picture, Table

SECONDS = 10
# Rates are means over this long.
_WINDOW_S = 0.5


class NotYetError(ControllerError):
    """Something is to be looked at that has not happened yet."""


class World:
    """A network, and one experiment in it.

        world = World("labs/bufferbloat/topology.yaml")
        world.set("s1", 2, queue="100 packets", aqm="codel")
        world.send("h1", "h2", congestion="cubic")
        world.ping("h1", "h2")
        world.run(seconds=10)

    `topology` is a file, or a text in the words of docs/topologies.md. Same network, same seed:
    same numbers, to the last digit.
    """

    def __init__(self, topology: str | Path, *, seed: int = 1) -> None:
        self._topology = _read(topology)
        self._seed = seed
        self._flows: list[FlowPlan] = []
        # Classes that decide about windows, by the flow's name.
        self._classes: dict[str, type] = {}
        self._pings: list[tuple[str, str]] = []
        self._recording: Recording | None = None
        self._tape: Tape | None = None

    @property
    def topology(self) -> Topology:
        """The network as data: hosts, routers, ports, cables."""
        return self._topology

    # ---- before it happens -----------------------------------------------------------------------

    def set(self, router: str, port: int, **words: object) -> World:
        """Changes a port: `rate="5 Mb/s"`, `queue="20 packets"`, `aqm="codel"`, `scheduler=...`.

        The words are those of topology files.
        """
        text = yaml.safe_dump(words)
        place = Place.of_text(text, Path(f"{router}, port {port}"))
        settings = queueing.port_settings(place.fields(optional=queueing.PORT_KEYS))
        given = {
            field.name: value
            for field in dataclasses.fields(settings)
            if (value := getattr(settings, field.name)) not in (None, {})
        }
        self._topology = self._topology.with_settings(router, port, **given)
        return self

    def send(
        self, source: str, target: str, *, congestion: str | type = "cubic", name: str = ""
    ) -> World:
        """A TCP flow, as fast as it goes, for as long as the experiment runs.

        `congestion` may be a class of `insides.CongestionControl`.
        """
        name = name or f"{source} to {target}"
        if any(plan.name == name for plan in self._flows):
            name = f"{name}, {len(self._flows) + 1}"
        if isinstance(congestion, type):
            self._classes[name] = congestion
            congestion = congestion.__name__
        self._flows.append(FlowPlan(name, source, target, congestion, None))
        return self

    def ping(self, source: str, target: str) -> World:
        """A ping every 200 ms, for as long as the experiment runs."""
        self._pings.append((source, target))
        return self

    # ---- it happens ------------------------------------------------------------------------------

    def run(self, seconds: int = SECONDS) -> World:
        """Lets all of it happen."""
        quiet = Narrator([], io.StringIO())
        ports = [
            (switch.name, port.number)
            for switch in self._topology.switches
            for port in switch.ports
        ]
        senders = sorted({plan.source for plan in self._flows})
        with (
            tempfile.TemporaryDirectory(prefix="vitrine-") as logs,
            VirtualBench(Path(logs), quiet, seed=self._seed) as bench,
            bench.taped("A notebook's network") as tape,
        ):
            topology, flows = self._with_classes(Path(logs))
            bench.bring_up(topology)
            with bench.recording(ports, senders=senders) as instruments:
                if flows:
                    instruments.flows(flows, seconds=seconds)
                for source, target in self._pings:
                    instruments.ping(f"{source} to {target}", source, target, seconds=seconds)
                instruments.finish()
                self._recording, self._tape = instruments.recording, tape
        return self

    def _with_classes(self, folder: Path) -> tuple[Topology, list[FlowPlan]]:
        """Network and flows with the classes of the notebook in files, as networks want them."""
        topology, flows = self._topology, list(self._flows)
        for index, plan in enumerate(flows):
            kind = self._classes.get(plan.name)
            if kind is None:
                continue
            word = written(kind, folder)
            flows[index] = dataclasses.replace(plan, congestion=word)
            # Where a host names it, the world knows from which folder it comes.
            tcp = dataclasses.replace(topology.host(plan.source).tcp, congestion=word)
            topology = topology.with_hosts(plan.source, tcp=tcp)
        return topology, flows

    # ---- what came of it -------------------------------------------------------------------------

    @property
    def recording(self) -> Recording:
        """Everything that was seen: ports, flows, sockets, pings."""
        if self._recording is None:
            raise NotYetError("nothing has happened yet: world.run() first.")
        return self._recording

    @property
    def flows(self) -> Table:
        """Each flow, its rate, and what it sent again."""
        lines = [["flow", "congestion control", "Mb/s", "sent again"]]
        for name, flow in self.recording.flows.items():
            end_s = flow.samples[-1].time_s if flow.samples else 0.0
            rate = flow.throughput_bps(0.0, end_s) / 1e6 if end_s else 0.0
            again = flow.samples[-1].retransmits if flow.samples else 0
            lines.append([name, flow.congestion, f"{rate:.2f}", str(again)])
        return Table(lines)

    def queue(self, router: str, port: int) -> Picture:
        """The queue of a port, and its drops."""
        series = self.recording.ports[port_name(router, port)]
        limit = self._topology.switch(router).port(port).queue_packets

        def draw(axes: drawing.Axes) -> None:
            drawing.queue_depth(axes, series, limit_packets=limit)
            axes.set_xlabel("time (s)")

        return Picture.of(draw, f"The queue of {router}, port {port}.")

    def rates(self) -> Picture:
        """The throughput of each flow."""
        rates = {name: flow.rates(_WINDOW_S) for name, flow in self.recording.flows.items()}

        def draw(axes: drawing.Axes) -> None:
            for index, (name, (times_s, bps)) in enumerate(rates.items()):
                colour = palette.FLOWS[index % len(palette.FLOWS)]
                axes.plot(times_s, [each / 1e6 for each in bps], color=colour, label=name)
            axes.set_xlabel("time (s)")
            axes.set_ylabel("Mb/s")
            axes.set_ylim(bottom=0)
            drawing.legend(axes)

        return Picture.of(draw, f"What each flow carried, means over {_WINDOW_S} s.")

    def round_trips(self) -> Picture:
        """The round trips of each ping."""
        echoes = {name: pings.echoes for name, pings in self.recording.pings.items()}

        def draw(axes: drawing.Axes) -> None:
            drawing.round_trips(axes, echoes)
            axes.set_xlabel("time (s)")

        return Picture.of(draw, "The round trip of each ping.")

    def glass(self) -> Glass:
        """The insides of the routers, to play and to step through."""
        if self._tape is None:
            raise NotYetError("nothing has happened yet: world.run() first.")
        return Glass(onefile.page(self._tape.data()))


def _read(topology: str | Path) -> Topology:
    if isinstance(topology, Path) or "\n" not in topology:
        # Notebooks lie in a folder of their own; what the kit ships is seen from the kit's.
        file = Path(topology)
        return load.load(file if file.exists() else ROOT / file)
    return load.read(Place.of_text(topology, Path("the notebook's topology")))
