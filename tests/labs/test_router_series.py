"""Samples of a port become series: depths, what left, drops by reason and place."""

import pytest

from controller.queues import InputState, PortState, QueueState, VoqState
from labs.measure.router import Drop, PortSeries, _Growing
from tests.labs.saw import saw, steady


def state(held, departed, drops, queues=()):
    return PortState(2, held, held * 1514, departed, departed * 1514, drops, queues)


def queue(class_, held, departed, drops):
    return QueueState(class_, held, held * 1514, departed, departed * 1514, drops)


def grown(*states) -> PortSeries:
    growing = _Growing()
    for index, each in enumerate(states):
        growing.add(float(index), each)
    return growing.series


def test_totals_count_from_the_first_sample():
    series = grown(state(0, 100, {"QUEUE_LIMIT": 3}), state(7, 150, {"QUEUE_LIMIT": 5}))
    assert series.packets == [0, 7]
    assert series.departed_packets == [0, 50]
    assert series.departed_bytes == [0, 50 * 1514]
    assert series.drops == [Drop(1.0, None, "QUEUE_LIMIT", 2)]


def test_a_drop_belongs_to_its_queue_and_is_counted_once():
    series = grown(
        state(0, 0, {}, (queue(0, 0, 0, {}), queue(1, 0, 0, {}))),
        # Port and queue both count the two packets; one more never reached a queue.
        state(
            9,
            1,
            {"QUEUE_LIMIT": 2, "BAD_CLASS": 1},
            (queue(0, 2, 0, {}), queue(1, 7, 1, {"QUEUE_LIMIT": 2})),
        ),
    )
    assert series.drops == [Drop(1.0, 1, "QUEUE_LIMIT", 2), Drop(1.0, None, "BAD_CLASS", 1)]
    assert series.dropped_packets == 3
    assert series.queues[1].packets == [0, 7]


def test_a_queue_that_appears_later_was_empty_before():
    series = grown(state(0, 0, {}), state(1, 0, {}, (queue(3, 1, 0, {}),)))
    assert series.queues[3].packets == [0, 1]


def test_virtual_output_queues_are_recorded_by_output_with_zeros_in_between():
    growing = _Growing()
    for index, voqs in enumerate(
        [(), (VoqState(2, 0, 3, 4542), VoqState(2, 1, 1, 1514)), (VoqState(3, 0, 5, 7570),)]
    ):
        held = sum(voq.held_packets for voq in voqs)
        drops = {"VOQ_LIMIT": 10 + index}
        growing.add(float(index), state(0, 0, {}), InputState(1, held, held * 1514, drops, voqs))
    series = growing.series
    assert series.input.packets == [0, 4, 5]
    assert series.input.voqs == {2: [0, 4, 0], 3: [0, 0, 5]}
    # Ten were dropped before the recording began.
    assert series.drops == [Drop(1.0, None, "VOQ_LIMIT", 1), Drop(2.0, None, "VOQ_LIMIT", 1)]


def test_the_rate_within_a_span_is_what_left_in_it():
    # 1,250,000 bytes a second are 10 Mb/s, in every part of the run.
    series = saw(10.0)
    assert series.rate_bps(0, 10) == pytest.approx(10e6)
    assert series.rate_bps(2.5, 3.1, class_=0) == pytest.approx(10e6)
    assert series.rate_bps(20, 30) == 0


def test_the_mean_depth_and_the_drops_within_a_span():
    # Teeth from 25 to 50: 37 on average, as depths are rounded down. Tips at 2, 4, 6, 8, 10 s.
    assert saw(10.0).mean_packets(0, 10) == pytest.approx(37, abs=0.2)
    assert saw(10.0).dropped_between(3, 9) == 3
    assert PortSeries().mean_packets(0, 1) == 0


def test_only_queues_that_were_used_are_worth_a_column():
    assert list(saw(2.0).used_queues()) == [0]
    assert steady(0).used_queues() == {}
