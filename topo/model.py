"""Hosts, switches and links as data. Nothing here starts anything.

A `Topology` that exists is consistent: names and addresses are unique, links join things that
exist, no port is used twice, every host has one link and lies in the network of its gateway. Port
numbers are the numbers that P4 programs, P4Runtime, Mininet and the kernel's names (`s1-eth2`) use.

Everything is frozen; `with_settings`, `with_transmit` and `with_hosts` give a changed copy, which
is how a lab tries another rate or another queue on the network of its file.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from controller.queueing import InputStage, Limit, PortSettings, RouterSettings
from controller.values import Mac
from topo.errors import ModelError

Interface: TypeAlias = ipaddress.IPv4Interface | ipaddress.IPv6Interface
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

# Names become parts of interface names, of which Linux takes 15 characters: "s12-eth34".
_NAME = re.compile(r"[a-z][a-z0-9]{0,7}")
# v1model's ports are 9 bits wide; 510 is the controller's and 511 means "drop".
PORT_NUMBER_MAX = 509
# Ethernet's default MTU, and Linux's limits: RFC 791's least, IP's most.
MTU_BYTES = 1500
MTU_BYTES_MIN = 576
MTU_BYTES_MAX = 65535


# ---- hosts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TcpBuffer:
    """The values of `tcp_rmem` and `tcp_wmem`, in bytes; the kernel moves between them by
    itself."""

    min_bytes: int
    default_bytes: int
    max_bytes: int

    def __str__(self) -> str:
        return f"{self.min_bytes} {self.default_bytes} {self.max_bytes}"


@dataclass(frozen=True)
class TcpSettings:
    """How a host's TCP behaves; None is the kernel's own choice, which differs by kernel."""

    congestion: str | None = None
    rmem: TcpBuffer | None = None
    wmem: TcpBuffer | None = None
    # Each segment is acknowledged at once, where a host would wait for a second one.
    quickack: bool = False
    # The slow-start threshold that every flow of the host begins with, in segments.
    ssthresh_packets: int | None = None


@dataclass(frozen=True)
class Host:
    """A machine with one interface behind one port of a router."""

    name: str
    address: ipaddress.IPv4Interface
    # The router's address in the host's network; the router answers for it with its port's MAC.
    gateway: ipaddress.IPv4Address
    mac: Mac
    # Both or none: a host without them has no IPv6 at all.
    address6: ipaddress.IPv6Interface | None = None
    gateway6: ipaddress.IPv6Address | None = None
    tcp: TcpSettings = TcpSettings()
    # Kernel parameters of the host's network by their names: {"net.ipv4.tcp_sack": "0"}.
    sysctls: Mapping[str, str] = field(default_factory=dict)
    # The features that ethtool switches on or off: {"tso": False}. Left out: on, as on real
    # machines.
    offloads: Mapping[str, bool] = field(default_factory=dict)

    @property
    def addresses(self) -> tuple[Interface, ...]:
        """The IPv4 address and, where there is one, the IPv6 address."""
        return (self.address,) if self.address6 is None else (self.address, self.address6)


# ---- switches ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Impairment:
    """The impairments of one direction of a cable."""

    delay_ns: int = 0
    # On top of the delay, evenly distributed from zero to this.
    jitter_ns: int = 0
    # A share of the frames comes later still, by up to this much: their sender was busy with
    # something else. Those behind such a frame wait for it, unless frames may overtake.
    stall_ppm: int = 0
    stall_max_ns: int = 0
    # Whether jitter and stalls may let a frame overtake another.
    reorder: bool = False
    loss_ppm: int = 0
    # How many frames are lost in a row, in the mean; None: each frame is lost or not on its own.
    loss_burst_packets: int | None = None
    # Arrives with one bit flipped.
    corruption_ppm: int = 0
    # Arrives twice.
    duplication_ppm: int = 0


@dataclass(frozen=True)
class Sender:
    """The neighbour's network card, as far as the port emulates it: how fast frames come in."""

    # None: at the port's own rate. 0: as fast as they are handed over.
    rate_bps: int | None = None
    # The limit of its queue; excess frames are the sender's loss, not the router's. None: the
    # default of `cables` for such a neighbour.
    backlog: Limit | None = None
    # Another router holds back what its line cannot carry; a host's card has a queue.
    is_router: bool = False


@dataclass(frozen=True)
class Cable:
    """The cable that the port emulates."""

    transmit: Impairment = Impairment()
    receive: Impairment = Impairment()
    sender: Sender = Sender()


