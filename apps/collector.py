"""Collects telemetry reports: receives them, keeps them, shows them.

    python -m apps.collector --port 32766 --parquet out/reports.parquet --http 9090

Ends with Ctrl-C or SIGTERM, completes its file and says what it saw. What never reached it is said
too: reports missing in a sender's sequence, and datagrams the kernel dropped because it was late.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from apps.domain import REPORT_PORT
from controller.errors import ControllerError
from controller.telemetry.collection import Collection
from controller.telemetry.metrics import LiveServer
from controller.telemetry.packet import DSCP_INT, Marker
from controller.telemetry.parquet import ParquetWriter
from controller.telemetry.receive import Receiver
from controller.telemetry.semantics import KIT_SEMANTICS, load_semantics
from topo.units import counted

# How long a request to end waits for an idle collector.
IDLE_WAIT_S = 0.2


class Service:
    """The receiver and the collection, run until `end` is set."""

    def __init__(self, receiver: Receiver, collection: Collection) -> None:
        self.receiver = receiver
        self.collection = collection
        self.end = threading.Event()

    def run(self) -> None:
        """Takes reports until it is stopped, and then those that have arrived by then."""
        while True:
            ending = self.end.is_set()
            batch = self.receiver.receive(IDLE_WAIT_S)
            if batch is not None:
                self.collection.take(batch)
            elif ending:
                return

    def losses(self) -> dict[str, int]:
        """Reports that arrived at the machine and were not read."""
        return {"dropped": self.receiver.dropped, "oversized": self.receiver.oversized}


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return _collect(options)
    except (ControllerError, OSError) as error:
        print(f"collector: {error}", file=sys.stderr)
        return 1


def _collect(options: argparse.Namespace) -> int:
    semantics = load_semantics(options.semantics)
    marker = (
        Marker(dscp=options.dscp)
        if options.udp_marker is None
        else Marker(dscp=None, udp_port=options.udp_marker)
    )
    receiver = Receiver(options.listen, options.port)
    parquet = ParquetWriter(options.parquet, semantics) if options.parquet else None
    service = Service(receiver, Collection(marker, semantics, parquet))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: service.end.set())
    live = None
    try:
        if options.http is not None:
            live = LiveServer(options.listen, options.http, service.collection, service.losses)
            print(f"metrics and live values on http://{options.listen}:{live.port}", flush=True)
        print(f"reports on udp {options.listen}:{options.port}", flush=True)
        service.run()
    finally:
        if live:
            live.close()
        receiver.close()
        service.collection.close()
    print(told(service.collection, service.receiver.dropped))
    return 0


def told(collection: Collection, dropped: int) -> str:
    """The collected reports, and the losses, `dropped` of them at the collector itself, as a
    line."""
    summary = collection.summary()
    lost = sum(sender["lost"] for sender in summary["senders"])
    nodes, flows = len(summary["senders"]), len(summary["flows"])
    return (
        f"{counted(summary['datagrams'], 'report')} of {counted(nodes, 'node')} on "
        f"{counted(flows, 'flow')}; {lost} missing in sequence, "
        f"{dropped} dropped here, {summary['malformed']} malformed"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="collector", description=__doc__.splitlines()[0])
    parser.add_argument("--listen", default="127.0.0.1", metavar="ADDRESS", help="%(default)s")
    parser.add_argument("--port", type=int, default=REPORT_PORT, help="UDP port, %(default)s")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve /metrics, /live, /series")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="write every row")
    parser.add_argument(
        "--semantics", type=Path, default=KIT_SEMANTICS, metavar="FILE", help="units of the values"
    )
    marker = parser.add_mutually_exclusive_group()
    marker.add_argument("--dscp", type=int, default=DSCP_INT, help="marks INT packets, %(default)s")
    marker.add_argument("--udp-marker", type=int, metavar="PORT", help="marks INT packets instead")
    return parser


if __name__ == "__main__":
    sys.exit(main())
