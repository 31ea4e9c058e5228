"""How much faster a crossbar must be to send every cell when a router with output queues does."""

import itertools
from fractions import Fraction

import pytest

from labs.speedup import mimicry

# More slots than a late cell of these needs.
DRAINED = 12


def late_of(ports, speedup, arrivals):
    """How many cells leave late; each slot names an output, or none, for every input."""
    crossbar = mimicry.Crossbar(ports, speedup)
    for slot in [*arrivals, *[[None] * ports] * DRAINED]:
        crossbar.step(list(slot))
    return crossbar.late


@pytest.mark.parametrize("first", [(), ((None, None),)], ids=["one crossing first", "two first"])
def test_two_ports_never_send_late_at_three_halves_whatever_comes_in_four_slots(first):
    slots = list(itertools.product((None, 0, 1), repeat=2))
    for arrivals in itertools.product(slots, repeat=4):
        assert late_of(2, Fraction(3, 2), first + arrivals) == 0, arrivals


def test_less_than_three_halves_makes_one_of_three_cells_late():
    # At 4/3 the first two slots have one crossing each.
    assert late_of(2, Fraction(4, 3), [(0, 0), (None, 1)]) == 1


@pytest.mark.parametrize("ports", [3, 4, 8])
def test_random_bursts_are_never_late_at_two_minus_one_over_n(ports):
    found = mimicry.run(ports, 2 - Fraction(1, ports), load=0.98, slots=1500, seed=1)
    assert found.cells > 1000
    assert found.late == 0
