"""Whether the machine has time for a measurement: nothing else works, and nothing delays it.

Two things take a router's time. Other programs of this machine show as processors that are not
idle. The host of a virtual machine, when it stops it, shows as a wait that took longer than asked.
"""

from __future__ import annotations

import time
from pathlib import Path

from labs.measure.holdups import FELT_S, TOLERATED_SHARE
from topo import wait

# A desktop's own work is less than this part of its processors.
BUSY_SHARE_MAX = 0.2
LOOK_S = 2.0
_NAP_S = 0.01


def becomes_calm(deadline_s: float) -> bool:
    """Waits until the machine is calm; False if it does not become so in time."""
    end_s = time.monotonic() + deadline_s
    while not is_calm():
        if time.monotonic() > end_s:
            return False
    return True


def is_calm() -> bool:
    """Looks for two seconds."""
    busy_before, all_before = _processors()
    began_s = time.monotonic()
    late_s = 0.0
    while (now_s := time.monotonic()) - began_s < LOOK_S:
        wait.holds_within(lambda: False, _NAP_S)
        # A nap takes up to twice its length.
        late_s += max(0.0, time.monotonic() - now_s - 2 * _NAP_S - FELT_S)
    busy, every = _processors()
    busy_share = (busy - busy_before) / max(1, every - all_before)
    return busy_share <= BUSY_SHARE_MAX and late_s <= TOLERATED_SHARE * LOOK_S


def _processors() -> tuple[int, int]:
    """Ticks in which a processor worked, or its host took it away; and all ticks."""
    _, *ticks = Path("/proc/stat").read_text().splitlines()[0].split()
    numbers = [int(tick) for tick in ticks[:8]]
    idle = numbers[3] + numbers[4]
    return sum(numbers) - idle, sum(numbers)
