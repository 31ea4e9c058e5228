"""Samples that come together become the series that they would become one by one."""

import random

import pytest

from controller.columns import Counts, InputColumns, PortColumns
from controller.queues import InputState, PortState, QueueState, VoqState
from labs.measure.columns import GrowingByColumns
from labs.measure.router import Drop, _Growing

REASONS = ("AQM", "QUEUE_LIMIT", "BAD_CLASS")
ROWS = 60


def counts(states) -> Counts:
    """The same place at some instants."""
    reasons = dict.fromkeys(reason for state in states for reason in state.dropped_packets)
    return Counts(
        held_packets=[state.held_packets for state in states],
        held_bytes=[state.held_bytes for state in states],
        departed_packets=[getattr(state, "departed_packets", 0) for state in states],
        departed_bytes=[getattr(state, "departed_bytes", 0) for state in states],
        dropped_packets={
            reason: [state.dropped_packets.get(reason, 0) for state in states] for reason in reasons
        },
    )


def columns(states) -> PortColumns:
    queues = zip(*(state.queues for state in states), strict=True)
    return PortColumns(
        counts(states),
        {queue[0].class_: counts(queue) for queue in queues},
        [state.backlog_packets for state in states],
        [state.arriving_packets for state in states],
        [state.leaving_packets for state in states],
    )


def input_columns(states) -> InputColumns:
    outputs = {voq.output for state in states for voq in state.voqs}
    return InputColumns(
        counts(states),
        {
            output: [
                sum(voq.held_packets for voq in state.voqs if voq.output == output)
                for state in states
            ]
            for output in outputs
        },
    )


def by_chance(seed: int) -> list[tuple[PortState, InputState]]:
    """A port of two queues that holds, sends and drops something at each instant."""
    dice = random.Random(seed)
    dropped = [{}, {}, {}, {}]
    departed = [dice.randrange(100), dice.randrange(100)]
    found = []
    for _ in range(ROWS):
        for place in dropped:
            if dice.random() < 0.2:
                reason = dice.choice(REASONS)
                place[reason] = place.get(reason, 0) + dice.randrange(1, 4)
        departed = [each + dice.randrange(3) for each in departed]
        queues = tuple(
            QueueState(class_, dice.randrange(9), dice.randrange(9000), sent, sent * 100, {**drops})
            for class_, (sent, drops) in enumerate(zip(departed, dropped[:2], strict=True))
        )
        # The port counts what its queues dropped, and what reached none of them.
        reasons = {reason for place in dropped[:3] for reason in place}
        in_all = {
            reason: sum(it.get(reason, 0) for it in dropped[:3]) for reason in sorted(reasons)
        }
        cable = [dice.randrange(5) for _ in range(3)]
        port = PortState(2, 5, 500, sum(departed), sum(departed) * 100, in_all, queues, *cable)
        voqs = tuple(
            VoqState(output, 0, dice.randrange(1, 5), 100)
            for output in (1, 2, 3)
            if dice.random() < 0.3
        )
        held = sum(voq.held_packets for voq in voqs)
        found.append((port, InputState(2, held, 100 * held, {**dropped[3]}, voqs)))
    return found


@pytest.mark.parametrize("together", [1, 7, ROWS])
@pytest.mark.parametrize("seed", range(5))
def test_series_are_the_same_however_many_samples_come_together(seed, together):
    states = by_chance(seed)
    one_by_one = _Growing()
    for index, (port, input_) in enumerate(states):
        one_by_one.add(float(index), port, input_)
    growing = GrowingByColumns()
    for first in range(0, ROWS, together):
        some = states[first : first + together]
        times_s = [float(first + row) for row in range(len(some))]
        ports, inputs = zip(*some, strict=True)
        growing.add(times_s, columns(ports), input_columns(inputs))

    def order(drop: Drop) -> tuple[float, str, str, int]:
        return drop.time_s, str(drop.class_), drop.reason, drop.packets

    # Drops between two samples have no order.
    expected = sorted(one_by_one.series.drops, key=order)
    assert sorted(growing.series.drops, key=order) == expected
    growing.series.drops = one_by_one.series.drops
    assert growing.series == one_by_one.series
