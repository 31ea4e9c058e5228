"""`make up`: the first network with its router programmed, and Mininet's prompt to play with it."""

from __future__ import annotations

import sys

from mininet.cli import CLI

from controller.errors import ControllerError
from labs import network
from labs.bottleneck.lab import Bottleneck
from labs.settings import Settings
from topo.errors import TopologyError

LOGS = network.ROOT / "build" / "log" / "up"


def main() -> int:
    """Returns the exit status."""
    try:
        lab = Bottleneck(Settings.from_environment())
        with network.programmed(lab.topology(), logs=LOGS) as (live, _):
            print("h1, h2 and their router s1 are up; try: h1 ping -c 3 h2. Ctrl-D ends.")
            CLI(live.mininet)
    except (ControllerError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
