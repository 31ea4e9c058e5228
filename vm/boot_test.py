"""Boots the image without a screen and uses it over its serial console, as `make vm-test` does.

    python3 vm/boot_test.py build/image/vitrine.qcow2

1. the machine boots, with software emulation where /dev/kvm cannot be used, and without a network,
2. the lab's user logs in,
3. the quick bufferbloat lab runs,
4. its result is checked by what must hold however slow the machine is (vm/check_lab.py).

Nothing is written to the image. Everything that the console said is in build/log/vm-test.log. Needs
Python alone.
"""

from __future__ import annotations

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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "build" / "log" / "vm-test.log"
# The boot loader speaks at once. A /dev/kvm that cannot really run a machine (in a machine that is
# virtual itself, for one) leaves it silent.
SILENCE_DEADLINE_S = 60.0
# Emulated in software a boot takes minutes, and the lab's own programs are slow to start.
BOOT_DEADLINE_S = 900.0
COMMAND_DEADLINE_S = 120.0
LAB_DEADLINE_S = 3600.0
# There a page's reader starts when a quick download on a real machine would be over.
LAB_SETTINGS = {"kvm": "QUICK=1", "tcg": "QUICK=1 DURATION=120"}
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\r")


class ConsoleError(Exception):
    """The machine did not say what was waited for."""


class Console:
    """A machine's serial console: what it says, and what is typed into it."""

    def __init__(self, command: list[str], log: Path) -> None:
        """Starts the machine."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("wb")
        self._said = ""
        self._machine = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def close(self) -> None:
        """Switches the machine off."""
        self._machine.kill()
        self._machine.wait()
        self._log.close()

    def type(self, line: str) -> None:
        """Types a line; what was said before does not count any more."""
        self._said = ""
        assert self._machine.stdin is not None, "the console was opened with a pipe"
        self._machine.stdin.write(f"{line}\n".encode())
        self._machine.stdin.flush()

    def wait_for(self, pattern: str, deadline_s: float) -> re.Match[str]:
        """Waits until the machine says something that matches."""
        end_s = time.monotonic() + deadline_s
        while (found := re.search(pattern, self._said)) is None:
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not self._listen(left_s):
                last = " / ".join(self._said.strip().splitlines()[-3:])
                raise ConsoleError(
                    f"{pattern!r} was not said within {deadline_s:g} s; last: {last or 'nothing'}"
                )
        return found

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


def accelerators() -> list[str]:
    """What may run the machine, the fastest first."""
    return ["kvm", "tcg"] if os.access("/dev/kvm", os.R_OK | os.W_OK) else ["tcg"]


def command(
    image: Path, memory_mb: int, accelerator: str, machine: str = platform.machine()
) -> list[str]:
    """How the image is started: no screen, no network, no change to the file."""
    kinds = {
        "x86_64": ["qemu-system-x86_64", "-machine", f"q35,accel={accelerator}"],
        "aarch64": [
            *("qemu-system-aarch64", "-machine", f"virt,accel={accelerator}"),
            *("-bios", "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"),
        ],
    }
    if machine not in kinds:
        raise ConsoleError(f"images are for x86-64 and arm64, and this machine is {machine}.")
    return [
        *kinds[machine],
        *("-cpu", "max", "-smp", "2", "-m", str(memory_mb)),
        *("-drive", f"file={image},if=virtio,format=qcow2", "-snapshot"),
        *("-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"),
    ]


def use(console: Console, accelerator: str, user: str, password: str) -> None:
    """Logs in, runs the lab, checks it; says how long each step took."""
    began_s = time.monotonic()

    def done(what: str) -> None:
        print(f"{time.monotonic() - began_s:7.0f} s  {what}", flush=True)

    console.wait_for(r"login: $", BOOT_DEADLINE_S)
    done("booted")
    console.type(user)
    console.wait_for(r"Password: ?$", COMMAND_DEADLINE_S)
    console.type(password)
    console.wait_for(r"\$ $", COMMAND_DEADLINE_S)
    # No pictures and colours on this terminal.
    console.type("export TERM=dumb; cd vitrine && uname -r")
    console.wait_for(r"\d+\.\d+.*\n.*\$ $", COMMAND_DEADLINE_S)
    done("logged in")
    lab = f"make lab LAB=bufferbloat {LAB_SETTINGS[accelerator]}"
    console.type(f"{lab} >lab.log 2>&1; echo the lab ended with $?")
    status = console.wait_for(r"the lab ended with (\d+)", LAB_DEADLINE_S)[1]
    done(f"the lab ended with status {status}")
    console.type("tail -n 30 lab.log; echo that was the log $?")
    console.wait_for(r"that was the log \d", COMMAND_DEADLINE_S)
    if status != "0":
        raise ConsoleError(f"the lab ended with status {status}: see {LOG}.")
    console.type("python3 vm/check_lab.py out/bufferbloat; echo the check ended with $?")
    found = console.wait_for(r"(?s)(.*)the check ended with (\d+)", COMMAND_DEADLINE_S)
    if found[2] != "0":
        raise ConsoleError(f"the result cannot be right: {found[1].strip()}")
    done("the invariants of the lab hold")


def booting(image: Path, memory_mb: int) -> tuple[Console, str]:
    """A machine that has begun to speak, and what runs it."""
    for accelerator in accelerators():
        console = Console(command(image, memory_mb, accelerator), LOG)
        try:
            console.wait_for(r"\S", SILENCE_DEADLINE_S if accelerator == "kvm" else BOOT_DEADLINE_S)
        except ConsoleError as error:
            console.close()
            print(f"with {accelerator} the machine stays silent: {error}", flush=True)
            continue
        print(f"{accelerator} runs the machine", flush=True)
        return console, accelerator
    raise ConsoleError("the machine does not start.")


def main(image: Path) -> int:
    """Returns the exit status."""
    # A machine must not outlive its console.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    program = command(image, 0, "tcg")[0]
    if shutil.which(program) is None:
        print(f"vm-test: {program} is missing: install it, then run the command again.")
        return 1
    if not image.exists():
        print(f"vm-test: there is no {image}: make vm builds it.")
        return 1
    user, password = (os.environ.get(name, "lab") for name in ("IMAGE_USER", "IMAGE_PASSWORD"))
    try:
        console, accelerator = booting(image, int(os.environ.get("IMAGE_MEMORY_MB", "2048")))
        with contextlib.closing(console):
            use(console, accelerator, user, password)
    except ConsoleError as error:
        print(f"vm-test: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
