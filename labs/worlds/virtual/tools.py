"""ping, traceroute, iperf3 and ss of hosts in virtual time: what they start, and what they print.

A tool is an application of the world and prints line by line what the world tells of it.
"""

from __future__ import annotations

import argparse
import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterator
from ipaddress import ip_address

from vitrine.v1 import world_pb2

from controller.world import PS_PER_S, World
from labs.worlds.virtual.options import UDP_BPS, OptionError
from topo.errors import ModelError
from topo.model import Topology
from topo.units import format_rate

NS_PER_S = 1_000_000_000
PS_PER_MS = 1_000_000_000
# ICMP's header, which ping counts and the payload does not.
ICMP_HEADER_BYTES = 8
DEFAULT_SECONDS = 10.0
# Between two requests of a traceroute.
_PROBE_INTERVAL_NS = 10_000_000
# A line is due within a tenth of its interval.
_SAMPLES_A_LINE = 10


class Tool(ABC):
    """A program of a host, running until its report says that it has ended."""

    # The host and the number of the application that ends it; what is watched meanwhile.
    host: str
    app: int
    sample_ns: int = 0

    @abstractmethod
    def lines(self, told: world_pb2.WatchHostsResponse) -> Iterator[str]:
        """Its output after this event."""

    @abstractmethod
    def summary(self, report: world_pb2.AppReport) -> Iterator[str]:
        """Its output at the end."""

    def close(self, world: World) -> None:  # noqa: B027 (most have nothing of the kind)
        """Ends what was started beside the application itself."""


def address_of(topology: Topology, name: str) -> str:
    """A host's address by its name; an address is itself."""
    if "." in name or ":" in name:
        return name
    try:
        return str(topology.host(name).address.ip)
    except ModelError as error:
        raise OptionError(str(error)) from None


def between(topology: Topology, host: str, options: argparse.Namespace) -> tuple[str, str, str]:
    """Sender, receiver and address, which is of the target's family."""
    target = address_of(topology, options.target)
    other = host_with(topology, target)
    if not options.is_reverse:
        return host, other, target
    family = ip_address(target).version
    own = [str(each.ip) for each in topology.host(host).addresses if each.version == family]
    if not own:
        raise OptionError(f"{host} has no address of IPv{family}.")
    return other, host, own[0]


def host_with(topology: Topology, address: str) -> str:
    """The host that has an address."""
    for host in topology.hosts:
        if address in (str(each.ip) for each in host.addresses):
            return host.name
    raise OptionError(f"no host has the address {address}.")


class Ping(Tool):
    """Echo requests, and each answer as it comes."""

    def __init__(
        self, world: World, topology: Topology, host: str, options: argparse.Namespace
    ) -> None:
        self.host = host
        self._name = options.target
        self._address = address_of(topology, options.target)
        self._bytes = options.payload_bytes + ICMP_HEADER_BYTES
        ping = world_pb2.Ping(
            to=self._address,
            interval_ns=round(options.interval_s * NS_PER_S),
            count=options.count or 0,
            payload_bytes=options.payload_bytes,
            hop_limit=options.hop_limit,
        )
        self.app = world.start(host, world_pb2.App(ping=ping))

    def lines(self, told: world_pb2.WatchHostsResponse) -> Iterator[str]:
        """A line for each answer, and for each packet that was not delivered."""
        for event in told.events:
            if event.app == self.app and event.HasField("echo_error"):
                error = event.echo_error
                yield f"From {error.by} icmp_seq={error.request.number + 1} {_why(error)}"
            if event.app == self.app and event.HasField("echo"):
                rtt_ms = event.echo.rtt_ps / PS_PER_MS
                yield (
                    f"{self._bytes} bytes from {self._address}: "
                    f"icmp_seq={event.echo.number + 1} time={rtt_ms:.3g} ms"
                )

    def summary(self, report: world_pb2.AppReport) -> Iterator[str]:
        """How many came back, and how long they took."""
        ping = report.ping
        rtts_ms = [echo.rtt_ps / PS_PER_MS for echo in ping.echoes]
        lost = 1 - len(rtts_ms) / ping.sent if ping.sent else 0.0
        yield f"--- {self._name} ping statistics ---"
        yield (
            f"{ping.sent} packets transmitted, {len(rtts_ms)} received, "
            + (f"+{ping.unreachable} errors, " if ping.unreachable else "")
            + f"{100 * lost:.3g}% packet loss"
        )
        if rtts_ms:
            least, mean, most = min(rtts_ms), statistics.mean(rtts_ms), max(rtts_ms)
            deviation = statistics.pstdev(rtts_ms)
            yield f"rtt min/avg/max/mdev = {least:.3f}/{mean:.3f}/{most:.3f}/{deviation:.3f} ms"


def _why(error: world_pb2.EchoError) -> str:
    """As ping says it."""
    why = world_pb2.EchoError.Why
    if error.why == why.WHY_HOP_LIMIT:
        return "Time to live exceeded"
    if error.why == why.WHY_TOO_LONG:
        return f"Frag needed and DF set (mtu = {error.mtu_bytes})"
    return "Destination unreachable"


