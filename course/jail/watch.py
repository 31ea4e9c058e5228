"""The total usage of all processes of a jail, looked at ten times a second.

Resource limits are for each process by itself: sixteen of them may use sixteen times as much.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import sys
from collections.abc import Iterator

from course.jail import EXIT_NO_MEMORY, EXIT_NO_TIME

SIGNALS = {signal.SIGCHLD, signal.SIGTERM}
NO_TIME = "the submission's processor time is used up"
_EVERY_S = 0.1
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_USED_US = struct.Struct("<Q")


class Account:
    """A file in which the jails of one submission write down their processor time."""

    def __init__(self, file: str, most_s: float) -> None:
        self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._most_s = most_s

    def charge(self, seconds: float) -> bool:
        """Adds to what was used; whether anything is left."""
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        used_us = _used_us(os.pread(self._file, _USED_US.size, 0)) + round(seconds * 1e6)
        os.pwrite(self._file, _USED_US.pack(used_us), 0)
        fcntl.lockf(self._file, fcntl.LOCK_UN)
        return used_us < self._most_s * 1e6


def used_s(account: bytes) -> float:
    """The contents of an account's file."""
    return _used_us(account) / 1e6


def _used_us(account: bytes) -> int:
    return int(_USED_US.unpack(account)[0]) if account else 0


def survive_as_guard() -> None:
    """Continues as a child that outlives its parent: without a namespace, a process must remain to
    end the program's children.
    """
    guard = os.fork()
    if guard:
        _, status = os.waitpid(guard, 0)
        os._exit(_shown(status))
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    # Orphans become this process's children.
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.setsid()


def until_it_ends(
    first: int, memory_bytes: int, account: Account | None, flag: int | None = None
) -> int:
    """Waits for the program, and ends it if it uses too much; what it ended with."""
    charged_s = before_s = 0.0
    status, why = None, ""
    exit_status = 0
    while status is None and not why:
        came = signal.sigtimedwait(SIGNALS, _EVERY_S)
        processes = list(_descendants(os.getpid()))
        now_s = sum(_processor_s(process) for process in processes)
        step_s = max(0.0, now_s - before_s)
        before_s = now_s
        ended, found, usage = os.wait4(first, os.WNOHANG)
        if ended:
            status = found
            # Of short ones nothing else was seen.
            step_s = max(step_s, usage.ru_utime + usage.ru_stime - charged_s)
        charged_s += step_s
        if account and not account.charge(step_s) and status is None:
            why, exit_status = NO_TIME, EXIT_NO_TIME
        elif sum(_memory_bytes(process) for process in processes) > memory_bytes:
            megabytes = memory_bytes >> 20
            why = f"all processes together used more than {megabytes} MB of memory"
            exit_status = EXIT_NO_MEMORY
        elif flag is not None and os.fstat(flag).st_size:
            why, exit_status = "the time of its case was up", EXIT_NO_TIME
        elif came is not None and came.si_signo == signal.SIGTERM:
            why = "the process that started the jail is gone"
    _end_all()
    if why:
        print(f"jail: {why}", file=sys.stderr)
        return exit_status
    assert status is not None, "it ended by itself"
    return _shown(status)


def _shown(status: int) -> int:
    """The exit status of a shell for one of `wait`."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _end_all() -> None:
    """Ends what is left. No process gets away: whose parent ends is a child of ours."""
    while processes := list(_descendants(os.getpid())):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _descendants(process: int) -> Iterator[int]:
    """The children of a process, and theirs; in a namespace the first process has all orphans."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208 - pathlib is slow to load
            for child in _read(f"/proc/{process}/task/{thread}/children").split():
                yield int(child)
                yield from _descendants(int(child))


def _processor_s(process: int) -> float:
    """Its own, and that of children that it waited for."""
    # Its name may have anything in it, and ends with the last bracket.
    fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) / _TICKS_PER_S


def _memory_bytes(process: int) -> int:
    """The memory that belongs to it and to no file."""
    for line in _read(f"/proc/{process}/status").splitlines():
        if line.startswith(b"RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - a file of the kernel's
            return opened.read()
    except OSError:
        # It has ended meanwhile.
        return b""
