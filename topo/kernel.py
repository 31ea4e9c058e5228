"""The kernel parameters of a host's network: a topology's settings, written where they take effect.

A network namespace has its own `net.*` parameters, with one exception that costs every newcomer an
hour: the list of congestion controls that it may choose from is the root namespace's.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from topo.errors import MachineError
from topo.model import Host

_ALLOWED_CONGESTION = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_AVAILABLE_CONGESTION = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def parameters(host: Host) -> dict[str, str]:
    """Everything that is set in the host, by path; later entries win over earlier ones."""
    values = {
        # A finished connection's window must not become the start of the next one: each run of a
        # lab begins as the first one did.
        "net/ipv4/tcp_no_metrics_save": "1",
    }
    if host.tcp.rmem is not None:
        values["net/ipv4/tcp_rmem"] = str(host.tcp.rmem)
    if host.tcp.wmem is not None:
        values["net/ipv4/tcp_wmem"] = str(host.tcp.wmem)
    values.update({key.replace(".", "/"): value for key, value in host.sysctls.items()})
    return values


def route_metrics(host: Host) -> list[str]:
    """The part of a host's TCP settings that Linux takes from the route to its peer, for `ip
    route`."""
    metrics = []
    if host.tcp.quickack:
        metrics += ["quickack", "1"]
    if host.tcp.ssthresh_packets is not None:
        metrics += ["ssthresh", "lock", str(host.tcp.ssthresh_packets)]
    return metrics


def congestion_controls() -> list[str]:
    """Those that this kernel has loaded."""
    return _AVAILABLE_CONGESTION.read_text().split()


def allow_congestion_control(algorithm: str) -> None:
    """Lets namespaces choose an algorithm that only the root namespace may use otherwise."""
    allowed = _ALLOWED_CONGESTION.read_text().split()
    if algorithm in allowed:
        return
    available = _AVAILABLE_CONGESTION.read_text().split()
    if algorithm not in available:
        raise MachineError(
            f"this kernel has no congestion control {algorithm!r}; it has {', '.join(available)} "
            f"(`modprobe tcp_{algorithm}` may add it)."
        )
    _ALLOWED_CONGESTION.write_text(" ".join([*allowed, algorithm]))


def set_parameter(pid: int, name: str, key: str, value: str) -> None:
    """Sets a parameter in a host's namespace; without IPv6 its parameters are absent."""
    if key.startswith("net/ipv6") and not Path("/proc/sys/net/ipv6").exists():
        return
    # The file is opened inside the namespace, where /proc/sys/net is the host's own.
    run(pid, f"{name}: {key} cannot be set to {value}", ["tee", f"/proc/sys/{key}"], value)


def silence(interface: str) -> None:
    """Keeps the machine's own IPv6 off a cable: every packet in a lab's picture is the lab's."""
    switch = Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6")
    if switch.exists():
        switch.write_text("1")


def run(pid: int, complaint: str, argv: Sequence[str], text: str = "") -> None:
    """Runs a short command in a host's namespace with `text` as its input."""
    done = subprocess.run(
        ["mnexec", "-a", str(pid), *argv], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise MachineError(f"{complaint}: {done.stderr.strip()}.")
