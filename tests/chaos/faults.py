"""What can go wrong around routers, each as a `with` block: inside it is on, behind it is mended.

    with FAULTS["router killed"].strike(network, "s1", random.Random(7), lasts): ...

`lasts` waits for as long as the fault is to last. What must hold again afterwards, and how soon, is
in `laws`.
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

from controller.queueing import PortSettings
from tests.chaos import rude
from tests.chaos.churn import TABLE
from tests.chaos.network import Network
from topo import wait
from topo.process import Process

Strike = Callable[[Network, str, random.Random], AbstractContextManager[None]]
_FLAP_COUNT_MAX = 4
_SLOW_BPS = 200_000
_RELOAD_COUNT = 3
_USURPATION_DEADLINE_S = 20
_SPIN = "while True: pass"


@dataclass(frozen=True)
class Fault:
    """One thing that can go wrong."""

    strike: Strike
    # Within how many seconds of its end the network must be as before: datagrams arrive, tables are
    # whole, the controller is in charge.
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
    # To another namespace and back is the same to whoever holds it, and the hosts keep theirs.
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
    """A router is asked to end, and started again."""
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
    filler = network.disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    yield
    filler.unlink()


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
    """A port's rate is a hundredth of what it was."""
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
    "clients flood": Fault(_client("flood"), 2),
    "clients stall": Fault(_client("stall"), 2),
    "packets flood": Fault(packets_flood, 2),
    "machine overloaded": Fault(machine_overloaded, 2),
    "program replaced": Fault(program_replaced, 2),
    "port slow": Fault(port_slow, 2),
}
