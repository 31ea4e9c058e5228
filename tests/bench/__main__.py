"""Runs everything and writes out/bench.json and out/bench.png.

Settings come from the environment, where `make bench QUICK=1` puts them:

    QUICK=1                      one short round with the main variants, about three minutes
    VITRINE_BENCH_ROUNDS=3       how often everything is measured; the report gives medians
    VITRINE_BENCH_SECONDS=5      how long each flow runs
    VITRINE_BENCH_ONLY=bridge    only subjects whose name contains one of these words (a;b)
    VITRINE_SIMPLE_SWITCH=...    the reference switch, where it is not on the PATH

All subjects are measured in turn within each round, so that whatever else the machine does meets
them all: a ratio of two subjects is taken within a round.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from controller import ownership
from tests.bench import measure, picture, routes, subjects
from tests.bench.subjects import Subject
from topo.errors import MachineError, TopologyError

OUT = subjects.ROOT / "out"
# Rates whose exactness is measured, and the offered load above them.
EXACT_RATES = {
    "10 Mb/s": (10_000_000, "12M"),
    "100 Mb/s": (100_000_000, "120M"),
    "1 Gb/s": (1_000_000_000, "1100M"),
}
GAP_TOLERANCE_US = 100.0
# At the first rate a page receives single packets; at the second, with too many packets, only
# queue depths.
WATCHED_RATES = ("100 Mb/s", "10 Gb/s")
WATCHED_TIMES = 9
WATCHED_WARM_UP_S, WATCHED_WINDOW_S = 8, 2
# The class of traffic that cannot wait; the DSCP is the upper six bits.
PRIORITY_TOS = routes.EXPEDITED << 2
# The window of BBR is two round trips of the idle path, so its one flow measures delay as much as
# throughput: beside a machine's own congestion control, that of Linux as it is delivered.
COMMON_CONGESTION = "cubic"


@dataclass(frozen=True)
class Settings:
    """How much is measured."""

    quick: bool
    rounds: int
    seconds: int
    only: tuple[str, ...]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        quick = bool(environment.get("QUICK"))
        only = environment.get("VITRINE_BENCH_ONLY", "")
        return cls(
            quick=quick,
            rounds=int(environment.get("VITRINE_BENCH_ROUNDS") or (1 if quick else 3)),
            seconds=int(environment.get("VITRINE_BENCH_SECONDS") or (2 if quick else 5)),
            only=tuple(word for word in only.split(";") if word),
        )

    def wants(self, subject: Subject) -> bool:
        return not self.only or any(word in subject.name for word in self.only)


@dataclass(frozen=True)
class Case:
    """A subject under one set of conditions."""

    subject: Subject
    offloads: bool
    mtu: int


def main() -> None:
    settings = Settings.from_environment()
    if not list(cases(settings)):
        raise MachineError(
            f"no subject of the bench has one of {', '.join(settings.only)} in its name: say "
            "VITRINE_BENCH_ONLY=bridge, for example."
        )
    check_machine()
    OUT.mkdir(parents=True, exist_ok=True)
    readings: list[dict] = []
    with tempfile.TemporaryDirectory(prefix="vitrine-bench-") as logs:
        for number in range(1, settings.rounds + 1):
            for case in cases(settings):
                _say(f"round {number}/{settings.rounds}: {describe(case)}")
                for reading in measured(case, settings, Path(logs)):
                    readings.append({"round": number, **conditions(case), **reading})
        _say("rates and gaps")
        readings += [reading for reading in exactness(settings, Path(logs))]
        _say("watched and unwatched")
        readings += [reading for reading in watching(settings, Path(logs))]
    document = {"machine": machine(), "settings": vars(settings), "readings": readings}
    (OUT / "bench.json").write_text(json.dumps(document, indent=1) + "\n")
    picture.draw("vitrine-switch and others on this machine", panels(readings), OUT / "bench.png")
    ownership.give_to_caller(OUT)
    print(table(readings))
    print(f"written: {OUT / 'bench.json'}, {OUT / 'bench.png'}")


def check_machine() -> None:
    """Checks the requirements before anything is built."""
    if os.geteuid() != 0:
        raise MachineError(
            "the bench makes network namespaces, which only root may: use `make bench`."
        )
    for tool in ("ip", "ethtool", "iperf3", "ping", "ss", "sysctl"):
        if not shutil.which(tool):
            raise MachineError(f"{tool} is not installed: `make setup` installs it.")
    for made in (subjects.SWITCH, routes.PROGRAM):
        if not made.exists():
            raise MachineError(f"there is no {made}: run `make build` first.")


def cases(settings: Settings) -> Iterator[Case]:
    """The measurements of one round, the fastest variant of everything first."""
    bridge = Subject("bridge", subjects.bridge)
    free = Subject("vitrine, unlimited port", subjects.vitrine())
    ten = Subject("vitrine, 10 Gb/s port", subjects.vitrine(rate="10 Gb/s"))
    two = Subject("two vitrines, 10 Gb/s ports", subjects.vitrine(rate="10 Gb/s", count=2))
    everything = [
        Case(Subject("one cable", subjects.direct), True, 1500),
        *(
            Case(subject, offloads, 1500)
            for offloads in (True, False)
            for subject in (bridge, free, ten)
        ),
        Case(two, True, 1500),
    ]
    if binary := subjects.simple_switch_binary():
        # It has no notion of super-packets, so its hosts must not make any.
        simple = Subject("simple_switch_grpc", subjects.simple_switch(binary))
        everything.append(Case(simple, False, 1500))
    if not settings.quick:
        everything += [Case(subject, True, 9000) for subject in (bridge, free, ten)]
    return (case for case in everything if settings.wants(case.subject))


def measured(case: Case, settings: Settings, logs: Path) -> Iterator[dict]:
    """The figures of one case, on one network."""
    with case.subject.up(logs, mtu=case.mtu, offloads=case.offloads) as place:
        idle = measure.ping_us(place, count=30 if settings.quick else 200)
        yield {"figure": "ping idle", **idle}
        for flows in (1, 4):
            yield {
                "figure": f"tcp x{flows}",
                **vars(measure.tcp(place, seconds=settings.seconds, flows=flows)),
            }
        if measure.own_congestion_control() != COMMON_CONGESTION:
            with measure.congestion_control(place, COMMON_CONGESTION):
                flow = measure.tcp(place, seconds=settings.seconds)
            yield {"figure": f"{COMMON_CONGESTION} x1", **vars(flow)}
        if case.mtu == 1500:
            for size in (64, 1500):
                # The size is that of the frame without its Ethernet trailer.
                payload = max(18, size - 42) if size == 64 else 1472
                flow = measure.udp(place, seconds=settings.seconds, payload_bytes=payload)
                yield {"figure": f"udp {size}", **vars(flow)}
        with measure.load(place, seconds=settings.seconds + 20):
            for name, tos in (("ping loaded", 0), ("ping loaded, priority", PRIORITY_TOS)):
                count = 30 if settings.quick else 100
                yield {"figure": name, **measure.ping_us(place, count=count, tos=tos)}
        if place.switches:
            percent = measure.cpu_percent(place.switches, settings.seconds)
            yield {"figure": "cpu idle", "switch_cpu_percent": percent}


def exactness(settings: Settings, logs: Path) -> Iterator[dict]:
    """Whether a port delivers its rate, and how evenly."""
    seconds = 3 if settings.quick else 10
    for name, (rate_bps, offered) in EXACT_RATES.items():
        subject = Subject(f"vitrine, {name} port", subjects.vitrine(rate=name))
        if not settings.wants(subject):
            continue
        # Without offloads the receiving device counts every frame by itself.
        with (
            subject.up(logs, offloads=False) as place,
            measure.datagrams(place, rate=offered, seconds=seconds + 20),
        ):
            got = measure.received(place, seconds=seconds, gaps=rate_bps == 10_000_000)
        reading = {"figure": "rate", "subject": subject.name, "rate_bps": rate_bps}
        reading["deviation_percent"] = 100 * (8 * got["bytes_per_s"] / rate_bps - 1)
        if gaps := got.get("gaps_us"):
            ideal = 1514 * 8 / rate_bps * 1e6
            errors = sorted(abs(gap - ideal) for gap in gaps)
            within = sum(error <= GAP_TOLERANCE_US for error in errors)
            reading["gaps_within_100_us_percent"] = 100 * within / len(errors)
            reading["gap_error_us_median"] = statistics.median(errors)
            reading["gap_error_us_p99"] = errors[int(0.99 * len(errors))]
        yield reading


def watching(settings: Settings, logs: Path) -> Iterator[dict]:
    """The cost to a router of a page that watches: one flow, alternately watched and unwatched.

    Each time unwatched, watched, watched and unwatched again, so that what changes slowly on the
    machine favours neither; and as often unwatched all four times, which says how much of a
    difference is chance here.
    """
    times = 2 if settings.quick else WATCHED_TIMES
    for rate in WATCHED_RATES:
        subject = Subject(f"vitrine, {rate} port", subjects.vitrine(rate=rate))
        if not settings.wants(subject):
            continue
        most_s = WATCHED_WARM_UP_S + 2 * times * 4 * (WATCHED_WINDOW_S + 2 * measure.SETTLED_S)
        with (
            subject.up(logs) as place,
            measure.load(place, seconds=2 * most_s) as receiver,
            measure.watched(place) as watcher,
        ):
            # By its end the page knows whether there are too many packets to report each.
            measure.window(receiver, watcher, WATCHED_WARM_UP_S)
            measure.turn(watcher)
            for number in range(times):
                for is_watched in (True, False):
                    windows = []
                    for has_turn in (False, is_watched, False, is_watched):
                        if has_turn:
                            measure.turn(watcher)
                        windows.append(measure.window(receiver, watcher, WATCHED_WINDOW_S))
                    yield {
                        "figure": "watched" if is_watched else "unwatched twice",
                        "subject": subject.name,
                        "number": number,
                        "windows": [vars(window) for window in windows],
                        "ratio": _inner_to_outer([window.bits_per_s for window in windows]),
                    }


def _inner_to_outer(four: Sequence[float]) -> float:
    return (four[1] + four[2]) / (four[0] + four[3])


def _watched_lines(readings: list[dict]) -> Iterator[str]:
    """A line for each subject that was watched."""

    def ratios(name: str, figure: str) -> str:
        found = [
            100 * it["ratio"] for it in readings if (it["figure"], it["subject"]) == (figure, name)
        ]
        return f"{statistics.median(found):.1f} % ({min(found):.1f} to {max(found):.1f} %)"

    watched = [reading for reading in readings if reading["figure"] == "watched"]
    for name in dict.fromkeys(reading["subject"] for reading in watched):
        looks = [window for it in watched if it["subject"] == name for window in it["windows"][1:3]]
        cpu = statistics.median(window["watcher_cpu_percent"] for window in looks)
        yield (
            f"{name}, watched by a page: {ratios(name, 'watched')} of the throughput unwatched; "
            f"unwatched against unwatched {ratios(name, 'unwatched twice')}; who looks uses "
            f"{cpu:.1f} % of a core"
        )


def conditions(case: Case) -> dict:
    return {"subject": case.subject.name, "offloads": case.offloads, "mtu": case.mtu}


def describe(case: Case) -> str:
    return f"{case.subject.name}, {_series(case.offloads)}, MTU {case.mtu}"


def medians(readings: list[dict], figure: str, value: str) -> dict[tuple[str, bool, int], float]:
    """The median over the rounds of one value, by subject, offloads and MTU."""
    found: dict[tuple[str, bool, int], list[float]] = {}
    for reading in readings:
        if reading["figure"] == figure and "mtu" in reading:
            key = (reading["subject"], reading["offloads"], reading["mtu"])
            found.setdefault(key, []).append(reading[value])
    return {key: statistics.median(values) for key, values in found.items()}


def panels(readings: list[dict]) -> list[tuple[str, str, list[picture.Bar]]]:
    """The panels of the picture."""

    def bars(figure: str, value: str, scale: float, mtu: int) -> list[picture.Bar]:
        return [
            (subject, _series(offloads), median * scale)
            for (subject, offloads, found), median in medians(readings, figure, value).items()
            if found == mtu
        ]

    return [
        ("one TCP flow, 1500-byte packets", "Gb/s", bars("tcp x1", "bits_per_s", 1e-9, 1500)),
        (
            "one TCP flow of Cubic, 1500-byte packets",
            "Gb/s",
            bars(f"{COMMON_CONGESTION} x1", "bits_per_s", 1e-9, 1500),
        ),
        ("four TCP flows, 1500-byte packets", "Gb/s", bars("tcp x4", "bits_per_s", 1e-9, 1500)),
        ("one TCP flow, 9000-byte packets", "Gb/s", bars("tcp x1", "bits_per_s", 1e-9, 9000)),
        ("UDP, 64-byte packets", "1000 packets/s", bars("udp 64", "packets_per_s", 1e-3, 1500)),
        ("UDP, 1500-byte packets", "1000 packets/s", bars("udp 1500", "packets_per_s", 1e-3, 1500)),
        ("ping, nothing else", "us", bars("ping idle", "median_us", 1, 1500)),
        ("ping beside a TCP flow", "us", bars("ping loaded", "median_us", 1, 1500)),
    ]


def table(readings: list[dict]) -> str:
    """Everything as text, a line a case."""
    own = measure.own_congestion_control()
    lines = [
        f"{f'(tcp: {own})':52} {'tcp x1':>7} {'tcp x4':>7} {COMMON_CONGESTION:>7} "
        f"{'udp 64':>8} {'udp 1500':>8} {'ping':>6} {'loaded':>7} {'prio':>7} {'cpu':>5} "
        f"{'idle':>5}",
        f"{'':52} {'Gb/s':>7} {'Gb/s':>7} {'Gb/s':>7} {'kpps':>8} {'kpps':>8} {'us':>6} {'us':>7} "
        f"{'us':>7} {'%':>5} {'%':>5}",
    ]
    columns = [
        (medians(readings, "tcp x1", "bits_per_s"), 1e-9, "7.2f"),
        (medians(readings, "tcp x4", "bits_per_s"), 1e-9, "7.2f"),
        (medians(readings, f"{COMMON_CONGESTION} x1", "bits_per_s"), 1e-9, "7.2f"),
        (medians(readings, "udp 64", "packets_per_s"), 1e-3, "8.0f"),
        (medians(readings, "udp 1500", "packets_per_s"), 1e-3, "8.0f"),
        (medians(readings, "ping idle", "median_us"), 1, "6.0f"),
        (medians(readings, "ping loaded", "median_us"), 1, "7.0f"),
        (medians(readings, "ping loaded, priority", "median_us"), 1, "7.0f"),
        (medians(readings, "tcp x1", "switch_cpu_percent"), 1, "5.0f"),
        (medians(readings, "cpu idle", "switch_cpu_percent"), 1, "5.1f"),
    ]
    for key in columns[0][0]:
        subject, offloads, mtu = key
        cells = [
            format(column[key] * scale, form) if key in column else " " * int(form.split(".")[0])
            for column, scale, form in columns
        ]
        lines.append(f"{f'{subject}, {_series(offloads)}, MTU {mtu}':52} {' '.join(cells)}")
    lines += [_exactness_line(reading) for reading in readings if reading["figure"] == "rate"]
    lines += _watched_lines(readings)
    return "\n".join(lines)


def _exactness_line(reading: dict) -> str:
    line = f"{reading['subject']}: rate off by {reading['deviation_percent']:+.4f} %"
    if "gap_error_us_p99" in reading:
        line += (
            f", {reading['gaps_within_100_us_percent']:.2f} % of gaps within 100 us (median "
            f"{reading['gap_error_us_median']:.1f} us, 99 % {reading['gap_error_us_p99']:.1f} us)"
        )
    return line


def machine() -> dict:
    """Where the figures come from."""
    cpus = Path("/proc/cpuinfo").read_text().split("model name")
    return {
        "kernel": platform.release(),
        "processor": cpus[1].splitlines()[0].lstrip("\t: ") if len(cpus) > 1 else "unknown",
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "congestion_control": measure.own_congestion_control(),
        "simple_switch_grpc": subjects.simple_switch_binary() or "not installed",
    }


def _series(offloads: bool) -> str:
    return "with offloads" if offloads else "without offloads"


def _say(text: str) -> None:
    print(f"[bench] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except TopologyError as error:
        sys.exit(f"bench: {error}")
