"""How much memory a process may have, held by the kernel: a control group, of whichever version.

with Bound.over("s1", 512 << 20) as bound:
    argv = bound.around(argv)       # what is started so lives in the group
    bound.limit(16 << 20)
    bound.kills                     # how often the kernel has ended it for want of memory
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from topo import wait

_UNIFIED, _OLD = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
_GONE_DEADLINE_S = 5.0


@dataclass(frozen=True)
class _Files:
    """What a version calls its files; counts are lines of `NAME NUMBER`, or a number alone."""

    limit: str
    used: str
    met: tuple[str, str]
    killed: tuple[str, str]


_VERSION_2 = _Files(
    "memory.max", "memory.current", ("memory.events", "max"), ("memory.events", "oom_kill")
)
_VERSION_1 = _Files(
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    ("memory.failcnt", ""),
    ("memory.oom_control", "oom_kill"),
)


@dataclass(frozen=True)
class Bound:
    """One control group."""

    folder: Path
    files: _Files

    @classmethod
    @contextlib.contextmanager
    def over(cls, name: str, limit_bytes: int) -> Iterator[Bound | None]:
        """A group for the length of a `with` block; none where this machine lets us make none."""
        found = _root()
        if found is None:
            yield None
            return
        root, files = found
        bound = cls(root / f"vitrine-{os.getpid()}-{name}", files)
        bound.folder.mkdir()
        try:
            bound.limit(limit_bytes)
            yield bound
        finally:
            # Its last process has ended, and the kernel may need a moment to see that.
            wait.until(bound._is_removed, f"the end of {bound.folder}", _GONE_DEADLINE_S)

    def around(self, argv: Sequence[str]) -> list[str]:
        """A command that is in the group before it takes its first memory."""
        enter = f'echo $$ > "{self.folder / "cgroup.procs"}" && exec "$@"'
        return ["sh", "-c", enter, "sh", *argv]

    def limit(self, limit_bytes: int) -> None:
        """From now on it may have so much."""
        (self.folder / self.files.limit).write_text(str(limit_bytes))

    @property
    def used_bytes(self) -> int:
        """What it has now."""
        return int((self.folder / self.files.used).read_text())

    @property
    def met(self) -> int:
        """How often it wanted more than it may have."""
        return self._count(*self.files.met)

    @property
    def kills(self) -> int:
        """How often the kernel ended a process of it, because it could not have what it wanted."""
        return self._count(*self.files.killed)

    def _count(self, file: str, name: str) -> int:
        for line in (self.folder / file).read_text().splitlines():
            key, _, number = line.rpartition(" ")
            if key == name:
                return int(number)
        raise KeyError(f"{self.folder / file} has no {name!r}")

    def _is_removed(self) -> bool:
        try:
            self.folder.rmdir()
        except OSError:
            return False
        return True


def _root() -> tuple[Path, _Files] | None:
    """Where groups are made, if that is for us."""
    children = _UNIFIED / "cgroup.subtree_control"
    if children.exists():
        with contextlib.suppress(OSError):
            children.write_text("+memory")
        is_ours = os.access(_UNIFIED, os.W_OK) and "memory" in children.read_text().split()
        return (_UNIFIED, _VERSION_2) if is_ours else None
    return (_OLD, _VERSION_1) if os.access(_OLD, os.W_OK) else None
