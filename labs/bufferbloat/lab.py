"""Bufferbloat: a web page and a ping beside a download, with three kinds of queue.

Each run does the same on a network of its own: fetch the page on the empty line, start the
download, wait until it has filled the queue, fetch the page again while it runs. Between the runs
only the queue toward the home differs: long, short, or two queues that are served in turn.
"""

from __future__ import annotations

import ipaddress
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import matplotlib.figure

from controller.classes import ICMP, Rule, entries
from controller.queueing import Discipline, Group, Groups, Limit, QueueSettings
from controller.toolchain import Toolchain
from labs.bench import PAGE_PORT, Bench, Instruments
from labs.congestion import FILL_QUEUES, unjudged_but_for
from labs.definition import Assessment, Band, Figure, Lab, Place, Row
from labs.errors import MeasurementError
from labs.frames import FRAME_BYTES, PAYLOAD_BYTES, bdp_packets, queue_delay_s
from labs.measure.page import Fetch
from labs.recording import Recording
from labs.report import drawing
from labs.run import AROUND_S, Run
from topo import load, units
from topo.model import TcpSettings, Topology

BOTTLENECK = 2
PORT = f"s1-eth{BOTTLENECK}"
HOME = ipaddress.IPv4Network("10.0.2.0/24")
PAGE_BYTES = 177_669
RTT_S = 0.020
SHORT_QUEUE_PACKETS = 20
# The classes of the run with two queues; without rules all packets are in class 0.
BULK, INTERACTIVE = 0, 1
# How long the empty line is observed, page included.
ALONE_S = 4.0
# How full the queue is when a page is fetched, and how long the next one waits at least.
NEARLY_FULL = 0.9
PAUSE_S = 2.0
# The part of the download that is left to TCP until it has settled.
WARM_UP = 0.35
# The window that a connection begins with, in segments.
INITIAL_WINDOW = 10
# One to connect, four for the page; and what a long queue must at least do to it.
PAGE_ROUND_TRIPS, PAGE_TIMES_MIN = 5, 1.5


# The original's results with its line, its queue and its TCP.
ORIGINAL = {
    "page alone": "1.0 s",
    "page, long": "7.0 s",
    "page, short": "fast again",
    "page, fair": "1.0 s",
    "ping alone": "20 ms",
    "ping, long": "466 to 733 ms",
    "ping, fair": "20 to 21 ms",
    "share": "half of the line",
}


