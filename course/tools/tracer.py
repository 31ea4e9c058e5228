"""A P4 program in virtual time: compiled by vitrine-p4c, packets sent through by vitrine-sim."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT
from course.errors import CourseError
from course.exercise import Work
from course.story import Refused, Story

BIN = ROOT / "build" / "bin"
_STEPS_MAX = 500
COMPILER = BIN / "vitrine-p4c"
SIMULATOR = BIN / "vitrine-sim"


@dataclass
class Life:
    """The outcome of one packet."""

    # The frames that came out, with the port they came out of.
    sent: list[tuple[int, bytes]] = field(default_factory=list)
    # Why a copy of it was dropped, in the router's words.
    dropped: list[str] = field(default_factory=list)
    # The steps of the program, one line each.
    steps: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Program:
    """A program that compiles."""

    work: Work
    source: Path
    compiled: Path
    p4info: Path

    def lives(self, entries: Sequence[str], packets: Sequence[tuple[int, bytes]]) -> list[Life]:
        """Sends packets in, each at a port, one after another; `entries` are lines of STF."""
        script = self.work.scratch / "entries.stf"
        script.write_text("".join(f"{line}\n" for line in entries))
        argv = [str(SIMULATOR), "trace", "--json", "--entries", str(script), str(self.compiled)]
        argv += [f"{port}:{frame.hex()}" for port, frame in packets]
        done = self.work.runner.run(argv, trusted=True)
        if done.status is None:
            raise Refused(_endless(self.source, len(packets), done.why))
        if done.status != 0:
            raise Refused(_unfit(self.source, done.errors, entries))
        lives = _read(done.output.splitlines())
        if len(lives) != len(packets):
            raise CourseError(f"vitrine-sim trace told of {len(lives)} packets, not {len(packets)}")
        return lives

    def again(self, entries: Sequence[str], port: int, frame: bytes) -> str:
        """The command line that shows this packet's life in this program."""
        lines = " ".join(shlex.quote(line) for line in entries)
        return (
            f"printf '%s\\n' {lines} > /tmp/entries.stf; build/bin/vitrine-sim trace "
            f"--entries /tmp/entries.stf {_shown(self.work, self.source)} {port}:{frame.hex()}"
        )


def compile_program(work: Work, name: str, kit: Sequence[Path] = ()) -> Program:
    """Compiles a program of the submission; refused with the compiler's words if it does not.

    `kit` has the kit's files that it may include by their names, and folders that it may include as
    <FOLDER/...>. It can read nothing that lies beside them.
    """
    source = work.folder / name
    if not source.is_file():
        raise Refused(
            Story(
                done=f"The check looked for {name}.",
                expected="The file that is to be handed in.",
                because="It is the one that the handout names under 'What to hand in'.",
                came="There is no such file in the folder.",
            )
        )
    for program in (COMPILER, SIMULATOR):
        if not program.exists():
            raise CourseError(f"there is no {program}: run `make build` first")
    made = work.scratch / "made"
    made.mkdir(exist_ok=True)
    # A compiler that has no rights writes there, too.
    made.chmod(0o777)
    compiled, p4info = made / "program.json", made / "program.p4info.txtpb"
    search = list(dict.fromkeys(each.parent for each in kit))
    argv = [str(COMPILER), *_searching(search), "-o", str(compiled)]
    argv += ["--p4runtime-files", str(p4info), str(source)]
    done = work.runner.run(argv, readable=[work.folder, *kit], writable=[made])
    if done.status != 0:
        raise Refused(
            Story(
                done=f"vitrine-p4c compiled {name}.",
                expected="A program, and no message but warnings.",
                because="A program that does not compile can do nothing with a packet.",
                came=done.why or "The compiler refused it.",
                way=tuple(done.errors.strip().splitlines()[:20]),
                again=shlex.join(
                    [
                        *("build/bin/vitrine-p4c", *_searching(_from_kit(search))),
                        *("-o", "/tmp/program.json", f"{work.shown}/{source.name}"),
                    ]
                ),
            )
        )
    return Program(work, source, compiled, p4info)


def _searching(folders: Iterable[Path]) -> list[str]:
    return [word for folder in folders for word in ("-I", str(folder))]


def _from_kit(folders: Iterable[Path]) -> list[Path]:
    return [folder.relative_to(ROOT) for folder in folders]


def _shown(work: Work, source: Path) -> str:
    return shlex.quote(f"{work.shown}/{source.name}")


def _endless(source: Path, count: int, why: str) -> Story:
    return Story(
        done=f"The check sent {count} packets into {source.name}.",
        expected="Each of them to leave or to be dropped at some time.",
        because="A packet that is recirculated or resubmitted for ever keeps the router busy.",
        came=why,
    )


def _unfit(source: Path, errors: str, entries: Sequence[str]) -> Story:
    return Story(
        done=f"The check filled the tables of {source.name}: {'; '.join(entries[:2])} ...",
        expected="The table, key and actions of the handout, with these names and parameters, and "
        "somewhere an apply() of the table: one that is never applied is no part of the program.",
        because="A controller fills them by their names (P4Runtime specification, section 9.1).",
        came="The simulator refused the entries.",
        way=tuple(errors.strip().splitlines()[:5]),
    )


def _read(lines: Iterable[str]) -> list[Life]:
    lives: list[Life] = []
    for line in lines:
        told = json.loads(line)
        event = told["event"]
        if event == "received":
            lives.append(Life())
            continue
        life = lives[-1]
        # Of a packet that goes round and round the first rounds tell enough.
        if len(life.steps) >= _STEPS_MAX:
            if event == "transmitted":
                life.sent.append((told["port"], bytes.fromhex(told["bytes"])))
            elif event == "dropped":
                life.dropped.append(told["text"])
            continue
        if event == "transmitted":
            life.sent.append((told["port"], bytes.fromhex(told["bytes"])))
            life.steps.append(f"leaves port {told['port']}")
        elif event == "dropped":
            life.dropped.append(told["text"])
            life.steps.append(f"dropped: {told['text']}")
        else:
            life.steps += _step(event, told)
    return lives


def _step(event: str, told: Mapping[str, Any]) -> list[str]:
    """A step of a program in words; empty for kinds of steps that the report omits."""
    if event == "parser_state":
        return [f"parser state {told['name']}"]
    if event == "parser_done":
        error = told["error"]
        return [f"parser ends after {told['parsed_bytes']} bytes: {error}"]
    if event == "checksum":
        right = told["computed"] == told["found"]
        verdict = "is right" if right else ("is wrong" if told["verified"] else "is updated")
        return [f"checksum {verdict}: computed {told['computed']:#06x}, found {told['found']:#06x}"]
    if event == "condition":
        return [f"if: {'yes' if told['holds'] else 'no'}"]
    if event == "table":
        key = ", ".join(f"{name} = {value}" for name, value in told["key"].items())
        found = "miss" if told["entry"] is None else f"entry {told['entry']}"
        return [f"table {told['name']}: {key}: {found}"]
    if event == "action":
        data = ", ".join(f"{name} = {value}" for name, value in told["data"].items())
        return [f"action {told['name']}({data})"]
    if event == "field_changed":
        return [f"{told['field']}: {told['before']} -> {told['after']}"]
    return []
