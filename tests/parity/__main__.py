"""Every packet test and every program of the kit through all four combinations.

    vitrine dev parity [--cases 'clones table_lpm']

    our compiler --+--> simple_switch      what it did is written down: frames, counters, registers
    p4c         ---+--> our switch         must do the same, checked by `vitrine-sim stf`

A case is equal if simple_switch does the same with either compiler's program, if that is what the
case expects, and if our switch repeats it frame by frame, counter by counter and cell by cell with
either program. Skipped, saying so, where the P4 project's tools are not on the path.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from controller.toolchain import ROOT, SOURCES, Toolchain, ToolchainError, compile_by_p4c
from tests.parity import reference, stf
from tests.parity.reference import Observed
from topo.errors import ProcessError

BIN = ROOT / "build" / "bin"
PACKETS = ROOT / "tests" / "packets"
PROGRAMS = ROOT / "tests" / "programs"
# simple_switch mostly waits.
_AT_ONCE = 6
_DEADLINE_S = 120.0

# Programs that p4c of 2026-08 refuses, or compiles to JSON that simple_switch refuses, with their
# messages; they run with our compiler's JSON alone. A case that they do take must not be listed.
NOT_FOR_P4C = {
    "packets/argument_order": "has multiple successors",
    "packets/deprecated_clone": "clone3: unknown extern function",
    "packets/deprecated_recirculate": "recirculate: unknown extern function",
    "packets/deprecated_resubmit": "resubmit: unknown extern function",
    "packets/empty_key": "Unexpected width 0",
    "packets/empty_key_filled": "Unexpected width 0",
    "packets/header_union_members": "Invalid reference to object of type 'header type'",
    "packets/loops": "BMV2 does not support for-in loops",
    "packets/signed_action_data": "Negative values not supported yet",
    "packets/stack_next_written": "uninitialized: next field read",
    "packets/subcontrol_twice": "has multiple successors",
    "packets/table_twice": "has multiple successors",
}

# Programs that p4c of 2026-08 compiles against the specification: the sentence that our compiler's
# program keeps, on either switch. A case in which they agree must not be listed.
P4C_DIFFERS = {
    "packets/parser_no_match": "a select that no case fits is the error NoMatch (P4-16, 13.6)",
    "packets/union_invalid_member": "a header that is not valid, assigned to a member of a union, "
    "leaves no member valid (P4-16, 8.20)",
}
# Programs that simple_switch cannot run from any compiler, and why.
NOT_FOR_SIMPLE_SWITCH = {
    "packets/action_profile": "members and groups are not translated for its P4Runtime yet",
    "packets/empty_key_filled": "its P4Runtime gives entries a key of no bits that its tables lack",
    "packets/loop_limit": "it counts no rounds, so a loop without end blocks all packets behind",
}

# A program that behaves like another one by default.
ALSO = {"int_router": ("router",)}
# Programs for PSA: simple_switch runs v1model alone.
FOR_PSA = {"metering_router"}


@dataclass(frozen=True)
class Case:
    """A program and a script."""

    name: str
    source: Path
    script: Path


def cases() -> list[Case]:
    """The packet tests, and the kit's programs with the scripts of their folders."""
    found = [
        Case(f"packets/{script.stem}", script.with_suffix(".p4"), script)
        for script in sorted(PACKETS.glob("*.stf"))
    ]
    for source in sorted((SOURCES / "programs").glob("*.p4")):
        if source.stem in FOR_PSA:
            continue
        for folder in (source.stem, *ALSO.get(source.stem, ())):
            scripts = sorted((PROGRAMS / folder).glob("*.stf"))
            found += [Case(f"{source.stem}/{each.stem}", source, each) for each in scripts]
    return found


def main(wanted: Sequence[str]) -> int:
    """Returns the exit status."""
    try:
        Toolchain.P4LANG.check()
    except ToolchainError:
        missing = " and ".join(Toolchain.P4LANG.missing())
        print(f"parity: skipped, {missing} is not on the path (vm/README.md says how to get it).")
        return 0
    chosen = [
        case
        for case in cases()
        if not wanted or any(word in (case.name, Path(case.name).name) for word in wanted)
    ]
    for case in chosen:
        if case.name in NOT_FOR_SIMPLE_SWITCH:
            print(f"left out {case.name}: {NOT_FOR_SIMPLE_SWITCH[case.name]}")
    if not chosen:
        print(f"parity: there is no case {' '.join(wanted)}.", file=sys.stderr)
        return 1
    chosen = [case for case in chosen if case.name not in NOT_FOR_SIMPLE_SWITCH]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        jobs = [
            pool.submit(_verdict, case, Path(folder) / str(number), number)
            for number, case in enumerate(chosen)
        ]
        different = 0
        for case, job in zip(chosen, jobs, strict=True):
            differences, remark = job.result()
            different += bool(differences)
            print(f"{'DIFFERS' if differences else 'equal  '} {case.name}{remark}", flush=True)
            for difference in differences:
                print(f"        {difference}")
    print(f"{len(chosen) - different} passed, {different} failed")
    return 1 if different else 0


def _verdict(case: Case, folder: Path, number: int) -> tuple[list[str], str]:
    """The differences, and notes."""
    try:
        return compare(case, folder, number)
    except Exception as error:  # noqa: BLE001 (one case must not end the others)
        where = traceback.extract_tb(error.__traceback__)[-1]
        return [f"{type(error).__name__} in {where.name}: {error}"], ""


