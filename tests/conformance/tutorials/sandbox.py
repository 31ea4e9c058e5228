"""A namespace for one exercise: its own network, mounts and processes.

Mininet names hosts and interfaces alike in every network (`h1`, `s1-eth1`), and the exercises take
fixed ports. In here none of that meets anybody else's, and when the first process ends the kernel
ends all the others, whatever an exercise left running.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run_isolated(arguments: list[str], deadline_s: float) -> subprocess.CompletedProcess[str]:
    """Runs this package again, inside; TimeoutExpired if it does not end by itself."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    inside = [sys.executable, "-m", "tests.conformance.tutorials", "--inside", *arguments]
    return subprocess.run(
        [*unshare, *inside],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=deadline_s,
    )


def furnish() -> None:
    """What a fresh namespace lacks: a loopback, /sys of its own devices, a private /tmp."""
    steps = [["ip", "link", "set", "lo", "up"], ["mount", "-t", "sysfs", "sysfs", "/sys"]]
    # Switch logs go to fixed names in /tmp. A checkout that itself lies there must stay visible.
    if Path("/tmp") not in ROOT.parents:
        steps.append(["mount", "-t", "tmpfs", "tmpfs", "/tmp"])
    for step in steps:
        subprocess.run(step, check=True)