class Bufferbloat(Lab):
    """A page and a ping beside a download."""

    name: ClassVar = "bufferbloat"
    title: ClassVar = "Bufferbloat: a long queue before a slow line"
    summary: ClassVar = "a web page and a ping beside a download: what a long queue costs"
    question: ClassVar = "Why does a web page take seconds while a download runs?"
    look_for: ClassVar = (
        "The download keeps the long queue at least half full: every ping and every page waits "
        "behind it.",
        "The short queue saws below its limit: pings are fast again, but the page loses packets.",
        "With two queues the download fills its own; the page's stays empty but for the page.",
        "The line is equally busy in all three runs: the delay buys nothing.",
    )
    original: ClassVar = "a course's lab report on bufferbloat (Open vSwitch and tc, Linux of 2016)"
    takes: ClassVar = frozenset({"rate", "queue", "duration", "congestion"})

    @property
    def long_queue_packets(self) -> int:
        """The limit of the queue that is too long."""
        return self.settings.queue_packets or 100

    @property
    def seconds(self) -> int:
        """How long the download runs; longer before a queue that takes long to fill."""
        own = 24 if self.settings.quick else 60
        return self.settings.seconds or max(own, self.least_seconds)

    @property
    def least_seconds(self) -> int:
        """The warm-up lasts three full queues, a page beside the download up to ten."""
        full_s = queue_delay_s(self.long_queue_packets, self.rate_bps)
        return max(20, math.ceil(3 * full_s / WARM_UP), math.ceil(10 * full_s / (1 - WARM_UP)))

    @property
    def least_seconds_for(self) -> str:
        """The span before a queue can be seen full."""
        return (
            f"until the download has filled a queue of {self.long_queue_packets} packets and a "
            "page was fetched beside it"
        )

    @property
    def place(self) -> Place:
        """The queue toward the home."""
        return Place(self.topology(self.runs()[0].parameters), "s1", BOTTLENECK)

    @property
    def is_original(self) -> bool:
        """Whether line, queue and TCP are those of the original."""
        changed = self.settings.changed()
        return not changed.keys() & {"rate", "queue", "congestion"}

    @property
    def warm_up_s(self) -> float:
        """How long the download has the line for itself, until it has settled."""
        return self.seconds * WARM_UP

    @property
    def _last_page_s(self) -> float:
        """When the last page is fetched, counted from the start of the download."""
        return 0.8 * self.seconds - 1

    @property
    def congestion(self) -> str:
        """The TCP of all flows."""
        return self.settings.congestion or "reno"

    @property
    def rate_bps(self) -> int:
        """The line toward the home."""
        return self.settings.rate_bps or 1_500_000

    @property
    def _interval_ms(self) -> int:
        """Two samples while a frame is sent: between them nothing happens that could be seen."""
        frame_ms = FRAME_BYTES * 8 / self.rate_bps * 1000
        return max(1, round(frame_ms / 2))

    @property
    def page_alone_s(self) -> float:
        """A round trip to connect; then windows, each as long as a round trip or its own length."""
        frame_s = FRAME_BYTES * 8 / self.rate_bps
        left, window, time_s = math.ceil(PAGE_BYTES / PAYLOAD_BYTES), INITIAL_WINDOW, RTT_S
        while left > window:
            time_s += max(RTT_S, window * frame_s)
            left, window = left - window, 2 * window
        return time_s + RTT_S + left * frame_s

    def runs(self) -> Sequence[Run]:
        """Three kinds of queue, or two where the switch has no weights."""
        long, short = self.long_queue_packets, SHORT_QUEUE_PACKETS
        seconds = ALONE_S + self.seconds + AROUND_S
        runs = [
            self._run(f"queue-{long}", f"one queue of {long} packets", seconds, long),
            self._run(f"queue-{short}", f"one queue of {short} packets", seconds, short),
        ]
        if self._has_weights:
            name = f"two queues of {long} packets"
            runs.append(self._run("two-queues", name, seconds, long, fair=True))
        return runs

    @property
    def _has_weights(self) -> bool:
        return self.settings.toolchain is Toolchain.VITRINE

    @property
    def left_out(self) -> Sequence[str]:
        """The two queues, where the switch cannot serve them in turn."""
        if self._has_weights:
            return ()
        return ["Two queues that are served in turn: simple_switch has no weights."]

    def _run(
        self, name: str, queue: str, seconds: float, packets: int, *, fair: bool = False
    ) -> Run:
        parameters = {"queue_packets": packets, "fair": fair, "rate_bps": self.rate_bps}
        return Run(name, f"{queue[0].upper()}{queue[1:]}", seconds, parameters)

    def _queue_of(self, run: Run) -> str:
        packets = run.parameters["queue_packets"]
        return f"two queues of {packets}" if run.parameters["fair"] else f"queue of {packets}"

    def topology(self, parameters: Mapping[str, Any]) -> Topology:
        """The network of a run."""
        changes: dict[str, Any] = {
            "rate_bps": parameters["rate_bps"],
            "every_queue": QueueSettings(limit=Limit(packets=parameters["queue_packets"])),
        }
        if parameters["fair"]:
            # A frame each in turn: what fair queueing comes to with two queues of equal weight.
            fair = Group({BULK: 1, INTERACTIVE: 1}, Discipline.DRR, FRAME_BYTES)
            changes.update(queue_count=2, scheduler=Groups((fair,)))
        base = load.load(Path(__file__).with_name("topology.yaml"))
        changed = base.with_settings("s1", BOTTLENECK, **changes)
        # This holds for the page too, whichever host serves it.
        return changed.with_hosts(tcp=TcpSettings(self.congestion))

    # ---- conducting ------------------------------------------------------------------------------

    def conduct(self, run: Run, bench: Bench) -> Recording:
        """Page alone, download, page beside the download."""
        bench.bring_up(self.topology(run.parameters))
        if run.parameters["fair"]:
            # Toward the home only: the other port has one class, and ping's answers go there.
            page = Rule(INTERACTIVE, dst=HOME, src_port=PAGE_PORT)
            rules = [page, Rule(INTERACTIVE, dst=HOME, protocol=ICMP)]
            bench.session("s1").insert(entries(rules))
        with bench.recording(
            [("s1", BOTTLENECK)], senders=["h1"], interval_ms=self._interval_ms
        ) as instruments:
            self._measure(instruments, run)
        return instruments.recording

    def _measure(self, instruments: Instruments, run: Run) -> None:
        instruments.serve_page("h1", PAGE_BYTES)
        instruments.ping("ping", "h1", "h2", seconds=ALONE_S)
        instruments.hold(1.0)
        self._fetch(instruments, "alone")
        instruments.hold(max(0.0, ALONE_S - instruments.now_s()))
        instruments.flow("download", "h1", "h2", seconds=self.seconds, congestion=self.congestion)
        # A slow machine takes seconds to start the programs of hosts: count from here.
        instruments.ping("ping", "h1", "h2", seconds=self.seconds)
        last_page_s = instruments.now_s() + self._last_page_s
        instruments.hold(self.warm_up_s)
        # The original fetched its page while ping took 733 ms: the queue was 90 % full.
        # How long a page takes depends on where in the saw it falls, so ours wait for a full queue
        # too; the last one that fits is fetched wherever the saw may be.
        nearly_full = round(NEARLY_FULL * run.parameters["queue_packets"])
        is_time_left = True
        while is_time_left:
            if not run.parameters["fair"]:
                instruments.hold_until_queued(nearly_full, last_page_s)
            self._fetch(instruments, "beside the download")
            instruments.hold(PAUSE_S)
            is_time_left = instruments.now_s() < last_page_s
        instruments.finish()

    def _fetch(self, instruments: Instruments, beside: str) -> None:
        page = instruments.fetch("h2", "h1")
        instruments.note(f"page in {page.seconds:.2f} s, {beside}")

    # ---- assessing -------------------------------------------------------------------------------

    def assess(self, recordings: Mapping[str, Recording]) -> Assessment:
        """Pages, pings and the download's share for each queue."""
        found = [
            _Findings(recordings[run.name], self.rate_bps, self.warm_up_s) for run in self.runs()
        ]
        long, short = found[:2]
        fair = found[2] if self._has_weights else None
        alone_s = statistics.mean(each.page_alone_s for each in found)
        full_ms = (RTT_S + queue_delay_s(self.long_queue_packets, self.rate_bps)) * 1000
        short_ms = (RTT_S + queue_delay_s(SHORT_QUEUE_PACKETS, self.rate_bps)) * 1000
        one_frame_ms = FRAME_BYTES * 8 / self.rate_bps * 1000
        fair_ms = RTT_S * 1000 + one_frame_ms
        said = ORIGINAL if self.is_original else dict.fromkeys(ORIGINAL, "")
        one, few = f"{self.long_queue_packets} packets", f"{SHORT_QUEUE_PACKETS} packets"
        rows = [
            Row(
                "page, line empty",
                said["page alone"],
                f"{self.page_alone_s:.2f} s",
                f"{alone_s:.2f} s",
            ),
            _page_row(f"page beside the download, {one}", said["page, long"], long),
            _page_row(f"page beside the download, {few}", said["page, short"], short),
            *(
                [_page_row("page beside the download, two queues", said["page, fair"], fair)]
                if fair
                else []
            ),
            _ping_row(
                "ping, line empty", said["ping alone"], f"{RTT_S * 1000:.0f} ms", long.ping_alone_ms
            ),
            _ping_row(
                f"ping, {one}",
                said["ping, long"],
                f"up to {full_ms:.0f} ms",
                long.ping_loaded_ms,
            ),
            _ping_row(f"ping, {few}", "", f"up to {short_ms:.0f} ms", short.ping_loaded_ms),
        ]
        numbers = {"page_alone_s": alone_s, **long.numbers("long"), **short.numbers("short")}
        if fair:
            theory, share = f"up to {fair_ms:.0f} ms", f"{fair.download_share:.0%}"
            rows += [
                _ping_row("ping, two queues", said["ping, fair"], theory, fair.ping_loaded_ms),
                Row("download beside a page, two queues", said["share"], "50%", share),
            ]
            numbers.update(fair.numbers("fair"), fair_download_share=fair.download_share)
        return Assessment(rows, self._bands(alone_s, long, short, fair), numbers)

    def _bands(
        self, alone_s: float, long: _Findings, short: _Findings, fair: _Findings | None
    ) -> list[Band]:
        """The consequences of rate and queues. A queue counts as full if TCP keeps it half full."""
        long_run, short_run, *fair_run = (run.name for run in self.runs())
        long_s, short_s, frame_s = (
            queue_delay_s(packets, self.rate_bps)
            for packets in (self.long_queue_packets, SHORT_QUEUE_PACKETS, 1)
        )
        times = self._page_times
        other_tcp = unjudged_but_for(FILL_QUEUES, self.congestion)
        too_short = f"a queue of {self.long_queue_packets} packets delays a page by too little"
        bands = [
            Band(
                "page, line empty",
                alone_s,
                0.87 * self.page_alone_s,
                1.55 * self.page_alone_s,
                "s",
            ),
            Band(
                "a page beside the download, in multiples of its time alone, long queue",
                long.page_loaded_s / alone_s,
                least=times,
                runs=(long_run,),
                unjudged=other_tcp or (too_short if times < PAGE_TIMES_MIN else ""),
            ),
            Band(
                "ping, long queue",
                long.ping_loaded_ms,
                least=(RTT_S + 0.47 * long_s) * 1000,
                unit="ms",
                runs=(long_run,),
                unjudged=other_tcp,
            ),
            Band(
                "ping, short queue",
                short.ping_loaded_ms,
                most=1.1 * (RTT_S + short_s) * 1000,
                unit="ms",
                runs=(short_run,),
            ),
        ]
        if fair is None:
            return bands
        # A ping waits for the frame on the line; the machine adds some milliseconds of its own.
        ping_ms = (RTT_S + max(2.5 * frame_s, 0.005)) * 1000
        runs = tuple(fair_run)
        return [
            *bands,
            Band(
                "a page beside the download, in multiples of its time alone, two queues",
                fair.page_loaded_s / alone_s,
                most=2.2,
                runs=runs,
            ),
            Band("ping, two queues", fair.ping_loaded_ms, most=ping_ms, unit="ms", runs=runs),
            Band(
                "download beside a page, two queues, share",
                fair.download_share,
                least=0.4,
                runs=runs,
            ),
        ]

    @property
    def _page_times(self) -> float:
        """How many times as long as alone a page takes behind the long queue, at least.

        Five round trips behind the queue, and some more for losses where it is nearly full.
        """
        full = self._refilled_part
        trips = PAGE_ROUND_TRIPS + (0.5 if full == NEARLY_FULL else 0)
        delay_s = full * queue_delay_s(self.long_queue_packets, self.rate_bps)
        return trips * (RTT_S + delay_s) / self.page_alone_s

    @property
    def _refilled_part(self) -> float:
        """How full the download keeps the long queue when the last page is fetched, at least.

        Slow start ends with a loss that halves Reno's window W = BDP + queue. From then on it grows
        by a packet each round trip, which takes W packets' time: after t its square has grown by
        2 t / RTT (in BDP). No page waits for more than `NEARLY_FULL`.
        """
        bdp = bdp_packets(self.rate_bps, RTT_S)
        most = bdp + self.long_queue_packets
        full_s = queue_delay_s(self.long_queue_packets, self.rate_bps)
        time_s = self._last_page_s - 2 * (RTT_S + full_s)
        window = math.sqrt((most / 2) ** 2 + 2 * time_s * bdp / RTT_S)
        return min(NEARLY_FULL, max(0.0, window - bdp) / self.long_queue_packets)

    # ---- drawing ---------------------------------------------------------------------------------

    def figures(self, recordings: Mapping[str, Recording]) -> Sequence[Figure]:
        """All queues side by side, then each in full."""
        runs = self.runs()
        found = {
            run.name: _Findings(recordings[run.name], self.rate_bps, self.warm_up_s) for run in runs
        }
        paid = "; ".join(
            f"{self._queue_of(run)}: a ping took {found[run.name].ping_loaded_ms:.0f} ms, a page "
            f"{found[run.name].page_loaded_s:.1f} s"
            for run in runs
        )
        compared = Figure(
            "compared",
            "The same flows before each kind of queue. Above: packets that wait. Below: what a "
            f"ping pays for them. Grey bars: a page is fetched. Beside the download: {paid}.",
            lambda canvas: self._draw_compared(canvas, recordings),
            height=6.5,
        )
        return [
            compared,
            *(self._full(run, recordings[run.name], found[run.name]) for run in runs),
        ]

    def _draw_compared(
        self, canvas: matplotlib.figure.Figure, recordings: Mapping[str, Recording]
    ) -> None:
        runs = self.runs()
        canvas.suptitle(
            f"A line of {units.format_rate(self.rate_bps)} toward the home, TCP {self.congestion}"
        )
        grid = canvas.subplots(2, len(runs), sharex=True, sharey="row")
        top = max(run.parameters["queue_packets"] for run in runs)
        highest_ms = max(
            echo.rtt_ms for run in runs for echo in recordings[run.name].pings["ping"].echoes
        )
        for column, run in enumerate(runs):
            recording = recordings[run.name]
            queue, ping = grid[0][column], grid[1][column]
            series = recording.ports[PORT]
            classes = {BULK: "download", INTERACTIVE: "page, ping"}
            names = classes if run.parameters["fair"] else {BULK: "all packets"}
            drawing.queues(queue, series, names, limit_packets=run.parameters["queue_packets"])
            drawing.legend(queue, columns=2)
            drops = f"{series.dropped_packets} dropped"
            queue.set_title(f"{self._queue_of(run)}, {drops}", fontsize=10, pad=32, loc="left")
            queue.set_ylim(0, top * 1.08)
            drawing.round_trips(ping, {"ping": recording.pings["ping"].echoes})
            ping.set_ylim(0, highest_ms * 1.08)
            ping.set_xlabel("time (s)")
            for axes in (queue, ping):
                drawing.grid(axes)
                axes.label_outer()
                # A page is a bar below the data, so that it hides none of them.
                for page in recording.pages:
                    axes.axvspan(
                        page.start_s,
                        page.end_s,
                        ymax=0.02,
                        color="#999999",
                        linewidth=0,
                        label=f"{drawing.SPAN}page",
                    )

    def _full(self, run: Run, recording: Recording, found: _Findings) -> Figure:
        limit_packets = run.parameters["queue_packets"]
        windows = {
            "download": recording.flows["download"].samples,
            "page": [sample for sample in recording.sockets["h1"] if _is_page(sample.local)],
        }

        def draw(canvas: matplotlib.figure.Figure) -> None:
            series = recording.ports[PORT]
            queues = (BULK, INTERACTIVE) if run.parameters["fair"] else (None,)
            axes = drawing.stack(
                canvas,
                [1.6] * len(queues) + [1.3, 1, 1],
                title=f"{self._queue_of(run)}, {units.format_rate(self.rate_bps)}",
            )
            for row, class_ in zip(axes, queues, strict=False):
                drawing.queue_depth(row, series, limit_packets=limit_packets, class_=class_)
                row.set_ylim(0, limit_packets * 1.2)
            if run.parameters["fair"]:
                axes[BULK].set_ylabel("download's queue\n(packets)")
                axes[INTERACTIVE].set_ylabel("page's queue\n(packets)")
            drawing.congestion_window(axes[-3], windows)
            rates = {"download, payload": recording.flows["download"].rates(0.5)}
            drawing.throughput(
                axes[-2],
                {"the line": drawing.port_rate(series, 0.5), **rates},
                line_rate_bps=self.rate_bps,
            )
            drawing.round_trips(axes[-1], {"ping": recording.pings["ping"].echoes})
            drawing.moments(axes, _moments(recording))

        caption = (
            f"{run.title}: a page alone, a download, pages beside the download. "
            "The page's window is that of the server; each fetch is a connection of its own. "
            f"The page took {found.page_alone_s:.2f} s alone and {found.page_loaded_s:.2f} s "
            f"beside the download, a ping {found.ping_alone_ms:.0f} and "
            f"{found.ping_loaded_ms:.0f} ms; {found.dropped_packets} packets were dropped."
        )
        return Figure(run.name, caption, draw, height=9)


