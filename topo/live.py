"""The one adapter to Mininet: a topology as real hosts around switch processes.

    with LiveNetwork(topology, logs=Path("build/log")) as network:
        network.host("h1").run(["ping", "-c", "1", "10.0.2.2"])

Hosts are Mininet hosts: network namespaces with the kernel's own TCP, offloads on. Each switch is
run by a `backend` in the root namespace, with one end of every cable (`s1-eth1`): ours, or the P4
project's. There is no Open vSwitch and no Linux queueing discipline: rates, queues and delays are
the switch's.

Leaving the `with` block ends every process and removes every interface, also on Ctrl-C and SIGTERM;
while it does so further signals wait. What a killed run left behind, the next one cleans up (see
`record`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import mininet.log
from mininet.net import Mininet
from mininet.node import Node
from mininet.node import Switch as MininetSwitch

from controller.values import Mac
from topo import ending, kernel, preflight, record, wait
from topo.backend import START_DEADLINE_S, Backend, RunningSwitch
from topo.model import Host, Link, Topology
from topo.process import Process
from topo.vitrine_switch import VitrineBackend

COMMAND_DEADLINE_S = 120.0


class LiveHost:
    """A host of a network that is up."""

    def __init__(self, node: Node, host: Host, network: LiveNetwork) -> None:
        self._node = node
        self._network = network
        self.name = host.name
        self.address = host.address.ip
        # Where programs started here leave their output.
        self.logs = network.logs

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command in the root namespace that runs `argv` in the host."""
        return ["mnexec", "-a", str(self._node.pid), *argv]

    def start(self, argv: Sequence[str], log: Path) -> Process:
        """Starts a program in the host; it ends with the network at the latest."""
        return self._network.start_process(self.command(argv), log)

    def run(self, argv: Sequence[str], deadline_s: float = COMMAND_DEADLINE_S) -> str:
        """Runs a program in the host to its end and returns what it printed."""
        log = self.logs / f"{self.name}-{Path(argv[0]).name}.log"
        return self.start(argv, log).wait(f"{argv[0]} in {self.name}", deadline_s)

    def set_congestion_control(self, algorithm: str) -> None:
        """Chooses the TCP congestion control of new connections; the default differs by kernel."""
        kernel.allow_congestion_control(algorithm)
        self.set_kernel("net/ipv4/tcp_congestion_control", algorithm)

    def set_kernel(self, key: str, value: str) -> None:
        """Sets a parameter of the host's network, such as `net/ipv4/tcp_rmem`."""
        kernel.set_parameter(self._node.pid, self.name, key, value)

    def apply(self, host: Host) -> None:
        """Gives the running host what the topology says of its TCP and its network card."""
        for key, value in kernel.parameters(host).items():
            self.set_kernel(key, value)
        if host.tcp.congestion is not None:
            self.set_congestion_control(host.tcp.congestion)
        metrics = kernel.route_metrics(host)
        if metrics:
            gateway = str(host.gateway)
            self._set_up("ip", "route", "change", "default", "via", gateway, *metrics)
        for offload, is_on in host.offloads.items():
            state = "on" if is_on else "off"
            self._set_up("ethtool", "-K", f"{host.name}-eth0", offload, state)

    def join(self, host: Host) -> None:
        """Gives the running host its IPv6 address and way out, which Mininet knows nothing of."""
        if host.address6 is not None:
            interface = f"{host.name}-eth0"
            self._set_up("ip", "address", "add", str(host.address6), "dev", interface, "nodad")
            self._set_up("ip", "-6", "route", "add", "default", "via", str(host.gateway6))

    def meet(self, host: Host, gateway_mac: Mac) -> None:
        """Tells the running host the Ethernet address of its gateway."""
        for gateway in (host.gateway, host.gateway6):
            if gateway is not None:
                known = ("lladdr", str(gateway_mac), "dev", f"{host.name}-eth0")
                self._set_up("ip", "neighbour", "replace", str(gateway), *known)

    def _set_up(self, *argv: str) -> None:
        kernel.run(self._node.pid, f"{self.name}: `{' '.join(argv)}` failed", argv)

    def listens_on(self, port: int) -> bool:
        """Whether a TCP server of the host waits for connections on `port`."""
        return bool(self._node.cmd(f"ss -Hltn sport = :{port}").strip())


