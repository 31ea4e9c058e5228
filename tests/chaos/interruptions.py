"""`make interruptions`: commands interrupted at random instants, by every signal.

    make interruptions TIME=20min SEED=7 WORLD=virtual

Whatever `make run`, `make lab`, `make up`, `make glass` and `make sweep` start is started as a
terminal does, and interrupted: Ctrl-C and a closed terminal reach all of it, SIGTERM and SIGKILL
the command alone. Then

* it ends, within its time; nothing that it started still runs, no interface, no record of a network
  and no temporary file is left. After SIGKILL that holds once the next command has run, which for
  live networks is `make down`;
* the next command works, whatever the one before left in `out`.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from controller.toolchain import ROOT
from tests.chaos import holdings, span
from topo import wait

# How long a command is let run at most before it is interrupted: into its work.
_INSTANT_S_MAX = 8.0
_END_DEADLINE_S = 30.0
_WHOLE_DEADLINE_S = 300.0
# Marks every process that a command starts, and those that they start.
_MARK = "VITRINE_INTERRUPTED"


@dataclass(frozen=True)
class Command:
    """What a target of the Makefile runs, and how."""

    argv: Sequence[str]
    settings: Mapping[str, str]
    # Ends by itself, and well.
    ends: bool


COMMANDS = {
    "run": Command(["-m", "labs", "run", "bufferbloat"], {"QUICK": "1"}, ends=True),
    "lab": Command(["-m", "labs", "run", "bottleneck"], {"QUICK": "1"}, ends=True),
    "up": Command(["-m", "labs.prompt"], {}, ends=False),
    "glass": Command(["-m", "labs.glass"], {}, ends=False),
    # Sweeps know one world.
    "sweep": Command(
        ["-m", "labs.sweep"],
        {"SWEEP": "who-wins", "QUICK": "1", "WORLD": "virtual"},
        ends=True,
    ),
}


@dataclass(frozen=True)
class Interruption:
    """One signal, and whom it reaches."""

    number: signal.Signals
    everybody: bool


INTERRUPTIONS = {
    "Ctrl-C": Interruption(signal.SIGINT, everybody=True),
    "a closed terminal": Interruption(signal.SIGHUP, everybody=True),
    "SIGTERM": Interruption(signal.SIGTERM, everybody=False),
    "SIGKILL": Interruption(signal.SIGKILL, everybody=False),
}


class LeftError(Exception):
    """Something is left, or a command does not work any more."""


@dataclass(frozen=True)
class Sandbox:
    """Where commands say that they run and put what is not to stay; the world is WORLD's."""

    folder: Path
    mark: str
    world: str

    @property
    def environment(self) -> dict[str, str]:
        """What every command gets."""
        return {
            **os.environ,
            _MARK: self.mark,
            "WORLD": self.world,
            "VITRINE_RUN_DIR": str(self.folder / "run"),
            "TMPDIR": str(self.folder / "tmp"),
        }

    def start(self, command: Command) -> subprocess.Popen[bytes]:
        """Starts a command in a session of its own, its input open as at a terminal."""
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(
            [sys.executable, *command.argv],
            cwd=ROOT,
            env={**self.environment, **command.settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_heed_ctrl_c,
        )

    def running(self) -> list[str]:
        """The processes that commands have started and that still run."""
        found = []
        wanted = f"{_MARK}={self.mark}".encode()
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            # It may have ended meanwhile; a zombie has no environment any more.
            with contextlib.suppress(OSError):
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append(f"{process.name}: {words.strip()}")
        return found

    def left(self) -> str | None:
        """What is left of commands that have ended; none if nothing is."""
        if running := self.running():
            return f"still running: {'; '.join(running)}"
        if links := [name for name in holdings.interfaces() if name.startswith("s1-eth")]:
            return f"interfaces: {', '.join(links)}"
        for folder in ("run", "tmp"):
            place = self.folder / folder
            if place.exists() and (files := [str(file) for file in place.iterdir()]):
                return f"files: {', '.join(files)}"
        return None


def _heed_ctrl_c() -> None:
    """What a shell without job control starts in the background ignores SIGINT; not here."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(sandbox: Sandbox, name: str, how: str, after_s: float) -> None:
    """Starts a command, interrupts it, and raises what is left of it."""
    command, interruption = COMMANDS[name], INTERRUPTIONS[how]
    process = sandbox.start(command)
    said = _reader(process)
    threading.Event().wait(after_s)
    if process.poll() not in (None, 0):
        raise LeftError(f"it ended by itself with status {process.returncode}: {said()}")
    with contextlib.suppress(ProcessLookupError):
        if interruption.everybody:
            os.killpg(process.pid, interruption.number)
        else:
            process.send_signal(interruption.number)
    if not wait.holds_within(lambda: process.poll() is not None, _allowed(_END_DEADLINE_S)):
        process.kill()
        process.wait()
        raise LeftError(f"it did not end within {_END_DEADLINE_S:g} s: {said()}")
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    if interruption.number is signal.SIGKILL:
        _clean_up(sandbox)
    problems: list[str] = []

    def is_clean() -> bool:
        left = sandbox.left()
        problems[:] = [left] if left else []
        return left is None

    if not wait.holds_within(is_clean, _allowed(_END_DEADLINE_S)):
        raise LeftError(f"{problems[0]}; it said: {said()}")


def _allowed(span_s: float) -> float:
    return span_s * wait.patience()


def _reader(process: subprocess.Popen[bytes]) -> Callable[[], str]:
    """What a process has said on its standard error by now."""
    heard: list[bytes] = []
    stream = process.stderr
    assert stream is not None
    thread = threading.Thread(target=lambda: heard.extend(stream), daemon=True)
    thread.start()
    return lambda: b"".join(heard[-20:]).decode(errors="replace").strip()


def _clean_up(sandbox: Sandbox) -> None:
    """What a user does after a crash: the next command, or `make down`, which is one."""
    down = subprocess.run(
        [sys.executable, "-m", "topo.down"],
        cwd=ROOT,
        env=sandbox.environment,
        capture_output=True,
        text=True,
        timeout=_allowed(_END_DEADLINE_S),
        check=False,
    )
    if down.returncode != 0:
        raise LeftError(f"`make down` fails: {down.stderr.strip()}")
    # Nobody was there to remove them, and the system's own cleaning does so.
    for file in (sandbox.folder / "tmp").iterdir():
        subprocess.run(["rm", "-rf", str(file)], check=True)
    for file in (sandbox.folder / "run").glob("*"):
        file.unlink()


def whole(sandbox: Sandbox, name: str) -> None:
    """A command that is let run to its end works."""
    process = sandbox.start(COMMANDS[name])
    said = _reader(process)
    try:
        status = process.wait(_allowed(_WHOLE_DEADLINE_S))
    except subprocess.TimeoutExpired:
        process.kill()
        raise LeftError(f"{name} does not end any more: {said()}") from None
    if status != 0:
        raise LeftError(f"{name} does not work any more (status {status}): {said()}")


def run(sandbox: Sandbox, seed: int, seconds: float, say: Callable[[str], None]) -> int:
    """Interruptions until the time is over; how many there were."""
    dice, count = random.Random(seed), 0
    ending = [name for name, command in COMMANDS.items() if command.ends]
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        name, how = dice.choice(list(COMMANDS)), dice.choice(list(INTERRUPTIONS))
        after_s = dice.uniform(0.0, _INSTANT_S_MAX)
        count += 1
        what = f"{count:>4}  {name}: {how} after {after_s:.2f} s"
        try:
            interrupt(sandbox, name, how, after_s)
        except LeftError as error:
            raise LeftError(f"seed {seed}, {what}: {error}") from error
        say(what)
    for name in ending:
        whole(sandbox, name)
        say(f"      {name} works")
    return count


def main() -> int:
    """Returns the exit status."""
    seed = int(os.environ.get("SEED") or time.time_ns() % 1_000_000)
    try:
        seconds = span.seconds(os.environ.get("TIME") or "10min")
    except ValueError as error:
        print(f"vitrine: TIME={error}", file=sys.stderr)
        return 1
    print(f"seed {seed}: SEED={seed} does the same again", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder), uuid.uuid4().hex, os.environ.get("WORLD") or "virtual")
        try:
            count = run(sandbox, seed, seconds, lambda line: print(line, flush=True))
        except LeftError as error:
            print(f"vitrine: {error}", file=sys.stderr)
            return 1
    print(f"{count} interruptions, and nothing was left of any.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