@dataclass(frozen=True)
class Port:
    """A port of a switch: its addresses, its queues and its end of the cable."""

    number: int
    mac: Mac
    # The router's own addresses there; the networks they lie in are the port's.
    addresses: tuple[Interface, ...] = ()
    settings: PortSettings = field(default_factory=PortSettings)
    cable: Cable = Cable()

    @property
    def rate_bps(self) -> int | None:
        """The line's speed; None: as fast as the machine."""
        return self.settings.rate_bps

    @property
    def queue_packets(self) -> int | None:
        """The limit of each queue in packets; None: in bytes only, or the switch's default."""
        queue = self.settings.every_queue
        return queue.limit.packets if queue and queue.limit else None


@dataclass(frozen=True)
class Switch:
    """A router: one vitrine-switch."""

    name: str
    device_id: int
    grpc_port: int
    ports: tuple[Port, ...]
    # Whether it answers at that port whatever others do, because its file names it.
    is_on_tcp: bool = False
    # A memory that all output queues share; None: every queue has its own.
    buffer_bytes: int | None = None
    # Queues in front of the fabric; None: none.
    input: InputStage | None = None
    # Its P4 program: one of p4src/programs by name, or the path of a file. None: the kit's router.
    program: str | None = None

    def port(self, number: int) -> Port:
        """The port with that number."""
        for port in self.ports:
            if port.number == number:
                return port
        raise ModelError(f"{self.name} has no port {number}.")

    @property
    def settings(self) -> RouterSettings:
        """The topology's settings of the router's queues."""
        ports = {port.number: port.settings for port in self.ports}
        return RouterSettings(ports, self.buffer_bytes, self.input)


# ---- the network ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class End:
    """One end of a link: a node, and the port where the node is a switch."""

    node: str
    port: int | None = None

    def __str__(self) -> str:
        return self.node if self.port is None else f"{self.node} port {self.port}"


@dataclass(frozen=True)
class Link:
    """A cable. Rates, queues and delays belong to the ports at its ends, each for its direction."""

    a: End
    b: End
    # The longest IP packet that it takes, in both directions.
    mtu_bytes: int = MTU_BYTES


@dataclass(frozen=True)
class Topology:
    """A network. The constructor refuses one that contradicts itself."""

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    # Hosts know the Ethernet address of their gateway, so that no ARP mixes with a lab's packets;
    # otherwise they learn it as on any network.
    knows_gateways: bool = True

    def __post_init__(self) -> None:
        host_names = [host.name for host in self.hosts]
        check_links(host_names, self.switches, self.links)
        for host in self.hosts:
            _check_gateways(host)
        self._check_addresses()
        _check_unique("gRPC port", (str(switch.grpc_port) for switch in self.switches), "switches")
        _check_unique("device id", (str(switch.device_id) for switch in self.switches), "switches")
        for switch in self.switches:
            numbers = (str(port.number) for port in switch.ports)
            _check_unique(f"port of {switch.name}", numbers, "switches")

    def host(self, name: str) -> Host:
        """The host with that name."""
        return _named("host", name, self.hosts)

    def switch(self, name: str) -> Switch:
        """The switch with that name."""
        return _named("switch", name, self.switches)

    def neighbour(self, end: End) -> End:
        """The other end of the cable at `end`."""
        link = self.link(end)
        return link.b if link.a == end else link.a

    def link(self, end: End) -> Link:
        """The cable at `end`."""
        for link in self.links:
            if end in (link.a, link.b):
                return link
        raise ModelError(f"{end} is on no link.")

    def attachment(self, host: str) -> tuple[Switch, Port]:
        """The switch and the port that a host hangs on."""
        end = self.neighbour(End(host))
        switch = self.switch(end.node)
        return switch, switch.port(end.port or 0)

    # ---- changed copies --------------------------------------------------------------------------

    def with_settings(self, switch: str, number: int, **changes: Any) -> Topology:
        """The same network with fields of one port's `PortSettings` changed."""
        port = self.switch(switch).port(number)
        return self._with_port(
            switch,
            dataclasses.replace(port, settings=dataclasses.replace(port.settings, **changes)),
        )

    def with_transmit(self, switch: str, number: int, **changes: Any) -> Topology:
        """The same network with other fields of the `Impairment` of frames that leave through a
        port."""
        return self._with_line(switch, number, "transmit", changes)

    def with_receive(self, switch: str, number: int, **changes: Any) -> Topology:
        """The same network with other fields of the `Impairment` of frames that come in at a
        port."""
        return self._with_line(switch, number, "receive", changes)

    def with_hosts(self, *names: str, **changes: Any) -> Topology:
        """The same network with fields of these hosts changed, or of all if none is named."""
        for name in names:
            self.host(name)
        hosts = tuple(
            dataclasses.replace(host, **changes) if not names or host.name in names else host
            for host in self.hosts
        )
        return dataclasses.replace(self, hosts=hosts)

    def with_input(self, switch: str, stage: InputStage | None) -> Topology:
        """The same network with another input stage in one router."""
        return self._with_switch(dataclasses.replace(self.switch(switch), input=stage))

    def _with_line(
        self, switch: str, number: int, line: str, changes: Mapping[str, Any]
    ) -> Topology:
        port = self.switch(switch).port(number)
        impairment = dataclasses.replace(getattr(port.cable, line), **changes)
        cable = dataclasses.replace(port.cable, **{line: impairment})
        return self._with_port(switch, dataclasses.replace(port, cable=cable))

    def _with_port(self, switch: str, changed: Port) -> Topology:
        before = self.switch(switch)
        ports = tuple(changed if each.number == changed.number else each for each in before.ports)
        return self._with_switch(dataclasses.replace(before, ports=ports))

    def _with_switch(self, changed: Switch) -> Topology:
        switches = tuple(changed if each.name == changed.name else each for each in self.switches)
        return dataclasses.replace(self, switches=switches)

    # ---- checks ----------------------------------------------------------------------------------

    def _check_addresses(self) -> None:
        ports = [(switch, port) for switch in self.switches for port in switch.ports]
        addresses = [str(address.ip) for host in self.hosts for address in host.addresses]
        addresses += [str(address.ip) for _, port in ports for address in port.addresses]
        _check_unique("address", addresses, "hosts")
        macs = [str(host.mac) for host in self.hosts] + [str(port.mac) for _, port in ports]
        _check_unique("Ethernet address", macs, "hosts")


