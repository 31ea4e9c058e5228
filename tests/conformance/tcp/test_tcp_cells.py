"""The comparison itself: what it makes of a table, and that it can say no."""

from dataclasses import replace

from tests.conformance.tcp import campaign, judge
from tests.conformance.tcp.cells import CELLS, named
from tests.conformance.tcp.measurement import Figures, Flow, Run, figures
from tests.conformance.tcp.network import topology
from tests.conformance.tcp.virtual import LATE_US

CALM = Figures(
    utilisation=0.98, queue_packets=10.0, drops=100, share_min=0.5, share_max=0.5, retransmits=100
)


def met(cell, **changes):
    return all(it.is_met for it in judge.compare(cell, [CALM] * 3, [replace(CALM, **changes)] * 3))


def test_each_cell_has_a_name_of_its_own_and_there_are_sixty():
    assert len({cell.name for cell in CELLS}) == len(CELLS) >= 60


def test_cells_are_found_by_words():
    found = {cell.name for cell in named(["bbr,codel", "reno,loss1%"])}
    assert found == {
        "bbr-10mbps-20ms-4bdp-codel",
        "bbr-10mbps-20ms-4bdp-10flows-codel",
        "reno-10mbps-20ms-2bdp-loss1%",
    }


def test_every_cell_is_a_network_in_both_worlds():
    for late_us in (0, LATE_US):
        assert len(topology(CELLS, late_us).hosts) == 2 * len(CELLS)


def test_only_hosts_of_the_virtual_world_are_told_how_late_they_are():
    (cell,) = named(["reno,10mbps,20ms,2bdp,loss1%"])
    punctual, late = (topology([cell], late_us).switches[0] for late_us in (0, LATE_US))
    for port in (1, 2):
        assert punctual.port(port).cable.receive.jitter_ns == 0
        assert late.port(port).cable.receive.jitter_ns == LATE_US * 1000
        assert late.port(port).cable.transmit == punctual.port(port).cable.transmit
    assert late.port(2).cable.transmit.loss_ppm == 10_000


def test_cells_that_are_measured_together_are_not_too_much_at_once():
    packed = campaign.batches(CELLS)
    assert sorted(cell.name for batch in packed for cell in batch) == sorted(
        cell.name for cell in CELLS
    )
    for batch in packed:
        assert len(batch) == 1 or sum(cell.rate_mbps for cell in batch) <= 75


def test_a_run_in_which_a_flow_ended_early_or_is_missing_is_not_one():
    (two,) = named(["reno,10mbps,2flows"])
    whole = Flow(time_s=[0.0, float(two.seconds)])
    early = Flow(time_s=[0.0, two.seconds - 0.1])
    late = Flow(time_s=[two.settle_s + 0.1, float(two.seconds)])
    assert Run(flows=[whole, whole]).covers(two)
    for flows in ([whole], [whole, early], [late, whole]):
        assert not Run(flows=flows).covers(two)


def test_what_is_apart_is_not_met():
    (two,) = named(["reno,10mbps,2flows"])
    assert met(two)
    # 2 points of utilisation, 10 % of the queue, twice the root of 100 drops.
    assert met(two, utilisation=0.961, queue_packets=10.9, drops=119)
    assert not met(two, utilisation=0.959)
    assert not met(two, queue_packets=11.1)
    assert not met(two, drops=121)
    assert not met(two, share_min=0.45, share_max=0.55)


def test_what_is_met_only_by_chance_is_told_apart():
    cell = named(["reno-10mbps-20ms-1bdp-"])[0]
    lives = [replace(CALM, drops=drops) for drops in (98, 100, 102)]

    def said(*drops):
        virtuals = [replace(CALM, drops=each) for each in drops]
        return str(judge.Verdict(judge.compare(cell, lives, virtuals)))

    assert said(103, 104, 105) == "yes"
    # 10 more: less than twice the root of 100, or than the virtual runs' spread.
    assert said(110, 110, 110) == "yes, allowing for chance"
    assert said(100, 125, 150) == "yes, allowing for chance"
    assert said(125, 125, 125).startswith("no (drops)")


def test_figures_are_those_of_the_measured_span():
    cell = named(["reno-10mbps-20ms-1bdp-"])[0]
    # A packet of 1250 bytes each millisecond is 10 Mb/s; before the span, nothing left.
    times = [ms / 1000 for ms in range(cell.seconds * 1000 + 1)]
    began = cell.settle_s * 1000
    sent = [1250 * max(0, ms - began) for ms in range(len(times))]
    flow = Flow(time_s=times, acked_bytes=sent, retransmits=[0] * len(times))
    run = Run(time_s=times, packets=[7] * len(times), departed_bytes=sent, flows=[flow])
    run.dropped = [0] * began + [3] * (len(times) - began)
    found = figures(cell, run)
    assert (round(found.utilisation, 6), found.queue_packets, found.drops) == (1.0, 7.0, 0)
