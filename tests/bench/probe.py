"""Runs inside a namespace: how much a device receives in a time, and the gaps between its frames.

    python -m tests.bench.probe DEVICE SECONDS GAPS(0|1)

Prints JSON. The rate comes from the kernel's counter, read at two instants; the gaps from the time
stamps the kernel gives to frames as they arrive, so neither waits for this program to be run.
"""

from __future__ import annotations

import itertools
import json
import socket
import struct
import sys
import time
from pathlib import Path

from topo import wait

ETH_P_IP = 0x0800
SO_TIMESTAMPNS = 35
NS_PER_S = 1_000_000_000
# A flow has filled the queue by then.
SETTLE_S = 1.0
# Shorter frames are not part of the flow.
FULL_FRAME_BYTES = 1500


def main(device: str, seconds: float, *, gaps: bool) -> dict:
    wait.holds_within(lambda: False, SETTLE_S)
    before, started_at = _received(device), time.monotonic_ns()
    result = {"gaps_us": _gaps_us(device, seconds)} if gaps else {}
    if not gaps:
        wait.holds_within(lambda: False, seconds)
    after, ended_at = _received(device), time.monotonic_ns()
    span_s = (ended_at - started_at) / NS_PER_S
    names = ("bytes", "packets")
    return result | {
        f"{name}_per_s": (b - a) / span_s for name, a, b in zip(names, before, after, strict=True)
    }


def _received(device: str) -> tuple[int, int]:
    counters = Path(f"/sys/class/net/{device}/statistics")
    return tuple(int((counters / f"rx_{what}").read_text()) for what in ("bytes", "packets"))


def _gaps_us(device: str, seconds: float) -> list[float]:
    arrivals = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        listener.settimeout(1.0)
        listener.bind((device, ETH_P_IP))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            data, control, _, _ = listener.recvmsg(2048, 64)
            if len(data) >= FULL_FRAME_BYTES and control:
                whole, nanoseconds = struct.unpack("qq", control[0][2][:16])
                arrivals.append(whole * NS_PER_S + nanoseconds)
    return [(b - a) / 1000 for a, b in itertools.pairwise(arrivals)]


if __name__ == "__main__":
    _, name, length, wants_gaps = sys.argv
    print(json.dumps(main(name, float(length), gaps=wants_gaps == "1")))
