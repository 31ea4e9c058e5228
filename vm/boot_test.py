"""Boots the image without a screen and uses it over its serial console: `vitrine dev image-test`.

    python3 vm/boot_test.py

1. the machine boots, with software emulation where /dev/kvm cannot be used, and without a network,
2. the lab's user logs in,
3. the quick bufferbloat lab runs,
4. its result is checked by what must hold however slow the machine is (vm/check_lab.py).

Every wait has an end, says how far it is, and a machine never outlives this program. Nothing is
written to the image. Everything that the console said is in build/log/vm-test.log; of a failure the
reason and the console's last lines are in build/log/vm-test.failure. Needs Python alone.

ACCELERATOR=tcg emulates in software even where there is /dev/kvm. ARCHITECTURE=arm64 boots the
image that `ARCHITECTURE=arm64 make vm` made, on any machine.
"""

from __future__ import annotations

import collections
import contextlib
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "build" / "image"
# Debian's names of processors, and the kernel's.
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
LOG = ROOT / "build" / "log" / "vm-test.log"
FAILURE = LOG.with_suffix(".failure")
# The boot loader speaks at once. A /dev/kvm that cannot really run a machine (in a machine that is
# virtual itself, for one) leaves it silent.
SILENCE_DEADLINE_S = 60.0
# Emulated in software a boot takes minutes, and the lab's own programs are slow to start.
BOOT_DEADLINE_S = 900.0
COMMAND_DEADLINE_S = {"kvm": 120.0, "tcg": 600.0}
LAB_DEADLINE_S = {"kvm": 900.0, "tcg": 3600.0}
# Emulated, a page's reader starts when a quick download on a real machine would be over, five times
# fewer packets are what the lab can still follow, and its programs take minutes to start.
LAB_SETTINGS = {"kvm": "QUICK=1", "tcg": "QUICK=1 DURATION=60 RATE=300kbit VITRINE_PATIENCE=10"}
# A progress line comes this often.
REPORT_INTERVAL_S = 30.0
# How much of the console a failure keeps.
LAST_LINES = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\r")


class ConsoleError(Exception):
    """The machine did not say what was waited for."""


class Console:
    """A machine's serial console: what it says, and what is typed into it."""

    def __init__(
        self, command: list[str], log: Path, tell: Callable[[str], None] = lambda text: None
    ) -> None:
        """Starts the machine; `tell` hears how a long wait goes."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("wb")
        # Apart from the console: a warning of the emulator is no sign of life of the machine.
        self._complaints = log.with_suffix(".qemu")
        self._tell = tell
        # Its output since the last line was typed, and the lines before, for a failure.
        self._said = ""
        self._earlier: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
        with self._complaints.open("wb") as complaints:
            self._machine = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
            )

    def close(self) -> None:
        """Switches the machine off."""
        self._machine.kill()
        self._machine.wait()
        self._log.close()

    def type(self, line: str) -> None:
        """Types a line; what was said before does not count any more."""
        self._earlier.extend(self._said.splitlines())
        self._said = ""
        assert self._machine.stdin is not None, "the console was opened with a pipe"
        try:
            self._machine.stdin.write(f"{line}\n".encode())
            self._machine.stdin.flush()
        except BrokenPipeError:
            raise ConsoleError(f"the machine had ended before {line!r} was typed") from None

    def wait_for(self, pattern: str, deadline_s: float, what: str = "") -> re.Match[str]:
        """Waits until the machine says something that matches."""
        now_s = time.monotonic()
        end_s, report_s = now_s + deadline_s, now_s + REPORT_INTERVAL_S
        while (found := re.search(pattern, self._said)) is None:
            now_s = time.monotonic()
            if now_s >= end_s:
                raise ConsoleError(f"{self._missed(pattern, what)} within {deadline_s:g} s")
            if now_s >= report_s:
                report_s = now_s + REPORT_INTERVAL_S
                last = "".join(self.last_lines()[-1:])
                self._tell(f"{what or pattern}: at most {end_s - now_s:.0f} s more | {last[:70]}")
            if not self._listen(min(end_s, report_s) - now_s):
                raise ConsoleError(f"{self._missed(pattern, what)} before the machine ended")
        return found

    def last_lines(self) -> list[str]:
        """The last lines on the console that hold something, after those of the emulator itself."""
        complaints = self._complaints.read_text(errors="replace").splitlines()
        lines = [*complaints, *self._earlier, *self._said.splitlines()]
        return [line.rstrip() for line in lines if line.strip()][-LAST_LINES:]

    def _missed(self, pattern: str, what: str) -> str:
        last = " / ".join(line.strip() for line in self.last_lines()[-3:])
        doing = f"{what}: " if what else ""
        return f"{doing}the machine's last words were {last or 'none'!r}, and not {pattern!r}"

    def _listen(self, deadline_s: float) -> bool:
        """Takes in what comes; False if the machine has ended."""
        assert self._machine.stdout is not None, "the console was opened with a pipe"
        ready, _, _ = select.select([self._machine.stdout], [], [], deadline_s)
        if not ready:
            return True
        data = os.read(self._machine.stdout.fileno(), 1 << 16)
        self._log.write(data)
        self._log.flush()
        self._said += _ESCAPES.sub("", data.decode(errors="replace"))
        return bool(data)


class Steps:
    """Tells what was done and what is being done, with the seconds since the beginning."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def __call__(self, text: str) -> None:
        """One line."""
        print(f"{time.monotonic() - self._began_s:7.0f} s  {text}", flush=True)


