"""The steps of a check's network in virtual time, with a world that counts its calls."""

from types import SimpleNamespace

from controller.session import Packet
from controller.world import Stand
from course.tools import world_network

STEP_S, STEP_PS = 0.01, 10_000_000_000


class FakeWorld:
    """Its routers send packets at these instants."""

    def __init__(self, *packets_ps):
        self._packets_ps = packets_ps
        self.time_ps = 0
        self.looks = 0

    def advance(self, span_ps, *, stops=()):
        end_ps = self.time_ps + span_ps
        met = [at_ps for at_ps in self._packets_ps if self.time_ps < at_ps <= end_ps]
        self.time_ps = met[0] if met and stops else end_ps
        return Stand(self.time_ps, 0 if met and stops else None)

    def look(self):
        self.looks += 1
        reported = sum(at_ps <= self.time_ps for at_ps in self._packets_ps)
        return SimpleNamespace(books=SimpleNamespace(reported=reported, injected=1))


class FakeSession:
    def __init__(self, *packets):
        self._packets = list(packets)

    def receive(self, deadline_s):
        return self._packets.pop(0) if self._packets else None

    def send(self, packet):
        pass


def test_books_are_read_only_in_steps_with_packets_and_these_are_as_long():
    packets = [Packet(b"one", {}), Packet(b"two", {})]
    world = FakeWorld(STEP_PS + 1, 2 * STEP_PS)
    network = world_network.VirtualNetwork(world, None, {"s1": FakeSession(*packets)})
    came = []
    for _ in range(100):
        network.let_pass(STEP_S)
        came += [(network.now_s, packet) for _, packet in network.handed_up()]
        network.settle()
    assert came == [(0.02, packet) for packet in packets]
    assert (world.time_ps, network.now_s) == (100 * STEP_PS, 1.0)
    assert world.looks == 1


def test_routers_settle_once_after_packets_of_controllers():
    world = FakeWorld()
    network = world_network.VirtualNetwork(world, None, {"s1": FakeSession()})
    network.send("s1", Packet(b"one", {}))
    network.settle()
    network.settle()
    assert world.looks == 1
