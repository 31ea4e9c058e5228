"""The soak of a live network: the one of chaos, with nothing wrong.

What could grow is memory, descriptors and threads of routers and controller, and the delays of
datagrams; what could fall is what TCP carries. Where the machine held a router up, as routers say
themselves, the sample says so, too.
"""

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path

import numpy as np

from controller.errors import ControllerError
from tests.chaos import network, traffic
from tests.chaos.holdings import Holdings
from tests.chaos.laws import Laws
from tests.chaos.network import Network
from tests.chaos.series import HELD_UP, TIME, Row, Series

# As many samples whatever the length: enough to draw, few enough to keep.
_SAMPLE_COUNT = 2000
_LEAST_BETWEEN_S = 1.0
_UP_S = 30.0
_CHECKS_EVERY = 50
# A lag that hosts feel.
_FELT_S = 0.005
_MIB = 1 << 20


class Sampler:
    """Looks at a network again and again; what counts up it remembers from one time to the next."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._began_s = self._before_s = time.monotonic()
        self._bytes = network.tallies["tcp"]["bytes"]
        self._held_up_s = dict.fromkeys(network.routers, 0.0)
        self._delays = traffic.delays_beside(network.live.logs / "udp").open("rb")
        # Datagrams in flight before the first sample do not count.
        self._delays.read()
        self._held_up()

    def look(self) -> Row:
        """A sample: the present state, and the changes since the last sample."""
        now_s, row = time.monotonic(), Row()
        span_s, self._before_s = now_s - self._before_s, now_s
        row[TIME] = now_s - self._began_s
        row[HELD_UP] = 100 * self._held_up() / span_s
        pids = {name: self._network.pid(name) for name in self._network.routers}
        for name, pid in {**pids, "controller": os.getpid()}.items():
            held = Holdings.of(pid)
            row[f"{name} MiB"] = held.resident_bytes / _MIB
            row[f"{name} descriptors"] = held.descriptors
            row[f"{name} threads"] = held.threads
        carried = self._network.tallies["tcp"]["bytes"]
        row["TCP Mb/s"] = (carried - self._bytes) * 8e-6 / span_s
        self._bytes = carried
        # Each is written at once, so there is never half of one.
        delays_us = np.frombuffer(self._delays.read(), dtype=np.uint32)
        for percent in (50, 99):
            found_us = np.percentile(delays_us, percent) if len(delays_us) else math.nan
            row[f"delay {percent} % ms"] = float(found_us) / 1000
        return row

    def _held_up(self) -> float:
        """For how many seconds the router that had it worst was held up since the last time; NaN
        if one of them had no time to say."""
        worst_s = 0.0
        for name, queues in self._network.queues.items():
            try:
                so_far_s = queues.held_up_s(_FELT_S)
            except ControllerError:
                return math.nan
            worst_s = max(worst_s, so_far_s - self._held_up_s[name])
            self._held_up_s[name] = so_far_s
        return worst_s


def run(folder: Path, seconds: float, series: Series) -> None:
    """Runs the network for `seconds`; raises if a law does not hold meanwhile."""
    between_s = max(_LEAST_BETWEEN_S, seconds / _SAMPLE_COUNT)
    with network.up(folder) as up:
        laws = Laws(up)
        laws.await_return(_UP_S)
        sampler, end_s = Sampler(up), time.monotonic() + seconds
        pause = threading.Event()
        while time.monotonic() < end_s and not pause.wait(between_s):
            series.add(sampler.look())
            if len(series.rows) % _CHECKS_EVERY == 0:
                laws.check()
        laws.await_return(_UP_S)
        laws.check()
