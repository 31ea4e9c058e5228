"""Measures the numbers of a student's router, as the handout asks."""

import functools
import json
import subprocess
from pathlib import Path

from course.exercise import Work
from course.exercises.head_of_line import numbers
from course.process import Runner
from course.tools.tracer import SIMULATOR


def fill(folder: Path, seed: str) -> None:
    """Writes numbers.yaml."""
    ports = numbers.ports_of(Work(folder, folder, seed, Runner()))
    lines = [f"ports: {ports}"]
    for wanted in numbers.WANTED:
        found = []
        for name, pattern in numbers.PATTERNS.items():
            found.append(f"{name}: {throughput(numbers.arguments(wanted, ports, pattern)):.3f}")
        lines.append(f"{wanted.key}: {{{', '.join(found)}}}")
    (folder / numbers.FILE).write_text("\n".join(lines) + "\n")


@functools.cache
def throughput(arguments: tuple[str, ...]) -> float:
    """The share of the load that leaves the router, measured once for all solutions."""
    ran = subprocess.run([str(SIMULATOR), *arguments], capture_output=True, check=True)
    return float(json.loads(ran.stdout)["throughput"])
