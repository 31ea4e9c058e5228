"""A router that tells a small crossbar's day over vitrine.v1, for tests of the page.

Three ports. At input 1 packets of two flows come in turn: to port 2, a slow line, and to port 3, a
fast one. With FIFO queues the second flow waits behind the first; with VOQs it does not. The model
is a dozen lines of arithmetic on a clock of its own, not a switch.
"""

import itertools
import math
import threading
import time

import grpc
from google.rpc import status_pb2
from vitrine.v1 import router_pb2 as pb

from tests.controller.device_double import DeviceDouble

LENGTH = 1514
LIMIT = 20
INPUT_LIMIT = 30
RATES = {1: 100_000_000, 2: 10_000_000, 3: 50_000_000}
SLOTS_AT_ONCE = 40
SLOT_PS = LENGTH * 8 * 10_000  # on a line of 100 Mb/s


def head(source: str, target: str, port: int) -> bytes:
    """Ethernet, IPv4 and TCP ports of a packet."""
    address = bytes(map(int, source.split("."))), bytes(map(int, target.split(".")))
    ip = bytes([0x45, 0, 5, 220, 0, 0, 0, 0, 64, 6, 0, 0]) + address[0] + address[1]
    return bytes(12) + b"\x08\x00" + ip + port.to_bytes(2, "big") + (5201).to_bytes(2, "big")


FLOWS = {2: head("10.0.1.1", "10.0.4.1", 40001), 3: head("10.0.3.1", "10.0.5.1", 40003)}


class Model:
    """The crossbar: `step` makes the events of one slot of the input line."""

    def __init__(self, queueing: int) -> None:
        self.queueing = queueing
        self.numbers = itertools.count(1)
        self.input, self.queues = [], {2: [], 3: []}
        self.now = 0
        self.input_free = 0
        self.line_free = {2: 0, 3: 0}
        self.lost = 0
        self.lost_in = 0
        self.sent = {2: 0, 3: 0}

    def step(self) -> list[pb.Event]:
        """The events until the next packet has arrived."""
        events, until = [], self.now + SLOT_PS
        output = 3 if next(self.numbers) % 3 == 0 else 2
        number = next(self.numbers)
        arrived = pb.PacketReceived(port=1, length_bytes=LENGTH, head=FLOWS[output])
        events.append(self.event(number, received=arrived))
        if len(self.input) < INPUT_LIMIT:
            self.input.append((number, output))
            events.append(self.event(number, filed=pb.InputQueueRef(input=1, output=output)))
        else:
            self.lost_in += 1
            reason = pb.INPUT_LIMIT if self.queueing == pb.FIFO else pb.VOQ_LIMIT
            events.append(self.event(number, dropped=pb.PacketDropped(reason=reason)))
        while self.now < until:
            self.now += SLOT_PS // 8
            self.move(events)
        return events

    def move(self, events: list[pb.Event]) -> None:
        for output, waiting in self.queues.items():
            if waiting and self.line_free[output] <= self.now:
                self.line_free[output] = self.now + LENGTH * 8 * 10**12 // RATES[output]
                self.sent[output] += 1
                number = waiting.pop(0)
                departed = pb.PacketDeparted(queue=pb.QueueRef(port=output))
                sent = pb.PacketTransmitted(
                    port=output, length_bytes=LENGTH, until_ps=self.line_free[output]
                )
                events.append(self.event(number, departed=departed))
                events.append(self.event(number, transmitted=sent))
        if self.input_free <= self.now:
            self.cross(events)

    def cross(self, events: list[pb.Event]) -> None:
        asking = self.input[:1] if self.queueing == pb.FIFO else self.input
        for entry in asking:
            number, output = entry
            if len(self.queues[output]) < LIMIT:
                self.input.remove(entry)
                self.input_free = self.now + SLOT_PS // 2
                self.queues[output].append(number)
                way = pb.InputQueueRef(input=1, output=output)
                crossing = pb.PacketCrossing(**{"from": way}, until_ps=self.input_free)
                events.append(self.event(number, crossing=crossing))
                events.append(self.event(number, queued=pb.QueueRef(port=output)))
                return

    def event(self, number: int, **step: object) -> pb.Event:
        return pb.Event(time_ps=self.now, packet=pb.PacketEvent(packet=number, **step))

    def inside(self) -> list[pb.Event]:
        """The packets that wait, as a Watch reports them first."""
        waiting = [
            (number, {"filed": pb.InputQueueRef(input=1, output=output)}, output)
            for number, output in self.input
        ]
        for port, queue in self.queues.items():
            waiting += [(number, {"queued": pb.QueueRef(port=port)}, port) for number in queue]
        return [
            self.event(
                number,
                inside=pb.PacketInside(
                    input=1, length_bytes=LENGTH, head=FLOWS[output], since_ps=self.now, **place
                ),
            )
            for number, place, output in waiting
        ]

    def sample(self) -> pb.Sample:
        ports = [pb.PortSample(port=port, counters=self.counters(port)) for port in RATES]
        inputs = [
            pb.InputCounters(
                port=1,
                held=pb.Tally(packets=len(self.input), bytes=LENGTH * len(self.input)),
                counters=pb.Counters(dropped=drops(pb.INPUT_LIMIT, self.lost_in)),
            )
        ]
        return pb.Sample(time_ps=self.now, ports=ports, inputs=inputs)

    def counters(self, port: int) -> pb.PortCounters:
        held = len(self.queues.get(port, []))
        tally = pb.Tally(packets=held, bytes=held * LENGTH)
        sent = self.sent.get(port, 0)
        counters = pb.Counters(departed=pb.Tally(packets=sent, bytes=sent * LENGTH))
        queue = pb.QueueCounters(counters=counters, held=tally)
        return pb.PortCounters(counters=counters, held=tally, queues=[queue], up=True)


