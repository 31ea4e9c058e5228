"""The conclusions of the lab int-microburst from reports that were made by hand."""

import pytest

from labs.definition import Verdict
from labs.int_microburst import bursts
from labs.int_microburst.lab import BURST_PACKETS, IntMicroburst
from labs.measure.datagrams import Bursts
from labs.measure.reports import HopReport
from labs.measure.router import PortSeries
from labs.recording import Recording
from labs.settings import Settings

H1, H3, H4 = (
    "tcp 10.0.1.1:4000 > 10.0.2.1:5201",
    "tcp 10.0.3.1:4000 > 10.0.5.1:5202",
    "udp 10.0.4.1:4000 > 10.0.5.1:7000",
)
PLACE = ("s2", 2, 0)
SENT_S = (4.0, 6.5)


def hop(time_s, flow, *, occupancy=0, latency_us=0.0, router="s2", sequence=0):
    return HopReport(
        time_s=time_s,
        router=router,
        flow=flow,
        reporter="s3",
        sequence=sequence,
        ingress_port=1,
        egress_port=2,
        queue=0,
        occupancy_bytes=occupancy,
        latency_us=latency_us,
        drop_reason=None,
    )


def burst_at(start_s, flow, packets=BURST_PACKETS):
    """Packets that come within half a millisecond and leave one every 0.1 ms.

    The one that leaves as k-th (from 0) came at k x 10 us and leaves at k x 100 us, so it waited
    for k x 90 us. Behind it are those that have come by then: all of them once 5 have left.
    """
    rows = []
    for k in range(packets):
        come = min(packets, 10 * k + 1)
        rows.append(
            hop(
                start_s + k * 1e-4,
                flow,
                occupancy=(come - k - 1) * 1242 if k < packets - 1 else 0,
                latency_us=k * 90.0,
                sequence=int(start_s * 1000) + k,
            )
        )
    return rows


def background(seconds=9):
    """A packet of h1 every 10 ms through three routers that cost nothing."""
    rows = []
    for k in range(seconds * 100):
        for router in ("s1", "s2", "s3"):
            rows.append(hop(k / 100 + 0.005, H1, router=router, sequence=100_000 + k))
    return rows


def recording(reports):
    series = PortSeries()
    series.time_s = [float(second) for second in range(10)]
    series.departed_bytes = [second * 3_750_000 for second in range(10)]
    series.packets = series.bytes = [0] * 10
    names = ("s2-eth2", "s1-eth2", "s3-eth2", "s3-eth3")
    return Recording(
        ports=dict.fromkeys(names, series),
        bursts={"h4": Bursts("h4", "h5", SENT_S, 2 * BURST_PACKETS, 2 * BURST_PACKETS)},
        reports=reports,
    )


def held_up(start_s):
    """A packet of h1 that came half a millisecond into a burst and waited for four, in s2."""
    return [
        hop(start_s + 0.0045, H1, router=router, latency_us=wait, sequence=200_000 + int(start_s))
        for router, wait in (("s1", 0.0), ("s2", 4000.0), ("s3", 0.0))
    ]


def test_a_burst_is_found_with_its_height_its_length_and_its_culprit():
    (found,) = bursts.find(background() + burst_at(4.0, H4))
    assert found.place == PLACE
    # When the sixth leaves all 50 have come: 44 are left.
    assert found.peak_bytes == 44 * 1242
    assert found.start_s == pytest.approx(4.0, abs=2e-5)
    # 47 packets leave more than 3000 bytes behind; the next one ends the burst.
    assert found.end_s == pytest.approx(4.0 + 47e-4, abs=2e-4)
    assert found.culprit == H4
    assert found.culprit_share == 1.0


def test_packets_that_come_after_the_top_are_not_to_blame():
    late = [hop(4.0048 + k * 1e-5, H1, latency_us=100.0, sequence=k) for k in range(200)]
    (found,) = bursts.find(burst_at(4.0, H4) + late)
    assert found.culprit == H4


def test_queues_of_other_routers_and_short_ones_are_kept_apart():
    elsewhere = [hop(4.0, H3, occupancy=30_000, router="s1")]
    short = [hop(5.0, H3, occupancy=19_000)]
    found = bursts.find(burst_at(4.0, H4) + burst_at(6.5, H4) + elsewhere + short)
    assert [burst.place[0] for burst in found] == ["s1", "s2", "s2"]


def test_the_bands_are_met_where_packets_show_what_was_sent():
    rows = background() + [row for start_s in SENT_S for row in burst_at(start_s, H4)]
    rows += [row for start_s in SENT_S for row in held_up(start_s)]
    assessment = IntMicroburst(Settings(seconds=10)).assess({"bursts": recording(rows)})
    assert [str(band) for band in assessment.bands if band.verdict is not Verdict.MET] == []
    assert assessment.numbers["worst_latency_ms"] == pytest.approx(4.0)
    assert assessment.numbers["busiest_second_share"] == pytest.approx(0.3)


def test_bursts_of_somebody_else_and_none_at_all_meet_no_band():
    wrong = background() + [row for start_s in SENT_S for row in burst_at(start_s, H3)]
    lab = IntMicroburst(Settings(seconds=10))
    for reports in (wrong, background()):
        verdicts = {
            band.claim: band.verdict is Verdict.MET
            for band in lab.assess({"bursts": recording(reports)}).bands
        }
        assert not verdicts["bursts that packets show in their queue, as h4's, of those sent"]
    assert lab.figures({"bursts": recording(background())})
