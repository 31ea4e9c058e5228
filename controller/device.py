"""The facts that a controller needs before it can write to a device: its number, and an election
id.

P4Runtime has a question for neither. A device answers to its own number only; the highest election
id that it has seen it tells every stream, also one without an id, which never becomes primary.
"""

from __future__ import annotations

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import routers
from controller.addresses import parted
from controller.connection import CONNECT_DEADLINE_S, open_channel
from controller.errors import ConnectError
from controller.stream import Inbox, Stream, bid

# A router knows only its own number; of a lab's few routers it is a small one.
_DEVICE_IDS = range(64)


def find_id(channel: grpc.Channel, address: str) -> int:
    """The number of the device that answers there; the one that the address names, if it does."""
    _, named = parted(address)
    if named is not None:
        return named
    stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
    for number in _DEVICE_IDS:
        request = p4runtime_pb2.GetForwardingPipelineConfigRequest(
            device_id=number,
            response_type=p4runtime_pb2.GetForwardingPipelineConfigRequest.COOKIE_ONLY,
        )
        try:
            stub.GetForwardingPipelineConfig(request, timeout=CONNECT_DEADLINE_S)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                continue
            if error.code() is not grpc.StatusCode.FAILED_PRECONDITION:
                raise ConnectError(
                    f"{address} is no P4Runtime device: {error.details()}."
                ) from error
        # It has a program, or it has none yet: both know the number.
        return number
    raise ConnectError(
        f"the device at {address} has an id above {_DEVICE_IDS[-1]}: give its device_id."
    )


def free_election_id(channel: grpc.Channel, address: str, device_id: int) -> int:
    """One above the highest that the device has seen: who comes with it is primary.

    Somebody else may have taken it by then; `Session.connect` asks again where that happens.
    """
    stream = Stream(p4runtime_pb2_grpc.P4RuntimeStub(channel), Inbox(), lambda: None)
    try:
        stream.send(bid(device_id, None))
        word = stream.word(CONNECT_DEADLINE_S)
    finally:
        stream.close()
    if word is None:
        raise ConnectError(
            f"the device at {address} does not say who is primary: {stream.why_silent()}."
        )
    return word.highest_id + 1


def identify(address: str) -> tuple[int, int]:
    """Number and free election id of a router, by its name or address, for tools that bring their
    own client: `p4runtime-sh --device-id ... --election-id 0,...`.
    """
    address = routers.address_of(address)
    channel = open_channel(address, CONNECT_DEADLINE_S)
    try:
        device_id = find_id(channel, address)
        return device_id, free_election_id(channel, address, device_id)
    finally:
        channel.close()
