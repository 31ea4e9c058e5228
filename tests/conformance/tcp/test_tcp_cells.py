"""The comparison itself: what it makes of a table, and that it can say no."""

from dataclasses import replace

from tests.conformance.tcp import judge
from tests.conformance.tcp.cells import CELLS, named
from tests.conformance.tcp.measurement import Figures, Flow, Run, figures
from tests.conformance.tcp.network import topology
from tests.conformance.tcp.virtual import UNPACED

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
    for hosts in (None, UNPACED):
        assert len(topology(CELLS, hosts).hosts) == 2 * len(CELLS)


def test_only_hosts_of_the_virtual_world_are_told_how_late_they_are():
    (cell,) = named(["reno,10mbps,20ms,2bdp,loss1%"])
    punctual, late = (topology([cell], each).switches[0].port(2).cable for each in (None, UNPACED))
    assert punctual.transmit.stall_ppm == punctual.receive.jitter_ns == 0
    # 10 Mb/s are 825.6 full frames a second: 3 of them are 0.3634 %, 41 are 4.9659 %.
    assert (late.transmit.stall_ppm, late.transmit.stall_max_ns) == (3634, 10_000_000)
    assert (late.receive.stall_ppm, late.receive.stall_max_ns) == (49_659, 1_200_000)
    assert late.receive.jitter_ns == 100_000
    assert late.transmit.loss_ppm == punctual.transmit.loss_ppm == 10_000


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
