"""Control groups that bound the memory of a process, where this machine lets us make one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from topo import wait

FIRST, SECOND = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


@contextlib.contextmanager
def bounded(limit_bytes: int) -> Iterator[Path]:
    """A group of so much memory, without swap; it is removed when all its processes have ended."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a control group")
    is_first = (FIRST / "cgroup.procs").exists()
    parent, file = (FIRST, "memory.limit_in_bytes") if is_first else (SECOND, "memory.max")
    group = parent / f"vitrine-{os.getpid()}"
    try:
        if not is_first:
            (parent / "cgroup.subtree_control").write_text("+memory")
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        try:
            (group / file).write_text(str(limit_bytes))
        except OSError as error:
            pytest.skip(f"no control group here bounds memory: {error}")
        # Where there is no swap there is no such file.
        swap, most = (
            ("memory.memsw.limit_in_bytes", limit_bytes)
            if is_first
            else (
                "memory.swap.max",
                0,
            )
        )
        with contextlib.suppress(OSError):
            (group / swap).write_text(str(most))
        yield group
    finally:

        def is_left() -> bool:
            with contextlib.suppress(OSError):
                group.rmdir()
            return not group.exists()

        wait.until(is_left, f"the end of the processes in {group}", 10)
