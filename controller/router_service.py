"""The calls of the router's own service, and its refusals; the proto file is the reference."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import grpc
from google.rpc import status_pb2
from vitrine.v1 import router_pb2

from controller import quick
from controller.errors import RequestError


class RouterStub:
    """The calls of vitrine.v1.Router, as a gRPC plugin of protoc would write them."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.describe = call(channel.unary_unary, "Router", "Describe", router_pb2)
        self.configure = call(channel.unary_unary, "Router", "Configure", router_pb2)
        self.add_port = call(channel.unary_unary, "Router", "AddPort", router_pb2)
        self.remove_port = call(channel.unary_unary, "Router", "RemovePort", router_pb2)
        self.watch = watch_call(channel, "Router", "Watch", router_pb2)
        self.trace = call(channel.unary_stream, "Router", "Trace", router_pb2)


def call(kind: Callable[..., Any], service: str, name: str, messages: ModuleType) -> Any:
    """A call of a service of vitrine.v1; what it takes and gives are named after it."""
    return kind(
        f"/vitrine.v1.{service}/{name}",
        request_serializer=getattr(messages, f"{name}Request").SerializeToString,
        response_deserializer=getattr(messages, f"{name}Response").FromString,
    )


def watch_call(channel: grpc.Channel, service: str, name: str, messages: ModuleType) -> Any:
    """The same for streams of many small messages, which are read quickly and only read."""
    return channel.unary_stream(
        f"/vitrine.v1.{service}/{name}",
        request_serializer=getattr(messages, f"{name}Request").SerializeToString,
        response_deserializer=quick.parser(getattr(messages, f"{name}Response")),
    )


@contextlib.contextmanager
def refusals(what: str) -> Iterator[None]:
    """Turns a refusal into one sentence; the status's details hold one Problem for each mistake."""
    try:
        yield
    except grpc.RpcError as error:
        # A switch that has the service and refuses this gives a reason.
        unknown = error.details() in (None, "", "Method not found!")
        if error.code() is grpc.StatusCode.UNIMPLEMENTED and unknown:
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
