"""Explaining the original's row for 2 packets: one difference to ns-2 at a time, in Linux.

    sudo build/venv/bin/python -m labs.sizing_router_buffers.differences [NAME ...]

Part of the handout. The original has 2.11 Mb/s and 4.7 % loss with a buffer of 2 packets; Linux has
some 8 Mb/s and 0.7 %. Each variant takes away or adds one thing in which the two differ; `all`
takes all of them together. It needs a calm machine: what holds hosts up makes bursts of its own.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from controller.queueing import Limit, QueueSettings
from controller.toolchain import ROOT
from labs.experiment import Experiment
from labs.narration import Narrator
from labs.run import Run
from labs.sizing_router_buffers.findings import SETTLED_S, Findings
from labs.worlds.live.bench import LiveBench
from topo import load
from topo.model import TcpSettings, Topology

COMMAND = "sudo build/venv/bin/python -m labs.sizing_router_buffers.differences"
LOGS = ROOT / "build" / "log" / "differences"
BOTTLENECK, ACCESS = 2, 1
RATE_BPS = 10_000_000
WINDOW_S = 10
BUFFER_PACKETS = 2


@dataclass(frozen=True)
class Variant:
    """One difference: what is set otherwise than in the lab."""

    name: str
    what: str
    # Kernel parameters of both hosts, and of the sender's and the receiver's route.
    kernel: Mapping[str, str] = field(default_factory=dict)
    sender_route: tuple[str, ...] = ()
    receiver_route: tuple[str, ...] = ("quickack", "1")
    # Super-packets, which leave the host as bursts.
    offloads: bool = True
    access_bps: int = 100_000_000
    buffer_packets: int = BUFFER_PACKETS


_NO_SACK = {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_dsack": "0"}
# Without RACK, tail-loss probes, F-RTO and early retransmission: losses are found as in 1990.
_OLD_RECOVERY = {
    **_NO_SACK,
    "net.ipv4.tcp_recovery": "0",
    "net.ipv4.tcp_early_retrans": "0",
    "net.ipv4.tcp_frto": "0",
}
VARIANTS = (
    Variant("lab", "as the lab has it"),
    Variant("delayed", "delayed acknowledgements, as Linux sends them", receiver_route=()),
    Variant("nosack", "no selective acknowledgements", _NO_SACK),
    Variant("oldloss", "nor RACK, tail-loss probes, F-RTO", _OLD_RECOVERY),
    Variant("rto", "a timeout of at least a second", sender_route=("rto_min", "1s")),
    Variant("fast", "an access line of 1 Gb/s: bursts come as bursts", access_bps=10**9),
    Variant("notso", "no super-packets: each segment leaves on its own", offloads=False),
    Variant("served", "the packet in service counts: room for one behind it", buffer_packets=1),
    Variant(
        "reno",
        "delayed acknowledgements, and losses found as in 1990",
        _OLD_RECOVERY,
        receiver_route=(),
    ),
    Variant(
        "all",
        "everything but delayed acknowledgements and super-packets",
        _OLD_RECOVERY,
        sender_route=("rto_min", "1s"),
        access_bps=10**9,
        buffer_packets=1,
    ),
)


def topology(variant: Variant) -> Topology:
    """The lab's network with the variant's changes."""
    limit = QueueSettings(limit=Limit(packets=variant.buffer_packets))
    offloads = {} if variant.offloads else {"tso": False, "gso": False}
    return (
        load.load(Path(__file__).with_name("topology.yaml"))
        .with_settings("s1", BOTTLENECK, rate_bps=RATE_BPS, every_queue=limit)
        .with_settings("s1", ACCESS, rate_bps=variant.access_bps)
        .with_hosts(tcp=TcpSettings("reno"), sysctls=variant.kernel, offloads=offloads)
    )


def measured(variant: Variant, bench: LiveBench) -> tuple[Findings, str]:
    """One flow, measured as in the lab; and whether the machine disturbed it."""
    net = topology(variant)
    bench.bring_up(net)
    for host, metrics in (("h1", variant.sender_route), ("h2", variant.receiver_route)):
        if metrics:
            gateway = str(net.host(host).gateway)
            bench.host(host).run(["ip", "route", "change", "default", "via", gateway, *metrics])
    with bench.recording([("s1", BOTTLENECK)], senders=["h1"]) as instruments:
        seconds = round(SETTLED_S) + WINDOW_S + 1
        instruments.flow("flow", "h1", "h2", seconds=seconds, congestion="reno")
        instruments.finish()
    hold_ups = instruments.recording.hold_ups
    found = Findings(instruments.recording, WINDOW_S, RATE_BPS)
    return found, f"; {hold_ups}" if hold_ups.disturb else ""


def rows(chosen: Sequence[Variant]) -> Generator[list[str], None, None]:
    """A row for each variant: what was changed, and what one flow found."""
    runs = [Run(variant.name, variant.what, 15) for variant in chosen]
    with LiveBench(LOGS, Narrator(runs, io.StringIO())) as bench:
        for variant, run in zip(chosen, runs, strict=True):
            bench.narrator.begin(run)
            found, disturbed = measured(variant, bench)
            bench.narrator.finished()
            yield [
                f"{variant.what}{disturbed}",
                f"{found.throughput_bps / 1e6:.2f} Mb/s",
                f"{found.loss:.2%}",
                f"{found.rtt_ms:.0f} ms",
                f"{found.drops_each:.1f}",
            ]


def main(names: list[str]) -> int:
    """Returns the exit status."""
    chosen = [variant for variant in VARIANTS if not names or variant.name in names]
    head = ["what was changed", "throughput", "loss rate", "mean RTT", "drops at each loss"]
    kept = Experiment("sizing-router-buffers", "differences", COMMAND, head)
    print("the original: 2.11 Mb/s, 4.719% lost, RTT 21 ms")
    return kept.conducted(rows(chosen), sep=", ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
