"""Faults around routers, each a `with` block: on inside the block, repaired after it.

    with FAULTS["router killed"].strike(network, "s1", random.Random(7)): ...

What must hold again afterwards is in `laws`.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from controller.queueing import PortSettings
from tests.chaos import clock, rude
from tests.chaos.churn import TABLE
from tests.chaos.errors import LawError
from tests.chaos.network import MEMORY_BYTES, Network
from topo import wait
from topo.process import Process

Strike = Callable[[Network, str, random.Random], AbstractContextManager[None]]
_FLAP_COUNT_MAX = 4
_SLOW_BPS = 200_000
_RELOAD_COUNT = 3
_USURPATION_DEADLINE_S = 20
_SPIN = "while True: pass"
_MISSING = "lines of the log are missing"
_TOLD_DEADLINE_S = 2
# After this many cable events without a log line the disk is full; some thirty lines fill a page.
_LOST_COUNT, _MUTE_DEADLINE_S = 5, 20
# So little that some requests of clients want more, and how soon they do.
_SPARE_BYTES = 1 << 20
_SHORT_DEADLINE_S = 20
_STEP_COUNT_MAX = 4
# The machine's own clock is disciplined meanwhile.
_STEP_S_MAX, _STEP_ERROR_S = 86_400.0, 0.1


@dataclass(frozen=True)
class Fault:
    """One thing that can go wrong."""

    strike: Strike
    # Within how many seconds the network must be as before, once the repair has begun, as when a
    # router is started again: datagrams arrive, tables are whole, the controller is in charge.
    promised_s: float


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _port(network: Network, router: str, dice: random.Random) -> int:
    return dice.choice(network.live.topology.switch(router).ports).number


@contextlib.contextmanager
def port_flaps(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A cable is pulled and put back, some times in a row."""
    device = f"{router}-eth{_port(network, router, dice)}"
    for _ in range(dice.randrange(_FLAP_COUNT_MAX)):
        _ip("link", "set", device, "down")
        _ip("link", "set", device, "up")
    _ip("link", "set", device, "down")
    yield
    _ip("link", "set", device, "up")


