"""The P4 project's simple_switch_grpc as a backend.

That switch knows neither the rate of a line nor the length of a cable, and takes a super-packet of
the kernel for one long packet. So it stands between cables that are emulated for it, by a
vitrine-switch that only passes frames on (p4src/programs/cable.p4):

    h1-eth0 === s1-eth1 | cables | s1-cb1 ==== s1-sw1 | simple_switch_grpc | s1-sw2 === s1-cb2 | ...

The cables split super-packets into the frames of a wire, space what a host sends as its network
card would, and delay and lose what the topology says, exactly as with our own switch. They have no
queue and no rate of their own toward the hosts: what is measured between `s1-sw1` and `s1-sw2` is
simple_switch alone. Its queues are set through Thrift and seen from outside (`tap`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess

from controller import routers
from controller.addresses import at_socket
from controller.lines import Lines
from controller.session import Session
from controller.simple_switch import THRIFT_OFFSET, Conversion, SimpleSwitch, converted
from controller.toolchain import ROOT, SIMPLE_SWITCH, Toolchain
from topo import kernel, record, vitrine_switch
from topo.backend import (
    CPU_PORT,
    Backend,
    QueueReadings,
    RunningSwitch,
    Starter,
    await_answer,
    interface,
    on_loopback,
)
from topo.cables import cable
from topo.errors import MachineError
from topo.model import End, Port, Switch, Topology
from topo.tap import Tap

CABLE_PROGRAM = ROOT / "build" / "p4" / "cable.json"
# The outside of the cable at port n, as in p4src/programs/cable.p4.
_OUTSIDE = 256
_ETHERNET_BYTES = 14
# As many as simple_switch has with --priority-queues, where the topology does not say.
_CLASSES = 8
# The cables hand frames over as they are on a wire: one by one, with their checksums.
_OFFLOADS_OFF = ("tso", "off", "gso", "off", "gro", "off", "tx", "off")


class SimpleSwitchBackend(Backend):
    """simple_switch_grpc between emulated cables."""

    def check(self, topology: Topology) -> None:
        """Tools, and what of the topology that switch cannot do."""
        Toolchain.P4LANG.check()
        vitrine_switch.check_binary()
        for switch in topology.switches:
            vitrine_switch.check_socket(_cables_address(switch))
        if not CABLE_PROGRAM.exists():
            raise MachineError(f"{CABLE_PROGRAM} is missing: run `make build` first.")
        for switch in topology.switches:
            _conversion(topology, switch)
            for port in switch.ports:
                if port.number >= _OUTSIDE:
                    raise MachineError(
                        f"port {port.number} of {switch.name}: with --toolchain p4lang ports are "
                        f"numbered from 1 to {_OUTSIDE - 1}."
                    )
                for name in (_inner(switch, port.number), _held(switch, port.number)):
                    if record.interface_exists(name):
                        raise MachineError(
                            f"the interface {name} exists already: end the program that made it, "
                            f"or remove it with `ip link delete {name}`."
                        )

    def tcp_ports(self, switch: Switch) -> list[int]:
        """P4Runtime and Thrift: it has no other way in."""
        return [switch.grpc_port, switch.grpc_port + THRIFT_OFFSET]

    def address(self, switch: Switch) -> str:
        """P4Runtime's."""
        return on_loopback(switch.grpc_port)

    def start(self, topology: Topology, switch: Switch, network: Starter) -> RunningSwitch:
        """Two processes: the cables, then simple_switch_grpc between them."""
        for port in switch.ports:
            mtu_bytes = topology.link(End(switch.name, port.number)).mtu_bytes
            inner, held = _inner(switch, port.number), _held(switch, port.number)
            _add_pair(inner, held, mtu_bytes, network)
        grpc, thrift = self.tcp_ports(switch)
        cables = _cables_address(switch)
        argv = [str(vitrine_switch.BINARY), "--grpc", cables]
        for port in switch.ports:
            argv += ["-i", f"{port.number}@{_inner(switch, port.number)}"]
            argv += ["-i", f"{port.number + _OUTSIDE}@{interface(switch, port.number)}"]
        process = network.start_process(
            [*argv, str(CABLE_PROGRAM)], network.logs / f"{switch.name}-cables.log"
        )
        vitrine_switch.await_own(process, f"the cables of {switch.name}", cables)
        argv = [SIMPLE_SWITCH, "--no-p4", "--device-id", str(switch.device_id)]
        argv += ["--thrift-port", str(thrift)]
        for port in switch.ports:
            argv += ["-i", f"{port.number}@{_held(switch, port.number)}"]
        # Its own flags come behind those that all of bmv2's switches share.
        argv += ["--", "--grpc-server-addr", self.address(switch), "--cpu-port", str(CPU_PORT)]
        argv += ["--priority-queues", str(class_count(switch))]
        process = network.start_process(argv, network.logs / f"{switch.name}.log")
        await_answer(process, switch.name, [on_loopback(grpc), on_loopback(thrift)])
        return _Running(topology, switch, thrift, cables)


