"""`vitrine dev`: what those need who change the kit. Each runs a program of the tests or of vm.

These programs stand by themselves, so their options become the variables that they read.
"""

# ruff: noqa: E501 - a tool is a row of a table

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace

from vitrine.command import names
from vitrine.command.options import DURATION, LIVE, QUICK, WORLD, Option
from vitrine.command.tree import Needs, command


def _option(name: str, text: str, metavar: str) -> Option:
    return Option((f"--{name}",), text, {"metavar": metavar})


SEED = _option("seed", "the seed of all randomness", "N")
ONLY = _option("only", "only these, such as 'source stf'", "NAMES")
CHECKOUTS = _option("checkouts", "the folder of the other projects' checkouts", "FOLDER")
ORACLE = _option("oracle", "the folder of the P4 project's programs", "FOLDER")
P4C = _option("p4c", "p4c's checkout", "FOLDER")
ARCHITECTURE = _option("architecture", "amd64 or arm64", "NAME")
SUITE = _option("suite", "bookworm, trixie, jammy or noble", "NAME")
PYTHON = sys.executable
OPTIMISED = ("vm/build.sh", "optimised")


def _tool(
    name: str,
    summary: str,
    words: tuple[str, ...],
    *options: Option,
    first: tuple[tuple[str, ...], ...] = (),
    needs: Needs = Needs.PYTHON,
    called: dict[str, str] | None = None,
) -> None:
    """A command that runs `first`, then becomes `words`; `{option}` there is its value."""

    def run(given: Namespace) -> None:
        values = {each.key: getattr(given, each.key) for each in options}
        filled = [
            word.format_map({key: value or "" for key, value in values.items()}) for word in words
        ]
        variables = {
            (called or {}).get(key, key.upper()): "1" if value is True else str(value)
            for key, value in values.items()
            if value
        }
        os.chdir(names.ROOT)
        os.environ.update(variables)
        for each in first:
            subprocess.run(each, check=True)
        os.execvp(filled[0], filled)

    command(name, summary, *options, needs=needs)(run)


def _python(module: str, *words: str) -> tuple[str, ...]:
    return (PYTHON, "-m", module, *words)


# ---- conformance ---------------------------------------------------------------------------------

_tool(
    "conformance", "p4c's own test programs through our compiler and switch",
    ("tests/conformance/run.sh",), P4C, needs=Needs.PROGRAMS,
)  # fmt: skip
_tool(
    "conformance-tcp", "our hosts' TCP beside Linux's, cell by cell", ("tests/conformance/tcp/run.sh",),
    _option("cells", "such as 'bbr cubic,10mbps'", "CELLS"), LIVE,
    first=(OPTIMISED,), needs=Needs.WORLD,
)  # fmt: skip
_tool(
    "conformance-tutorials", "the exercises of p4lang/tutorials",
    _python("tests.conformance.tutorials", "--tutorials", "{tutorials}"),
    _option("tutorials", "their checkout", "FOLDER"), needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "conformance-guests", "programs of other projects, and their P4Info",
    _python("tests.conformance.guests", "--checkouts", "{checkouts}"), CHECKOUTS,
    needs=Needs.PROGRAMS,
)  # fmt: skip
_tool(
    "conformance-p4-learning", "p4-learning's networks on p4-utils",
    _python("tests.conformance.p4_learning", "--checkouts", "{checkouts}", "--python", "{p4utils}"),
    CHECKOUTS, _option("p4utils", "a Python that has p4-utils", "FILE"), needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "conformance-ptf", "p4-guide's PTF tests",
    _python("tests.conformance.ptf", "--checkouts", "{checkouts}", "--python", "{ptf}"),
    CHECKOUTS, _option("ptf", "a Python that has ptf and p4runtime-shell", "FILE"),
    needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "conformance-testgen", "P4Testgen's tests of all programs",
    _python("tests.conformance.testgen"), ORACLE, P4C,
    _option("smith", "how many random programs", "N"), ONLY,
    _option("most", "at most N tests of one program", "N"), needs=Needs.PROGRAMS,
)  # fmt: skip
_tool(
    "conformance-answers", "simple_switch_CLI at our switch and at the original",
    _python("tests.conformance.answers", "--checkouts", "{checkouts}", "--original", "{oracle}"),
    CHECKOUTS, ORACLE, needs=Needs.PROGRAMS,
)  # fmt: skip
_tool(
    "parity", "p4c and simple_switch beside ours on every packet test", _python("tests.parity"),
    _option("cases", "only these, such as 'clones table_lpm'", "NAMES"), needs=Needs.PROGRAMS,
)  # fmt: skip

# ---- speed ---------------------------------------------------------------------------------------

