"""Namespaces for one run: a network, mounts and processes of its own.

Mininet names hosts and interfaces alike in every network (`h1`, `s1-eth1`), and other projects take
fixed ports and end processes by name. In here none of that meets anybody else's, and when the first
process ends the kernel ends all the others, whatever was left running.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run_isolated(
    module: str, arguments: list[str], deadline_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs a module with `--inside`, in there; TimeoutExpired if it does not end by itself."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    inside = [sys.executable, "-m", module, "--inside", *arguments]
    return subprocess.run(
        [*unshare, *inside],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=deadline_s,
    )


def furnish() -> None:
    """Adds what a fresh namespace lacks: a loopback, /sys of its own devices, a private /tmp."""
    steps = [["ip", "link", "set", "lo", "up"], ["mount", "-t", "sysfs", "sysfs", "/sys"]]
    # Switch logs go to fixed names in /tmp. A checkout that itself lies there must stay visible.
    if Path("/tmp") not in ROOT.parents:
        steps.append(["mount", "-t", "tmpfs", "tmpfs", "/tmp"])
    for step in steps:
        subprocess.run(step, check=True)