_Node = TypeVar("_Node", Host, Switch)


def check_links(hosts: Sequence[str], switches: Sequence[Switch], links: Sequence[Link]) -> None:
    """Refuses names that are none, links that join what is not there, and loose ends."""
    _check_names([*hosts, *(switch.name for switch in switches)])
    for index, link in enumerate(links):
        way = ("links", f"[{index}]")
        for end in (link.a, link.b):
            _check_end(end, hosts, switches, way)
        if not MTU_BYTES_MIN <= link.mtu_bytes <= MTU_BYTES_MAX:
            raise ModelError(
                f"an MTU of {link.mtu_bytes} bytes: it must be from {MTU_BYTES_MIN} to "
                f"{MTU_BYTES_MAX}.",
                way,
            )
        if link.a.port is None and link.b.port is None:
            raise ModelError("the link joins two hosts: put a switch between them.", way)
    ends = [end for link in links for end in (link.a, link.b)]
    _check_unique("link end", map(str, ends), "links")
    for host in hosts:
        if End(host) not in ends:
            raise ModelError(f"host {host} is on no link.", ("hosts", host))
    for switch in switches:
        for port in switch.ports:
            if End(switch.name, port.number) not in ends:
                raise ModelError(
                    f"port {port.number} of {switch.name} is on no link.",
                    ("switches", switch.name, "ports", str(port.number)),
                )


def _check_end(
    end: End, hosts: Sequence[str], switches: Sequence[Switch], way: tuple[str, ...]
) -> None:
    if end.node in hosts:
        if end.port is not None:
            raise ModelError(f"link end {end}: a host has one interface, leave the port out.", way)
        return
    switch = next((each for each in switches if each.name == end.node), None)
    if switch is None:
        raise ModelError(f"link end {end}: there is no host or switch {end.node!r}.", way)
    if end.port is None:
        raise ModelError(f"link end {end}: say which port of the switch, as in s1:1.", way)
    if all(port.number != end.port for port in switch.ports):
        raise ModelError(f"link end {end}: {switch.name} has no port {end.port}.", way)


def _named(kind: str, name: str, nodes: Iterable[_Node]) -> _Node:
    for node in nodes:
        if node.name == name:
            return node
    raise ModelError(f"there is no {kind} {name!r}.")


def _check_names(names: list[str]) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise ModelError(
                f"{name!r} is no name for a node: use a letter and up to seven letters or digits, "
                "such as h1 or s1.",
                ("hosts", name),
            )
    _check_unique("name", names, "hosts")


def _check_unique(what: str, values: Iterable[str], part: str) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise ModelError(f"{what} {value} is used {count} times.", (part,))


def _check_gateways(host: Host) -> None:
    if (host.address6 is None) is not (host.gateway6 is None):
        raise ModelError(
            f"host {host.name}: give both an IPv6 address and a gateway for it, or neither.",
            ("hosts", host.name),
        )
    pairs: list[tuple[Interface | None, Any, str]] = [
        (host.address, host.gateway, "gateway"),
        (host.address6, host.gateway6, "gateway6"),
    ]
    for address, gateway, key in pairs:
        if address is None:
            continue
        way = ("hosts", host.name, key)
        if gateway not in address.network:
            raise ModelError(
                f"host {host.name}: the gateway {gateway} is outside its network "
                f"{address.network}.",
                way,
            )
        if gateway == address.ip:
            raise ModelError(
                f"host {host.name}: the gateway cannot be the host's own address.", way
            )
