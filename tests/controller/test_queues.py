"""The client of vitrine.v1 against a double of the service over a real connection."""

import itertools

import pytest

from controller.errors import RequestError
from controller.queueing import Limit, PortSettings, QueueSettings
from controller.queues import InputState, PortState, Queues, QueueState, VoqState
from controller.session import Session
from tests.controller.device_double import DeviceDouble, serving
from tests.controller.router_double import RouterDouble
from topo import wait

FIFTY = QueueSettings(limit=Limit(packets=50))


@pytest.fixture
def router():
    return RouterDouble()


@pytest.fixture
def queues(router):
    with (
        serving(DeviceDouble(), router.handler()) as address,
        Session.connect(address, device_id=3, election_id=5) as session,
    ):
        yield Queues(session)


def test_a_limit_is_set_on_every_queue_of_the_port_and_the_rate_on_the_port(queues, router):
    queues.configure({2: PortSettings(rate_bps=10_000_000, every_queue=FIFTY)})
    (request,) = router.requests
    assert (request.device_id, request.election_id.low) == (3, 5)
    (change,) = request.ports
    assert (change.port, change.config.rate_bps) == (2, 10_000_000)
    limits = [(getattr(q, "class"), q.limit.packets) for q in change.config.queues]
    assert limits == [(0, 50), (1, 50)]


def test_what_is_not_given_is_not_sent(queues, router):
    queues.configure(
        {1: PortSettings(rate_bps=0), 2: PortSettings(every_queue=QueueSettings(Limit(bytes=9000)))}
    )
    first, second = router.requests[0].ports
    assert first.config.HasField("rate_bps")
    assert not first.config.queues
    assert not second.config.HasField("rate_bps")
    assert second.config.queues[0].limit.bytes == 9000


def test_a_refusal_names_place_finding_and_advice(queues):
    with pytest.raises(RequestError, match="queue settings: port 9: no such port; use 1 or 2"):
        queues.configure({9: PortSettings(rate_bps=1)})


def test_the_counters_of_a_port_are_read_with_drops_by_reason(queues):
    sample = queues.read([2])
    assert sample.time_s == 1.5
    queue = QueueState(1, 2, 3028, 10, 15_140, {"QUEUE_LIMIT": 3})
    port = PortState(2, 2, 3028, 10, 15_140, {"QUEUE_LIMIT": 3}, (queue,), 4, 2, 1)
    assert sample.ports == {2: port}


def test_the_input_stage_is_read_with_the_queues_that_hold_something_and_the_matches(queues):
    sample = queues.read()
    assert sample.inputs == {1: InputState(1, 4, 6056, {}, (VoqState(2, 0, 4, 6056),))}
    assert sample.matches == ((1, 2),)


def test_samples_arrive_until_the_block_ends_and_then_the_stream_is_over(queues, router):
    with queues.watch(20, [1]) as samples:
        first, second = itertools.islice(samples, 2)
        assert router.watching
    assert (first.time_s, second.time_s) == (0.0, 0.02)
    assert first.missed == 1
    assert first.ports[1].held_packets == 1
    wait.until(lambda: not router.watching, "the end of the stream", 60)


def test_reading_on_after_the_block_just_ends(queues):
    with queues.watch(20, [1]) as samples:
        next(samples)
    for _ in samples:
        # Samples under way may still arrive; then the iteration ends instead of raising.
        pass


def test_a_switch_without_the_service_is_refused_by_what_it_lacks():
    # A simple_switch_grpc speaks P4Runtime alone.
    with (
        serving(DeviceDouble()) as address,
        Session.connect(address, device_id=3, election_id=5) as session,
    ):
        lack = r"does not speak vitrine\.v1.*no reasons for drops.*--toolchain p4lang"
        with pytest.raises(RequestError, match=lack):
            Queues(session).read([1])
        with (
            pytest.raises(RequestError, match=lack),
            Queues(session).watch(interval_ms=10) as samples,
        ):
            next(samples)
