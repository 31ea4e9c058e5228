"""`make run`: the first lab from start to end, and where its results lie."""

from __future__ import annotations

import sys

from controller.errors import ControllerError
from labs import ownership
from labs.bottleneck import lab
from topo.errors import TopologyError


def main() -> int:
    """Returns the exit status."""
    folder = lab.ROOT / "out" / "bottleneck"
    try:
        settings = lab.Settings.from_environment()
        with lab.network(settings, logs=lab.ROOT / "build" / "log" / "bottleneck") as (
            network,
            session,
        ):
            result = lab.measure(network, session, settings)
    except (ControllerError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nvitrine: interrupted; the network is gone again.", file=sys.stderr)
        return 130
    table = lab.report(result, folder)
    ownership.give_back(folder.parent)
    print(f"\n{table}\n")
    place = folder.relative_to(lab.ROOT)
    print(f"Results: {place}/table.md, {place}/queue.png, {place}/queue.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