class Traceroute(Tool):
    """Echo requests that may pass no router, then one, then two, until an answer comes.

    A line for each number of routers: who spoke, and how long it took; * for nothing heard.
    """

    def __init__(
        self, world: World, topology: Topology, host: str, options: argparse.Namespace
    ) -> None:
        self.host = host
        self._world = world
        self._address = address_of(topology, options.target)
        self._count, self._hops_max = options.count, options.hops
        self._hops = 0
        self._head = f"traceroute to {options.target} ({self._address}), {options.hops} hops max"
        self._ask()

    def _ask(self) -> None:
        self._hops += 1
        ping = world_pb2.Ping(
            to=self._address,
            interval_ns=_PROBE_INTERVAL_NS,
            count=self._count,
            hop_limit=self._hops,
        )
        self.app = self._world.start(self.host, world_pb2.App(ping=ping))

    def lines(self, told: world_pb2.WatchHostsResponse) -> Iterator[str]:
        """A line whenever one more router has answered, or none has for too long."""
        if self._head:
            yield self._head
            self._head = ""
        for event in told.events:
            if event.app != self.app or not event.HasField("ended"):
                continue
            report = event.ended.ping
            yield self._line(report)
            unreachable = world_pb2.EchoError.WHY_UNREACHABLE
            is_over = report.echoes or any(each.why == unreachable for each in report.errors)
            if not is_over and self._hops < self._hops_max:
                self._ask()

    def summary(self, report: world_pb2.AppReport) -> Iterator[str]:
        """Nothing: every line has been said."""
        return iter(())

    def _line(self, report: world_pb2.PingReport) -> str:
        heard = {echo.number: (self._address, echo) for echo in report.echoes}
        heard |= {each.request.number: (each.by, each.request) for each in report.errors}
        words, last = [f"{self._hops:2d} "], ""
        for number in range(self._count):
            if number not in heard:
                words.append("*")
                continue
            address, echo = heard[number]
            if address != last:
                words.append(address)
            last = address
            words.append(f"{echo.rtt_ps / PS_PER_MS:.3f} ms")
        return " ".join(words)


class Transfer(Tool):
    """iperf3 over TCP: as much as goes, a line an interval, a sum in the end."""

    def __init__(
        self, world: World, topology: Topology, host: str, options: argparse.Namespace
    ) -> None:
        sender, receiver, address = between(topology, host, options)
        self.host = sender
        self._receiver, self._port = receiver, options.port
        self._interval_s = options.interval_s
        self.sample_ns = round(options.interval_s * NS_PER_S / _SAMPLES_A_LINE)
        listener = world_pb2.Listener(port=options.port)
        self._listener = world.start(receiver, world_pb2.App(listener=listener))
        bulk = world_pb2.Bulk(
            to=world_pb2.Peer(host=address, port=options.port),
            connections=options.connections,
            congestion_control=options.congestion,
            pacing_rate_bps=options.rate_bps or 0,
        )
        if options.length_bytes:
            bulk.length_bytes = options.length_bytes
        else:
            bulk.span_ns = round((options.seconds or DEFAULT_SECONDS) * NS_PER_S)
        self.app = world.start(sender, world_pb2.App(bulk=bulk))
        self._began_s = self._last_s = world.look([sender]).time_ps / PS_PER_S
        self._last_bytes = self._last_retransmits = 0
        columns = f"{'interval':>16}  {'transfer':>10}  {'bitrate':>11}  {'retr':>5}  cwnd"
        self._head = f"{sender} sends to {receiver}, port {options.port}\n{columns}"

    def lines(self, told: world_pb2.WatchHostsResponse) -> Iterator[str]:
        """A line an interval."""
        if self._head:
            yield self._head
            self._head = ""
        sample = told.sample
        time_s = sample.time_ps / PS_PER_S
        if not told.HasField("sample") or time_s < self._last_s + self._interval_s:
            return
        own = [
            connection
            for host in sample.hosts
            for connection in host.connections
            if connection.peer.endswith(f":{self._port}")
        ]
        acked = sum(connection.bytes_acked for connection in own)
        retransmits = sum(connection.retrans_total for connection in own)
        cwnd = sum(connection.cwnd for connection in own)
        yield self._line(
            (self._last_s - self._began_s, time_s - self._began_s),
            max(0, acked - self._last_bytes),
            max(0, retransmits - self._last_retransmits),
            f"{cwnd} packets",
        )
        self._last_s, self._last_bytes, self._last_retransmits = time_s, acked, retransmits

    def summary(self, report: world_pb2.AppReport) -> Iterator[str]:
        """All of it."""
        bulk = report.bulk
        if bulk.failed and not bulk.acked_bytes:
            yield "iperf3: no answer: is there a route between the two hosts?"
            return
        began_s = bulk.began_ps / PS_PER_S - self._began_s
        ended_s = (bulk.ended_ps / PS_PER_S if bulk.ended_ps else self._last_s) - self._began_s
        yield self._line((began_s, ended_s), bulk.acked_bytes, bulk.retransmits, "in all")

    def close(self, world: World) -> None:
        """Stops the listener."""
        world.stop(self._listener)

    @staticmethod
    def _line(span_s: tuple[float, float], payload: int, retransmits: int, last: str) -> str:
        start_s, end_s = span_s
        rate_bps = payload * 8 / (end_s - start_s) if end_s > start_s else 0.0
        return (
            f"{start_s:7.2f}-{end_s:6.2f} s  {_amount(payload):>10}  "
            f"{format_rate(rate_bps):>11}  {retransmits:>5}  {last}"
        )


