"""`make up` from its first instant on: what it needs is loaded where Ctrl-C finds it already."""

from __future__ import annotations

import sys

from topo import ending


def main() -> int:
    """Returns the exit status."""
    try:
        # Whoever ends it with a signal gets everything taken down, too.
        with ending.as_exit():
            # Imported here: that takes a second, in which people change their minds.
            from labs.prompt import up

            return up.main()
    except KeyboardInterrupt:
        print("\nvitrine: interrupted; nothing is left of the network.", file=sys.stderr)
        return ending.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
