"""Programs that a user has started by hand in a host, such as `h1 iperf3 -s &` at the prompt.

A host is a network namespace. It would live on, unseen, as long as a program is in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from topo.process import Identity


def end_all(hosts: Mapping[str, int]) -> list[str]:
    """Ends what was started in hosts, given by the ids of their shells; says what, host by host."""
    said = []
    for host, shell in hosts.items():
        for pid in _inside(shell):
            identity = Identity.of(pid)
            if identity is None:
                continue
            name = identity.name()
            identity.end()
            said.append(f"{name} (process {pid}) in {host}")
    return said


def _inside(shell: int) -> Iterator[int]:
    """The processes of a shell's network namespace, the shell itself left out."""
    namespace = _namespace(shell)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != shell:
            pid = int(entry.name)
            if namespace is not None and _namespace(pid) == namespace and pid != os.getpid():
                yield pid


def _namespace(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return None
