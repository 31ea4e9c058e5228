"""argparse with examples, suggestions for misspelt words, and completion."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from labs.hint import meant
from vitrine.command import tree
from vitrine.command.tree import Command

PROGRAM = "vitrine"
_CODES = """\
exit codes:
  0    done, and all is as it should be
  1    done, but a band or a case is not met; or it failed on the way
  2    the command line is wrong, or nothing could be done
  130  interrupted by Ctrl-C; 143 and 129 by other signals
  141  the program that read the output has ended"""


class Parser(argparse.ArgumentParser):
    """A parser that names the word that was meant."""

    def error(self, message: str) -> NoReturn:
        """Ends with one sentence and the exit code 2."""
        self.exit(2, f"{PROGRAM}: {message}\n")

    def parse_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def,override]  # noqa: ANN001, ANN201
        """As argparse does, but an unknown option is refused with the one that was meant."""
        given, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.refuse(str(unknown[0]), getattr(given, "parser", self))
        return given

    def refuse(self, word: str, of: argparse.ArgumentParser) -> NoReturn:
        """Says that there is no such word, and which there are."""
        known = [each for each in of._option_string_actions if each.startswith("--")]
        name = word.partition("=")[0]
        if not name.startswith("-"):
            # Without a lesson the page shows the network that is up, so it is an option's value.
            hint = f"see {of.prog} --help"
            if "--lesson" in known:
                hint = f"did you mean {of.prog} --lesson {word}?"
            self.error(f"{of.prog}: {word!r} is one word too many; {hint}")
        self.error(f"{of.prog} has no option {name}: {meant(name, known)}")


class _Words(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


def build() -> Parser:
    """The parser of the whole command."""
    groups = tree.loaded()
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [OPTION ...]",
        description=_overview(groups),
        epilog=f"`{PROGRAM} COMMAND --help` has the options and examples of a command.\n\n{_CODES}",
        formatter_class=_Words,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(
        dest="command", prog=PROGRAM, metavar="COMMAND", help=argparse.SUPPRESS
    )
    for group in groups.values():
        for each in group:
            _add(commands, each, PROGRAM)
    develop = commands.add_parser(
        "dev",
        usage=f"{PROGRAM} dev COMMAND [OPTION ...]",
        description="For work on the kit itself.\n\n" + _lines(tree.DEVELOP),
        formatter_class=_Words,
        allow_abbrev=False,
    )
    inner = develop.add_subparsers(
        dest="dev", prog=f"{PROGRAM} dev", metavar="COMMAND", help=argparse.SUPPRESS, required=True
    )
    for each in tree.DEVELOP:
        _add(inner, each, f"{PROGRAM} dev")
    return parser


def _add(commands: argparse._SubParsersAction, each: Command, before: str) -> None:
    examples = "\n".join(f"  {line}" for line in each.examples)
    parser = commands.add_parser(
        each.name,
        description=f"{each.summary[0].upper()}{each.summary[1:]}.",
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=_Words,
        add_help=not each.hands_on,
        allow_abbrev=False,
        prefix_chars="\0" if each.hands_on else "-",
    )
    for option in each.options:
        action = parser.add_argument(*option.words, help=option.help, **option.more)
        if option.completed is not None:
            # argcomplete's source.
            of = option.completed
            action.completer = lambda of=of, **_: of()  # type: ignore[attr-defined]
    parser.set_defaults(own=each, parser=parser)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command and its options; ends the program with a sentence where they are wrong."""
    parser = build()
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    word = next(iter(arguments), "")
    if word and not word.startswith("-") and word not in commands.choices:
        there = list(commands.choices)
        parser.error(f"there is no command {word!r}: {meant(word, there)}")
    if word == "dev" and len(arguments) > 1 and not arguments[1].startswith("-"):
        there = [each.name for each in tree.DEVELOP]
        if arguments[1] not in there:
            parser.error(f"there is no command 'dev {arguments[1]}': {meant(arguments[1], there)}")
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.print_help()
        sys.exit(0)
    return given


def complete() -> None:
    """Answers the shell, if it is the shell that asks."""
    import argcomplete

    argcomplete.autocomplete(build())


def _overview(groups: dict[str, list[Command]]) -> str:
    parts = ["A P4 switch with glass walls: labs, networks and exercises."]
    for group, commands in groups.items():
        parts.append(f"{tree.GROUPS[group]}:\n{_lines(commands)}")
    return "\n\n".join(parts)


def _lines(commands: list[Command]) -> str:
    return "\n".join(f"  {each.name:22} {each.summary}" for each in commands)
