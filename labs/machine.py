"""On what, when and with which kit a lab was run: measured numbers mean little without it."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT


def processors() -> int:
    """How many processors this process may use."""
    # Only some systems let a process be kept from some of them, and say so.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@dataclass(frozen=True)
class Machine:
    """A machine and a date."""

    date: str
    kernel: str
    processor: str
    cores: int
    # The kit's commit; with `-dirty` where its files differ from it.
    kit: str

    @classmethod
    def this_one(cls) -> Machine:
        """The machine that this runs on, now."""
        now = datetime.datetime.now(datetime.timezone.utc)
        return cls(
            date=now.strftime("%Y-%m-%d %H:%M UTC"),
            kernel=f"{platform.system()} {platform.release()}",
            processor=_processor(),
            cores=processors(),
            kit=_kit(),
        )

    def __str__(self) -> str:
        return f"{self.date}, {self.kernel}, {self.cores} cores of {self.processor}, kit {self.kit}"

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Machine:
        """The object of a `document`."""
        return cls(**document)

    def document(self) -> dict[str, str | int]:
        """As it stands in results.json."""
        return asdict(self)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _kit() -> str:
    # Under sudo the folder belongs to another user than the caller.
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT)]
    try:
        done = subprocess.run(
            [*command, "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