class _Findings:
    """The effect of one queue on page, ping and download."""

    def __init__(self, recording: Recording, rate_bps: int, warm_up_s: float) -> None:
        alone, *loaded = recording.pages
        series, pings = recording.ports[PORT], recording.pings["ping"]
        download = recording.flows["download"]
        self.page_alone_s = alone.seconds
        self.pages_loaded_s = [page.seconds for page in loaded]
        self.page_loaded_s = statistics.mean(self.pages_loaded_s)
        # Before the page, so that only ping itself is on the line.
        self.ping_alone_ms = pings.between(0, alone.start_s).mean_ms
        end_s = download.samples[-1].time_s
        # Beside the download alone: a ping during a page waits for the page's packets too.
        settled_s = download.samples[0].time_s + warm_up_s
        beside_ms = [
            echo.rtt_ms
            for start_s, stop_s in _without_pages(settled_s, loaded, end_s)
            for echo in pings.between(start_s, stop_s).echoes
        ]
        if not beside_ms:
            raise MeasurementError(
                f"no ping came back beside the download alone within {end_s - settled_s:.0f} s: "
                "the machine was too slow for so short a run, give --duration 120 or more."
            )
        self.ping_loaded_ms = statistics.mean(beside_ms)
        self.dropped_packets = series.dropped_packets
        self.retransmits = download.result.retransmits
        # The download's part of the line while a page was fetched; all of class 0 with two queues.
        shares = [series.rate_bps(page.start_s, page.end_s, BULK) / rate_bps for page in loaded]
        self.download_share = statistics.mean(shares)

    def numbers(self, queue: str) -> dict[str, float]:
        """For results.json."""
        return {
            f"{queue}_page_loaded_s": self.page_loaded_s,
            f"{queue}_page_loaded_most_s": max(self.pages_loaded_s),
            f"{queue}_ping_alone_ms": self.ping_alone_ms,
            f"{queue}_ping_loaded_ms": self.ping_loaded_ms,
            f"{queue}_dropped_packets": self.dropped_packets,
            f"{queue}_retransmitted_packets": self.retransmits,
        }


def _moments(recording: Recording) -> list[tuple[float, str]]:
    """When something began, by its packets: on a busy machine its program began seconds before."""
    began = [(page.start_s, "page") for page in recording.pages]
    return [*began, (recording.flows["download"].samples[0].time_s, "download begins")]


def _without_pages(
    start_s: float, pages: Sequence[Fetch], end_s: float
) -> Iterator[tuple[float, float]]:
    """The spans in which no page is fetched and the last one's packets are gone."""
    for page in pages:
        yield start_s, page.start_s
        start_s = page.end_s + RTT_S
    yield start_s, end_s


def _page_row(what: str, original: str, found: _Findings) -> Row:
    pages = found.pages_loaded_s
    span = f" ({min(pages):.2f} to {max(pages):.2f})" if len(pages) > 1 else ""
    return Row(what, original, "", f"{found.page_loaded_s:.2f} s{span}")


def _ping_row(what: str, original: str, theory: str, measured_ms: float) -> Row:
    return Row(what, original, theory, f"{measured_ms:.0f} ms")


def _is_page(local: str) -> bool:
    return local.rpartition(":")[2] == str(PAGE_PORT)
