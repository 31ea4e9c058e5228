"""A limit on a process's memory, enforced by the kernel: a control group, version 1 or 2.

with Bound.over("s1", 512 << 20) as bound:
    argv = bound.around(argv)       # its process runs in the group
    bound.limit(16 << 20)
    bound.kills                     # how often the kernel has ended it for want of memory

What is swapped out counts as memory, where the kernel counts it.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from topo import wait

# Where the second version is, and in a folder of its own the first.
_MOUNTED = Path("/sys/fs/cgroup")
_GONE_DEADLINE_S = 5.0


@dataclass(frozen=True)
class _Files:
    """The file names of a version; counts are lines of `NAME NUMBER`, or a number alone."""

    limit: str
    # Memory and swap together, or swap alone.
    swap: str
    swap_is_alone: bool
    used: str
    met: tuple[str, str]
    killed: tuple[str, str]


_VERSION_2 = _Files(
    limit="memory.max",
    swap="memory.swap.max",
    swap_is_alone=True,
    used="memory.current",
    met=("memory.events", "max"),
    killed=("memory.events", "oom_kill"),
)
_VERSION_1 = _Files(
    limit="memory.limit_in_bytes",
    swap="memory.memsw.limit_in_bytes",
    swap_is_alone=False,
    used="memory.usage_in_bytes",
    met=("memory.failcnt", ""),
    killed=("memory.oom_control", "oom_kill"),
)


@dataclass(frozen=True)
class Bound:
    """One control group."""

    folder: Path
    files: _Files

    @classmethod
    @contextlib.contextmanager
    def over(cls, name: str, limit_bytes: int, mounted: Path = _MOUNTED) -> Iterator[Bound | None]:
        """A group for the length of a `with` block; none where this machine lets us make none."""
        found = _root(mounted)
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
        """From now on it may have `limit_bytes`, swapped out or not."""
        # A page more: the kernel counts hits of the limit of memory, but not of that of both.
        swap_bytes = 0 if self.files.swap_is_alone else limit_bytes + resource.getpagesize()
        # The sum is never less than memory alone, so which comes first depends on whether they grow
        # or shrink. A kernel that does not count swap has no such file.
        for file, size_bytes, is_sure in (
            (self.files.swap, swap_bytes, False),
            (self.files.limit, limit_bytes, True),
            (self.files.swap, swap_bytes, False),
        ):
            with contextlib.nullcontext() if is_sure else contextlib.suppress(OSError):
                (self.folder / file).write_text(str(size_bytes))

    @property
    def used_bytes(self) -> int:
        """The memory it has now."""
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


def _root(mounted: Path) -> tuple[Path, _Files] | None:
    """Where groups are made, if that is for us."""
    children = mounted / "cgroup.subtree_control"
    if children.exists():
        if not _has_memory(children):
            with contextlib.suppress(OSError):
                children.write_text("+memory")
        is_ours = os.access(mounted, os.W_OK) and _has_memory(children)
        return (mounted, _VERSION_2) if is_ours else None
    old = mounted / "memory"
    return (old, _VERSION_1) if os.access(old, os.W_OK) else None


def _has_memory(children: Path) -> bool:
    return "memory" in children.read_text().split()
