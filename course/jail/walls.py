"""The walls of the jail: namespaces or a user of its own, resource limits, Landlock."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterator, Sequence

# The numbers of these calls are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
# The rights on files of Landlock's first version, and those added later; bits in their order.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_RIGHTS = 3
# Since version 6: abstract sockets and signals to the outside.
_SCOPES = 3
# Devices, sockets, pipes and links are not made, only files and folders.
_MAKE_SPECIAL = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12
_READ_ONLY = _EXECUTE | _READ_FILE | _READ_DIR

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_NO_NEW_PRIVS = 1, 4, 38
# The number of the user nobody, on systems where no other user has it.
_UNPRIVILEGED = 65534
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom")
_NULL = "/dev/null"
# The folder that this file's packages are in.
_KIT = os.path.realpath(f"{__file__}/../../..")
# Users of programs without a namespace begin here: no other user has these numbers.
_OWN_USERS, _OWN_USERS_COUNT = 50_000, 10_000
# Since this version programs cannot signal outside.
_VERSION_WITH_SIGNALS = 6

_libc = ctypes.CDLL(None, use_errno=True)


class NoWallError(Exception):
    """This machine cannot keep a program in."""


def die_with_parent() -> None:
    """Ends this process with the one that started it."""
    _libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def give_up_root() -> None:
    """Continues as the user nobody."""
    os.setgroups([])
    os.setresgid(_UNPRIVILEGED, _UNPRIVILEGED, _UNPRIVILEGED)
    os.setresuid(_UNPRIVILEGED, _UNPRIVILEGED, _UNPRIVILEGED)
    # A change of user unties a process from its parent, and takes its own maps.
    die_with_parent()
    _libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0)


def separate() -> None:
    """A user of its own here, and processes, network and mounts of its own."""
    uid, gid = os.getuid(), os.getgid()
    flags = _CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWNS
    if _libc.unshare(flags) != 0:
        raise NoWallError(
            f"this machine gives no namespaces ({os.strerror(ctypes.get_errno())}); allow user "
            "namespaces, which distributions allow by default"
        )
    with contextlib.suppress(FileNotFoundError):
        _write("/proc/self/setgroups", "deny")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")


def user_of_its_own() -> int | None:
    """A user for the program, where there are no namespaces; none where only Landlock parts it."""
    if os.geteuid() == 0:
        return _OWN_USERS + os.getpid() % _OWN_USERS_COUNT
    if _landlock_version() < _VERSION_WITH_SIGNALS:
        raise NoWallError(
            "without namespaces this must run as root, or on Linux 6.12 or newer: a program could "
            "end the grader"
        )
    return None


def become(user: int) -> None:
    """Goes on as this user, in no group but its own."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    die_with_parent()


def _write(file: str, text: str) -> None:
    with open(file, "w") as opened:  # noqa: PTH123 - a file of the kernel's
        opened.write(text)


def limit(arguments: argparse.Namespace) -> None:
    """The limits of this process, and of each that it starts."""
    megabyte = 1 << 20
    for what, most in (
        (resource.RLIMIT_CPU, arguments.cpu_s),
        (resource.RLIMIT_AS, arguments.memory_mb * megabyte),
        (resource.RLIMIT_NPROC, arguments.processes),
        (resource.RLIMIT_FSIZE, arguments.file_mb * megabyte),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


# ---- Landlock ------------------------------------------------------------------------------------


def _landlock_version() -> int:
    return int(_libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG))


def confine(readable: Sequence[str], writable: Sequence[str]) -> None:
    """Lets this process see nothing but these folders, the system's and Python's."""
    version = _landlock_version()
    if version < 1:
        raise NoWallError(
            "this kernel has no Landlock: use Linux 5.13 or newer with it switched on"
        )
    every = (1 << _FILE_RIGHTS_BY_VERSION[min(version, 5)]) - 1
    attributes = struct.pack("<Q", every)
    if version >= 4:
        attributes += struct.pack("<Q", _NET_RIGHTS)
    if version >= 6:
        attributes += struct.pack("<Q", _SCOPES)
    ruleset = _called(_libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    for path in (*_SYSTEM, *_python()):
        _allow_but(ruleset, path, _KIT)
    for path in readable:
        _allow(ruleset, path, _READ_ONLY)
    for path in writable:
        _allow(ruleset, path, every & ~(_EXECUTE | _MAKE_SPECIAL))
    _allow(ruleset, _NULL, _READ_FILE | _WRITE_FILE)
    _called(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _called(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _python() -> Iterator[str]:
    """Where this Python and its packages are."""
    yield from dict.fromkeys([sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)])  # noqa: PTH120


def _allow_but(ruleset: int, path: str, hidden: str) -> None:
    """Lets a folder be read but for one that may lie inside: the kit, where it is installed.

    Rules only add, so everything beside the way to the hidden folder is allowed by itself; of the
    folders on that way only the names in them can be read.
    """
    path = os.path.realpath(path)
    if not hidden.startswith(f"{path}/"):
        if path != hidden:
            _allow(ruleset, path, _READ_ONLY)
        return
    _allow(ruleset, path, _READ_DIR)
    for entry in os.scandir(path):
        if not entry.is_symlink():
            _allow_but(ruleset, entry.path, hidden)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        is_folder = os.path.isdir(path)  # noqa: PTH112 - pathlib takes a while to load
        # A file can be read, written and executed; the rest is of folders.
        of_files = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14
        allowed = rights if is_folder else rights & of_files
        rule = struct.pack("<Qi", allowed, opened)
        _called(_libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0))
        os.close(opened)


def _called(result: int) -> int:
    if result < 0:
        raise NoWallError(f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