def accelerators(machine: str) -> list[str]:
    """The accelerators for the machine, the fastest first; KVM runs only this machine's own
    kind."""
    if wanted := os.environ.get("ACCELERATOR"):
        return [wanted]
    has_kvm = machine == platform.machine() and os.access("/dev/kvm", os.R_OK | os.W_OK)
    return ["kvm", "tcg"] if has_kvm else ["tcg"]


def command(image: Path, memory_mb: int, accelerator: str, machine: str) -> list[str]:
    """How the image is started: no screen, no network, no change to the file."""
    kinds = {
        "x86_64": ["qemu-system-x86_64", "-machine", f"q35,accel={accelerator}"],
        "aarch64": [
            *("qemu-system-aarch64", "-machine", f"virt,accel={accelerator}"),
            *("-bios", "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"),
        ],
    }
    if machine not in kinds:
        raise ConsoleError(f"images are for x86-64 and arm64, and this machine is {machine}")
    # If this program is killed, the kernel ends the machine too.
    leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    return [
        *leash,
        *kinds[machine],
        *("-cpu", "max", "-smp", "2", "-m", str(memory_mb)),
        *("-drive", f"file={image},if=virtio,format=qcow2", "-snapshot"),
        *("-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"),
    ]


def use(console: Console, accelerator: str, user: str, password: str, done: Steps) -> None:
    """Logs in, runs the lab, checks it; says how long each step took."""
    command_s = COMMAND_DEADLINE_S[accelerator]
    # A message of the kernel may follow any of these on its line.
    console.wait_for(r"login: ", BOOT_DEADLINE_S, "booting")
    done("booted")
    console.type(user)
    console.wait_for(r"Password: ?", command_s, "logging in")
    console.type(password)
    console.wait_for(rf"{user}@\S+\$ ", command_s, "logging in")
    # The words typed do not match, because they hold $(...) and $? where the answers hold numbers.
    # No pictures and colours on this terminal, and the kernel keeps to itself.
    console.type("export TERM=dumb; sudo dmesg -n 1; cd vitrine && echo Linux $(uname -r)")
    kernel = console.wait_for(r"Linux (\d\S+)", command_s, "entering the kit")[1]
    done(f"logged in, Linux {kernel}")
    lab = f"make lab LAB=bufferbloat {LAB_SETTINGS[accelerator]}"
    console.type(f"({lab}; echo the lab ended with $?) 2>&1 | tee lab.log")
    ended = r"the lab ended with (\d+)"
    status = console.wait_for(ended, LAB_DEADLINE_S[accelerator], "the lab")[1]
    done(f"the lab ended with status {status}")
    if status != "0":
        raise ConsoleError(f"the lab ended with status {status}")
    console.type("python3 vm/check_lab.py out/bufferbloat/latest; echo the check ended with $?")
    checked = r"(?s)(.*)the check ended with (\d+)"
    found = console.wait_for(checked, command_s, "the check")
    if found[2] != "0":
        broken = " ".join(line for line in found[1].splitlines() if line.startswith("broken"))
        raise ConsoleError(f"the result cannot be right: {broken or found[1].strip()}")
    done("the invariants of the lab hold")


def booting(image: Path, machine: str, memory_mb: int, done: Steps) -> tuple[Console, str]:
    """A machine that has begun to speak, and what runs it."""
    for accelerator in accelerators(machine):
        console = Console(command(image, memory_mb, accelerator, machine), LOG, done)
        deadline_s = SILENCE_DEADLINE_S if accelerator == "kvm" else BOOT_DEADLINE_S
        try:
            console.wait_for(r"\S", deadline_s, "the boot loader")
        except BaseException as error:
            console.close()
            if not isinstance(error, ConsoleError):
                raise
            done(f"with {accelerator} the machine stays silent: {error}")
            continue
        done(f"{accelerator} runs the machine")
        return console, accelerator
    raise ConsoleError("the machine does not start")


def conduct(image: Path, machine: str, memory_mb: int, user: str, password: str) -> None:
    """Boots, uses and switches off; of a failure the console's last lines are kept."""
    FAILURE.unlink(missing_ok=True)
    done = Steps()
    console, accelerator = booting(image, machine, memory_mb, done)
    with contextlib.closing(console):
        try:
            use(console, accelerator, user, password, done)
        except ConsoleError as error:
            FAILURE.write_text("\n".join([f"{error}.", "", *console.last_lines(), ""]))
            raise ConsoleError(f"{error}. The console's last lines are in {FAILURE}") from None


def main() -> int:
    """Returns the exit status."""
    # Whatever ends this program ends the machine on its way out.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, frame: sys.exit(128 + number))
    architecture = os.environ.get("ARCHITECTURE", "")
    image = IMAGES / (f"vitrine-{architecture}.qcow2" if architecture else "vitrine.qcow2")
    machine = MACHINES.get(architecture, architecture or platform.machine())
    if not image.exists():
        print(f"vm-test: there is no {image}: make vm builds it.")
        return 1
    user, password = (os.environ.get(name, "lab") for name in ("IMAGE_USER", "IMAGE_PASSWORD"))
    memory_mb = int(os.environ.get("IMAGE_MEMORY_MB", "2048"))
    try:
        program = next(
            word for word in command(image, 0, "tcg", machine) if word.startswith("qemu-")
        )
        if shutil.which(program) is None:
            raise ConsoleError(f"{program} is missing: install it, then run the command again")
        conduct(image, machine, memory_mb, user, password)
    except ConsoleError as error:
        print(f"vm-test: {error}.")
        return 1
    except KeyboardInterrupt:
        print("vm-test: interrupted; the machine is off.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
