"""The kernel's data of TCP connections: `ss -ti`, again and again, while a lab runs.

with Sampler(host, clock, interval_s=0.05) as sampler:
    ...the flow runs and sampler.samples grows...
"""

from __future__ import annotations

import itertools
import re
import subprocess
import threading
from types import TracebackType

from labs.measure.sockets import SocketSample
from labs.worlds.live.clock import Clock
from topo.live import LiveHost

# One socket a line (-O), with TCP's state (-i); without names (-n) and header (-H).
COMMAND = ("ss", "-HOtin", "state", "established")

_RATE = re.compile(r"([\d.]+)([KMGT]?)bps")
_FACTORS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Sampler:
    """Samples all TCP connections of one host for the length of a `with` block."""

    def __init__(self, host: LiveHost, clock: Clock, *, interval_s: float) -> None:
        self._argv = host.command(COMMAND)
        self._clock = clock
        self._interval_s = interval_s
        self._stopped = threading.Event()
        # Appended to by the thread only.
        self.samples: list[SocketSample] = []

    def __enter__(self) -> Sampler:
        self._thread = threading.Thread(target=self._sample, name="ss", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stopped.wait(self._interval_s):
            before_s = self._clock.now_s()
            done = subprocess.run(self._argv, capture_output=True, text=True, check=False)
            # The kernel was read somewhere in between.
            time_s = (before_s + self._clock.now_s()) / 2
            self.samples.extend(parse(done.stdout, time_s))


def parse(output: str, time_s: float) -> list[SocketSample]:
    """One sample for each line of `ss -HOtin`."""
    return [_sample(line.split(), time_s) for line in output.splitlines() if line.strip()]


def _sample(words: list[str], time_s: float) -> SocketSample:
    # Receive queue, send queue, local, peer; with `state established` the state is left out.
    local, peer, *details = words[2:]
    # Most details are name:value; rates are a name and a value.
    values = dict(word.split(":", 1) for word in details if ":" in word)
    rates = dict(itertools.pairwise(details))

    def number(name: str) -> float:
        # 12/3 is a mean with its deviation, 250ms(1.5%) a span with its share of the whole.
        found = re.match(r"[\d.]+", values.get(name, ""))
        return float(found.group()) if found else 0.0

    return SocketSample(
        time_s=time_s,
        local=local,
        peer=peer,
        congestion=details[0] if details else "",
        mss_bytes=int(number("mss")),
        cwnd_packets=int(number("cwnd")),
        ssthresh_packets=int(number("ssthresh")),
        rtt_ms=number("rtt"),
        unacked_packets=int(number("unacked")),
        retransmits=int(values.get("retrans", "0/0").rpartition("/")[2]),
        bytes_acked=int(number("bytes_acked")),
        delivered_packets=int(number("delivered")),
        delivery_rate_bps=_rate(rates.get("delivery_rate", "")),
        receiver_window_bytes=int(number("snd_wnd")),
        rwnd_limited_ms=int(number("rwnd_limited")),
        sndbuf_limited_ms=int(number("sndbuf_limited")),
    )


def _rate(text: str) -> float:
    match = _RATE.fullmatch(text)
    return float(match.group(1)) * _FACTORS[match.group(2)] if match else 0.0
