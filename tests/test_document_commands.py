"""Every command that a page or a help text shows is one that the kit takes."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from controller.toolchain import ROOT
from vitrine.command import names, parser, tree

FENCED = re.compile(r"^```(?:sh|bash|console|text)?\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"(?<!`)`((?:vitrine|build/bin/vitrine)[^`\n]*)`(?!`)")
# Words before a command that are the shell's, root's or a virtual environment's.
BEFORE = re.compile(r"^(?:\$ |sudo (?:-E )?|[A-Z_]+=\S+ |build/bin/|build/venv/bin/)+")
# The folders of the kit whose files a command may name; others are the reader's own.
OURS = ("labs/", "p4src/", "tests/", "course/", "topo/", "insides/", "apps/")
# Files that a reader creates by following a page.
READERS = (
    "long-queues",
    "course/solutions/mirror/right",
    "labs/long_queues/topology.yaml",
    "labs/FOLDER/topology.yaml",
)
# A page's notation for several commands at once, or for the reader's choice: `[OPTION ...]`, `a|b`.
PATTERN = re.compile(r"\.\.\.|[\[\]{}<>|…]")


class Shown(NamedTuple):
    """A command, and the page that shows it."""

    page: str
    words: list[str]
    # A sentence may name a command without what it is about.
    in_sentence: bool = False


def commands_in(page: str, text: str) -> Iterator[Shown]:
    """The commands of a page, from its blocks and from its sentences."""
    joined = text.replace("\\\n", " ")
    lines = [line for block in FENCED.findall(joined) for line in block.splitlines()]
    for number, line in enumerate([*lines, *INLINE.findall(joined)]):
        command = BEFORE.sub("", line.strip())
        if re.match(r"vitrine(?:-[a-z0-9]+)? ", command) and not PATTERN.search(command):
            words = shlex.split(command, comments=True)
            yield Shown(page, words, in_sentence=number >= len(lines))


@functools.cache
def shown() -> list[Shown]:
    """Every command of the documents, and of the examples in help texts."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    pages = [name for name in listed.stdout.split() if (ROOT / name).exists()]
    found = [each for name in pages for each in commands_in(name, (ROOT / name).read_text())]
    every = [each for group in tree.loaded().values() for each in group] + tree.DEVELOP
    for command in every:
        help_text = "```\n" + "\n".join(command.examples) + "\n```\n"
        found += commands_in(f"vitrine {command.name} --help", help_text)
    return found


def refusal(each: Shown) -> str:
    """Why the command does not take the words; nothing if it does."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            given = parser.parse(each.words[1:])
    except SystemExit:
        is_short = each.in_sentence and "arguments are required" in said.getvalue()
        return "" if is_short else said.getvalue()
    lab = getattr(given, "lab", None)
    is_known = lab is None or lab.isupper() or lab in (*names.labs(), *READERS)
    return "" if is_known else f"there is no lab {lab}"


def test_the_command_takes_what_pages_show() -> None:
    kits = [each for each in shown() if each.words[0] == "vitrine"]
    assert len(kits) > 100
    assert [(each, said) for each in kits if (said := refusal(each))] == []


@functools.cache
def help_of(program: str, subcommand: str) -> str:
    """The help text of a program."""
    words = [str(ROOT / "build/bin" / program), *([subcommand] if subcommand else []), "--help"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return run.stdout if run.returncode == 0 else ""


def unknown_options(each: Shown) -> list[str]:
    """The options of a program's command line that its help does not have."""
    program, *words = each.words
    subcommand = words[0] if program == "vitrine-sim" else ""
    options = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
    text = help_of(program, subcommand)
    return sorted(option for option in options if not re.search(rf"{option}\b", text))


def test_the_programs_have_the_options_that_pages_show() -> None:
    of_programs = [each for each in shown() if each.words[0] != "vitrine"]
    assert len(of_programs) > 20
    wrong = [(each, found) for each in of_programs if (found := unknown_options(each))]
    assert wrong == []


def test_the_files_that_commands_name_are_there() -> None:
    named = [(each.page, word) for each in shown() for word in each.words if word.startswith(OURS)]
    assert len(named) > 10
    ours = [(page, word) for page, word in named if word not in READERS]
    missing = [(page, word) for page, word in ours if not (ROOT / word.partition(":")[0]).exists()]
    assert missing == []


def test_commands_that_are_wrong_are_found() -> None:
    page = (
        "```sh\n$ vitrine run bufferblot\nsudo vitrine run --rat 5\nvitrine up [NET]\n```\n"
        "Type `vitrine rnu` or `vitrine-sim queue --lods 1`; `vitrine labs` is right.\n"
    )
    found = list(commands_in("page.md", page))
    assert [each.words[1] for each in found] == ["run", "run", "rnu", "queue", "labs"]
    refused = [bool(refusal(each)) for each in found if each.words[0] == "vitrine"]
    assert refused == [True, True, True, False]
    assert unknown_options(found[3]) == ["--lods"]
