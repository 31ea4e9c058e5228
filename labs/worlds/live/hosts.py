"""Programs that run in hosts, and the kernel settings of a lab."""

from __future__ import annotations

import sys

from labs.worlds.live import iperf
from topo import wait
from topo.live import LiveHost
from topo.model import Topology
from topo.process import Process

# Only a program that never comes is to end a lab: an emulated machine needs a minute for Python.
START_DEADLINE_S = 90.0
_MEMORY_PORT = 5200


def serve_flow(receiver: LiveHost, port: int, name: str) -> Process:
    """Starts an iperf3 that serves one flow, and waits until it listens."""
    server = receiver.start(iperf.server(port), receiver.logs / f"iperf-{name}-server.log")
    wait.until(
        lambda: receiver.listens_on(port), f"iperf3 listening in {receiver.name}", START_DEADLINE_S
    )
    return server


def serve_page(server: LiveHost, port: int, length_bytes: int) -> None:
    """Starts a web server with one page, and waits until it listens."""
    argv = [sys.executable, "-m", "labs.worlds.live.page", "serve"]
    arguments = [str(server.address), str(port), str(length_bytes)]
    server.start([*argv, *arguments], server.logs / f"page-{server.name}.log")
    wait.until(
        lambda: server.listens_on(port), f"the web server in {server.name}", START_DEADLINE_S
    )


def remember_thresholds(topology: Topology, hosts: dict[str, LiveHost]) -> None:
    """Makes flows of hosts that have a slow-start threshold of their own begin with it.

    Linux takes it from what it remembers of a path, and it remembers a path when a connection over
    it ends: one short flow to each other host before those that are measured.
    """
    for host in topology.hosts:
        if host.tcp.ssthresh_packets is None:
            continue
        sender = hosts[host.name]
        for memory in ("tcp_no_metrics_save", "tcp_no_ssthresh_metrics_save"):
            sender.set_kernel(f"net/ipv4/{memory}", "0")
        for receiver in hosts.values():
            if receiver is not sender:
                serve_flow(receiver, _MEMORY_PORT, "memory")
                congestion = host.tcp.congestion or "reno"
                sender.run(
                    iperf.client(
                        str(receiver.address), _MEMORY_PORT, seconds=1, congestion=congestion
                    )
                )
