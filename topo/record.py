"""The parts that a live network has made, written down so that a later run can clean them up.

A run that is killed outright (SIGKILL, a crash of the machine's user session) leaves processes and
interfaces behind. So each is recorded before or as it is made, in one file that all copies of the
kit on this machine share: they would share the names s1-eth1, too. The file exists exactly while a
network is up or has been left behind. What users start in hosts, daemons too, nobody records; it is
told by a mark in its environment, which every process of the network inherits.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.routers import folder
from topo.errors import StaleRunError
from topo.process import Identity
from topo.units import counted

# The variable whose value is the network's mark.
_MARK = "VITRINE_NETWORK"


def path() -> Path:
    """Where the record lies."""
    return folder() / "network.json"


class Record:
    """The record of the network that this process has up."""

    def __init__(self, path: Path, mark: str) -> None:
        self._path = path
        self._mark = mark
        self._processes: list[Identity] = []
        self._links: list[str] = []

    def add_process(self, pid: int) -> None:
        """A process was started."""
        identity = Identity.of(pid)
        if identity is not None:
            self._processes.append(identity)
            self._save()

    def add_link(self, name: str) -> None:
        """An interface of the root namespace is about to be made."""
        self._links.append(name)
        self._save()

    def _save(self) -> None:
        owner = Identity.of(os.getpid())
        assert owner is not None, "this process is alive"
        document = {
            "owner": [owner.pid, owner.start_ticks],
            "mark": self._mark,
            "processes": [[each.pid, each.start_ticks] for each in self._processes],
            "links": self._links,
        }
        # Written beside and moved into place: a reader never sees half a record.
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(document))
        beside.replace(self._path)


@contextlib.contextmanager
def opened() -> Iterator[Record]:
    """A record for the length of a `with` block; refuses while another network is up."""
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    mark = uuid.uuid4().hex
    record = Record(file, mark)
    record._save()
    os.environ[_MARK] = mark
    try:
        yield record
    finally:
        del os.environ[_MARK]
        file.unlink(missing_ok=True)


def owner() -> Identity | None:
    """The process whose network is up now, if one is."""
    kept = _read()
    return kept.owner if kept is not None and kept.owner.is_alive() else None


def refuse_while_up() -> None:
    """Two networks would share the names of their interfaces."""
    running = owner()
    if running is not None:
        raise StaleRunError(
            f"a network is up already, made by process {running.pid}: "
            "end that run with Ctrl-C, or with `make down`."
        )


def clean_stale() -> str | None:
    """Removes what a run that no longer lives has left behind; says what that was."""
    kept = _read()
    if kept is None:
        return None
    refuse_while_up()
    marked = _marked(kept.mark) if kept.mark else []
    left = {each: each.name() for each in [*kept.processes, *marked] if each.is_alive()}
    for each in left:
        each.end()
    links = [name for name in kept.links if interface_exists(name)]
    for name in links:
        # Deleting one end of a veth pair deletes both. It may be gone by now with its namespace.
        subprocess.run(["ip", "link", "delete", name], check=False, capture_output=True)
    path().unlink(missing_ok=True)
    names = f" ({', '.join(sorted(left.values()))})" if left else ""
    processes = counted(len(left), "process", "es")
    return f"cleaned up after an interrupted run: {processes}{names}, {counted(len(links), 'link')}"


def _marked(mark: str) -> list[Identity]:
    """The processes of a network, by its mark in their environment."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                identity = Identity.of(int(entry.name))
                found += [identity] if identity is not None else []
    return found


def interface_exists(name: str) -> bool:
    """Whether this namespace has an interface of that name."""
    return Path(f"/sys/class/net/{name}").exists()


@dataclass(frozen=True)
class _Kept:
    """The contents of a record."""

    owner: Identity
    mark: str
    processes: list[Identity]
    links: list[str]

    @classmethod
    def of(cls, document: Any) -> _Kept:
        """Raises a ValueError for a document of another form."""
        try:
            numbers = [document["owner"], *document["processes"]]
            identities = [Identity(int(pid), int(ticks)) for pid, ticks in numbers]
            links = document["links"]
            if not isinstance(links, list) or not all(isinstance(name, str) for name in links):
                raise TypeError("links are names")
            mark = document.get("mark", "")
            return cls(identities[0], str(mark), identities[1:], links)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("it is no record of a network") from error


def _read() -> _Kept | None:
    try:
        return _Kept.of(json.loads(path().read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StaleRunError(
            f"the record of an earlier run, {path()}, cannot be read ({error}): delete that file."
        ) from error
