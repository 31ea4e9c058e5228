"""Routers of labs in virtual time speak in their own name, as live ones do, and each time alike."""

import io

import pytest
from vitrine.v1 import world_pb2

from controller.world import PS_PER_S
from labs.narration import Narrator
from labs.worlds.virtual.bench import VirtualBench
from tests.topo.examples import NARROW, loaded

WHY = world_pb2.EchoError.Why
BYTES = 1_000_000


@pytest.fixture
def bench(tmp_path):
    """h1 - s1 - s2 - h2, with 1300 bytes between the routers."""
    with VirtualBench(tmp_path, Narrator((), io.StringIO())) as bench:
        bench.bring_up(loaded(NARROW, tmp_path))
        yield bench


def pinged(bench, to, **fields):
    app = bench.world.start("h1", world_pb2.App(ping=world_pb2.Ping(to=to, **fields)))
    bench.world.advance(10 * PS_PER_S)
    return bench.world.report(app).ping


@pytest.mark.parametrize("own", ["10.0.1.254", "10.0.2.254", "fd00:1::fe", "fd00:2::fe"])
def test_pings_to_routers_are_answered_at_every_address_of_theirs(bench, own):
    report = pinged(bench, own, count=3)
    assert (report.sent, len(report.echoes)) == (3, 3)


@pytest.mark.parametrize(
    ("target", "on_the_way"),
    [("10.0.2.1", ["10.0.1.254", "10.0.2.254"]), ("fd00:2::1", ["fd00:1::fe", "fd00:2::fe"])],
)
def test_who_has_used_up_its_hops_is_told_by_whom(bench, target, on_the_way):
    for hop_limit, router in enumerate(on_the_way, start=1):
        (error,) = pinged(bench, target, count=1, hop_limit=hop_limit).errors
        assert (error.by, error.why) == (router, WHY.WHY_HOP_LIMIT)
    assert len(pinged(bench, target, count=1, hop_limit=3).echoes) == 1


def test_where_no_way_leads_is_told(bench):
    (error,) = pinged(bench, "10.9.9.9", count=1).errors
    assert (error.by, error.why) == ("10.0.1.254", WHY.WHY_UNREACHABLE)


@pytest.mark.parametrize(
    ("target", "router"), [("10.0.2.1", "10.0.1.254"), ("fd00:2::1", "fd00:1::fe")]
)
def test_what_is_too_long_for_a_link_on_the_way_is_told_how_much_fits(bench, target, router):
    (error,) = pinged(bench, target, count=1, payload_bytes=1400).errors
    assert (error.by, error.why, error.mtu_bytes) == (router, WHY.WHY_TOO_LONG, 1300)


@pytest.mark.parametrize("target", ["10.0.2.1", "fd00:2::1"])
def test_tcp_finds_the_length_that_fits_in_the_same_time_whenever_it_is_done(
    bench, target, tmp_path
):
    def transfer():
        bench.bring_up(loaded(NARROW, tmp_path))
        bench.world.start("h2", world_pb2.App(listener=world_pb2.Listener(port=5001)))
        bulk = world_pb2.Bulk(to=world_pb2.Peer(host=target, port=5001), length_bytes=BYTES)
        app = bench.world.start("h1", world_pb2.App(bulk=bulk))
        ended = world_pb2.Stop(apps_ended=world_pb2.Stop.AppsEnded(apps=[app]))
        bench.world.advance(30 * PS_PER_S, stops=[ended])
        return bench.world.report(app).bulk

    first, second = transfer(), transfer()
    assert (first.acked_bytes, first.failed) == (BYTES, 0)
    # Found at once: a sender without a notification would have waited for timeouts.
    assert first.ended_ps < PS_PER_S
    assert first == second


def test_errors_are_at_most_a_hundred_a_second_of_the_network(bench):
    report = pinged(bench, "10.9.9.9", count=1000, interval_ns=1_000_000)
    # A hundred at once and a hundred for the second that a thousand requests take.
    assert report.sent == 1000
    assert len(report.errors) in range(199, 202)
