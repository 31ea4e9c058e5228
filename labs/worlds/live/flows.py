"""Flows that a user starts in hosts of a live network while it is up, in the words of vitrine.v1.

    flows = Flows({"h1": host, "h2": host})
    number = flows.start("h1", world_pb2.App(...))
    flows.stop(number)

What sends and what listens are programs of the host: iperf3, and ping. They are numbered as the
applications of a network in virtual time are, and end with the network. What those programs have no
words for is refused in a sentence, and so is every name that is not a host's of this network: what
comes from a page must not become an argument of a program by itself.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import grpc
from vitrine.v1 import world_pb2

from topo import kernel, wait
from topo.errors import MachineError, ProcessError
from topo.process import Process

# More than a person starts, and less than what a machine goes under with.
RUNNING_MAX = 64
CONNECTIONS_MAX = 32
# As long as iperf3 sends at the most: until it is stopped.
_LONGEST_S = 86_400
# A program that fails does so at once; one that sends is not waited for.
_FAILS_WITHIN_S = 0.5
_LISTENS_WITHIN_S = 30.0
_DATAGRAM_BYTES = 1400
_NS_PER_S = 1_000_000_000


class RefusedError(Exception):
    """An application that is not started or stopped, and why."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class Host(Protocol):
    """The required parts of a host of the network."""

    @property
    def address(self) -> object:
        """Its own, as others reach it."""

    @property
    def logs(self) -> Path:
        """Where its programs leave their output."""

    def start(self, argv: Sequence[str], log: Path) -> Process:
        """Starts a program in it that ends with the network."""


@dataclass(frozen=True)
class _Running:
    host: str
    app: world_pb2.App
    process: Process


