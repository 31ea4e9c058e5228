"""The lives of single packets, step by step, as the router tells them.

    with trace(session, [Follow(port=1, packets_max=1)]) as steps:
        for step in steps:
            print(step)
            if step.is_last:
                break

Each step prints as one line: when, which packet, what. `step.message` is the message of the proto
file for who wants more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import grpc
from vitrine.v1 import router_pb2

from controller.connection import in_force
from controller.errors import RequestError
from controller.reasons import reason_name
from controller.router_service import RouterStub
from controller.session import Session

PS_PER_US = 1_000_000


@dataclass(frozen=True)
class Bytes:
    """Bytes that a frame must have at an offset; without a mask all their bits count."""

    offset: int
    value: bytes
    mask: bytes = b""


@dataclass(frozen=True)
class Follow:
    """Which frames to follow, as they come in; what is left as it is takes any."""

    port: int | None = None
    patterns: Sequence[Bytes] = ()
    # Of the packets that match, the first and then one in this many.
    one_in: int = 1
    # At most this many; 0 is no limit.
    packets_max: int = 0


@dataclass(frozen=True)
class Step:
    """A step in the life of a packet."""

    packet: int
    time_ps: int
    # The field of TraceStep: received, program, queued, departed, transmitted, dropped, ...
    kind: str
    message: object

    @property
    def is_last(self) -> bool:
        """Whether nothing more follows for this packet."""
        return self.kind in ("dropped", "replicated_by", "transmitted")

    def __str__(self) -> str:
        return f"{self.time_ps / PS_PER_US:.3f} us packet {self.packet}: {self._what()}"

    def _what(self) -> str:
        if self.kind == "dropped":
            return f"dropped: {reason_name(int(str(self.message)))}"
        if isinstance(self.message, router_pb2.ProgramStep):
            kind = self.message.WhichOneof("kind") or "step"
            return f"{kind} {_line(getattr(self.message, kind, ''))}"
        return f"{self.kind} {_line(self.message)}"


@contextlib.contextmanager
def trace(session: Session, follow: Iterable[Follow]) -> Iterator[Iterator[Step]]:
    """The steps of the packets that one of `follow` takes, while the `with` block runs.

    Steps that the switch had to leave out are said with a RequestError: a life with gaps misleads.
    """
    request = router_pb2.TraceRequest(device_id=session.device_id)
    for wanted in follow:
        added = request.filters.add(one_in=wanted.one_in, frames_max=wanted.packets_max)
        if wanted.port is not None:
            added.port = wanted.port
        for pattern in wanted.patterns:
            added.patterns.add(offset=pattern.offset, value=pattern.value, mask=pattern.mask)
    with in_force(RouterStub(session.channel).trace(request)) as call:
        yield _steps(call)


def _steps(call: grpc.Call) -> Iterator[Step]:
    try:
        for message in call:
            if message.lost_steps:
                raise RequestError(
                    f"the trace has lost {message.lost_steps} steps: follow fewer packets, with "
                    "one_in or packets_max."
                )
            for step in message.steps:
                kind = step.WhichOneof("kind")
                yield Step(step.packet, step.time_ps, kind, getattr(step, kind))
    except grpc.RpcError as error:
        # Cancelling is how a reader says it has seen enough.
        if error.code() is not grpc.StatusCode.CANCELLED:
            raise RequestError(f"the device does not trace: {error.details()}.") from error


def _line(message: object) -> str:
    return " ".join(str(message).split())
