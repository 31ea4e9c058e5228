"""Calls of the system that a program in the jail is refused (seccomp).

* Sockets of any network, and io_uring, which makes them without the call.
* Memory that belongs to no process and so counts for none.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from course.jail.walls import NoWallError

_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
# Where the filter finds what was called, on what, and the first argument.
_CALL, _ARCHITECTURE, _FIRST = 0, 4, 16
_UNIX = 1
# The older way of 32 bits with other numbers.
_X32 = 0x40000000
_IO_URING_SETUP, _MEMFD_SECRET = 425, 447
# By architecture: its number, socket, and the calls that are always refused.
_BY_MACHINE = {
    # memfd_create, shmget
    "x86_64": (0xC000003E, 41, (319, 29, _IO_URING_SETUP, _MEMFD_SECRET)),
    "aarch64": (0xC00000B7, 198, (279, 194, _IO_URING_SETUP, _MEMFD_SECRET)),
}


def forbid() -> None:
    """From here on, for this process and all it starts. It needs `no_new_privs`."""
    machine = os.uname().machine
    if machine not in _BY_MACHINE:
        raise NoWallError(f"the system calls of {machine} are not known here")
    program = _filter(*_BY_MACHINE[machine])
    code = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _MODE_FILTER, described, 0, 0) != 0:
        raise NoWallError(f"seccomp: {os.strerror(ctypes.get_errno())}")


def _filter(architecture: int, socket: int, refused: tuple[int, ...]) -> bytes:
    """Refused is the last step, allowed the one before; a jump counts the steps in between."""
    steps: list[tuple[int, int, int, int]] = []
    # Three to begin with, one a call, three for sockets, two ends.
    length = 4 + len(refused) + 3 + 2

    def refuse() -> int:
        return length - 1 - len(steps) - 1

    steps.append((_LOAD, 0, 0, _ARCHITECTURE))
    steps.append((_EQUAL, 0, refuse(), architecture))
    steps.append((_LOAD, 0, 0, _CALL))
    steps.append((_AT_LEAST, refuse(), 0, _X32))
    for call in refused:
        steps.append((_EQUAL, refuse(), 0, call))
    steps.append((_EQUAL, 0, 2, socket))
    steps.append((_LOAD, 0, 0, _FIRST))
    steps.append((_EQUAL, 0, 1, _UNIX))
    steps.append((_RETURN, 0, 0, _ALLOW))
    steps.append((_RETURN, 0, 0, _REFUSE))
    assert len(steps) == length
    return b"".join(struct.pack("HBBI", *step) for step in steps)
