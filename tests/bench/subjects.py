"""Connections between the hosts h1 (10.0.1.1) and h2 (10.0.2.1), from a cable to two switches."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.network import Namespace, Network, network
from topo import wait
from topo.process import Process

ROOT = Path(__file__).resolve().parents[2]
SWITCH = ROOT / "build" / "bin" / "vitrine-switch"
H1, H2 = "10.0.1.1", "10.0.2.1"
START_DEADLINE_S = 20.0
GRPC_PORT = 9559
# Deep enough for one flow at 10 Gb/s, short enough for TCP to find the rate: 1.2 ms at 10 Gb/s.
QUEUE_PACKETS = 1000


@dataclass
class Place:
    """A subject that is up: where to measure from, and what to charge with processor time."""

    h1: Namespace
    h2: Namespace
    network: Network
    switches: list[Process] = field(default_factory=list)
    # Where these are, in the same order.
    routers: list[Namespace] = field(default_factory=list)


@dataclass(frozen=True)
class Subject:
    """A variant to compare, under its name in the report."""

    name: str
    build: Callable[[Network], Place]

    @contextlib.contextmanager
    def up(self, logs: Path, *, mtu: int = 1500, offloads: bool = True) -> Iterator[Place]:
        """The subject in namespaces of its own for the length of a `with` block."""
        with network(logs, mtu=mtu, offloads=offloads) as made:
            yield self.build(made)


def simple_switch_binary() -> str | None:
    """The reference switch, from VITRINE_SIMPLE_SWITCH or the PATH; None where there is none."""
    given = os.environ.get("VITRINE_SIMPLE_SWITCH")
    return given or shutil.which("simple_switch_grpc")


def direct(net: Network) -> Place:
    """One cable."""
    h1, h2 = net.namespace("h1"), net.namespace("h2")
    net.cable(h1, "h1-eth0", h2, "h2-eth0")
    for host, address in ((h1, H1), (h2, H2)):
        host.run(["ip", "address", "add", f"{address}/16", "dev", f"{_short(host)}-eth0"])
    return Place(h1, h2, net)


def bridge(net: Network) -> Place:
    """The kernel's own switch."""
    h1, h2, between = net.namespace("h1"), net.namespace("h2"), net.namespace("br")
    between.run(["ip", "link", "add", "br0", "type", "bridge"])
    for number, host, address in ((1, h1, H1), (2, h2, H2)):
        net.cable(host, f"{_short(host)}-eth0", between, f"br-eth{number}")
        between.run(["ip", "link", "set", f"br-eth{number}", "master", "br0"])
        host.run(["ip", "address", "add", f"{address}/16", "dev", f"{_short(host)}-eth0"])
    between.run(["ip", "link", "set", "br0", "mtu", str(net.mtu), "up"])
    return Place(h1, h2, net)


def vitrine(*, rate: str | None = None, count: int = 1) -> Callable[[Network], Place]:
    """`count` vitrine-switches in a row running the lab router, every port of the given rate."""

    def argv(switch: _Switch) -> list[str]:
        words = [str(SWITCH), "--no-p4"]
        words += ["--grpc", f"127.0.0.1:{GRPC_PORT}", *switch.interface_flags()]
        return words + (["--port-rate", rate] if rate else [])

    return lambda net: _routers(net, count, argv, queue_packets=QUEUE_PACKETS)


def simple_switch(binary: str) -> Callable[[Network], Place]:
    """The reference switch with the same program and routes."""

    def argv(switch: _Switch) -> list[str]:
        words = [binary, "--no-p4", "--device-id", "0", "--thrift-port", "9090"]
        target = ["--", "--grpc-server-addr", f"127.0.0.1:{GRPC_PORT}", "--priority-queues", "8"]
        return [*words, *switch.interface_flags(), *target]

    return lambda net: _routers(net, 1, argv, queue_packets=None)


class _Switch:
    """Number `number` of a row: port 1 toward h1, port 2 toward h2."""

    def __init__(self, net: Network, number: int) -> None:
        self.name = f"s{number}"
        self.number = number
        self.namespace = net.namespace(self.name)

    def mac(self, port: int) -> str:
        return f"02:00:00:00:{self.number:02x}:{port:02x}"

    def device(self, port: int) -> str:
        return f"{self.name}-eth{port}"

    def interface_flags(self) -> list[str]:
        return [word for port in (1, 2) for word in ("-i", f"{port}@{self.device(port)}")]


def _routers(
    net: Network,
    count: int,
    argv: Callable[[_Switch], Sequence[str]],
    *,
    queue_packets: int | None,
) -> Place:
    """Hosts and `count` routers between them, programmed and reachable."""
    h1, h2 = net.namespace("h1"), net.namespace("h2")
    row = [_Switch(net, number) for number in range(1, count + 1)]
    net.cable(h1, "h1-eth0", row[0].namespace, row[0].device(1))
    for left, right in itertools.pairwise(row):
        net.cable(left.namespace, left.device(2), right.namespace, right.device(1))
    net.cable(h2, "h2-eth0", row[-1].namespace, row[-1].device(2))

    macs = {}
    for host, address, gateway in ((h1, H1, row[0].mac(1)), (h2, H2, row[-1].mac(2))):
        device = f"{_short(host)}-eth0"
        network_part = address.rpartition(".")[0]
        host.run(["ip", "address", "add", f"{address}/24", "dev", device])
        host.run(["ip", "route", "add", "default", "via", f"{network_part}.254"])
        neighbour = ["ip", "neigh", "add", f"{network_part}.254", "lladdr", gateway, "dev", device]
        host.run(neighbour)
        macs[address] = host.run(["cat", f"/sys/class/net/{device}/address"]).strip()

    switches = []
    for index, switch in enumerate(row):
        process = switch.namespace.start(argv(switch), f"{switch.name}.log")
        wait.until(
            lambda at=switch, of=process: of.has_ended() or at.namespace.listens_on(GRPC_PORT),
            f"{switch.name} answering",
            START_DEADLINE_S,
        )
        to_h1 = macs[H1] if index == 0 else row[index - 1].mac(2)
        to_h2 = macs[H2] if index + 1 == count else row[index + 1].mac(1)
        order = {
            "address": f"127.0.0.1:{GRPC_PORT}",
            "device_id": 0,
            "routes": [[H1, 1, switch.mac(1), to_h1], [H2, 2, switch.mac(2), to_h2]],
            "queue_packets": queue_packets,
        }
        switch.namespace.run([sys.executable, "-m", "tests.bench.routes", json.dumps(order)])
        switches.append(process)
    return Place(h1, h2, net, switches, [each.namespace for each in row])


def _short(host: Namespace) -> str:
    return host.name.rpartition("-")[2]
