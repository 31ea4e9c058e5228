"""`make down`: ends the network that is up, or cleans up what an interrupted run left behind."""

from __future__ import annotations

import sys

from topo import record
from topo.errors import TopologyError


def main() -> int:
    """Returns the exit status."""
    try:
        running = record.owner()
        if running is not None:
            # The run cleans up after itself; what it could not, the next lines do.
            running.end()
        cleaned = record.clean_stale()
    except TopologyError as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    if running is not None:
        print(f"Ended the run of process {running.pid}.")
    if cleaned is not None:
        print(f"{cleaned.capitalize()}.")
    if running is None and cleaned is None:
        print("Nothing is up and nothing was left behind.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