class LiveNetwork:
    """A topology that is up for the length of a `with` block."""

    def __init__(self, topology: Topology, *, logs: Path, backend: Backend | None = None) -> None:
        """Remembers what to build; nothing is touched before the `with` block."""
        self.topology = topology
        self.logs = logs
        self._backend = backend or VitrineBackend()
        # The remains of an interrupted run that were cleaned up before this one, for the caller to
        # show.
        self.cleaned: str | None = None
        self._hosts: dict[str, LiveHost] = {}
        self._switches: dict[str, RunningSwitch] = {}
        self._processes: list[Process] = []
        self._ending = contextlib.ExitStack()

    def __enter__(self) -> LiveNetwork:
        self.cleaned = preflight.check(self.topology, self._backend)
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _start(self) -> None:
        """Builds everything; how to undo a step is put on the stack before the next one."""
        self._ending.enter_context(ending.as_exit())
        self._record = self._ending.enter_context(record.opened())
        self._mininet = self._build()
        # The stack unwinds from its top: programs end first, then hosts and interfaces go.
        self._ending.callback(self._end_switches)
        self._ending.callback(self._end_processes)
        self._connect()
        for switch in self.topology.switches:
            self._switches[switch.name] = self._backend.start(self.topology, switch, self)

    def _end(self) -> None:
        with ending.held():
            self._ending.close()

    def host(self, name: str) -> LiveHost:
        """A host by name."""
        self.topology.host(name)
        return self._hosts[name]

    def switch(self, name: str) -> RunningSwitch:
        """A switch by name."""
        self.topology.switch(name)
        return self._switches[name]

    def address(self, switch: str) -> str:
        """Where a switch answers P4Runtime and vitrine.v1."""
        return self._backend.address(self.topology.switch(switch))

    @property
    def mininet(self) -> Mininet:
        """Mininet's own view of the network, for its prompt."""
        return self._mininet

    def start_process(self, argv: Sequence[str], log: Path) -> Process:
        """Starts a program that ends with the network at the latest."""
        process = Process(argv, log)
        self._processes.append(process)
        self._record.add_process(process.pid)
        return process

    def add_link(self, name: str) -> None:
        """Notes an interface of the root namespace that a switch is about to make."""
        self._record.add_link(name)

    # ---- building --------------------------------------------------------------------------------

    def _build(self) -> Mininet:
        """Mininet with all nodes, and nothing between them yet."""
        # Quiet about building; what the prompt prints is on the level "output".
        mininet.log.setLogLevel("output")
        net = Mininet(controller=None, build=False)
        self._ending.callback(net.stop)
        for host in self.topology.hosts:
            node = net.addHost(
                host.name,
                ip=str(host.address),
                mac=str(host.mac),
                defaultRoute=f"via {host.gateway}",
            )
            self._record.add_process(node.pid)
            self._hosts[host.name] = live = LiveHost(node, host, self)
            if host.address6 is None:
                # No neighbour discovery: every packet in a lab's picture is one the lab sent.
                for interfaces in ("all", "default"):
                    live.set_kernel(f"net/ipv6/conf/{interfaces}/disable_ipv6", "1")
        for switch in self.topology.switches:
            net.addSwitch(switch.name, cls=_RouterNode)
        return net

    def _connect(self) -> None:
        """Cables, addresses and neighbours."""
        for name in preflight.interface_names(self.topology):
            self._record.add_link(name)
        for link in self.topology.links:
            self._mininet.addLink(link.a.node, link.b.node, port1=link.a.port, port2=link.b.port)
        for name in preflight.interface_names(self.topology):
            kernel.silence(name)
        self._mininet.build()
        for link in self.topology.links:
            self._set_mtu(link)
        self._mininet.start()
        # The kernel starts a link a moment after its second end is up; what is sent before is lost.
        wait.until(
            lambda: all(map(_is_up, preflight.interface_names(self.topology))),
            "the start of all links",
            START_DEADLINE_S,
        )
        for host in self.topology.hosts:
            _, port = self.topology.attachment(host.name)
            self._hosts[host.name].join(host)
            if self.topology.knows_gateways:
                self._hosts[host.name].meet(host, port.mac)
            self._hosts[host.name].apply(host)

    def _set_mtu(self, link: Link) -> None:
        for end in (link.a, link.b):
            interface = f"{end.node}-eth{end.port or 0}"
            command = ["ip", "link", "set", interface, "mtu", str(link.mtu_bytes)]
            complaint = f"{interface}: an MTU of {link.mtu_bytes} bytes cannot be set"
            kernel.run(self._mininet.get(end.node).pid, complaint, command)

    def _end_switches(self) -> None:
        for switch in self._switches.values():
            switch.stop()

    def _end_processes(self) -> None:
        for process in reversed(self._processes):
            process.end()


class _RouterNode(MininetSwitch):
    """A place in the root namespace for a switch's interfaces; LiveNetwork runs the process."""

    def start(self, controllers: Sequence[object]) -> None:
        """Mininet calls this where Open vSwitch would be started."""

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 (Mininet's name)
        """Removes the interfaces."""
        super().stop(deleteIntfs)


def _is_up(interface: str) -> bool:
    return Path(f"/sys/class/net/{interface}/operstate").read_text().strip() == "up"
