"""The routers that are up on this machine, for commands in another terminal.

Whoever has a network up says so in a file, and takes it away with the network. There may be
several: one of live hosts, and any number in virtual time. So routers have names: `s1` is as good
as `unix:/run/vitrine/s1.sock`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from controller import ownership
from controller.addresses import DEFAULT_ADDRESS, SOCKET_SUFFIX, at_socket, parted, socket_of
from controller.errors import ConnectError

# The files in which networks are announced, and what the key of one is called beside its file.
_WORDS = "routers-*.json"
_KEY = ".key"
# Whatever a process leaves here has its number.
_OF_A_PROCESS = re.compile(r"[a-z]+-(\d+)\.[a-z]+")
# A port or socket of this machine takes a connection at once, or has more of them than it can take.
_ANSWERS_WITHIN_S = 1.0
# Only root writes into the machine's folder; who has a network in virtual time need not be root.
_OF_MACHINE = Path("/run/vitrine")
_OF_CLONE = Path(__file__).resolve().parent.parent / "build" / "run"


def folder() -> Path:
    """Where this process says what it has up; VITRINE_RUN_DIR: the tests have one of their own."""
    own = os.environ.get("VITRINE_RUN_DIR")
    if own:
        return Path(own)
    return _OF_MACHINE if os.geteuid() == 0 else _OF_CLONE


def folders() -> list[Path]:
    """Where others may have said so."""
    own = os.environ.get("VITRINE_RUN_DIR")
    return [Path(own)] if own else [_OF_CLONE, _OF_MACHINE]


def socket_path(name: str) -> Path:
    """The socket at which a router answers that this process starts."""
    return folder() / f"{name}{SOCKET_SUFFIX}"


def started_ticks(pid: int) -> int | None:
    """When the process that has this id now was started, in ticks since boot; no zombie's.

    Together with its id that names a process for good, as the kernel gives ids again.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is the name in parentheses, which may itself hold spaces and parentheses.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


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
    # The reporter of the hosts of a live network, as vitrine.v1.World's WatchHosts; empty: none.
    hosts: str = ""
    # Where its programs are from that are not the kit's.
    folders: Sequence[str] = ()
    # With it flows are started there; empty: it is not for this user to know.
    hosts_key: str = ""

    @property
    def world(self) -> str:
        """Where its hosts are; a router in virtual time is a device of one address."""
        named = (parted(each)[1] for each in self.routers.values())
        return "live" if all(each is None for each in named) else "virtual"

    @property
    def first(self) -> str:
        """The address of the router that the run is about, or of the first one."""
        return self.routers.get(self.router) or next(iter(self.routers.values()), DEFAULT_ADDRESS)


@contextlib.contextmanager
def announced(
    routers: Mapping[str, str],
    network: Mapping[str, Any] | None = None,
    hosts: str = "",
    hosts_key: str = "",
    folders: Sequence[str] = (),
) -> Iterator[None]:
    """Says that these routers are up, for the length of a `with` block."""
    network = dict(network or {})
    if hosts_key:
        _write_key(hosts_key)
    began_ns = time.time_ns()
    _write(Up(dict(routers), network=network, began_ns=began_ns, hosts=hosts, folders=folders))
    try:
        yield
    finally:
        _remove([_own_file(), _own_file().with_suffix(_KEY)])


def look_at(router: str, port: int) -> None:
    """Says which port of the network that this process has up is worth a look."""
    _write(replace(_read(_own_file()) or Up(), router=router, port=port))


def all_up() -> list[Up]:
    """All networks that are up, the youngest first; those of processes that were killed are not."""
    files = [file for place in folders() for file in place.glob(_WORDS)]
    found = [_read(file) for file in files]
    return sorted(filter(None, found), key=lambda up: up.began_ns, reverse=True)


def up() -> Up:
    """The default network to look at: the youngest; nothing, if none is up."""
    return next(iter(all_up()), Up())


def having(address: str) -> Up:
    """The network with a router at this address; nothing, if none has one."""
    return next((up for up in all_up() if address in up.routers.values()), Up())


def called(address: str) -> str:
    """The name of the router at this address, or the address."""
    networks = all_up()
    for each in networks:
        for name, known in each.routers.items():
            if known == address:
                return f"{name} {f'({each.world}) ' if len(networks) > 1 else ''}{address}"
    return address


