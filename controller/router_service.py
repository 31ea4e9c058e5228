"""The calls of the router's own service, and its refusals; the proto file is the reference."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import grpc
from google.rpc import status_pb2
from vitrine.v1 import router_pb2

from controller.errors import RequestError


class RouterStub:
    """The calls of vitrine.v1.Router, as a gRPC plugin of protoc would write them."""

    def __init__(self, channel: grpc.Channel) -> None:
        service = "/vitrine.v1.Router"
        self.describe = channel.unary_unary(
            f"{service}/Describe",
            request_serializer=router_pb2.DescribeRequest.SerializeToString,
            response_deserializer=router_pb2.DescribeResponse.FromString,
        )
        self.configure = channel.unary_unary(
            f"{service}/Configure",
            request_serializer=router_pb2.ConfigureRequest.SerializeToString,
            response_deserializer=router_pb2.ConfigureResponse.FromString,
        )
        self.add_port = channel.unary_unary(
            f"{service}/AddPort",
            request_serializer=router_pb2.AddPortRequest.SerializeToString,
            response_deserializer=router_pb2.AddPortResponse.FromString,
        )
        self.remove_port = channel.unary_unary(
            f"{service}/RemovePort",
            request_serializer=router_pb2.RemovePortRequest.SerializeToString,
            response_deserializer=router_pb2.RemovePortResponse.FromString,
        )
        self.watch = channel.unary_stream(
            f"{service}/Watch",
            request_serializer=router_pb2.WatchRequest.SerializeToString,
            response_deserializer=router_pb2.WatchResponse.FromString,
        )
        self.trace = channel.unary_stream(
            f"{service}/Trace",
            request_serializer=router_pb2.TraceRequest.SerializeToString,
            response_deserializer=router_pb2.TraceResponse.FromString,
        )


@contextlib.contextmanager
def refusals(what: str) -> Iterator[None]:
    """Turns a refusal into one sentence; the status's details hold one Problem for each mistake."""
    try:
        yield
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise RequestError(
                f"{what}: it does not speak vitrine.v1, so its queues can neither be watched nor "
                "set this way, and it gives no reasons for drops. A simple_switch's depths and "
                "rates are set with --toolchain p4lang."
            ) from error
        packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
        problems = []
        for detail in status_pb2.Status.FromString(packed).details if packed else ():
            problem = router_pb2.Problem()
            if detail.Unpack(problem):
                problems.append(f"{problem.place}: {problem.found}; {problem.advice}")
        raise RequestError(f"{what}: {'; '.join(problems) or error.details()}.") from error
