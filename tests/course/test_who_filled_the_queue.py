"""The bursts drawn for who-filled-the-queue fill their queues, by the scoreboard's truth."""

from random import Random

from course.exercise import Work
from course.exercises.who_filled_the_queue import scenarios
from course.process import Runner


def test_the_truth_finds_in_each_scenario_the_burst_that_was_drawn(tmp_path):
    work = Work(tmp_path, tmp_path, "Ada", Runner())
    told = scenarios.play(work, scenarios.draw(Random("any student")))
    assert [each.filled is None for each in told] == [
        each.scenario.kind == scenarios.NOTHING for each in told
    ]
    for each in told:
        if each.filled is None:
            continue
        burst, *_ = each.scenario.bursts
        assert (each.filled.router, each.filled.port) == burst.place
        # The ninth of its packets takes the queue over half of 20 kB, 0.1 ms after the first.
        assert 0 <= each.filled.began_s - burst.at_s < 0.001
        assert each.filled.culprit.endswith(f":{burst.port}")
        assert each.filled.packets <= burst.packets
        # The culprit is a flow that reports name.
        assert each.filled.culprit in {row.flow for row in each.reports}
