"""The reports of hosts and routers of a virtual network that has not moved yet."""

import contextlib

import pytest
from vitrine.v1 import world_pb2

from labs.errors import MeasurementError
from labs.worlds.virtual import recorder, told


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(told, "_READ_DEADLINE_S", 0.1)
    monkeypatch.setattr(recorder, "_READ_DEADLINE_S", 0.1)


class _Names(told.Watch):
    """Stores the reported hosts."""

    def __init__(self, *messages):
        super().__init__(contextlib.nullcontext(iter(messages)))
        self.found = []

    def _take(self, message):
        self.found += [host.host for host in message.sample.hosts]


def test_all_of_the_first_instant_is_read_at_once():
    """A network paused before its first packet says that it is complete until 0."""
    with _Names(world_pb2.WatchHostsResponse(complete_until_ps=0)) as watch:
        watch.wait_for(0)
    queues = recorder.VirtualRecorder(None, 0.0, ports=[1], interval_ms=10)
    queues.wait_for(0)


def test_a_later_instant_is_waited_for():
    hosts = world_pb2.HostSample(hosts=[world_pb2.HostState(host="h1")])
    messages = [
        world_pb2.WatchHostsResponse(sample=hosts),
        world_pb2.WatchHostsResponse(complete_until_ps=5),
    ]
    with _Names(*messages) as watch:
        watch.wait_for(5)
        assert watch.found == ["h1"]
        with pytest.raises(MeasurementError, match="tell nothing any more"):
            watch.wait_for(6)