class _Running(RunningSwitch):
    def __init__(self, topology: Topology, switch: Switch, thrift: int, cables: str) -> None:
        self._topology = topology
        self._switch = switch
        self._thrift = thrift
        self._cables = cables

    def configure(self, session: Session) -> None:
        conversion = _conversion(self._topology, self._switch)
        with SimpleSwitch("127.0.0.1", self._thrift) as switch:
            switch.configure(conversion)
        self.remarks = conversion.remarks
        with Session.connect(self._cables) as session:
            Lines(session).configure(
                {port.number + _OUTSIDE: cable(_with_card(port)) for port in self._switch.ports}
            )

    def readings(self, session: Session) -> QueueReadings:
        held = {port.number: _held(self._switch, port.number) for port in self._switch.ports}
        return Tap(self._topology, self._switch, held)

    def stop(self) -> None:
        for port in self._switch.ports:
            # Deleting one end of a pair deletes both; a switch that never started has none.
            with contextlib.suppress(MachineError):
                _ip("link", "delete", _held(self._switch, port.number))


def _cables_address(switch: Switch) -> str:
    """Where the cables around a switch answer."""
    return at_socket(routers.socket_path(f"{switch.name}-cables"))


def class_count(switch: Switch) -> int:
    """The queues of each port: simple_switch has one number for all."""
    return max(port.settings.queue_count or _CLASSES for port in switch.ports)


def _conversion(topology: Topology, switch: Switch) -> Conversion:
    """The switch's settings in its own words; a full frame is as long as its link allows."""
    frame_bytes = {
        port.number: topology.link(End(switch.name, port.number)).mtu_bytes + _ETHERNET_BYTES
        for port in switch.ports
    }
    return converted(switch.settings, class_count(switch), frame_bytes)


def _with_card(port: Port) -> Port:
    """The port with the rate of the neighbour's network card, which is the line's by default."""
    sender = port.cable.sender
    if sender.rate_bps is not None:
        return port
    sender = dataclasses.replace(sender, rate_bps=port.rate_bps or 0)
    return dataclasses.replace(port, cable=dataclasses.replace(port.cable, sender=sender))


def _inner(switch: Switch, port: int) -> str:
    """The cable's inner end."""
    return f"{switch.name}-cb{port}"


def _held(switch: Switch, port: int) -> str:
    """The end that simple_switch holds."""
    return f"{switch.name}-sw{port}"


def _add_pair(inner: str, held: str, mtu_bytes: int, network: Starter) -> None:
    network.add_link(held)
    _ip("link", "add", held, "type", "veth", "peer", "name", inner)
    for name in (inner, held):
        kernel.silence(name)
        _ip("link", "set", name, "mtu", str(mtu_bytes), "up")
        _run("ethtool", "-K", name, *_OFFLOADS_OFF)


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MachineError(f"`{' '.join(argv)}` failed: {done.stderr.strip()}.")
