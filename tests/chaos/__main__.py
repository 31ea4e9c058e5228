"""`vitrine dev chaos --duration 20min --seed 7`: faults of every kind, and checks after each.

The schedule follows from the seed alone; a step that fails is printed with it. What hosts, routers
and clients said lies in out/chaos.
"""

from __future__ import annotations

import contextlib
import os
import random
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from controller.toolchain import ROOT
from tests.chaos import clock, holdings, network, schedule, span
from tests.chaos.errors import LawError
from tests.chaos.faults import FAULTS, possible
from tests.chaos.laws import Laws
from tests.chaos.network import Network
from tests.chaos.schedule import Step
from topo import record, wait
from topo.errors import TopologyError

# Before the first fault: TCP fills its queue, routers have what they need.
_WARM_UP_S = 5.0
_UP_S = 30.0
Say = Callable[[str], None]


@dataclass
class Outcome:
    """The observations of a run."""

    steps: int = 0
    # How long the network took to be as before, and TCP to go on, by fault, in seconds.
    returns_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    tcp_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def table(self) -> list[str]:
        """A line a fault."""
        head = f"{'fault':<20} {'times':>5} {'back after: median':>19} {'longest':>8} {'TCP':>6}"
        return [head] + [
            f"{fault:<20} {len(took):>5} {statistics.median(took):>17.2f} s "
            f"{max(took):>6.2f} s {max(self.tcp_s[fault]):>4.1f} s"
            for fault, took in sorted(self.returns_s.items())
        ]


def conduct(network: Network, seed: int, seconds: float, say: Say) -> Outcome:
    """Steps of the schedule until the time is over; raises what does not hold, with its step."""
    laws, outcome = Laws(network), Outcome()
    laws.await_return(_UP_S)
    threading.Event().wait(_WARM_UP_S)
    laws.check()
    end_s = time.monotonic() + seconds
    faults = possible(network)
    for left_out in FAULTS.keys() - set(faults):
        say(f"      {left_out}: not on this machine")
    for step in schedule.steps(seed, faults, network.routers):
        if time.monotonic() >= end_s:
            break
        try:
            _carry_out(step, network, laws, outcome, say)
        except (LawError, TopologyError) as error:
            raise LawError(f"seed {seed}, step {step.number}, {step}: {error}") from error
    return outcome


def _carry_out(step: Step, network: Network, laws: Laws, outcome: Outcome, say: Say) -> None:
    with contextlib.ExitStack() as stack:
        for stroke in step.strokes:
            dice = random.Random(stroke.seed)
            strike = FAULTS[stroke.fault].strike
            stack.enter_context(strike(network, stroke.router, dice))
        threading.Event().wait(step.lasts_s)
        mending_s = time.monotonic()
    promised_s = max(FAULTS[stroke.fault].promised_s for stroke in step.strokes)
    back_s = laws.await_return(promised_s, mending_s)
    tcp_s = laws.await_tcp()
    laws.check()
    for stroke in step.strokes:
        outcome.returns_s[stroke.fault].append(back_s)
        outcome.tcp_s[stroke.fault].append(tcp_s)
    outcome.steps += 1
    say(f"{step.number:>4}  {step}: back {back_s:.2f} s later, TCP {tcp_s:.1f} s after that")


def main() -> int:
    """Returns the exit status."""
    seed = int(os.environ.get("SEED") or time.time_ns() % 1_000_000)
    try:
        seconds = span.seconds(os.environ.get("DURATION") or "10min")
    except ValueError as error:
        print(f"vitrine: --duration: {error}", file=sys.stderr)
        return 1
    folder = ROOT / "out" / "chaos"
    clock.begin(ROOT / "out" / "chaos-clock")
    print(f"seed {seed}: SEED={seed} does the same again", flush=True)
    try:
        outcome = run(folder, seed, seconds, lambda line: print(line, flush=True))
    except (LawError, TopologyError) as error:
        print(f"vitrine: {error}\nWhat all of them said is in {folder}.", file=sys.stderr)
        return 1
    print(f"{outcome.steps} steps, everything held.", *outcome.table(), sep="\n")
    return 0


def run(folder: Path, seed: int, seconds: float, say: Say) -> Outcome:
    """Brings the network up, lets everything go wrong, and looks what is left in the end."""
    with network.up(folder) as up:
        hosts = {
            holdings.namespace(up.live.mininet.get(host.name).pid)
            for host in up.live.topology.hosts
        }
        ports = [name for name in holdings.interfaces() if name.startswith(("s1-", "s2-"))]
        outcome = conduct(up, seed, seconds, say)
    wait.until(lambda: not holdings.processes_in(hosts), "the end of all programs in hosts", 10)
    left = [name for name in ports if record.interface_exists(name)]
    if left or record.path().exists():
        raise LawError(f"the network is down, and there are still {left or record.path()}.")
    return outcome


if __name__ == "__main__":
    sys.exit(main())
