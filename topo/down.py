"""`vitrine down`: ends the network that is up, or cleans up what an interrupted run left behind."""

from __future__ import annotations

from controller import routers
from topo import record
from topo.units import counted


def down() -> None:
    """Ends it, and says what was ended."""
    running = record.owner()
    if running is not None:
        # The run cleans up after itself; what it could not, the next lines do.
        running.end()
    cleaned = record.clean_stale()
    words = routers.clean()
    if running is not None:
        print(f"Ended the run of process {running.pid}.")
    if cleaned is not None:
        print(f"{cleaned.capitalize()}.")
    if words:
        print(f"Removed {counted(words, 'file')} of networks that were killed.")
    if running is None and cleaned is None and not words:
        print("Nothing is up and nothing was left behind.")
