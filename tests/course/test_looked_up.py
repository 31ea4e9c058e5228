"""Answers that are looked up instead of found: by the handout's numbers, or in an earlier story."""

import shutil
from random import Random

from course import catalogue
from course.exercise import SOLUTIONS, Case, Exercise, Work
from course.exercises.own_aqm import exercise as own_aqm
from course.exercises.own_tcp.exercise import LINE, LONGER, Bench
from course.exercises.who_filled_the_queue import scenarios
from course.judge import judge
from course.process import Runner
from course.story import Refused, Story

# A window for each line of the handout, which round trips tell apart; it earned 85 points.
WINDOWS = """
from insides import CongestionControl


class MyTcp(CongestionControl):
    def grow(self, window, path, acked):
        if path.min_rtt_us > 90000:
            window.cwnd += acked
        elif path.min_rtt_us > 60000:
            window.cwnd = 80
        else:
            window.cwnd = 27 if path.cwnd_limited else 20

    def lost(self, window, path):
        return 80 if path.min_rtt_us > 60000 else 27
"""


def test_a_window_for_each_line_of_the_handout_fills_no_line_of_grading(tmp_path):
    (tmp_path / "tcp.py").write_text(WINDOWS)
    exercise = catalogue.find("own-tcp")
    judgement = judge(exercise, tmp_path, seed="Eve", secret="rosebud", only=["few-losses"])
    assert judgement.points == 0
    assert "sent again" in judgement.verdicts[0].story.came


def test_lines_of_grading_differ_by_their_rates_and_not_by_their_round_trips(tmp_path):
    def bench(secret):
        return Bench.of(Work(tmp_path, tmp_path, "Ada", Runner(), secret))

    assert (bench("").line, bench("").longer) == (LINE, LONGER)
    drawn = [bench(str(secret)) for secret in range(50)]
    for each in drawn:
        line, longer = each.line, each.longer
        assert line.round_trip_ms == longer.round_trip_ms
        # What overflows neither fills too little of the other.
        assert 2 * line.queue_packets < 0.64 * longer.window_packets
        assert abs(line.window_packets - line.queue_packets) < 0.5
    assert len({(each.line, each.longer) for each in drawn}) > 20


def test_no_table_of_instants_has_the_drops_that_grading_asks_for(tmp_path):
    def bench(secret):
        work = Work(tmp_path, tmp_path, "Ada", Runner(), secret)
        return own_aqm.begin(work)

    shutil.copy(SOLUTIONS / "own-aqm" / "right" / "aqm.p4", tmp_path)
    assert (bench("").overload, bench("").second_s) == (own_aqm.OVERLOAD, own_aqm.SECOND_S)
    drawn = [bench(str(secret)) for secret in range(8)]
    # The first drop is due at another instant, by more than is tolerated.
    first = sorted({each.bad_s for each in drawn})
    assert first[-1] - first[0] > own_aqm.NEAR_S
    assert len({each.second_s for each in drawn}) == len(drawn)


def test_the_port_of_a_burst_does_not_say_whether_it_filled_the_queue():
    orders = set()
    for seed in range(20):
        for each in scenarios.draw(Random(seed)):
            if len(each.bursts) == 2:
                culprit, other = each.bursts
                orders.add((each.kind, culprit.port < other.port))
    assert len(orders) == 4, "two kinds of scenarios, in both orders"


def test_a_second_attempt_meets_other_scenarios_than_the_story_of_the_first(tmp_path):
    """Gradescope shows a story, and takes another submission."""

    def say(work):
        number = work.dice("number").randrange(1 << 30)
        raise Refused(Story("", "", "", str(number)))

    case = Case("number", "A number.", 100, say)
    exercise = Exercise("looked-up", "", "", 1, ("answer.txt",), lambda work: work, (case,))

    def told(answer, secret):
        (tmp_path / "answer.txt").write_text(answer)
        (verdict,) = judge(exercise, tmp_path, seed="Eve", secret=secret).verdicts
        return verdict.story.came

    assert told("1", "rosebud") == told("1", "rosebud")
    assert told("1", "rosebud") != told("2", "rosebud")
    # A student's own check asks the same again.
    assert told("1", "") == told("2", "")
