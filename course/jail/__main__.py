"""Runs one program where it can do no harm: `python3 course/jail/__main__.py LIMITS -- PROGRAM`.

What a student's program may do in here:

* read the folders it is given, the system's programs and libraries; write nothing (Landlock);
* see no process but its own children, and signal none (a process namespace of its own);
* reach no network, not even this machine's own (a network namespace without interfaces);
* see nothing of the environment but how Python is to start: the grader's may have its secret;
* use a limited amount of processor time, memory, processes and open files (resource limits); all
  its processes together may use no more memory than one of them, and no more processor time than
  is left in the account of its submission (`watch`).

It needs Linux 5.13 with user namespaces, and no rights: root gives its own up first. Where one of
these walls is missing it says so and runs nothing. With `--in-container` it makes do without
namespaces: then the program has a user of its own, if this is root's, and makes no sockets.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys

# Started by its path and without an environment, and its own folder holds no packages.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120

from course.jail import EXIT_NO_TIME, EXIT_NO_WALL, KEPT, calls, walls, watch  # noqa: E402
from course.jail.walls import NoWallError  # noqa: E402


def main() -> int:
    """Raises the walls, runs the program, and gives its exit status."""
    parser = argparse.ArgumentParser(prog="jail")
    parser.add_argument("--read", action="append", default=[], help="a folder it may read")
    parser.add_argument("--write", action="append", default=[], help="a folder it may write to")
    parser.add_argument("--cpu-s", type=int, default=60)
    parser.add_argument("--memory-mb", type=int, default=2048)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--file-mb", type=int, default=64)
    parser.add_argument("--account", help="the file that says what its submission has used")
    parser.add_argument("--account-s", type=float, default=0.0, help="what there is in it")
    parser.add_argument("--ends-with", help="a file: once anything is in it the program is ended")
    parser.add_argument("--in-container", action="store_true", help="do without namespaces")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    try:
        return _run(arguments, command)
    except (NoWallError, OSError) as error:
        print(f"jail: {error}", file=sys.stderr)
        return EXIT_NO_WALL


def _run(arguments: argparse.Namespace, command: list[str]) -> int:
    walls.die_with_parent()
    account = None
    if arguments.account:
        # Opened while it may be: it is the grader's own.
        account = watch.Account(arguments.account, arguments.account_s)
        if not account.charge(0):
            print(f"jail: {watch.NO_TIME}", file=sys.stderr)
            return EXIT_NO_TIME
    flag = os.open(arguments.ends_with, os.O_RDONLY) if arguments.ends_with else None
    user = None
    if not arguments.in_container:
        if os.geteuid() == 0:
            walls.give_up_root()
        walls.separate()
    else:
        user = walls.user_of_its_own()
        watch.survive_as_guard()
    signal.pthread_sigmask(signal.SIG_BLOCK, watch.SIGNALS)
    # The first process of the new namespace: when it ends, so does everything in there.
    child = os.fork()
    if child == 0:
        try:
            walls.die_with_parent()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, watch.SIGNALS)
            # A signal to its group is not one to ours.
            os.setsid()
            if user is not None:
                walls.become(user)
            walls.limit(arguments)
            walls.confine(arguments.read, arguments.write)
            calls.forbid()
            environment = {name: os.environ[name] for name in KEPT if name in os.environ}
            os.execvpe(command[0], command, environment)
        except (OSError, NoWallError) as error:
            print(f"jail: {error}", file=sys.stderr)
        os._exit(EXIT_NO_WALL)
    return watch.until_it_ends(child, arguments.memory_mb << 20, account, flag)


if __name__ == "__main__":
    sys.exit(main())
