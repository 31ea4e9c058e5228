"""Calls of the system that a program in the jail is refused (seccomp).

Landlock restricts opening files and nothing else. The rest is refused here:

* Sockets of any kind: a connection to a socket of this machine opens no file, and a teacher's
  session bus or agent would do what a program asks. io_uring makes sockets without the call.
* Memory that belongs to no process and so counts for none, or stays when it is given back.
* Other rights, owners, times and attributes of files: where the grader is not root, a program has
  the grader's user, to whom results and other submissions belong.
* Keys that the kernel holds for that user.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

from course.jail.walls import NoWallError

_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
# Where the filter finds what was called, on what, and the flags of `mmap`, its fourth argument.
_CALL, _ARCHITECTURE, _MMAP_FLAGS = 0, 4, 16 + 3 * 8
_SHARED_ANONYMOUS = 0x01 | 0x20
# The older way of 32 bits with other numbers.
_X32 = 0x40000000
# The newer calls have one number everywhere: io_uring_setup, memfd_secret, fchmodat2, setxattrat,
# removexattrat, file_setattr.
_EVERYWHERE = (425, 447, 452, 463, 466, 469)


@dataclass(frozen=True)
class _Machine:
    """The numbers of an architecture, and of its calls."""

    architecture: int
    mmap: int
    refused: tuple[int, ...]


_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        9,
        (
            # socket, memfd_create, shmget
            *(41, 319, 29),
            # chmod, fchmod, fchmodat; chown, fchown, lchown, fchownat
            *(90, 91, 268, 92, 93, 94, 260),
            # utime, utimes, futimesat, utimensat; setxattr and removexattr, each in three forms
            *(132, 235, 261, 280, 188, 189, 190, 197, 198, 199),
            # add_key, request_key, keyctl
            *(248, 249, 250),
        ),
    ),
    "aarch64": _Machine(
        0xC00000B7,
        222,
        (
            *(198, 279, 194),
            *(52, 53, 54, 55),
            *(88, 5, 6, 7, 14, 15, 16),
            *(217, 218, 219),
        ),
    ),
}


def forbid() -> None:
    """From here on, for this process and all it starts. It needs `no_new_privs`."""
    name = os.uname().machine
    if name not in _MACHINES:
        raise NoWallError(f"the system calls of {name} are not known here")
    program = _filter(_MACHINES[name])
    code = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _MODE_FILTER, described, 0, 0) != 0:
        raise NoWallError(f"seccomp: {os.strerror(ctypes.get_errno())}")


def _filter(machine: _Machine) -> bytes:
    """Refused is the last step, allowed the one before; a jump counts the steps in between."""
    refused = (*_EVERYWHERE, *machine.refused)
    steps: list[tuple[int, int, int, int]] = []
    # Four to begin with, one a call, four for mmap, two ends.
    length = 4 + len(refused) + 4 + 2

    def refuse() -> int:
        return length - 1 - len(steps) - 1

    steps.append((_LOAD, 0, 0, _ARCHITECTURE))
    steps.append((_EQUAL, 0, refuse(), machine.architecture))
    steps.append((_LOAD, 0, 0, _CALL))
    steps.append((_AT_LEAST, refuse(), 0, _X32))
    for call in refused:
        steps.append((_EQUAL, refuse(), 0, call))
    steps.append((_EQUAL, 0, 3, machine.mmap))
    steps.append((_LOAD, 0, 0, _MMAP_FLAGS))
    steps.append((_AND, 0, 0, _SHARED_ANONYMOUS))
    steps.append((_EQUAL, 1, 0, _SHARED_ANONYMOUS))
    steps.append((_RETURN, 0, 0, _ALLOW))
    steps.append((_RETURN, 0, 0, _REFUSE))
    assert len(steps) == length
    return b"".join(struct.pack("HBBI", *step) for step in steps)
