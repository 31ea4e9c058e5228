"""`make up`: the first network with its router programmed, and Mininet's prompt to play with it."""

from __future__ import annotations

import sys

from mininet.cli import CLI

from controller.errors import ControllerError
from labs.bottleneck import lab
from topo.errors import TopologyError


def main() -> int:
    """Returns the exit status."""
    try:
        settings = lab.Settings.from_environment()
        with lab.network(settings, logs=lab.ROOT / "build" / "log" / "up") as (network, _):
            print("h1, h2 and their router s1 are up; try: h1 ping -c 3 h2. Ctrl-D ends.")
            CLI(network.mininet)
    except (ControllerError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
