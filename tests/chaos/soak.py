"""`vitrine dev soak --duration 8h`: nothing goes wrong, for long; whatever grows is found.

Now and then all that could grow is looked at; `soak_live` and `soak_virtual` say what that is in
their worlds. In the end each of it is drawn over time, into out/soak or out/soak-virtual, and must
not grow (see `slope`), nor must throughput fall; and what must hold after every fault holds here
too. A run that is ended early, or in which something does not hold, is drawn and judged as far as
it went.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs.errors import LabError
from labs.world import World
from tests.chaos import span
from tests.chaos.errors import LawError
from tests.chaos.series import Series
from topo import ending
from topo.errors import TopologyError


def main() -> int:
    """Returns the exit status."""
    try:
        seconds = span.seconds(os.environ.get("DURATION") or "8h")
        world = World.named(os.environ.get("WORLD"))
    except (ValueError, LabError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    # Imported here: who stays in one world needs nothing of the other, such as Mininet.
    if world is World.VIRTUAL:
        from tests.chaos.soak_virtual import run

        folder = ROOT / "out" / "soak-virtual"
    else:
        from tests.chaos.soak_live import run

        folder = ROOT / "out" / "soak"
    return told(lambda series: run(folder, seconds, series), Series(folder))


def told(run: Callable[[Series], None], series: Series) -> int:
    """Lets it run, and says what came of it, however it ends; returns the exit status."""
    status = 0
    try:
        with ending.as_exit():
            run(series)
    except (LawError, ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        status = 1
    except (KeyboardInterrupt, SystemExit):
        print("vitrine: it was ended before its time.", file=sys.stderr)
        status = ending.INTERRUPTED
    return series.report() or status


if __name__ == "__main__":
    sys.exit(main())
