"""What the applications' command lines have in common: which router, and how to become primary."""

from __future__ import annotations

import argparse
import os

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import simple_switch
from controller.connection import CONNECT_DEADLINE_S, DEFAULT_ADDRESS, open_channel
from controller.errors import ConnectError
from controller.stream import Inbox, Stream
from controller.toolchain import Toolchain

# A router knows only its own id; of a lab's few routers it is a small number.
_DEVICE_IDS = range(64)


def add_router(parser: argparse.ArgumentParser) -> None:
    """The option that names the router; ROUTER in the environment does the same."""
    parser.add_argument(
        "--router",
        default=os.environ.get("ROUTER") or DEFAULT_ADDRESS,
        metavar="HOST:PORT",
        help="where it serves P4Runtime, %(default)s",
    )


def add_toolchain(parser: argparse.ArgumentParser) -> None:
    """The options that say whose switch the router is; TOOLCHAIN does the same."""
    parser.add_argument(
        "--toolchain",
        default=os.environ.get("TOOLCHAIN") or Toolchain.VITRINE.value,
        metavar="NAME",
        help=f"{' or '.join(each.value for each in Toolchain)}, %(default)s",
    )
    parser.add_argument(
        "--thrift",
        metavar="HOST:PORT",
        help="where simple_switch serves Thrift, by which its queues are set; "
        f"without it the router's port plus {simple_switch.THRIFT_OFFSET}",
    )


def thrift_address(router: str, thrift: str | None) -> tuple[str, int]:
    """Where the router's queues are set, if it is a simple_switch."""
    host, _, port = (thrift or router).rpartition(":")
    if not (host and port.isdigit()):
        raise ConnectError(f"{thrift or router!r} is no address: write HOST:PORT.")
    return host, int(port) + (0 if thrift else simple_switch.THRIFT_OFFSET)


def device_id(address: str) -> int:
    """The number of the device that answers there, which P4Runtime itself has no question for."""
    channel = open_channel(address, CONNECT_DEADLINE_S)
    try:
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
    finally:
        channel.close()
    raise ConnectError(f"the device at {address} has an id above {_DEVICE_IDS[-1]}.")


def election_id(address: str, device_id: int) -> int:
    """One above the primary controller's: it has the role again as soon as the application ends."""
    channel = open_channel(address, CONNECT_DEADLINE_S)
    stream = Stream(p4runtime_pb2_grpc.P4RuntimeStub(channel), Inbox(), lambda: None)
    try:
        # Without an id of its own a controller only hears who is primary.
        request = p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = device_id
        stream.send(request)
        word = stream.arbitration(CONNECT_DEADLINE_S)
    finally:
        stream.close()
        channel.close()
    if not isinstance(word, p4runtime_pb2.MasterArbitrationUpdate):
        raise ConnectError(f"the device at {address} does not say who is primary: {word}.")
    return word.election_id.low + 1