class Datagrams(Tool):
    """iperf3 over UDP: a steady rate, and what became of it."""

    def __init__(
        self, world: World, topology: Topology, host: str, options: argparse.Namespace
    ) -> None:
        sender, receiver, address = between(topology, host, options)
        self.host = sender
        self._world = world
        rate_bps = options.rate_bps or UDP_BPS
        seconds = options.seconds or DEFAULT_SECONDS
        if options.length_bytes:
            seconds = options.length_bytes * 8 / rate_bps
        sink = world_pb2.DatagramSink(port=options.port)
        self._sink = world.start(receiver, world_pb2.App(datagram_sink=sink))
        source = world_pb2.DatagramSource(
            to=world_pb2.Peer(host=address, port=options.port),
            payload_bytes=options.datagram_bytes,
            steady=world_pb2.DatagramSource.Steady(rate_bps=rate_bps),
            span_ns=round(seconds * NS_PER_S),
        )
        self.app = world.start(sender, world_pb2.App(datagram_source=source))
        self._head = f"{sender} sends datagrams to {receiver}, port {options.port}"

    def lines(self, told: world_pb2.WatchHostsResponse) -> Iterator[str]:
        """Nothing but the head: what arrived is known in the end."""
        if self._head:
            yield self._head
            self._head = ""

    def summary(self, report: world_pb2.AppReport) -> Iterator[str]:
        """Packets sent and received, and the jitter."""
        sent = report.datagram_source.sent
        flows = self._world.report(self._sink).datagram_sink.flows
        received = sum(flow.received for flow in flows)
        lost = 1 - received / sent if sent else 0.0
        yield (
            f"{sent} datagrams sent, {received} have arrived, "
            f"{100 * lost:.3g}% are lost or still under way"
        )
        for flow in flows:
            least, mean, most = (
                each / PS_PER_MS
                for each in (flow.delay_min_ps, flow.delay_mean_ps, flow.delay_max_ps)
            )
            jitter_ms = flow.jitter_ps / PS_PER_MS
            yield (
                f"delay min/avg/max {least:.3f}/{mean:.3f}/{most:.3f} ms, jitter {jitter_ms:.3f} ms"
            )

    def close(self, world: World) -> None:
        """Stops the sink."""
        world.stop(self._sink)


def _amount(count: int) -> str:
    for factor, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} B"


# ---- ss ------------------------------------------------------------------------------------------


def ss(host: world_pb2.HostState) -> Iterator[str]:
    """The output of `ss -ti` for a host's connections."""
    state = world_pb2.Connection.State
    yield f"{'State':<12} {'Local':<24} Peer"
    for each in host.connections:
        name = state.Name(each.state).replace("ESTABLISHED", "ESTAB").replace("_", "-")
        yield f"{name:<12} {each.local:<24} {each.peer}"
        yield f"\t {' '.join(_details(each))}"


def _details(connection: world_pb2.Connection) -> Iterator[str]:
    yield connection.congestion
    if connection.HasField("rtt_ps"):
        rtt_ms, var_ms = connection.rtt_ps / PS_PER_MS, connection.rttvar_ps / PS_PER_MS
        yield f"rtt:{rtt_ms:.3f}/{var_ms:.3f}"
    yield f"rto:{connection.rto_ps / PS_PER_MS:.0f}"
    yield f"mss:{connection.mss_bytes}"
    yield f"pmtu:{connection.pmtu_bytes}"
    yield f"cwnd:{connection.cwnd}"
    if connection.HasField("ssthresh"):
        yield f"ssthresh:{connection.ssthresh}"
    yield f"bytes_acked:{connection.bytes_acked}"
    yield f"bytes_received:{connection.bytes_received}"
    if connection.HasField("pacing_rate_bps"):
        yield f"pacing_rate {format_rate(connection.pacing_rate_bps)}"
    if connection.HasField("delivery_rate_bps"):
        yield f"delivery_rate {format_rate(connection.delivery_rate_bps)}"
    yield f"delivered:{connection.delivered}"
    if connection.unacked:
        yield f"unacked:{connection.unacked}"
    if connection.retrans_total:
        yield f"retrans:{connection.retrans}/{connection.retrans_total}"
    if connection.HasField("minrtt_ps"):
        yield f"minrtt:{connection.minrtt_ps / PS_PER_MS:.3f}"
    yield f"snd_wnd:{connection.snd_wnd_bytes}"
    for each in connection.algorithm:
        yield f"{each.name}:{each.value}"
