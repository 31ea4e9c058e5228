"""The switch as a system's controller reaches it, through its P4Runtime session."""

from __future__ import annotations

from controller.entities import Register
from controller.queues import Queues
from controller.session import Session
from labs.score.network import BOTTLENECK

# Bytes of a depth reading: a time and a number.
DEPTH_READING_BYTES = 16


class SessionDevice:
    """The switch through its P4Runtime session; see `system.Device`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queues = Queues(session)
        self.read_bytes = 0

    def write(self, register: str, value: int, index: int = 0) -> None:
        """Sets a cell."""
        self._session.modify([Register(register, index, value)])

    def read(self, register: str) -> list[int]:
        """All cells; counts their bytes."""
        cells = self._session.register_cells(register)
        self.read_bytes += len(cells) * -(
            -self._session.program.registers[register].width_bits // 8
        )
        return cells

    def depth_bytes(self) -> int:
        """The depth now; counts a reading."""
        port, class_ = BOTTLENECK
        self.read_bytes += DEPTH_READING_BYTES
        return self._queues.read([port]).ports[port].queues[class_].held_bytes