def compare(case: Case, folder: Path, number: int) -> tuple[list[str], str]:
    """Runs one case through the combinations that are possible."""
    script = stf.Script.read(case.script)
    ours, theirs = folder / "ours" / "program", folder / "theirs" / "program"
    compile_by_ours(case.source, ours)
    stems = {"vitrine-p4c": ours}
    observed = {"vitrine-p4c": reference.observe(ours, script, ours.parent / "run", 2 * number)}
    reason = NOT_FOR_P4C.get(case.name)
    try:
        compile_by_p4c(case.source, theirs)
        found = reference.observe(theirs, script, theirs.parent / "run", 2 * number + 1)
    except (ToolchainError, ProcessError) as error:
        if reason is None or reason not in str(error):
            return [f"p4c: {error}"], ""
    else:
        if reason is not None:
            return ["p4c takes it now: remove it from NOT_FOR_P4C."], ""
        stems["p4c"], observed["p4c"] = theirs, found
    otherwise = P4C_DIFFERS.get(case.name)
    for each in observed.values():
        each.frames = {port: in_order(script, port, frames) for port, frames in each.frames.items()}
    if otherwise is not None:
        if not against_expectations(script, observed.pop("p4c")):
            return ["p4c does as the case expects: remove it from P4C_DIFFERS."], ""
        del stems["p4c"]
    differences: list[str] = []
    first, *others = observed.items()
    for other in others:
        differences += _between(first, other)
    differences += against_expectations(script, first[1])
    for compiler, stem in stems.items():
        replay = stem.parent / "replay.stf"
        replay.write_text(replayed(script, first[1]))
        complaint = _our_switch(stem, replay)
        if complaint:
            differences.append(f"our switch with {compiler}'s program: {complaint}")
    why = reason or otherwise
    remark = f"  (our compiler only; p4c: {why})" if why else ""
    return differences, remark


def replayed(script: stf.Script, observed: Observed) -> str:
    """The case as a script that expects exactly simple_switch's behaviour."""
    lines = [*script.settings]
    lines += [f"packet {packet.port} {packet.digits}" for packet in script.packets]
    for port, frames in sorted(observed.frames.items()):
        lines += [f"expect {port} {frame.hex()} $" for frame in frames]
    lines.append("wait")
    for (name, index), (packets, size_bytes) in sorted(observed.counters.items()):
        lines.append(f"check_counter {name}({index}) packets == {packets}")
        lines.append(f"check_counter {name}({index}) bytes == {size_bytes}")
    for (name, index), value in sorted(observed.registers.items()):
        lines.append(f"check_register {name}({index}) {value}")
    return "\n".join(lines) + "\n"


def in_order(script: stf.Script, port: int, frames: list[bytes]) -> list[bytes]:
    """The frames of a port in the order in which the case expects them, as far as it does.

    Frames of different classes wait in different queues, and threads of simple_switch take from
    them as they come to run: their order is no property of the program.
    """
    left = list(frames)
    ordered = []
    for packet in script.expected:
        found = (
            each for each in left if packet.port == port and _agrees(packet.digits, each.hex())
        )
        frame = next(found, None)
        if frame is not None:
            left.remove(frame)
            ordered.append(frame)
    return ordered + left


def _between(one: tuple[str, Observed], other: tuple[str, Observed]) -> list[str]:
    differences = []
    for what in ("frames", "counters", "registers"):
        left, right = getattr(one[1], what), getattr(other[1], what)
        for place in sorted(left.keys() | right.keys()):
            if left.get(place) != right.get(place):
                differences.append(
                    f"simple_switch, {what} at {place}: {_shown(left.get(place))} with {one[0]}'s "
                    f"program, {_shown(right.get(place))} with {other[0]}'s"
                )
    return differences


def against_expectations(script: stf.Script, observed: Observed) -> list[str]:
    """Where simple_switch does something else than a case expects."""
    differences = []
    for port in script.ports:
        expected = [packet.digits for packet in script.expected if packet.port == port]
        found = [frame.hex() for frame in observed.frames.get(port, [])]
        if len(expected) != len(found) or not all(map(_agrees, expected, found)):
            differences.append(f"port {port}: the case expects {expected}, simple_switch: {found}")
    return differences


def _agrees(expected: str, found: str) -> bool:
    """Whether a frame is what is expected; without `$` more may follow."""
    digits = expected.rstrip("$")
    if len(found) < len(digits) or (expected.endswith("$") and len(found) != len(digits)):
        return False
    return all(want in ("*", have) for want, have in zip(digits, found, strict=False))


def _shown(value: object) -> str:
    return str([each.hex() for each in value] if isinstance(value, list) else value)


def compile_by_ours(source: Path, stem: Path) -> None:
    """Compiles with our compiler to STEM.json and STEM.p4info.txtpb."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    files = ["-o", f"{stem}.json", "--p4runtime-files", f"{stem}.p4info.txtpb"]
    complaint = _run(
        [str(BIN / "vitrine-p4c"), "-I", str(SOURCES / "include"), *files, str(source)]
    )
    if complaint:
        raise ToolchainError(f"vitrine-p4c does not compile {source}: {complaint}")


def _our_switch(stem: Path, replay: Path) -> str:
    return _run([str(BIN / "vitrine-sim"), "stf", f"{stem}.json", str(replay)])


def _run(command: Sequence[str]) -> str:
    """The message of a command that fails; nothing if it does not fail."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_DEADLINE_S)
    return "" if done.returncode == 0 else " / ".join((done.stdout + done.stderr).splitlines())


if __name__ == "__main__":
    sys.exit(main(os.environ.get("CASES", "").split() or sys.argv[1:]))
