"""The conclusions of the lab where-was-it-dropped from counters that were made by hand."""

import pytest

from labs.definition import Verdict
from labs.measure.datagrams import Bursts
from labs.measure.reports import HopReport
from labs.measure.router import Drop, PortSeries
from labs.recording import Recording
from labs.settings import Settings
from labs.where_was_it_dropped.lab import WhereWasItDropped

ADDRESS = {"h1": "10.0.1.1", "h3": "10.0.3.1", "h4": "10.0.4.1"}


def dropped(sender, router, reason, sequence):
    return HopReport(
        time_s=1.0 + sequence * 1e-5,
        router=router,
        flow=f"udp {ADDRESS[sender]}:4000 > 10.0.5.1:7000",
        reporter=router,
        sequence=sequence,
        ingress_port=1,
        egress_port=2,
        queue=0,
        occupancy_bytes=None,
        latency_us=None,
        drop_reason=reason,
    )


def recording():
    """One burst of each: 16 of 40, 15 of 50 and 2 of 30 are dropped, each at its place."""
    plan = [("h1", "s1", "QUEUE_LIMIT", 40, 16), ("h4", "s2", "PORT_LIMIT", 50, 15)]
    plan.append(("h3", "s3", "AQM", 30, 2))
    ports, bursts, reports = {}, {}, []
    for sender, router, reason, sent, lost in plan:
        # Two samples found some of them each.
        series = PortSeries(time_s=[1.0, 2.0])
        series.drops = [Drop(1.0, 0, reason, 1), Drop(2.0, 0, reason, lost - 1)]
        ports[f"{router}-eth2"] = series
        bursts[sender] = Bursts(sender, "h5", (1.0,), sent, sent - lost)
        reports += [dropped(sender, router, reason, sequence) for sequence in range(lost)]
    return Recording(ports=ports, bursts=bursts, reports=reports)


def missed(seen):
    assessment = WhereWasItDropped(Settings()).assess({"bursts": seen})
    return [band.claim for band in assessment.bands if band.verdict is not Verdict.MET]


def test_three_books_that_agree_meet_every_band():
    assert missed(recording()) == []
    assessment = WhereWasItDropped(Settings()).assess({"bursts": recording()})
    assert assessment.numbers["h1_dropped_there_packets"] == 16
    measured = {row.what: row.measured for row in assessment.rows}
    assert measured["h4 misses"] == "15 of 50, 30.0%"
    assert measured["reports at s3 port 2, queue 0, AQM"] == "2"


def test_a_report_too_few_or_too_many_is_seen_in_both_books():
    differ = [
        "datagrams that hosts miss and reports do not explain",
        "drops in which counters and reports differ",
    ]
    short, long = recording(), recording()
    short.reports.pop(0)
    long.reports.append(dropped("h1", "s1", "QUEUE_LIMIT", 99))
    assert missed(short) == missed(long) == differ


@pytest.mark.parametrize("wrong", [("h4", "s1", "QUEUE_LIMIT"), ("h1", "s2", "QUEUE_LIMIT")])
def test_a_report_of_the_wrong_flow_or_place_does_not_balance(wrong):
    seen = recording()
    seen.reports[0] = dropped(*wrong, 0)
    assert missed(seen)


def test_the_pictures_can_be_drawn_of_a_run_without_any_drop():
    empty = recording()
    empty.reports.clear()
    for series in empty.ports.values():
        series.drops.clear()
    assert len(WhereWasItDropped(Settings()).figures({"bursts": empty})) == 2
    assert missed(empty)
