"""A service of the kit as a process that has few descriptors, or starts few threads.

    python -m tests.process.exhausted SERVICE descriptors|threads LIMIT

SERVICE is `glass` or `metrics`. It prints its port and ends with its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# So much that the address space bounds how many threads there are.
_STACK_BYTES = 1 << 30


@contextlib.contextmanager
def running(service: str, what: str, limit: int) -> Iterator[tuple[int, int]]:
    """Its process id and its port, for the length of a `with` block."""
    argv = [sys.executable, "-m", "tests.process.exhausted", service, what, str(limit)]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdin is not None
        try:
            yield child.pid, int(child.stdout.readline())
        finally:
            child.stdin.close()
            child.wait(timeout=60)


def _lower(what: str, limit: int) -> None:
    if what == "descriptors":
        in_use = sum(1 for _ in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + limit, in_use + limit))
        return
    threading.stack_size(_STACK_BYTES)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    room = pages * resource.getpagesize() + limit * _STACK_BYTES + _STACK_BYTES // 2
    resource.setrlimit(resource.RLIMIT_AS, (room, room))


def _metrics(what: str, limit: int) -> None:
    from controller.telemetry.collection import Collection
    from controller.telemetry.metrics import LiveServer
    from controller.telemetry.packet import Marker
    from controller.telemetry.semantics import load_semantics

    live = LiveServer("127.0.0.1", 0, Collection(Marker(), load_semantics()), dict)
    _lower(what, limit)
    print(live.port, flush=True)
    sys.stdin.read()


async def _glass(what: str, limit: int) -> None:
    from labs.glass.scene import Scene
    from labs.glass.server import Glass

    async with Glass(lambda: Scene("live", [], {}, router="", port=0)) as glass:
        ending = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        _lower(what, limit)
        print(glass.port, flush=True)
        await ending


if __name__ == "__main__":
    _service, _what, _limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if _service == "glass":
        asyncio.run(_glass(_what, _limit))
    else:
        _metrics(_what, _limit)
