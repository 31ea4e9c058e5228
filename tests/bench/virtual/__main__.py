"""How many packets of TCP virtual networks carry, beside ns-3: `make bench-world`.

The same dumbbells in both, each on one core and both on the same, in turn within each round; the
table gives medians over the rounds, and ratios within a round. Settings from the environment:

    QUICK=1                      one round
    VITRINE_BENCH_ROUNDS=3       how often everything is measured

ns-3 is the package of Python's registry, from whose libraries `ns3_dumbbell.cc` is linked here; it
goes into `build/ns3` and nowhere else. Where it cannot be had, ours is measured alone.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCE = Path(__file__).with_name("ns3_dumbbell.cc")
NS3_FOLDER = ROOT / "build" / "ns3"
NS3_PACKAGE = "ns3==3.44.*"
NS3_MODULES = [
    "core",
    "network",
    "internet",
    "applications",
    "point-to-point",
    "traffic-control",
    "stats",
]


@dataclass(frozen=True)
class Dumbbell:
    """A row: flows, the bottleneck's rate, seconds of virtual time that are measured."""

    flows: int
    mbps: int
    seconds: int

    @property
    def arguments(self) -> dict[str, int]:
        return {"flows": self.flows, "mbps": self.mbps, "seconds": self.seconds}


ROWS = (Dumbbell(1, 100, 10), Dumbbell(10, 100, 10), Dumbbell(100, 100, 10), Dumbbell(100, 1000, 2))


@dataclass(frozen=True)
class Measured:
    """Packets across the bottleneck a second of CPU time, and how busy the bottleneck was."""

    packets_per_s: float
    utilisation: float


def build_ours() -> Path:
    """The Rust bench, as cargo says where it put it."""
    command = ["cargo", "bench", "--locked", "-p", "vitrine-sim", "--bench", "world", "--no-run"]
    told = subprocess.run(
        [*command, "--message-format=json"],
        cwd=ROOT / "switch",
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    messages = map(json.loads, told.splitlines())
    made = [message["executable"] for message in messages if message.get("executable")]
    return Path(made[-1])


def build_ns3() -> Path | None:
    """The same dumbbells linked against ns-3, or None where it cannot be had."""
    program = NS3_FOLDER / "dumbbell"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return program
    if not (NS3_FOLDER / "bin" / "python").exists():
        venv.create(NS3_FOLDER, with_pip=True)
    python = str(NS3_FOLDER / "bin" / "python")
    try:
        _run([python, "-m", "pip", "install", "--quiet", "--no-deps", NS3_PACKAGE])
        folder = next(NS3_FOLDER.glob("lib/python3*/site-packages/ns3"))
        libraries = folder / "lib64"
        paths = [f"-I{folder / 'include'}", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
        modules = [f"-lns3.44-{module}" for module in NS3_MODULES]
        flags = ["-std=c++20", "-O3", "-DNDEBUG"]
        _run(["g++", *flags, str(SOURCE), "-o", str(program), *paths, *modules])
    except (OSError, subprocess.CalledProcessError, StopIteration) as error:
        print(f"without ns-3, which cannot be built here: {error}", file=sys.stderr)
        return None
    return program


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True)


def measure(program: Path, row: Dumbbell, form: str) -> Measured:
    """Runs one network; `form` is how the program writes a setting: `--flows 10`, `--flows=10`."""
    settings = [part for key, value in row.arguments.items() for part in _setting(form, key, value)]
    command = [str(program), *settings, *(["--json"] if form == " " else [])]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return Measured(told["packets"] / told["cpu_s"], told["utilisation"])


# Runs that our simulator must complete: ten minutes of bufferbloat's network, and 10,000 flows.
ALONE = ("--full-buffer", "--flows 100 --parallel 100 --mbps 1000 --seconds 2")


def _setting(form: str, key: str, value: int) -> list[str]:
    return [f"--{key}", str(value)] if form == " " else [f"--{key}{form}{value}"]


def main() -> None:
    rounds = 1 if os.environ.get("QUICK") else int(os.environ.get("VITRINE_BENCH_ROUNDS", "3"))
    ours, ns3 = build_ours(), build_ns3()
    # One core for both, so that none gets the better one.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print("bottleneck packets a second of CPU time, medians of", rounds, "rounds\n")
    print(f"{'flows':>5} {'Mb/s':>5} {'ours':>10} {'ns-3':>10} {'ratio':>6}   busy: ours, ns-3")
    for row in ROWS:
        pairs = [
            (measure(ours, row, " "), measure(ns3, row, "=") if ns3 else None)
            for _ in range(rounds)
        ]
        own = statistics.median(mine.packets_per_s for mine, _ in pairs)
        others = [other for _, other in pairs if other]
        line = f"{row.flows:>5} {row.mbps:>5} {own:>10.0f}"
        if others:
            theirs = statistics.median(other.packets_per_s for other in others)
            ratio = statistics.median(
                mine.packets_per_s / other.packets_per_s for mine, other in pairs if other
            )
            busy = f"{pairs[0][0].utilisation:.1%}, {others[0].utilisation:.1%}"
            line += f" {theirs:>10.0f} {ratio:>6.1f}   {busy}"
        print(line, flush=True)
    print("\nours alone", flush=True)
    for settings in ALONE:
        _run([str(ours), *settings.split()])


if __name__ == "__main__":
    main()
