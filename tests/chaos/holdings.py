"""Resources of a process and of the machine, as the kernel reports them: a leak adds to them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_KIB = 1024


@dataclass(frozen=True)
class Holdings:
    """Resources of one process at one instant."""

    resident_bytes: int
    descriptors: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Holdings:
        """Of a process that lives."""
        process = Path(f"/proc/{pid}")
        lines = (process / "status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return cls(
            int(status["VmRSS"].split()[0]) * _KIB,
            sum(1 for _ in (process / "fd").iterdir()),
            int(status["Threads"]),
        )


def namespace(pid: int) -> str:
    """The network namespace of a process, by its name in the kernel."""
    return str(Path(f"/proc/{pid}/ns/net").readlink())


def processes_in(names: Collection[str]) -> list[int]:
    """The processes that are in one of these network namespaces."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            # It may have ended meanwhile.
            with contextlib.suppress(OSError):
                if namespace(int(process.name)) in names:
                    found.append(int(process.name))
    return found


def interfaces() -> frozenset[str]:
    """The interfaces of this namespace."""
    return frozenset(each.name for each in Path("/sys/class/net").iterdir())


def children() -> list[int]:
    """The processes that this one has started and that still run."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                # After the name, which may contain any character: the state, and the parent.
                _, _, behind = (process / "stat").read_text().rpartition(")")
                state, parent = behind.split()[:2]
                if int(parent) == os.getpid() and state != "Z":
                    found.append(int(process.name))
    return found


def processor_s(pid: int) -> float:
    """How much processor time a process has taken."""
    _, _, behind = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    user, system = behind.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
