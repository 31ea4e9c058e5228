"""The dice are the router's: the first numbers of a seed and a name, and their law."""

from insides import Chance


def test_the_same_seed_and_name_give_the_same_dice_and_others_do_not():
    def first(seed: int, name: str) -> int:
        return Chance(seed, name).bits()

    assert first(1, "arbiter/pim") == first(1, "arbiter/pim")
    assert len({first(1, "a"), first(2, "a"), first(1, "b")}) == 3


def test_numbers_are_below_their_bound_and_equally_likely():
    chance = Chance(7, "test")
    seen = [0] * 5
    for _ in range(10_000):
        seen[chance.below(5)] += 1
    # 2000 each, five standard deviations of sqrt(10000 / 5 * 4 / 5) = 40.
    assert all(abs(count - 2000) < 200 for count in seen)


def test_what_occurs_half_of_the_time_does():
    chance = Chance(7, "coin")
    # 5000, five standard deviations of 50.
    assert abs(sum(chance.occurs(0.5) for _ in range(10_000)) - 5000) < 250
    assert not any(chance.occurs(0) for _ in range(100))
    assert all(chance.occurs(1) for _ in range(100))