_tool(
    "bench", "throughput, delay and precision of live switches", _python("tests.bench"), QUICK,
    first=(OPTIMISED,), needs=Needs.ROOT,
)  # fmt: skip
_tool("bench-pipeline", "nanoseconds of a packet in the P4 pipeline", ("vm/bench.sh", "pipeline"))
_tool("bench-control", "table writes and reads a second", ("vm/bench.sh", "service"))
_tool(
    "bench-rude", "packets and a polite client beside 64 rude ones", _python("tests.bench.rude"),
    QUICK, first=(OPTIMISED,), needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "bench-restart", "how soon a killed router is back", _python("tests.bench.restart"),
    QUICK, first=(OPTIMISED,), needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "bench-collector", "telemetry reports a second on one core",
    _python("tests.telemetry.bench_collector"),
)  # fmt: skip
_tool(
    "bench-insides", "decisions a second of Python classes", _python("tests.bench.insides"),
    first=(OPTIMISED,), needs=Needs.PROGRAMS,
)  # fmt: skip
_tool(
    "bench-world", "packets a CPU second in virtual networks, ns-3 beside",
    _python("tests.bench.virtual"), QUICK, first=(OPTIMISED,),
)  # fmt: skip
_tool(
    "bench-glass", "frame times of the page; with --duration its memory", _python("tests.glass.bench"),
    DURATION.saying("how long its memory is watched, such as 10min"), first=(OPTIMISED,),
)  # fmt: skip
_tool(
    "bench-page", "packets a second in the one-file page, and its size", _python("tests.bench.page"),
    first=(OPTIMISED, ("vm/page.sh",)),
)  # fmt: skip

# ---- time and chance -----------------------------------------------------------------------------

_tool(
    "chaos", "a live network on which everything goes wrong", _python("tests.chaos"),
    DURATION.saying("such as 20min"), SEED, needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "soak", "the same network for long, with nothing wrong", _python("tests.chaos.soak"),
    DURATION.saying("such as 8h"), WORLD, needs=Needs.WORLD,
)  # fmt: skip
_tool(
    "interruptions", "commands stopped at random instants", _python("tests.chaos.interruptions"),
    DURATION.saying("such as 10min"), _option("count", "or how many", "N"), SEED, WORLD,
    needs=Needs.WORLD,
)  # fmt: skip
_tool(
    "fuzz", "random bytes for everything that takes untrusted input", ("tests/fuzz.sh",),
    DURATION.saying("in all, such as 10min"), ONLY, _option("sanitizer", "such as address", "NAME"),
    needs=Needs.PROGRAMS,
)  # fmt: skip
_tool(
    "corpus", "minimise what fuzzing has found", ("tests/fuzz.sh", "minimise"), ONLY,
    needs=Needs.PROGRAMS,
)  # fmt: skip
_tool("nightly", "the breadth that takes too long for every change", ("tests/nightly.sh",), QUICK)

# ---- what is kept and what is shipped --------------------------------------------------------------

_tool(
    "advisories", "known faults of crates and Python packages", _python("tests.advisories"),
    _option("advisories", "checkouts of RustSec's and PyPA's databases, with a colon", "FOLDERS"),
)  # fmt: skip
_tool(
    "reproducible", "the last commit built twice gives the same bytes", ("tests/reproducible.sh",)
)
_tool("bless", "accept the compiler's messages as they are now", ("tests/bless.sh",))
_tool(
    "pictures", "the documents' pictures of the page, taken again", _python("tests.glass.pictures"),
    first=(("vm/browser.sh",),), needs=Needs.PROGRAMS,
)  # fmt: skip
_tool("page", "write out/vitrine.html", ("vm/page.sh",), needs=Needs.PROGRAMS)
_tool("vscode", "pack the extension for VS Code (wants npm)", ("editors/vscode/pack.sh",))
_tool(
    "dist", "wheel, Debian package and tarball", ("vm/dist.sh",), ARCHITECTURE, needs=Needs.PROGRAMS
)
_tool(
    "image", "a bootable lab machine, build/image/vitrine.qcow2", ("vm/image.sh",),
    ARCHITECTURE, SUITE, _option("image-gb", "the size of its disk", "GB"),
    _option("image-user", "the user that logs in", "NAME"),
    _option("image-password", "its password", "WORD"),
    needs=Needs.ROOT,
)  # fmt: skip
_tool(
    "image-test",
    "boot that image and run a lab in it",
    ("python3", "vm/boot_test.py"),
    ARCHITECTURE,
)
_tool(
    "chroot-test", "provision a fresh system in a folder and run a lab", ("vm/chroot_test.sh",),
    SUITE, ARCHITECTURE, _option("image-user", "the user that logs in", "NAME"), needs=Needs.ROOT,
)  # fmt: skip


@command(
    "handout",
    "put the table of a kept run, or of an experiment's JSON, into its lab's handout",
    Option(("run",), "a run, a lab, or FILE.json", {"metavar": "RUN"}, names.runs),
)
def handout(given: Namespace) -> None:
    from pathlib import Path

    from labs import archive, catalogue
    from labs import handout as handouts

    if given.run.endswith(".json"):
        print(handouts.fill_experiment(Path(given.run)))
    else:
        kept = archive.find(given.run)
        print(handouts.fill(catalogue.named(kept.lab), kept))
