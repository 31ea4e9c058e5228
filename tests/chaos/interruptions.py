"""`make interruptions`: commands interrupted at random instants, by every signal.

    vitrine dev interruptions --duration 20min --seed 7 --world virtual
    vitrine dev interruptions --count 1000

Whatever `make run`, `make lab`, `make up`, `make glass` and `make sweep` start is started as a
terminal does, and interrupted: Ctrl-C and a closed terminal reach all of it, SIGTERM and SIGKILL
the command alone. A prompt hears Ctrl-D behind Ctrl-C, which alone ends no network there. Then

* it ends, within its time; nothing that it started still runs, no interface, no record of a network
  and no temporary file is left. After SIGKILL that holds once `make down` has run, but for files in
  the system's folder for such, whose names must say whose they are: nobody was there to remove
  them;
* the next command works, whatever the one before left in `out`: the same one after every tenth
  SIGKILL that it took, and each of them at the end.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import TypeAlias

from controller.toolchain import ROOT
from tests.chaos import holdings, span
from topo import wait

# How long a command is let run at most before it is interrupted: into its work.
_INSTANT_S_MAX = 8.0
_END_DEADLINE_S = 30.0
_WHOLE_DEADLINE_S = 300.0
# Marks every process that a command starts, and those that they start.
_MARK = "VITRINE_INTERRUPTED"


class Ends(Enum):
    """How a command that works comes to its end."""

    BY_ITSELF = auto()
    # Its prompt ends with its input.
    WITH_INPUT = auto()
    # Once it has said something.
    BY_CTRL_C = auto()


@dataclass(frozen=True)
class Command:
    """The command of a Makefile target, and how it ends."""

    argv: Sequence[str]
    ends: Ends
    # Whether it takes --world.
    in_world: bool = False


def _vitrine(*words: str, ends: Ends, in_world: bool = False) -> Command:
    return Command([sys.executable, "-m", "vitrine", *words], ends, in_world)


COMMANDS = {
    "run": _vitrine("run", "--quick", ends=Ends.BY_ITSELF, in_world=True),
    "lab": _vitrine("run", "bottleneck", "--quick", ends=Ends.BY_ITSELF, in_world=True),
    "up": _vitrine("up", ends=Ends.WITH_INPUT, in_world=True),
    "glass": _vitrine("glass", ends=Ends.BY_CTRL_C),
    # Sweeps know one world.
    "sweep": _vitrine("sweep", "who-wins", "--quick", ends=Ends.BY_ITSELF),
}


@dataclass(frozen=True)
class Interruption:
    """One signal, and the processes that receive it."""

    number: signal.Signals
    everybody: bool


INTERRUPTIONS = {
    "Ctrl-C": Interruption(signal.SIGINT, everybody=True),
    "a closed terminal": Interruption(signal.SIGHUP, everybody=True),
    "SIGTERM": Interruption(signal.SIGTERM, everybody=False),
    "SIGKILL": Interruption(signal.SIGKILL, everybody=False),
}

# How often which command was interrupted how.
Tally: TypeAlias = Counter[tuple[str, str]]

# How the name of a file or folder begins that is ours wherever it lies.
_OURS = "vitrine-"
# SIGKILLs of one command per run of it to its end.
_KILLS_PER_WHOLE = 10


class LeftError(Exception):
    """Something is left, or a command does not work any more."""


@dataclass(frozen=True)
class Sandbox:
    """Where commands say that they run and put what is not to stay, and their world."""

    folder: Path
    mark: str
    world: str
    # Those of networks that were up before any command of ours.
    others: frozenset[str] = field(default_factory=holdings.interfaces)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every command."""
        return {
            **os.environ,
            _MARK: self.mark,
            "VITRINE_RUN_DIR": str(self.folder / "run"),
            "TMPDIR": str(self.folder / "tmp"),
        }

    def start(self, command: Command) -> subprocess.Popen[bytes]:
        """Starts a command in a session of its own, its input open as at a terminal."""
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(
            [*command.argv, *([f"--world={self.world}"] if command.in_world else [])],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_heed_signals,
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

    def left(self, *, was_killed: bool = False) -> str | None:
        """The remains of commands that have ended; None if there are none.

        Those that were killed may leave files that say whose they are.
        """
        if running := self.running():
            return f"still running: {'; '.join(running)}"
        if links := sorted(filter(_is_routers, holdings.interfaces() - self.others)):
            return f"interfaces: {', '.join(links)}"
        for folder in ("run", "tmp"):
            place = self.folder / folder
            files = list(place.iterdir()) if place.exists() else []
            if was_killed and folder == "tmp":
                files = [file for file in files if not file.name.startswith(_OURS)]
            if files:
                return f"files: {', '.join(map(str, files))}"
        return None

    def sweep(self) -> None:
        """Removes what killed commands may leave, as the system's own cleaning does."""
        for file in (self.folder / "tmp").glob(f"{_OURS}*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()


def _is_routers(interface: str) -> bool:
    """Whether an interface of this namespace is a router's, as topologies name them."""
    return re.fullmatch(r"s\d+-eth\d+", interface) is not None


def _heed_signals() -> None:
    """Restores SIGINT and SIGHUP: background processes of a shell without job control ignore
    SIGINT, and processes under nohup ignore SIGHUP."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


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
    assert process.stdin is not None
    if command.ends is Ends.WITH_INPUT and interruption.number is signal.SIGINT:
        # At a prompt it only cancels the typed line; Ctrl-D ends the network.
        process.stdin.close()
    if not wait.holds_within(lambda: process.poll() is not None, _allowed(_END_DEADLINE_S)):
        process.kill()
        process.wait()
        raise LeftError(f"it did not end within {_allowed(_END_DEADLINE_S):g} s: {said()}")
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    was_killed = interruption.number is signal.SIGKILL
    if was_killed:
        _make_down(sandbox)
    problems: list[str] = []

    def is_clean() -> bool:
        left = sandbox.left(was_killed=was_killed)
        problems[:] = [left] if left else []
        return left is None

    if not wait.holds_within(is_clean, _allowed(_END_DEADLINE_S)):
        raise LeftError(f"{problems[0]}; it said: {said()}")
    sandbox.sweep()


def _allowed(span_s: float) -> float:
    return span_s * wait.patience()


def _reader(process: subprocess.Popen[bytes]) -> Callable[[], str]:
    """A function that returns the last lines of a process's output and errors so far."""
    heard: list[bytes] = []
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        thread = threading.Thread(target=lambda of=stream: heard.extend(of), daemon=True)
        thread.start()
    return lambda: b"".join(heard[-20:]).decode(errors="replace").strip()


def _make_down(sandbox: Sandbox) -> None:
    """Runs `vitrine down`, as a user does after a crash."""
    down = subprocess.run(
        [sys.executable, "-m", "vitrine", "down"],
        cwd=ROOT,
        env=sandbox.environment,
        capture_output=True,
        text=True,
        timeout=_allowed(_END_DEADLINE_S),
        check=False,
    )
    if down.returncode != 0:
        raise LeftError(f"`make down` fails: {down.stderr.strip()}")


def whole(sandbox: Sandbox, name: str) -> None:
    """A command that is let run to its end works."""
    command = COMMANDS[name]
    process = sandbox.start(command)
    said = _reader(process)
    assert process.stdin is not None
    if command.ends is Ends.WITH_INPUT:
        process.stdin.close()
    by_ctrl_c = command.ends is Ends.BY_CTRL_C
    is_over = wait.holds_within(
        lambda: process.poll() is not None or (by_ctrl_c and said() != ""),
        _allowed(_WHOLE_DEADLINE_S),
    )
    if is_over and process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        is_over = wait.holds_within(lambda: process.poll() is not None, _allowed(_END_DEADLINE_S))
    if not is_over:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise LeftError(f"{name} does not end any more: {said()}")
    wanted = (0, 130) if by_ctrl_c else (0,)
    if process.returncode not in wanted:
        status = process.returncode
        raise LeftError(f"{name} does not work any more (status {status}): {said()}")


def run(
    sandbox: Sandbox, seed: int, is_enough: Callable[[int], bool], say: Callable[[str], None]
) -> Tally:
    """Interrupts commands until `is_enough`; returns the count of each outcome."""
    dice, count = random.Random(seed), 0
    tally: Tally = Counter()
    while not is_enough(count):
        name, how = dice.choice(list(COMMANDS)), dice.choice(list(INTERRUPTIONS))
        after_s = dice.uniform(0.0, _INSTANT_S_MAX)
        count += 1
        what = f"{count:>4}  {name}: {how} after {after_s:.2f} s"
        try:
            interrupt(sandbox, name, how, after_s)
            tally[name, how] += 1
            if how == "SIGKILL" and tally[name, how] % _KILLS_PER_WHOLE == 0:
                whole(sandbox, name)
        except LeftError as error:
            raise LeftError(f"seed {seed}, {what}: {error}") from error
        say(what)
    for name in COMMANDS:
        whole(sandbox, name)
        say(f"      {name} works")
    return tally


def table(tally: Tally) -> list[str]:
    """A line a command, a column a signal."""
    rows = [["", *INTERRUPTIONS]]
    rows += [[name, *(str(tally[name, how]) for how in INTERRUPTIONS)] for name in COMMANDS]
    return ["".join(f"{cell:>20}" for cell in row) for row in rows]


def _enough() -> Callable[[int], bool]:
    """`--count` interruptions, or as many as `--duration` allows."""
    if wanted := os.environ.get("COUNT"):
        return lambda count: count >= int(wanted)
    end_s = time.monotonic() + span.seconds(os.environ.get("DURATION") or "10min")
    return lambda count: time.monotonic() >= end_s


def main() -> int:
    """Returns the exit status."""
    seed = int(os.environ.get("SEED") or time.time_ns() % 1_000_000)
    try:
        is_enough = _enough()
        is_enough(0)
    except ValueError as error:
        print(f"vitrine: --duration or --count: {error}", file=sys.stderr)
        return 1
    print(f"seed {seed}: SEED={seed} does the same again", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(Path(folder), uuid.uuid4().hex, os.environ.get("WORLD") or "virtual")
        try:
            tally = run(sandbox, seed, is_enough, lambda line: print(line, flush=True))
        except LeftError as error:
            print(f"vitrine: {error}", file=sys.stderr)
            return 1
    print(f"{tally.total()} interruptions, and nothing was left of any.", *table(tally), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