def address_of(name: str) -> str:
    """The address of a router by its name, or the address itself; the first one without a name.

    A name that is none is refused at once, and so is none where nothing is up.
    """
    if not name:
        youngest = up()
        # A router that was started by hand is not announced.
        if not youngest.routers and listens(DEFAULT_ADDRESS) is False:
            raise ConnectError(
                "no network of the kit is up: `vitrine up` starts one. A router elsewhere is named "
                "by its address, --router HOST:PORT."
            )
        return youngest.first
    if ":" in name:
        return name
    networks = all_up()
    found = {each.routers[name]: each.world for each in networks if name in each.routers}
    if len(found) > 1:
        which = ", or ".join(f"{address} ({world})" for address, world in found.items())
        raise ConnectError(
            f"{len(found)} networks that are up have a router {name!r}: say its address, {which}."
        )
    # A router that is not announced has its socket nevertheless.
    sockets = [place / f"{name}{SOCKET_SUFFIX}" for place in folders()]
    found |= {at_socket(each): "live" for each in sockets if not found and each.is_socket()}
    if found:
        return next(iter(found))
    names = list(dict.fromkeys(name for each in networks for name in each.routers))
    there = f"there are: {', '.join(names)}" if names else "no network of the kit is up"
    raise ConnectError(
        f"there is no router {name!r}: {there}. An address is HOST:PORT, or unix:FILE."
    )


def listens(address: str) -> bool | None:
    """Whether anybody does, at a port or socket of this machine.

    None: that is not to be told, as somebody has more callers than can be taken, or is not ours.
    """
    path = socket_of(address)
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET if path is None else socket.AF_UNIX) as probe:
        probe.settimeout(_ANSWERS_WITHIN_S)
        try:
            probe.connect((host, int(port)) if path is None else str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return None
        return True


def hint(address: str) -> str:
    """Other things to try when nothing answers at an address; empty: none are known."""
    path = socket_of(address)
    if path is not None:
        return "" if path.exists() else "there is no such socket, so no router is up there."
    names = [name for each in all_up() for name, at in each.routers.items() if socket_of(at)]
    if not names:
        return ""
    return (
        f"routers that are up are {', '.join(names)}, at Unix sockets: say the name instead of the "
        "address, or start the network with --grpc tcp."
    )


def _own_file() -> Path:
    return folder() / f"routers-{os.getpid()}.json"


def _read(file: Path) -> Up | None:
    """The contents of a file, if the process that wrote it is alive."""
    try:
        document = json.loads(file.read_text())
        pid, ticks = document.pop("owner")
        return Up(**document, hosts_key=_key_beside(file)) if started_ticks(pid) == ticks else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _key_beside(file: Path) -> str:
    """The key of a network, where it is this user's."""
    try:
        return file.with_suffix(_KEY).read_text()
    except OSError:
        return ""


def _write_key(key: str) -> None:
    """Beside the public file, for this user and for the caller of sudo."""
    file = _own_file().with_suffix(_KEY)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        ownership.give_to_caller(file)
        stream.write(key)


def clean() -> int:
    """Removes the announcements of killed networks, and sockets without a listener.

    How many files that was.
    """
    there = folder().iterdir() if folder().exists() else ()
    # A folder is not of the kit's making, whatever its name.
    files = [each for each in there if not each.is_dir()]
    silent = [each for each in files if each.is_socket() and listens(at_socket(each)) is False]
    return _remove([*filter(_is_of_the_dead, files), *silent])


def _is_of_the_dead(file: Path) -> bool:
    """Whether a file's name has the number of a process, and that has gone; no socket's."""
    if file.match(_WORDS):
        return _read(file) is None
    found = _OF_A_PROCESS.fullmatch(file.name)
    return found is not None and not file.is_socket() and started_ticks(int(found[1])) is None


def _remove(files: Sequence[Path]) -> int:
    for each in files:
        each.unlink(missing_ok=True)
    return len(files)


def _write(what: Up) -> None:
    file = _own_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    # Files of killed processes here are of no use. (Sockets stay: that of a router which is about
    # to start may not listen yet.)
    _remove([each for each in file.parent.iterdir() if _is_of_the_dead(each)])
    beside = file.with_suffix(".new")
    told = {**asdict(what), "owner": [os.getpid(), started_ticks(os.getpid())]}
    del told["hosts_key"]
    beside.write_text(json.dumps(told))
    # Written under sudo, readable by all.
    beside.chmod(0o644)
    beside.replace(file)
