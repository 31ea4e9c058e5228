"""One router's control plane as a process: its inputs and its acts.

with running(work, folder, Asked(...)) as control:
    done = control.packet(0.1, port=1, reason=1, frame=b"...")
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, TypeAlias

from controller import entries
from controller.entries import Call, Entry, Exact, Lpm, Match
from controller.errors import ControllerError
from controller.p4info import P4Info
from controller.values import Mac
from course.exercise import Work
from course.process import PYTHON, as_user
from course.story import Refused, Story

FILE = "control.py"
HOST = Path(__file__).parent / "host.py"
_ANSWER_S = 20.0
_LOOK_EVERY_S = 0.5
_ANSWER_BYTES_MAX = 4_000_000


@dataclass(frozen=True)
class Port:
    """A port of a router, as the submission knows it."""

    number: int
    mac: Mac
    address: IPv4Interface
    cost: int = 1
    routing: bool = False


@dataclass(frozen=True)
class Asked:
    """A router: what its control plane is made with."""

    name: str
    router: str
    ports: tuple[Port, ...]
    static: tuple[tuple[IPv4Network, IPv4Address], ...] = ()

    def port(self, number: int) -> Port:
        """The port with this number."""
        return next(each for each in self.ports if each.number == number)


@dataclass(frozen=True)
class Sent:
    """A frame that is to leave by a port."""

    port: int
    frame: bytes


@dataclass(frozen=True)
class Written:
    """An entry that was inserted, modified or deleted."""

    kind: str
    entry: Entry


Act: TypeAlias = Sent | Written


class Control:
    """A process with a submission in it."""

    def __init__(self, asked: Asked, program: P4Info, process: subprocess.Popen[bytes]) -> None:
        self.asked = asked
        self._program = program
        self._process = process
        # When the present question must be answered; None: there is none.
        self._due_s: float | None = None

    def begin(self) -> list[Act]:
        """Makes it."""
        ports = [
            {
                "number": port.number,
                "mac": port.mac.packed.hex(),
                "address": str(port.address.ip),
                "network": str(port.address.network),
                "cost": port.cost,
                "routing": port.routing,
            }
            for port in self.asked.ports
        ]
        static = [[str(network), str(hop)] for network, hop in self.asked.static]
        question = {"router": self.asked.router, "ports": ports, "static": static}
        return self._ask(question, f"{self.asked.name}'s Control was made.")

    def packet(self, now_s: float, port: int, reason: int, frame: bytes) -> list[Act]:
        """A packet came to the controller."""
        question = {"now": now_s, "port": port, "reason": reason, "frame": frame.hex()}
        done = f"At {now_s:.2f} s {self.asked.name} was given a packet from port {port}, for "
        return self._ask(question, f"{done}reason {reason}: {frame.hex()}.")

    def tick(self, now_s: float) -> list[Act]:
        """Some time has passed."""
        return self._ask({"now": now_s}, f"At {now_s:.2f} s {self.asked.name} was told the time.")

    def _ask(self, question: Mapping[str, object], done: str) -> list[Act]:
        answer = self._answer(question)
        if answer is None or answer.get("error"):
            came = "It answered nothing." if answer is None else f"{answer['error']}."
            raise _refused(done, "It to come to an end without an exception.", came)
        try:
            return [self._act(each) for each in answer["done"]]
        except (
            ControllerError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
        ) as error:
            raise _refused(
                done,
                "Entries that the router's program has, with values that fit.",
                f"{error}.".replace("..", "."),
            ) from None

    def _answer(self, question: Mapping[str, object]) -> dict[str, Any] | None:
        self._due_s = time.monotonic() + _ANSWER_S
        try:
            assert self._process.stdin is not None, "it was asked for"
            assert self._process.stdout is not None, "it was asked for"
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline(_ANSWER_BYTES_MAX))
            return answer if isinstance(answer, dict) else None
        except (OSError, ValueError, RecursionError):
            return None
        finally:
            self._due_s = None

    def _act(self, told: Mapping[str, Any]) -> Act:
        if "frame" in told:
            port, frame = int(told["port"]), bytes.fromhex(told["frame"])
            if all(each.number != port for each in self.asked.ports):
                raise ValueError(f"there is no port {port} to send by")
            if not 14 <= len(frame) <= 1514:
                raise ValueError(f"a frame has 14 to 1514 bytes, not {len(frame)}")
            return Sent(port, frame)
        kind = told["kind"]
        if kind not in ("insert", "modify", "delete"):
            raise ValueError(f"nothing is written by {kind!r}")
        match: dict[str, Match] = {}
        for key, value in told["match"].items():
            if isinstance(value, int):
                match[key] = Exact(value)
                continue
            network = IPv4Network(value)
            if network.prefixlen:
                match[key] = Lpm(network.network_address, network.prefixlen)
        # Only the match of a deleted entry counts; every router of this exercise has no_route.
        call = Call(told["action"], **told["values"]) if kind != "delete" else Call("no_route")
        entry = Entry(told["table"], match, call)
        # The router would refuse it, too; here it is known who wrote it, and when.
        entries.to_message(entry, self._program)
        return Written(kind, entry)

    def end_if_late(self) -> None:
        """Ends the process if it has not answered in time."""
        due_s = self._due_s
        if due_s is not None and time.monotonic() > due_s:
            self.end()

    def end(self) -> None:
        """Ends the process, with whatever it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


@contextlib.contextmanager
def running(work: Work, asked: Sequence[tuple[Asked, Path, P4Info]]) -> Iterator[list[Control]]:
    """A process for each router, with the submission in a folder; none has been asked yet."""
    with contextlib.ExitStack() as stack:
        controls = []
        for router, folder, program in asked:
            readable = [folder, HOST]
            process = subprocess.Popen(
                work.runner.command(as_user([*PYTHON, str(HOST), str(folder)]), readable),
                env=dict(work.runner.environment()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            control = Control(router, program, process)
            stack.callback(_closed, process)
            stack.callback(control.end)
            stack.enter_context(work.runner.clock.ends(control.end))
            controls.append(control)
        stack.enter_context(_watched(controls))
        yield controls


@contextlib.contextmanager
def _watched(controls: Sequence[Control]) -> Iterator[None]:
    """Ends processes that do not answer: one thread for all questions, which are thousands."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK_EVERY_S):
            for control in controls:
                control.end_if_late()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def _closed(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _refused(done: str, expected: str, came: str) -> Refused:
    return Refused(
        Story(
            done=done,
            expected=expected,
            because="The handout: what a control plane does, it does through its switch, and one "
            "that fails leaves its router without.",
            came=came,
        )
    )
