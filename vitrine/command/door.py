"""The command as a clone starts it: sets up what is missing, as root only where it must.

    door.py WORDS...               what `build/bin/vitrine` runs
    door.py make TARGET...         a target of the Makefile, with the variables behind it
    door.py takes                  a target that takes no variables
    door.py moved TARGET           a target that is gone

The words are checked before anything is installed, so this runs in any Python; then the command is
run in the kit's own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from controller import routers
from labs import names as labs
from vitrine.command import make, parser, privilege, tree
from vitrine.command.names import ROOT
from vitrine.command.tree import Command, Needs

PYTHON = str(ROOT / "build" / "venv" / "bin" / "python")


def main(words: list[str]) -> NoReturn:
    """Ends as the command, or with an exit code."""
    if "_ARGCOMPLETE" in os.environ:
        parser.complete()
    match words:
        case ["takes"]:
            sys.exit(_refused(make.behind(os.environ)))
        case ["moved", target]:
            print(make.moved(target, make.behind(os.environ)), file=sys.stderr)
            sys.exit(2)
        case ["make", *target]:
            command = tree.named(*target)
            assert command is not None, "the Makefile names commands that there are"
            try:
                words = [*target, *make.words(command, _written(command))]
            except make.MakeError as error:
                print(f"vitrine: {error}", file=sys.stderr)
                sys.exit(2)
    _go(words)


def _refused(written: dict[str, str]) -> int:
    for name in written:
        print(f"vitrine: there is no setting {name}: this target takes none.", file=sys.stderr)
    return 2 if written else 0


def _written(command: Command) -> dict[str, str]:
    """The variables behind the target; WORLD may come before make, too."""
    world = {"WORLD": os.environ["WORLD"]} if os.environ.get("WORLD") else {}
    takes_world = any(each.key == "world" for each in command.options)
    return {**(world if takes_world else {}), **make.behind(os.environ)}


def _go(words: list[str]) -> NoReturn:
    given = parser.parse(words)
    lab = getattr(given, "lab", None)
    if lab and lab not in labs.names():
        print(f"vitrine: {labs.refusal(lab, labs.names())}", file=sys.stderr)
        sys.exit(2)
    needs: Needs = given.own.needs
    world, is_root = "virtual", False
    if needs is Needs.WORLD:
        world = given.world or _possible_world()
        if not given.world and world == "virtual":
            words = [*words, "--world", "virtual"]
        is_root = world != "virtual"
    elif needs is Needs.ROOT or (needs is Needs.LIVE_IF_ASKED and given.live):
        world, is_root = "live", True
    elif needs is Needs.OWNER:
        # A live network is root's, and its record (topo/record.py) says that there is one.
        records = [folder / "network.json" for folder in routers.folders()]
        is_root = any(os.path.exists(each) for each in records)  # noqa: PTH110 - may be unreadable
    _set_up(needs, world)
    _become([PYTHON, "-m", "vitrine", *words], as_root=is_root)


def _possible_world() -> str:
    """The live world where this machine can do it; else the virtual one, with the reason."""
    obstacle = privilege.obstacle()
    if obstacle is None:
        return "live"
    print(f"[vitrine] This runs in the virtual world: {obstacle.reason}.", file=sys.stderr)
    return "virtual"


def _set_up(needs: Needs, world: str) -> None:
    """Installs and builds missing parts, or ends with the status of the failed step."""
    if needs is Needs.NOTHING:
        return
    script = "vm/python.sh" if needs in (Needs.PYTHON, Needs.OWNER) else "vm/setup.sh"
    scripts = [script, "vm/page.sh"] if needs is Needs.PAGE else [script]
    for each in scripts:
        environment = {**os.environ, "WORLD": "virtual" if world == "virtual" else "live"}
        done = subprocess.run([str(ROOT / each)], env=environment, check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)


def _become(command: list[str], *, as_root: bool) -> NoReturn:
    if not os.path.exists(PYTHON):  # noqa: PTH110 - nothing is set up, and nothing is needed
        command = [sys.executable, *command[1:]]
        os.environ["PYTHONPATH"] = str(ROOT)
    if as_root:
        command = [str(ROOT / "vm" / "as_root.sh"), *command]
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
