"""Which reports never arrived: gaps in the sequence numbers of every sender.

A sender counts its reports in 22 bits, which wrap after four million. A number that jumps ahead
says that reports were lost; one that comes later after all takes its loss back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from controller.telemetry.report import SEQUENCE_BITS

MODULUS = 1 << SEQUENCE_BITS
# A number less than half the circle ahead is new; one from the other half is late.
HALF = MODULUS // 2


@dataclass
class Sender:
    """The books of one sender; `lost` counts what is still missing."""

    received: int = 0
    lost: int = 0
    late: int = 0
    repeated: int = 0
    _latest: int | None = field(default=None, repr=False)

    def count(self, sequences: np.ndarray) -> None:
        """Takes the sequence numbers of a batch, in the order of arrival."""
        if not len(sequences):
            return
        numbers = sequences.astype(np.int64)
        before = numbers[0] - 1 if self._latest is None else self._latest
        # `ahead` is each number's distance from the highest before it, going round the circle once.
        steps = (np.diff(numbers, prepend=before) + HALF) % MODULUS - HALF
        position = np.cumsum(steps)
        highest_before = np.maximum.accumulate(np.concatenate(([0], position[:-1])))
        ahead = position - highest_before
        new = ahead > 0
        self.received += len(numbers)
        self.lost += int((ahead[new] - 1).sum())
        self.repeated += int((ahead == 0).sum())
        late = int((ahead < 0).sum())
        self.late += late
        # A late report was counted as lost when a later one overtook it. A repetition of an old
        # report looks like a late one, so the count must not fall below none.
        self.lost = max(0, self.lost - late)
        self._latest = int((before + max(0, int(position.max()))) % MODULUS)


class Senders:
    """The books of all senders, by node and hardware id. Bounded: ids come from the network."""

    LIMIT = 4096

    def __init__(self) -> None:
        self._senders: dict[tuple[int, int], Sender] = {}

    def count(self, nodes: np.ndarray, hardware: np.ndarray, sequences: np.ndarray) -> None:
        """Takes the group headers of a batch, in the order of arrival."""
        keys = nodes.astype(np.uint64) << np.uint64(6) | hardware.astype(np.uint64)
        for key in np.unique(keys):
            name = (int(key) >> 6, int(key) & 0x3F)
            sender = self._senders.get(name)
            if sender is None:
                if len(self._senders) >= self.LIMIT:
                    continue
                sender = self._senders[name] = Sender()
            sender.count(sequences[keys == key])

    def items(self) -> list[tuple[tuple[int, int], Sender]]:
        """Each (node id, hardware id) with its books, in order."""
        return sorted(self._senders.items())
