"""`make bench-restart`: how soon a router that was killed is back, and where the time goes.

The network is that of `make chaos`: hosts talk all the time, a controller churns the tables. A
router is killed, stays away for a moment, and is started again as it was; from that instant on it
is noted when

* its socket answers,
* its controller is primary again and has given back program, entries, queues and cables,
* the first datagram of hosts arrives that was sent through it,
* telemetry's reports come and the tables have exactly what they should have.

All of it is promised within two seconds, to which `make chaos` holds each restart.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from controller.keeper import State
from controller.toolchain import ROOT
from tests.chaos import network
from tests.chaos.errors import LawError
from tests.chaos.laws import Laws
from tests.chaos.network import Network
from topo import wait
from topo.errors import TopologyError

# How long a router is away: at once again, and for longer than any pause between two attempts.
_AWAY_S = (0.0, 0.3, 1.0, 3.0)
_UP_S = 30.0
_DEADLINE_S = 20.0
_PERCENTILES = (50, 90, 100)
# More than are under way.
_REPORTS = 5
_PRIMARY = (State.RESTORING, State.READY)


def restart(up: Network, laws: Laws, router: str, away_s: float) -> dict[str, float]:
    """Kills a router and starts it again; after how many seconds it was what, in order."""
    up.end_router(router, signal.SIGKILL)
    threading.Event().wait(away_s)
    arrived = up.tallies["udp"]["received"]
    reported = up.tallies["reports"]["received"]
    begun_s = time.monotonic()
    up.start_router(router)
    found = {"its socket answers": time.monotonic() - begun_s}
    parts: Sequence[tuple[str, Callable[[], bool]]] = (
        ("the controller is primary", lambda: up.sessions[router].state in _PRIMARY),
        ("the controller is done", lambda: up.sessions[router].is_ready),
        ("a datagram arrives", lambda: up.tallies["udp"]["received"] > arrived),
        ("reports arrive", lambda: up.tallies["reports"]["received"] > reported + _REPORTS),
    )
    for what, has_come in parts:
        wait.until(has_come, what, _DEADLINE_S)
        found[what] = time.monotonic() - begun_s
    laws.await_return(_DEADLINE_S)
    found["everything is as before"] = time.monotonic() - begun_s
    laws.await_tcp()
    return found


def table(found: Mapping[float, Sequence[Mapping[str, float]]]) -> str:
    """A row for each instant, a column for how long the router was away and percentile."""
    heads = [f"away {away_s:g} s" for away_s in found]
    lines = [f"{'milliseconds':26}" + "".join(f"{head:>24}" for head in heads)]
    names = "".join(f"{'longest' if it == 100 else f'{it} %':>8}" for it in _PERCENTILES)
    lines.append(f"{'since the start':26}" + names * len(found))
    for what in next(iter(found.values()))[0]:
        row = f"{what:26}"
        for runs in found.values():
            spans_ms = np.percentile([run[what] * 1000 for run in runs], _PERCENTILES)
            row += "".join(f"{span_ms:8.0f}" for span_ms in spans_ms)
        lines.append(row)
    return "\n".join(lines)


def main() -> int:
    """Returns the exit status."""
    count = 2 if os.environ.get("QUICK") == "1" else 10
    found: dict[float, list[dict[str, float]]] = defaultdict(list)
    try:
        with network.up(ROOT / "out" / "bench-restart") as up:
            laws = Laws(up)
            laws.await_return(_UP_S)
            for number in range(count):
                for away_s in _AWAY_S:
                    router = up.routers[number % len(up.routers)]
                    found[away_s].append(restart(up, laws, router, away_s))
                print(f"{number + 1} of {count} rounds", file=sys.stderr, flush=True)
            laws.check()
    except (LawError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