class Flows:
    """The applications that were started here, by number from 1."""

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        """`hosts` are those of the network, by name."""
        self._hosts = hosts
        self._apps: list[_Running] = []
        self._lock = threading.Lock()

    def start(self, host: str, app: world_pb2.App) -> int:
        """Starts it and returns its number; raises RefusedError, in a sentence."""
        with self._lock:
            if host not in self._hosts:
                raise _invalid(f"there is no host {host!r}")
            if sum(not each.process.has_ended() for each in self._apps) >= RUNNING_MAX:
                raise RefusedError(
                    grpc.StatusCode.RESOURCE_EXHAUSTED,
                    f"{RUNNING_MAX} programs run already, which is the most: stop one of them",
                )
            argv = self._argv(app)
            number = len(self._apps) + 1
            there = self._hosts[host]
            try:
                process = there.start(argv, there.logs / f"flow-{number}-{host}.log")
            except ProcessError as error:
                raise RefusedError(grpc.StatusCode.FAILED_PRECONDITION, str(error)) from error
            self._apps.append(_Running(host, app, process))
            self._check(argv, process)
            return number

    def stop(self, number: int) -> world_pb2.AppReport:
        """Ends it; raises RefusedError if there is none of that number."""
        with self._lock:
            if not 1 <= number <= len(self._apps):
                raise RefusedError(
                    grpc.StatusCode.NOT_FOUND, f"there is no application {number} here"
                )
            self._apps[number - 1].process.end()
            return self._report(number, lambda _: ())

    def reports(
        self, connections: Callable[[str], Iterable[world_pb2.Connection]]
    ) -> list[world_pb2.AppReport]:
        """The started flows; `connections` are those of a host."""
        return [self._report(number, connections) for number in range(1, len(self._apps) + 1)]

    # ---- programs --------------------------------------------------------------------------------

    def _argv(self, app: world_pb2.App) -> list[str]:
        kind = app.WhichOneof("kind")
        make = self._kinds().get(kind or "")
        if make is None:
            known = ", ".join(sorted(self._kinds()))
            raise _invalid(f"hosts of a live network do not start {kind or 'nothing'}: {known}")
        return make(getattr(app, str(kind)))

    def _kinds(self) -> Mapping[str, Callable[[Any], list[str]]]:
        return {
            "bulk": self._bulk,
            "datagram_sink": self._listener,
            "datagram_source": self._datagrams,
            "listener": self._listener,
            "ping": self._ping,
        }

    def _listener(self, asked: world_pb2.Listener | world_pb2.DatagramSink) -> list[str]:
        _check_fields(asked, "port")
        return ["iperf3", "-s", "-p", str(_port(asked.port)), "--forceflush"]

    def _bulk(self, asked: world_pb2.Bulk) -> list[str]:
        _check_fields(asked, "to", "congestion_control", "connections", "pacing_rate_bps")
        argv = self._client(asked.to)
        if asked.congestion_control:
            try:
                kernel.allow_congestion_control(asked.congestion_control)
            except MachineError as error:
                raise _invalid(str(error).rstrip(".")) from error
            argv += ["-C", asked.congestion_control]
        if asked.connections > CONNECTIONS_MAX:
            raise _invalid(f"connections: {asked.connections} is more than {CONNECTIONS_MAX}")
        if asked.connections > 1:
            argv += ["-P", str(asked.connections)]
        if asked.pacing_rate_bps:
            argv += ["--fq-rate", str(asked.pacing_rate_bps)]
        return argv

    def _datagrams(self, asked: world_pb2.DatagramSource) -> list[str]:
        _check_fields(asked, "to", "payload_bytes", "steady")
        length = asked.payload_bytes or _DATAGRAM_BYTES
        if not (asked.steady.rate_bps and 24 <= length <= 65_507):
            raise _invalid("datagrams have a rate, and 24 to 65,507 bytes of payload")
        rate = ["-b", str(asked.steady.rate_bps), "-l", str(length)]
        return [*self._client(asked.to), "-u", *rate]

    def _ping(self, asked: world_pb2.Ping) -> list[str]:
        _check_fields(asked, "to", "interval_ns")
        interval_s = (asked.interval_ns or _NS_PER_S) / _NS_PER_S
        if interval_s < 0.002:
            raise _invalid("interval_ns: ping sends at most once in 2 ms")
        return ["ping", "-n", "-i", f"{interval_s:.3f}", self._address(asked.to)]

    def _client(self, to: world_pb2.Peer) -> list[str]:
        place = [self._address(to.host), "-p", str(_port(to.port))]
        return ["iperf3", "-c", *place, "-t", str(_LONGEST_S), "--forceflush"]

    def _address(self, name: str) -> str:
        """The address of a host of this network that is named, or that has this address."""
        if name in self._hosts:
            return str(self._hosts[name].address)
        known = {str(each.address) for each in self._hosts.values()}
        try:
            if (address := str(ipaddress.ip_address(name))) in known:
                return address
        except ValueError:
            pass
        raise _invalid(f"there is no host {name!r}")

    def _check(self, argv: Sequence[str], process: Process) -> None:
        """Waits until a program listens, or has not failed."""
        if "-s" in argv:
            wait.holds_within(
                lambda: process.has_ended() or "listening" in process.log.read_text(),
                _LISTENS_WITHIN_S,
            )
        if wait.holds_within(process.has_ended, 0 if "-s" in argv else _FAILS_WITHIN_S):
            raise RefusedError(
                grpc.StatusCode.FAILED_PRECONDITION, f"{argv[0]} gave up: {process.last_words()}"
            )

    def _report(
        self, number: int, connections: Callable[[str], Iterable[world_pb2.Connection]]
    ) -> world_pb2.AppReport:
        running = self._apps[number - 1]
        kind = str(running.app.WhichOneof("kind"))
        report = world_pb2.AppReport(
            app=number, host=running.host, ended=running.process.has_ended()
        )
        getattr(report, kind).SetInParent()
        if kind == "bulk":
            # iperf3's own connection for its control goes there too, and carries next to nothing.
            port = f":{running.app.bulk.to.port}"
            own = [each for each in connections(running.host) if each.peer.endswith(port)]
            own.sort(key=lambda each: each.bytes_sent, reverse=True)
            most = max(1, running.app.bulk.connections)
            report.bulk.connections.extend(each.local for each in own[:most])
        return report


def _check_fields(message: Any, *known: str) -> None:
    """Whatever else is set is something that the programs here have no words for."""
    for field, _ in message.ListFields():
        if field.name not in known:
            raise _invalid(
                f"hosts of a live network have no {field.name} of {message.DESCRIPTOR.name}"
            )


def _port(number: int) -> int:
    if not 1024 <= number <= 65_535:
        raise _invalid(f"port {number}: give 1024 to 65535")
    return number


def _invalid(message: str) -> RefusedError:
    return RefusedError(grpc.StatusCode.INVALID_ARGUMENT, message)
