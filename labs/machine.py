"""On what and when a lab was run: measured numbers mean little without it."""

from __future__ import annotations

import datetime
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """A machine and a date."""

    date: str
    kernel: str
    processor: str
    cores: int

    @classmethod
    def this_one(cls) -> Machine:
        """The machine that this runs on, now."""
        now = datetime.datetime.now(datetime.timezone.utc)
        return cls(
            date=now.strftime("%Y-%m-%d %H:%M UTC"),
            kernel=f"{platform.system()} {platform.release()}",
            processor=_processor(),
            cores=len(os.sched_getaffinity(0)),
        )

    def __str__(self) -> str:
        return f"{self.date}, {self.kernel}, {self.cores} cores of {self.processor}"

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