@contextlib.contextmanager
def device_vanishes(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A port's device is gone from the machine, and comes back."""
    device = f"{router}-eth{_port(network, router, dice)}"
    # For the router a move to another namespace and back is the same; the hosts keep their devices.
    elsewhere = network.live.mininet.get("h9").pid
    _ip("link", "set", device, "netns", str(elsewhere))
    yield
    home = str(os.getpid())
    subprocess.run(
        ["mnexec", "-a", str(elsewhere), "ip", "link", "set", device, "netns", home], check=True
    )
    _ip("link", "set", device, "up")


@contextlib.contextmanager
def port_removed(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """The controller takes a port away and adds it again."""
    number = _port(network, router, dice)
    network.ports[router].remove(number)
    yield
    network.ports[router].add(number, f"{router}-eth{number}")
    network.configure(router)


@contextlib.contextmanager
def router_stopped(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A router's process is held, and goes on."""
    os.kill(network.pid(router), signal.SIGSTOP)
    yield
    os.kill(network.pid(router), signal.SIGCONT)


@contextlib.contextmanager
def router_killed(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A router is killed outright, and started again."""
    network.end_router(router, signal.SIGKILL)
    yield
    network.start_router(router)


@contextlib.contextmanager
def router_restarted(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A router receives SIGTERM, and is started again."""
    network.end_router(router, signal.SIGTERM)
    yield
    network.start_router(router)


@contextlib.contextmanager
def controller_killed(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """Another controller takes over, writes, and is killed in the middle of it."""
    session = network.sessions[router]
    usurper = network.rude("usurp", router)
    wait.until(
        lambda: usurper.has_ended() or not session.primary().is_us,
        "the usurper's rule",
        _USURPATION_DEADLINE_S,
    )
    yield
    _kill(usurper)
    wait.until(lambda: session.primary().is_us, "our return", _USURPATION_DEADLINE_S)
    left = [entry for entry in session.read(TABLE) if rude.is_usurpers(entry)]
    session.delete(left)


@contextlib.contextmanager
def disk_full(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """The disk that the router's capture is on is full to the last byte."""
    filler = _fill(network.disks.captures)
    yield
    filler.unlink()


@contextlib.contextmanager
def log_disk_full(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """The router's log disk is full; once it is not, the router counts the lines that it lost."""
    log, device = network.processes[router].log, f"{router}-eth{_port(network, router, dice)}"
    filler = _fill(network.disks.logs)
    sizes: list[int] = []

    def has_no_room() -> bool:
        # The last page of the log still takes some lines.
        _blink(device)
        sizes.append(log.stat().st_size)
        return sizes[-_LOST_COUNT:] == [sizes[-1]] * _LOST_COUNT

    wait.until(has_no_room, "the end of the log's room", _MUTE_DEADLINE_S)
    yield
    filler.unlink()
    before = log.read_text().count(_MISSING)

    def is_told() -> bool:
        # Behind a line that could be written stands how many could not.
        _blink(device)
        return log.read_text().count(_MISSING) > before

    wait.until(is_told, "a word about missing lines", _TOLD_DEADLINE_S)


def _fill(disk: Path) -> Path:
    """Takes all room, and says which file has it."""
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        # Bytes, where there is no room for a page.
        for size_bytes in (4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size_bytes))
    return filler


def _blink(device: str) -> None:
    """A router says of a cable that it was pulled and put back."""
    _ip("link", "set", device, "down")
    _ip("link", "set", device, "up")


@contextlib.contextmanager
def memory_short(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A router gets no more memory while clients make it ask; killed for it, it is begun anew."""
    bound = network.bounds[router]
    assert bound is not None, "bounded"
    met = bound.met
    bound.limit(bound.used_bytes + _SPARE_BYTES)
    client = network.rude("hoard", router)
    wait.until(lambda: bound.met > met, "that memory is short", _SHORT_DEADLINE_S)
    yield
    _kill(client)
    bound.limit(MEMORY_BYTES)
    if bound.kills > network.kills[router]:
        network.kills[router] = bound.kills
        network.end_router(router, signal.SIGKILL)
        network.start_router(router)


@contextlib.contextmanager
def clocks_step(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """The time of day jumps by up to a day, several times in a row, for all processes."""

    def wall_clock_s() -> float:
        # Of the same instant always: the router's start.
        return network.queues[router].describe([1]).epoch_offset_ns / 1e9

    before_s = wall_clock_s()
    for _ in range(1 + dice.randrange(_STEP_COUNT_MAX)):
        by_s = dice.uniform(-_STEP_S_MAX, _STEP_S_MAX)
        clock.step(by_s)
        stepped_s = wall_clock_s() - before_s
        if abs(stepped_s - by_s) > _STEP_ERROR_S:
            raise LawError(f"the clock of {router} was to step by {by_s:g} s, not {stepped_s:g} s.")
    yield
    clock.step(0)


def _client(what: str) -> Strike:
    """A rude client for as long as the fault lasts."""

    @contextlib.contextmanager
    def strike(network: Network, router: str, dice: random.Random) -> Iterator[None]:
        client = network.rude(what, router)
        yield
        _kill(client)

    return strike


@contextlib.contextmanager
def packets_flood(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A host sends as much as it can: queues are full and stay so."""
    flood = network.talk("h3", "flood-udp", network.receiver)
    yield
    _kill(flood)


@contextlib.contextmanager
def machine_overloaded(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """Twice as many programs want a processor as there are."""
    argv = [sys.executable, "-c", _SPIN]
    count = 2 * (os.cpu_count() or 1)
    spinning = [
        network.live.start_process(argv, network.live.logs / "spin.log") for _ in range(count)
    ]
    yield
    for process in spinning:
        _kill(process)


@contextlib.contextmanager
def program_replaced(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """Another program, some times in a row, while packets flow."""
    reloading = network.router(router)
    for _ in range(_RELOAD_COUNT):
        with network.churns[router].starting_anew():
            reloading.reload()
    yield


@contextlib.contextmanager
def port_slow(network: Network, router: str, dice: random.Random) -> Iterator[None]:
    """A port's rate is reduced to `_SLOW_BPS`."""
    number = _port(network, router, dice)
    before = network.queues[router].settings([number]).ports[number]
    network.queues[router].configure({number: PortSettings(rate_bps=_SLOW_BPS)})
    yield
    network.queues[router].configure({number: PortSettings(rate_bps=before.rate_bps)})


def _kill(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.end()


# Seconds are those of a machine that has nothing else to do; VITRINE_PATIENCE multiplies them.
FAULTS: dict[str, Fault] = {
    "port flaps": Fault(port_flaps, 2),
    "device vanishes": Fault(device_vanishes, 2),
    "port removed": Fault(port_removed, 2),
    "router stopped": Fault(router_stopped, 2),
    "router killed": Fault(router_killed, 2),
    "router restarted": Fault(router_restarted, 2),
    "controller killed": Fault(controller_killed, 2),
    "disk full": Fault(disk_full, 2),
    "log's disk full": Fault(log_disk_full, 2),
    "clients flood": Fault(_client("flood"), 2),
    "clients stall": Fault(_client("stall"), 2),
    "clients hoard": Fault(_client("hoard"), 2),
    "memory short": Fault(memory_short, 2),
    "clocks step": Fault(clocks_step, 2),
    "packets flood": Fault(packets_flood, 2),
    "machine overloaded": Fault(machine_overloaded, 2),
    "program replaced": Fault(program_replaced, 2),
    "port slow": Fault(port_slow, 2),
}


def possible(network: Network) -> list[str]:
    """The faults that this machine can be struck with."""
    impossible = set()
    if not clock.steps():
        impossible.add("clocks step")
    if None in network.bounds.values():
        impossible.add("memory short")
    return [name for name in FAULTS if name not in impossible]
