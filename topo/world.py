"""A topology as `vitrine.v1.World` takes it: hosts, bare routers and cables.

Queues, rates and the cables' delays are the routers' and are set through their sessions, as on
live ones. What a host has that a host in virtual time has not is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vitrine.v1 import world_pb2

from topo.errors import ModelError
from topo.model import End, Host, Link, Switch, TcpBuffer, TcpSettings, Topology

# Without them a host sends each segment on its own; the others change nothing without a machine.
_SUPER_PACKETS = ("tso", "gso")


def numbered(topology: Topology) -> Topology:
    """The same network with its devices numbered from 1, where they were from 0.

    All of them answer on one address, where a request without a number has the number 0.
    """
    if all(switch.device_id for switch in topology.switches):
        return topology
    switches = (replace(each, device_id=each.device_id + 1) for each in topology.switches)
    return replace(topology, switches=tuple(switches))


def message(topology: Topology) -> world_pb2.Topology:
    """The network that `World.build` takes."""
    return world_pb2.Topology(
        hosts=[_host(topology, host) for host in topology.hosts],
        routers=[_router(switch) for switch in topology.switches],
        cables=[_cable(link) for link in topology.links],
    )


def _host(topology: Topology, host: Host) -> world_pb2.HostConfig:
    _, port = topology.attachment(host.name)
    gateways = [str(each) for each in (host.gateway, host.gateway6) if each is not None]
    known = gateways if topology.knows_gateways else []
    return world_pb2.HostConfig(
        name=host.name,
        mac=str(host.mac),
        addresses=[str(address) for address in host.addresses],
        gateways=gateways,
        neighbours=[world_pb2.Neighbour(address=each, mac=str(port.mac)) for each in known],
        tcp=_tcp(host),
    )


def _router(switch: Switch) -> world_pb2.RouterConfig:
    router = world_pb2.RouterConfig(name=switch.name, device_id=switch.device_id)
    for port in switch.ports:
        router.ports.add(port=port.number)
    return router


def _cable(link: Link) -> world_pb2.CableConfig:
    return world_pb2.CableConfig(one=end(link.a), other=end(link.b), mtu_bytes=link.mtu_bytes)


def end(of: End) -> world_pb2.CableEnd:
    """Where a cable is plugged in."""
    return world_pb2.CableEnd(node=of.node, port=of.port)


# ---- TCP -----------------------------------------------------------------------------------------


def _tcp(host: Host) -> world_pb2.TcpConfig:
    config = _settings(host.tcp)
    if any(host.offloads.get(name) is False for name in _SUPER_PACKETS):
        config.tso_segments_max = 1
    for key, value in host.sysctls.items():
        if key not in _SYSCTLS:
            raise ModelError(
                f"host {host.name}: a host in virtual time has no {key}; it has "
                f"{', '.join(sorted(_SYSCTLS))}.",
                ("hosts", host.name, "sysctls"),
            )
        try:
            _SYSCTLS[key](config, value)
        except ValueError:
            raise ModelError(
                f"host {host.name}: {value!r} is no value of {key}.",
                ("hosts", host.name, "sysctls"),
            ) from None
    return config


def _settings(tcp: TcpSettings) -> world_pb2.TcpConfig:
    config = world_pb2.TcpConfig(
        congestion_control=tcp.congestion,
        initial_ssthresh=tcp.ssthresh_packets,
        # Nothing waits for a second segment.
        segments_per_ack=1 if tcp.quickack else None,
    )
    if tcp.rmem is not None:
        config.rmem.CopyFrom(_memory(tcp.rmem))
    if tcp.wmem is not None:
        config.wmem.CopyFrom(_memory(tcp.wmem))
    return config


def _memory(buffer: TcpBuffer) -> world_pb2.TcpMemory:
    return world_pb2.TcpMemory(
        min_bytes=buffer.min_bytes,
        default_bytes=buffer.default_bytes,
        max_bytes=buffer.max_bytes,
    )


_Setter = Callable[[world_pb2.TcpConfig, str], None]


def _number(field: str, factor: int = 1) -> _Setter:
    return lambda config, value: setattr(config, field, int(value) * factor)


def _flag(field: str) -> _Setter:
    return lambda config, value: setattr(config, field, int(value) != 0)


def _three(field: str) -> _Setter:
    def put(config: world_pb2.TcpConfig, value: str) -> None:
        least, default, most = map(int, value.split())
        getattr(config, field).CopyFrom(_memory(TcpBuffer(least, default, most)))

    return put


def _put_congestion(config: world_pb2.TcpConfig, value: str) -> None:
    config.congestion_control = value


def _put_nothing(config: world_pb2.TcpConfig, value: str) -> None:
    """Hosts in virtual time never carry what they learned of a path into the next connection."""


# Linux's parameters of a host's network, and what they are here.
_SYSCTLS: dict[str, _Setter] = {
    "net.ipv4.tcp_congestion_control": _put_congestion,
    "net.ipv4.tcp_dsack": _flag("dsack"),
    "net.ipv4.tcp_early_retrans": _flag("tail_loss_probe"),
    "net.ipv4.tcp_ecn": _number("ecn"),
    "net.ipv4.tcp_frto": _flag("frto"),
    "net.ipv4.tcp_limit_output_bytes": _number("limit_output_bytes"),
    "net.ipv4.tcp_moderate_rcvbuf": _flag("moderate_rcvbuf"),
    "net.ipv4.tcp_no_metrics_save": _put_nothing,
    "net.ipv4.tcp_recovery": _flag("rack"),
    "net.ipv4.tcp_reordering": _number("reordering"),
    "net.ipv4.tcp_rmem": _three("rmem"),
    "net.ipv4.tcp_rto_min_us": _number("rto_min_ns", 1000),
    "net.ipv4.tcp_sack": _flag("sack"),
    "net.ipv4.tcp_slow_start_after_idle": _flag("slow_start_after_idle"),
    "net.ipv4.tcp_timestamps": _flag("timestamps"),
    "net.ipv4.tcp_window_scaling": _flag("window_scaling"),
    "net.ipv4.tcp_wmem": _three("wmem"),
}
