"""The scripts of p4-guide that compile a program, start a switch and run PTF tests on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# For a switch of another kind, and for tests that p4testgen writes first.
_OTHERS = ("ipdk", "p4testgen")
# `module.Test ... ok`, where what the test itself prints may stand in between.
_BEGUN = re.compile(r"^(\w+\.\w+) \.\.\. ", re.MULTILINE)
_FAILED = re.compile(r"^(?:FAIL|ERROR): (\w+\.\w+)$", re.MULTILINE)
# The last line of a failure in unittest's output: the exception.
_REASON = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception)\b.*)$", re.MULTILINE)

# Tests that fail on every switch, or require another switch's exact output, and why.
EXPECTED = {
    "duplicatekeys.IPv4FwdTest": (
        "asks for an entry whose mask is on the last byte of the address to match on the first; "
        "its author calls it unfinished"
    ),
    "idletimeout.ServerDetectsBadTableEntryOptionsTest": (
        "compares the sentence of PI's refusal word by word; ours refuses with the same code"
    ),
    "lpmtester.BasicTest2 of lpmtester/lpmwidth20bits": "reads beyond the end of a list of its own",
}


@dataclass(frozen=True)
class Outcome:
    """One test, and why it failed, if it did."""

    name: str
    failure: str | None


def scripts(checkout: Path) -> Iterator[Path]:
    """Every such script, from the checkout on."""
    for script in sorted(checkout.rglob("*runptf.sh")):
        path = script.relative_to(checkout)
        if not any(word in path.as_posix() for word in _OTHERS):
            yield path


def outcomes(said: str) -> list[Outcome]:
    """The outcome of each test, from PTF's output."""
    reasons = {}
    # One part for each failure, behind its name.
    _, *parts = _FAILED.split(said)
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        found = _REASON.findall(part)
        reasons[name] = found[-1] if found else "no reason"
    names = dict.fromkeys(_BEGUN.findall(said))
    return [Outcome(name, reasons.get(name)) for name in names]


def expected(test: str, script: Path) -> str | None:
    """Why a test cannot pass, if it cannot."""
    return EXPECTED.get(test) or EXPECTED.get(f"{test} of {script.parent.as_posix()}")
