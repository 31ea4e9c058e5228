"""What stands behind a command, `make top ROUTER=s1`: a name that is misspelt is refused.

It would change nothing, and nobody would notice. The Makefile asks before anything is set up, so
this file is also a program, which needs nothing but Python:

    python3 -I controller/settings.py ROUTER LISTEN [-- WORLD]
                        behind `--`: what the command knows, and nobody is advised to write
"""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Collection, Mapping

# What can stand behind every command, as the set-up takes it.
_ANYWHERE = ("RUST_INSTALL", "NAMESPACES", "GLASS")
# A name in the environment that is so near to a setting's is meant to be it.
_NEAR = 0.8


def mistake(
    known: Collection[str],
    environment: Mapping[str, str],
    *,
    listed: Collection[str] | None = None,
    common: Collection[str] = (),
) -> str | None:
    """What is wrong with a name that somebody wrote, and what was meant; None: nothing is.

    `known` are those of the command, `listed` those that are worth saying of them; names near to
    those in `common` are mistakes in the environment, too, where everybody's names stand.
    """
    listed = known if listed is None else listed
    # make writes down what stood behind its target; there every other name is a mistake.
    _, _, behind = environment.get("MAKEFLAGS", "").rpartition("-- ")
    written = [word.partition("=")[0] for word in shlex.split(behind) if "=" in word]
    for name in written:
        if name not in (*known, *_ANYWHERE) and not name.startswith("VITRINE_"):
            near = difflib.get_close_matches(name.upper(), listed, n=1)
            there_are = f"there are: {', '.join(listed)}." if listed else "it takes none."
            hint = f"did you mean {near[0]}?" if near else there_are
            return f"there is no setting {name}: {hint}"
    for name in environment:
        near = difflib.get_close_matches(
            name, [each for each in common if each in known], n=1, cutoff=_NEAR
        )
        if near and name not in known:
            return f"there is no setting {name}: did you mean {near[0]}?"
    return None


def main(arguments: list[str]) -> int:
    """The exit status: 1 if a name is wrong, which is said."""
    listed = arguments[: arguments.index("--")] if "--" in arguments else arguments
    found = mistake([name for name in arguments if name != "--"], os.environ, listed=listed)
    if found:
        print(f"vitrine: {found}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
