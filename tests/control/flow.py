"""Frames that flow through a switch while a test does something to it; each must arrive."""

from __future__ import annotations

import threading
from types import TracebackType

from tests.control.cables import Cable

LPM = 0x8802
# So many are under way at once: far fewer than the kernel keeps for a process that is late.
WINDOW = 16
# A frame that has not come by then never will.
DEADLINE_S = 60


class Flow:
    """Numbered frames from one cable to another for as long as the `with` block runs.

    At its end every frame that was sent has arrived, once and in order.
    """

    def __init__(self, source: Cable, destination: Cable, to: int) -> None:
        self._source, self._destination = source, destination
        self._head = to.to_bytes(6, "big") + bytes(6) + LPM.to_bytes(2, "big") + bytes(11)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flow", daemon=True)
        self.sent = 0
        self._wrong: str | None = None

    def __enter__(self) -> Flow:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        if error is None:
            assert self._wrong is None, self._wrong
            assert self.sent > 0

    def check(self) -> None:
        """Reports the mistakes until now."""
        assert self._wrong is None, self._wrong

    def _run(self) -> None:
        while not self._stop.is_set() and self._wrong is None:
            numbers = range(self.sent, self.sent + WINDOW)
            for number in numbers:
                self._source.send(self._head + number.to_bytes(8, "big") + bytes(27))
            self.sent += WINDOW
            arrived = self._destination.receive(WINDOW, DEADLINE_S)
            found = [int.from_bytes(frame[25:33], "big") for frame in arrived]
            if found != list(numbers):
                self._wrong = f"sent {list(numbers)}, and {found} arrived"
