"""The calls of the router's own service, and its refusals; the proto file is the reference."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import grpc
from google.rpc import status_pb2
from vitrine.v1 import router_pb2

from controller.errors import RequestError


class RouterStub:
    """The calls of vitrine.v1.Router, as a gRPC plugin of protoc would write them."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.describe = _call(channel.unary_unary, "Describe")
        self.configure = _call(channel.unary_unary, "Configure")
        self.add_port = _call(channel.unary_unary, "AddPort")
        self.remove_port = _call(channel.unary_unary, "RemovePort")
        self.watch = _call(channel.unary_stream, "Watch")
        self.trace = _call(channel.unary_stream, "Trace")


def _call(kind: Callable[..., Any], name: str) -> Any:
    """A call of the service; what it takes and gives are named after it."""
    return kind(
        f"/vitrine.v1.Router/{name}",
        request_serializer=getattr(router_pb2, f"{name}Request").SerializeToString,
        response_deserializer=getattr(router_pb2, f"{name}Response").FromString,
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
