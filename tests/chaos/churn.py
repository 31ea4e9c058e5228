"""A controller that writes and reads its router's table all the time, and knows what must be in it.

Entries are those of 198.51.100.0/24, which is for documentation and nobody's in the network.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator

import grpc

from controller.connection import status_of
from controller.entries import Call, Entry, Lpm
from controller.errors import ConnectError, ControllerError, NotPrimaryError
from controller.session import Session

_PREFIX = 0xC6336400
_ENTRY_COUNT_MAX = 100
_BETWEEN_BATCHES_S = 0.05
TABLE = "ipv4_routes"


class Churn:
    """One router's table under one controller."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._dice = random.Random(0)
        self._present: list[Entry] = []
        # Alternative contents of the table: a batch whose response was lost is applied or not.
        self._perhaps: list[Entry] | None = None
        self._ending = threading.Event()
        # Held for the length of one batch.
        self._turn = threading.Lock()
        self.batches = 0
        # Violations, in sentences.
        self.wrong: list[str] = []

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        """Batch after batch for the length of a `with` block."""
        thread = threading.Thread(target=self._run, name="churn", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            thread.join()

    @contextlib.contextmanager
    def starting_anew(self) -> Iterator[None]:
        """Within the block nothing is written; behind it the table has nothing of the churn's."""
        with self._turn:
            yield
            self._present, self._perhaps = [], None

    def check(self) -> str | None:
        """The table's surplus or missing entries; None if it is right."""
        with self._turn:
            found = _keys(self._mine())
            for present in (self._present, self._perhaps):
                if present is not None and found == _keys(present):
                    self._present, self._perhaps = present, None
                    return None
        return (
            f"the table has {len(found)} entries of the churn and should have "
            f"{len(self._present)}; not asked for: {sorted(found - _keys(self._present))[:5]}, "
            f"missing: {sorted(_keys(self._present) - found)[:5]}"
        )

    def _run(self) -> None:
        try:
            while not self._ending.wait(_BETWEEN_BATCHES_S):
                with self._turn:
                    self.batch()
        except Exception as error:  # noqa: BLE001 (who looks for what is wrong finds it)
            self.wrong.append(f"the churn ended: {error!r}")

    def batch(self) -> None:
        """One batch; whatever must never happen is in `wrong`."""
        try:
            if self._perhaps is not None:
                self._settle()
            numbers = self._dice.sample(range(256), self._dice.randrange(_ENTRY_COUNT_MAX))
            wanted = [_entry(number) for number in sorted(numbers)]
            try:
                self._session.replace(self._present, wanted)
            except NotPrimaryError:
                # Nothing was written, and another controller is primary: it cleans up.
                return
            except ConnectError:
                self._perhaps = wanted
                return
            self._present = wanted
            self.batches += 1
        except (ConnectError, NotPrimaryError):
            return
        except ControllerError as error:
            # A read that a busy machine did not answer in time says nothing.
            if status_of(error) is not grpc.StatusCode.DEADLINE_EXCEEDED:
                self.wrong.append(f"a batch that is right was refused: {error}")

    def _settle(self) -> None:
        """Which of two states a batch without an answer has left."""
        found = _keys(self._mine())
        for state in (self._present, self._perhaps or []):
            if _keys(state) == found:
                self._present, self._perhaps = state, None
                return
        self.wrong.append("a batch that was cut off was carried out in part")
        self._present, self._perhaps = self._mine(), None

    def _mine(self) -> list[Entry]:
        return [entry for entry in self._session.read(TABLE) if _key(entry) >> 8 == _PREFIX >> 8]


def _entry(number: int) -> Entry:
    return Entry(TABLE, {"hdr.ipv4.dst_addr": Lpm(_PREFIX + number, 32)}, Call("no_route"))


def _key(entry: Entry) -> int:
    match = entry.match and entry.match.get("hdr.ipv4.dst_addr")
    return int(match.value) if isinstance(match, Lpm) else 0


def _keys(entries: list[Entry]) -> set[int]:
    return {_key(entry) for entry in entries}
