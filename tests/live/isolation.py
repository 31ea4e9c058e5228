"""Namespaces of its own for the process that runs live tests.

Live networks have fixed names: every one has an interface s1-eth1, and `ip netns` keeps its list in
/run/netns. In namespaces of their own several pytest workers, several clones and a network that
somebody has up with `make up` run at the same time. Whatever a test leaves behind goes with the
worker, and so do the logs that labs write into build/log.

Only the network and the file systems are private. Process ids are the machine's: the kit ends
processes by id, and never by name.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from topo import kernel

# <linux/sched.h>; the standard library has os.unshare since Python 3.12.
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
NETNS = Path("/run/netns")
CGROUPS = Path("/sys/fs/cgroup")


def enter() -> None:
    """Moves the calling thread, and whatever it starts from now on, into new namespaces.

    Threads that exist already stay outside, so this comes before the first gRPC channel.
    """
    # Only the machine's first network namespace may change this list. A container's is another
    # one: there the tests have the algorithms that the list has.
    with contextlib.suppress(OSError):
        for algorithm in kernel.congestion_controls():
            kernel.allow_congestion_control(algorithm)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no namespaces for live tests: {os.strerror(number)}")
    # Slave, not private: what others unmount must not stay alive in our copy of the list.
    _run("mount", "--make-rslave", "/")
    _hide_named_namespaces()
    _show_own_devices()
    _hide_logs()
    _run("ip", "link", "set", "lo", "up")


@contextlib.contextmanager
def run_folder() -> Iterator[None]:
    """A new VITRINE_RUN_DIR.

    As in /run/vitrine, every user may look into it. Its name is short wherever TMPDIR is: that of
    a socket has 107 bytes at most.
    """
    with (
        tempfile.TemporaryDirectory(prefix="vitrine-live-", dir="/tmp") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        Path(folder).chmod(0o755)
        patch.setenv("VITRINE_RUN_DIR", folder)
        yield


def _hide_named_namespaces() -> None:
    """An empty list for `ip netns`."""
    NETNS.mkdir(parents=True, exist_ok=True)
    while NETNS.is_mount():
        _run("umount", "--lazy", "--recursive", str(NETNS))
    _run("mount", "-t", "tmpfs", "vitrine-live", str(NETNS))


def _show_own_devices() -> None:
    """A /sys with the devices of this namespace, and the control groups of the one before."""
    if not CGROUPS.is_mount():
        _run("mount", "-t", "sysfs", "sysfs", "/sys")
        return
    with tempfile.TemporaryDirectory(prefix="vitrine-cgroup-") as aside:
        _run("mount", "--rbind", str(CGROUPS), aside)
        _run("mount", "-t", "sysfs", "sysfs", "/sys")
        _run("mount", "--move", aside, str(CGROUPS))


def _hide_logs() -> None:
    """An empty folder where all labs have their logs; as root's, they must not stay in a clone."""
    logs = ROOT / "build" / "log"
    logs.mkdir(parents=True, exist_ok=True)
    _run("mount", "-t", "tmpfs", "vitrine-live", str(logs))


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
