"""Which routers are up on this machine, for `make top` and `make trace` in another terminal.

Whoever has a network up says so in a file beside its record, and takes it away with the network.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from controller.connection import DEFAULT_ADDRESS
from controller.errors import ConnectError
from topo import record


@dataclass(frozen=True)
class Up:
    """The routers of the network that is up."""

    # Addresses by name.
    routers: Mapping[str, str] = field(default_factory=dict)
    # The port that the present run is about: a router's name and a number.
    router: str = ""
    port: int | None = None
    # Hosts, routers and cables, as `labs.glass.scene` tells the page.
    network: Mapping[str, Any] = field(default_factory=dict)
    # When it came up, in nanoseconds since 1970: the next network of the same routers is another.
    began_ns: int = 0
    # Who tells of the hosts of a live network, as vitrine.v1.World's WatchHosts; empty: nobody.
    hosts: str = ""


_FILE = "routers.json"


@contextlib.contextmanager
def announced(
    routers: Mapping[str, str], network: Mapping[str, Any] | None = None, hosts: str = ""
) -> Iterator[None]:
    """Says that these routers are up, for the length of a `with` block."""
    network = dict(network or {})
    _write(Up(dict(routers), network=network, began_ns=time.time_ns(), hosts=hosts))
    try:
        yield
    finally:
        (record.folder() / _FILE).unlink(missing_ok=True)


def look_at(router: str, port: int) -> None:
    """Says which port is worth a look."""
    _write(replace(up(), router=router, port=port))


def up() -> Up:
    """What is up; nothing, if no network of the kit is."""
    files = [folder / _FILE for folder in record.folders()]
    there = [file for file in files if file.exists()]
    try:
        # There may be a live network and one in virtual time: the younger one is looked at.
        return Up(**json.loads(max(there, key=lambda file: file.stat().st_mtime_ns).read_text()))
    except (OSError, ValueError, TypeError):
        return Up()


def address_of(name: str) -> str:
    """The address of a router by its name, or the address itself; the first one without a name."""
    known = up().routers
    if not name:
        return next(iter(known.values()), DEFAULT_ADDRESS)
    if ":" in name:
        return name
    if name in known:
        return known[name]
    there = f"there are: {', '.join(known)}" if known else "no network of the kit is up"
    raise ConnectError(f"there is no router {name!r}: {there}. An address is HOST:PORT.")


def _write(what: Up) -> None:
    file = record.folder() / _FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(asdict(what)))
    # Written under sudo, read by everybody.
    beside.chmod(0o644)
    beside.replace(file)
