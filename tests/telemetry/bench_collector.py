"""How many reports a second the collector keeps: `make bench-collector`.

The collector runs as its users run it, writing Parquet and serving metrics; this program sends it
reports at a steady rate over loopback and asks the kernel how much processor time it took. Reports
carry two hops and the reporter, as on a path of three routers: three rows each.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.telemetry.golden import ETHERNET_IPV4, IPV4_TCP_MARKED, TRACKED, TWO_HOPS

RATE_PER_S = 100_000
DURATION_S = 10
FLOWS = 100
BURST = 500
PORT = 32766


def datagrams() -> list[bytes]:
    """A burst of reports of node 3 on a hundred flows; sequence numbers are filled in later."""
    reports = []
    for index in range(BURST):
        source_port = (5000 + index % FLOWS).to_bytes(2, "big")
        packet = IPV4_TCP_MARKED[:20] + source_port + IPV4_TCP_MARKED[22:]
        header = bytes([0x13, 0xFF]) + TRACKED[2:]
        reports.append(header + ETHERNET_IPV4 + packet + TWO_HOPS)
    return reports


def send_all(sender: socket.socket) -> float:
    """Sends at the rate, in bursts; returns the seconds it took."""
    bodies = datagrams()
    # Nobody sets it: waiting for it is how the bursts keep their distance.
    pace = threading.Event()
    began = time.monotonic()
    for first in range(0, RATE_PER_S * DURATION_S, BURST):
        for index, body in enumerate(bodies):
            sequence = (first + index) % (1 << 22)
            sender.send((0x20000000 | sequence).to_bytes(4, "big") + b"\0\0\0\3" + body)
        wait_s = began + (first + BURST) / RATE_PER_S - time.monotonic()
        if wait_s > 0:
            pace.wait(wait_s)
    return time.monotonic() - began


def main() -> int:
    """Prints what was sent, what was kept, and the processor time of the collector."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        command = [sys.executable, "-m", "apps.collector", "--port", str(PORT)]
        collector = subprocess.Popen(
            [*command, "--http", "0", "--parquet", str(path)], stdout=subprocess.PIPE, text=True
        )
        assert collector.stdout
        while "reports on udp" not in collector.stdout.readline():
            pass
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.connect(("127.0.0.1", PORT))
            took_s = send_all(sender)
        collector.send_signal(signal.SIGTERM)
        last = collector.stdout.read().strip().splitlines()[-1]
        _, status, usage = os.wait4(collector.pid, 0)
        size_mb = path.stat().st_size / 1e6
    sent = RATE_PER_S * DURATION_S
    busy_s = usage.ru_utime + usage.ru_stime
    kept = int(re.match(r"\d+", last)[0])
    print(f"sent      {sent} reports in {took_s:.1f} s: {sent / took_s:,.0f} a second")
    print(f"collector {last}")
    print(f"kept      {100 * kept / sent:.2f} %")
    print(f"processor {busy_s:.1f} s: {kept / busy_s:,.0f} reports a second of one core")
    print(f"memory    {usage.ru_maxrss / 1024:.0f} MB; file {size_mb:.0f} MB")
    return status


if __name__ == "__main__":
    sys.exit(main())
