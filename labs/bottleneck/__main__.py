"""`make run`: the first lab from start to end, and where its results lie."""

from __future__ import annotations

import sys

from controller.errors import ControllerError
from labs import ownership
from labs.bottleneck import lab
from topo.errors import TopologyError

LOGS = lab.ROOT / "build" / "log" / "bottleneck"
RESULTS = lab.ROOT / "out" / "bottleneck"


def main() -> int:
    """Returns the exit status."""
    try:
        settings = lab.Settings.from_environment()
        with lab.network(settings, logs=LOGS) as (network, session):
            result = lab.measure(network, session, settings)
        table = lab.report(result, RESULTS)
    except (ControllerError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells count it.
        print("\nvitrine: interrupted; the network is gone again.", file=sys.stderr)
        return 130
    finally:
        ownership.give_back(LOGS)
        ownership.give_back(RESULTS.parent)
    place = RESULTS.relative_to(lab.ROOT)
    print(f"\n{table}\n")
    print(f"Results: {place}/table.md, {place}/queue.png, {place}/queue.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
