"""The kit itself: what this machine can do, the page that is one file, completion, Wireshark."""

from __future__ import annotations

import os
from argparse import Namespace

from vitrine.command import names
from vitrine.command import options as o
from vitrine.command.options import Option
from vitrine.command.tree import Needs, command


@command(
    "doctor",
    "say what this machine can do, what is missing, and what adds it",
    o.JSON,
    needs=Needs.NOTHING,
)
def doctor(given: Namespace) -> int:
    from vitrine.command import doctor as checks

    return checks.show(as_json=given.json)


@command(
    "new",
    "write a lab or an exercise that runs, to be changed into another one",
    Option(
        ("what",),
        "lab or exercise",
        {"choices": ("lab", "exercise"), "metavar": "WHAT"},
        lambda: ("lab", "exercise"),
    ),
    Option(("name",), "what it is called, such as long-queues", {"metavar": "NAME"}),
    examples=["vitrine new lab long-queues", "vitrine new exercise mirror"],
)
def new(given: Namespace) -> None:
    if given.what == "lab":
        from labs.declared.new import write
    else:
        from course.new import write
    print(write(given.name))


@command("page", "open the page that is one file: compiler, network and editor", needs=Needs.PAGE)
def page(given: Namespace) -> None:
    from labs.glass import ready

    ready.show()


@command("wireshark", "teach Wireshark and tshark to read INT", needs=Needs.NOTHING)
def wireshark(given: Namespace) -> None:
    file = str(names.ROOT / "vm" / "wireshark.sh")
    os.execv(file, [file])


@command(
    "completion",
    "print what makes a shell complete this command",
    Option(
        ("shell",),
        "bash, zsh or fish",
        {"choices": ("bash", "zsh", "fish"), "metavar": "SHELL"},
        lambda: ("bash", "zsh", "fish"),
    ),
    examples=[
        'eval "$(vitrine completion bash)"',
        "vitrine completion fish > ~/.config/fish/completions/vitrine.fish",
    ],
)
def completion(given: Namespace) -> None:
    import argcomplete

    print(argcomplete.shellcode(["vitrine"], shell=given.shell))
