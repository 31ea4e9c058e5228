"""INT-MD: each packet carries the queue it left, and the last router reports it."""

from __future__ import annotations

from labs.score.system import Device
from labs.score.systems.postcards import Postcards


class IntMd(Postcards):
    """The kit's INT router on both routers; it watches every packet, deep queue or not."""

    name = "int-md"
    summary = "each packet carries the depth and its wait, and the last router reports them"
    after = "P4.org, INT 2.1, mode MD"
    program = "int_router"
    in_band = True

    def install(self, device: Device) -> None:
        """The domain's entries are all that it needs."""
