"""Losses are known from the sequence numbers, also where these wrap or change places."""

from __future__ import annotations

import numpy as np
import pytest

from controller.telemetry.sequence import MODULUS, Sender

LAST = MODULUS - 1


@pytest.mark.parametrize(
    ("batches", "lost", "late", "repeated"),
    [
        ([[5, 6, 7, 8]], 0, 0, 0),
        ([[5, 6, 9]], 2, 0, 0),
        # A gap between batches is a gap.
        ([[5, 6], [9, 10]], 2, 0, 0),
        # 7 was missing when 8 came, and came after all.
        ([[5, 6, 8, 7, 9]], 0, 1, 0),
        ([[5, 6, 8], [7, 9]], 0, 1, 0),
        ([[5, 6, 6, 7]], 0, 0, 1),
        # The numbers wrap at 2^22.
        ([[LAST - 1, LAST, 0, 1]], 0, 0, 0),
        ([[LAST - 1, 1]], 2, 0, 0),
        ([[LAST], [2], [0], [1], [3]], 0, 2, 0),
    ],
)
def test_gaps_late_reports_and_repetitions_are_told_apart(batches, lost, late, repeated):
    sender = Sender()
    for batch in batches:
        sender.count(np.array(batch, dtype=np.uint32))

    assert (sender.lost, sender.late, sender.repeated) == (lost, late, repeated)
    assert sender.received == sum(len(batch) for batch in batches)


def test_how_the_numbers_are_cut_into_batches_makes_no_difference():
    chance = np.random.default_rng(1)
    numbers = (LAST - 500 + np.arange(1000)) % MODULUS
    numbers = numbers[chance.random(1000) > 0.1]
    # Neighbours change places here and there.
    for index in chance.integers(0, len(numbers) - 1, 50):
        numbers[[index, index + 1]] = numbers[[index + 1, index]]
    whole, cut = Sender(), Sender()
    whole.count(numbers)
    for part in np.array_split(numbers, 37):
        cut.count(part)
    assert whole == cut