def drops(reason: int, packets: int) -> list[pb.Drop]:
    return [pb.Drop(reason=reason, tally=pb.Tally(packets=packets))] if packets else []


class RouterDouble(DeviceDouble):
    """Serves the model at the pace of the wall clock, divided by `slowness`."""

    def __init__(self, slowness: float = 1.0) -> None:
        super().__init__()
        self.slowness = slowness
        self.config_in_force = configuration()
        self.model = Model(pb.FIFO)
        self.lock = threading.Lock()
        self.configured: list[pb.ConfigureRequest] = []
        self.refusal: pb.Problem | None = None
        # Everything that has happened, for as many watches as there are.
        self.events: list[pb.Event] = []
        self.began = time.monotonic()
        # Whether it is one of those that tell single packets.
        self.tells_packets = True
        # Streams of single packets that still have a reader.
        self.watching_packets = 0
        # Stream messages that readers have taken.
        self.taken = 0

    @property
    def handler(self) -> grpc.GenericRpcHandler:
        def unary(name):
            return grpc.unary_unary_rpc_method_handler(
                getattr(self, name),
                getattr(pb, f"{name}Request").FromString,
                getattr(pb, f"{name}Response").SerializeToString,
            )

        watch = grpc.unary_stream_rpc_method_handler(
            self.Watch, pb.WatchRequest.FromString, pb.WatchResponse.SerializeToString
        )
        methods = {"Describe": unary("Describe"), "Configure": unary("Configure"), "Watch": watch}
        return grpc.method_handlers_generic_handler("vitrine.v1.Router", methods)

    def stand_still(self) -> None:
        """Nothing happens from now on; what did happen is still reported."""
        with self.lock:
            self.slowness = math.inf

    def counters_now(self):
        """The packets in each output queue, of a router that stands still."""
        return {port: self.model.counters(port).held.packets for port in RATES}

    def Describe(self, request, context):
        with self.lock:
            answer = pb.DescribeResponse()
            answer.CopyFrom(self.config_in_force)
            answer.time_ps = self.model.now
            for port in answer.ports:
                port.counters.CopyFrom(self.model.counters(port.port))
            return answer

    def Configure(self, request, context):
        if self.refusal is not None:
            status = status_pb2.Status(code=3, message="1 problem")
            status.details.add().Pack(self.refusal)
            packed = status.SerializeToString()
            context.set_trailing_metadata((("grpc-status-details-bin", packed),))
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "1 problem")
        with self.lock:
            self.configured.append(request)
            if request.HasField("input"):
                self.config_in_force.input.CopyFrom(request.input)
                self.model.queueing = request.input.queueing
            for change in request.ports:
                for port in self.config_in_force.ports:
                    if port.port == change.port:
                        port.config.MergeFrom(change.config)
        return pb.ConfigureResponse(time_ps=self.model.now)

    def Watch(self, request, context):
        if request.packets and not self.tells_packets:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many packets are inside")
        # The switch answers with headers when it has taken the request.
        context.send_initial_metadata(())
        with self.lock:
            told = len(self.events)
            inside = self.model.inside() if request.packets else []
            start = pb.WatchStart(time_ps=self.model.now)
        # Not with the lock: what has been sent is acknowledged by the thread that runs `ended`.
        yield pb.WatchResponse(start=start, events=inside)
        with self.lock:
            self.watching_packets += request.packets
        context.add_callback(lambda: self.ended(request))
        while context.is_active():
            with self.lock:
                # On a machine that is slow its time passes more slowly, too.
                due = (time.monotonic() - self.began) * 1e12 / self.slowness
                until = min(due, self.model.now + SLOTS_AT_ONCE * SLOT_PS)
                while self.model.now < until:
                    self.events += self.model.step()
                message = pb.WatchResponse()
                if request.packets:
                    message.events.extend(self.events[told:])
                if request.interval_ms:
                    message.sample.CopyFrom(self.model.sample())
                told = len(self.events)
            yield message
            self.taken += 1
            # A pace, not a wait for something: the model's clock follows the wall clock.
            threading.Event().wait(0.02)

    def ended(self, request):
        with self.lock:
            self.watching_packets -= request.packets


class Flood(RouterDouble):
    """Sends one large message again and again, as fast as it is taken, so that buffers fill."""

    def Watch(self, request, context):
        yield pb.WatchResponse(start=pb.WatchStart(time_ps=0))
        message = pb.WatchResponse(sample=self.model.sample())
        for _ in range(10 * SLOTS_AT_ONCE):
            message.events.extend(self.model.step())
        while context.is_active():
            yield message
            self.taken += 1


def configuration() -> pb.DescribeResponse:
    answer = pb.DescribeResponse()
    for number, rate in RATES.items():
        port = answer.ports.add(port=number, device=f"s2-eth{number}")
        port.config.rate_bps = rate
        port.config.queue_count = 1
        port.config.queues.add(limit=pb.Limit(packets=LIMIT))
    answer.input.queueing = pb.FIFO
    answer.input.limit.packets = INPUT_LIMIT
    answer.input.rate_bps = RATES[1]
    answer.input.arbiter = pb.ISLIP
    answer.buffer.SetInParent()
    return answer
