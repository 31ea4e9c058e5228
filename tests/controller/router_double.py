"""A `vitrine.v1.Router` that keeps the requests it gets and samples without end, for tests of
Queues."""

import itertools

import grpc
from google.protobuf import any_pb2
from google.rpc import status_pb2
from vitrine.v1 import router_pb2

PS_PER_MS = 1_000_000_000


class RouterDouble:
    """Two ports of two queues each; port 9 is refused with one Problem."""

    def __init__(self):
        self.requests = []
        self.watching = False

    def handler(self):
        """The handler for a gRPC server."""
        serve = {
            "Describe": grpc.unary_unary_rpc_method_handler(
                self._describe,
                router_pb2.DescribeRequest.FromString,
                router_pb2.DescribeResponse.SerializeToString,
            ),
            "Configure": grpc.unary_unary_rpc_method_handler(
                self._configure,
                router_pb2.ConfigureRequest.FromString,
                router_pb2.ConfigureResponse.SerializeToString,
            ),
            "Watch": grpc.unary_stream_rpc_method_handler(
                self._watch,
                router_pb2.WatchRequest.FromString,
                router_pb2.WatchResponse.SerializeToString,
            ),
        }
        return grpc.method_handlers_generic_handler("vitrine.v1.Router", serve)

    def _describe(self, request, context):
        answer = router_pb2.DescribeResponse(time_ps=1500 * PS_PER_MS)
        for number in request.ports or (1, 2):
            port = answer.ports.add(port=number)
            port.config.queue_count = 2
            for class_ in (0, 1):
                port.config.queues.add(**{"class": class_})
            port.counters.CopyFrom(_counters(number))
        stage = answer.inputs.add(port=1)
        stage.held.packets, stage.held.bytes = 4, 6056
        for output, packets in ((1, 0), (2, 4)):
            voq = stage.voqs.add(output=output)
            voq.held.packets, voq.held.bytes = packets, packets * 1514
        answer.transfers.add(input=1, output=2)
        return answer

    def _configure(self, request, context):
        if any(change.port == 9 for change in request.ports):
            problem = router_pb2.Problem(place="port 9", found="no such port", advice="use 1 or 2")
            detail = any_pb2.Any()
            detail.Pack(problem)
            status = status_pb2.Status(code=3, details=[detail])
            context.set_trailing_metadata(
                (("grpc-status-details-bin", status.SerializeToString()),)
            )
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "1 problem")
        self.requests.append(request)
        return router_pb2.ConfigureResponse()

    def _watch(self, request, context):
        self.watching = True
        context.add_callback(lambda: setattr(self, "watching", False))
        for count in itertools.count():
            if not context.is_active():
                return
            sample = router_pb2.Sample(time_ps=count * request.interval_ms * PS_PER_MS, missed=1)
            for port in request.ports:
                sample.ports.add(port=port, counters=_counters(port))
            yield router_pb2.WatchResponse(sample=sample)


def _counters(port):
    """Port N holds N packets, all in its queue 1, which has dropped 3 at its limit.

    In front of it wait twice as many; two are on their way to it and one has left it.
    """
    counters = router_pb2.PortCounters()
    counters.held.packets, counters.held.bytes = port, port * 1514
    counters.counters.departed.packets, counters.counters.departed.bytes = 10, 15_140
    counters.receive_line.backlog.packets = 2 * port
    counters.receive_line.under_way.packets = 2
    counters.transmit_line.under_way.packets = 1
    drop = counters.counters.dropped.add(reason=router_pb2.QUEUE_LIMIT)
    drop.tally.packets = 3
    queue = counters.queues.add(counters=counters.counters, held=counters.held)
    setattr(queue, "class", 1)
    return counters
