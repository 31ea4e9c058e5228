"""The way to a device: a gRPC channel that comes back by itself, and refusals as sentences."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence

import grpc
from google.rpc import code_pb2, status_pb2
from p4.v1 import p4runtime_pb2

from controller import routers
from controller.addresses import parted, socket_of
from controller.errors import ConnectError, NotYoursError, RequestError

# A device on this machine answers in milliseconds; these bounds only end a wait for one that does
# not.
CONNECT_DEADLINE_S = 10.0
REQUEST_DEADLINE_S = 30.0
# Programs and wildcard reads exceed gRPC's default of 4 MiB.
MESSAGE_BYTES_MAX = 64 << 20
# An error for each of 100,000 updates; gRPC's default of 8 KiB holds 130.
METADATA_BYTES_MAX = 12 << 20

CHANNEL_OPTIONS = [
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_metadata_size", METADATA_BYTES_MAX),
    # gRPC would call the host of a Unix socket by its file's name, which is none for HTTP/2.
    ("grpc.default_authority", "localhost"),
    # The device is on this machine or in this lab; a proxy for the outside must not see it.
    ("grpc.enable_http_proxy", 0),
    # A switch that restarts answers within milliseconds, and is to be back within two seconds with
    # all that it had; gRPC's own pauses grow to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    # How long an attempt may take, whatever its name says. A switch that is away refuses at once;
    # one that is there may need a moment on a busy machine, and must not be given up before.
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.max_reconnect_backoff_ms", 200),
]


def open_channel(address: str, deadline_s: float = CONNECT_DEADLINE_S) -> grpc.Channel:
    """A connection to a device that answers, or an error that names the address."""
    refuse_others(address)
    channel = grpc.insecure_channel(parted(address)[0], options=CHANNEL_OPTIONS)
    is_ready = threading.Event()
    # The future's own deadline is one of the wall clock.
    connecting = grpc.channel_ready_future(channel)
    connecting.add_done_callback(lambda _: is_ready.set())
    if not is_ready.wait(deadline_s):
        connecting.cancel()
        channel.close()
        silence = f"nothing answers at {address} within {deadline_s:g} s"
        raise ConnectError(f"{silence}: {routers.hint(address) or 'is the switch running?'}")
    return channel


def refuse_others(address: str) -> None:
    """Reports another user's socket at once: gRPC would try for as long as one lets it."""
    path = socket_of(address)
    try:
        if path is None or not path.exists() or os.access(path, os.W_OK):
            return
        owner = path.owner()
    except (OSError, KeyError):
        # Not even the folder is theirs, or the owner has no name.
        owner = "somebody else"
    whom = owner if owner == "root" else f"{owner} and root"
    raise NotYoursError(f"the router at {address} is {owner}'s: it admits {whom} only.")


@contextlib.contextmanager
def in_force(call: grpc.Call) -> Iterator[grpc.Call]:
    """A stream from when the device has taken the request until the block is left.

    A device answers with the stream's headers first: of what happens from then on it tells. One
    that refuses does so when it is read.
    """
    try:
        call.initial_metadata()
        yield call
    finally:
        call.cancel()


@contextlib.contextmanager
def refusals(what: str) -> Iterator[None]:
    """Turns a device's refusal into one sentence that begins with `what`."""
    try:
        yield
    except grpc.RpcError as error:
        raise RequestError(f"{what}: {error.details()}.") from error


# The device is not there or has no time for us, which says nothing about the request.
_PASSING = frozenset(
    {
        *(grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED),
        *(grpc.StatusCode.CANCELLED, grpc.StatusCode.ABORTED, grpc.StatusCode.RESOURCE_EXHAUSTED),
    }
)


def status_of(error: BaseException) -> grpc.StatusCode | None:
    """The status behind an error, if it came from the device."""
    origin = error if isinstance(error, grpc.RpcError) else error.__cause__ or error.__context__
    return origin.code() if isinstance(origin, grpc.RpcError) else None


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed later; else the device has refused it."""
    return status_of(error) in _PASSING


def is_early(error: BaseException, took_s: float) -> bool:
    """Whether a request was given up before its time: gRPC counts that by the wall clock, which may
    have been set meanwhile."""
    is_over = status_of(error) is grpc.StatusCode.DEADLINE_EXCEEDED
    return is_over and took_s < REQUEST_DEADLINE_S


def write_refusal(error: grpc.RpcError, updates: Sequence[object]) -> str:
    """Which updates of a batch were refused, and why.

    The device sends one p4.v1.Error for each update, in order, inside the status's details; those
    with code 0 were accepted. The primary may also lose its role, and then there are no details; of
    a batch with more errors than the device can send, the status's message names the first.
    """
    details = _details(error)
    refused = [
        f"{update}: {detail.message or code_pb2.Code.Name(detail.canonical_code)}"
        for update, detail in zip(updates, details, strict=False)
        if detail.canonical_code != 0
    ]
    if not refused or len(details) < len(updates):
        return f"the device refused the batch: {error.details()}."
    return f"the device refused {len(refused)} of {len(updates)} updates: " + "; ".join(refused)


def accepted(
    error: grpc.RpcError, updates: Sequence[p4runtime_pb2.Update]
) -> list[p4runtime_pb2.Update]:
    """The updates of a refused batch that the device has carried out nevertheless."""
    pairs = zip(updates, _details(error), strict=False)
    return [update for update, detail in pairs if detail.canonical_code == 0]


def _details(error: grpc.RpcError) -> list[p4runtime_pb2.Error]:
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if packed is None:
        return []
    found = []
    for detail in status_pb2.Status.FromString(packed).details:
        update = p4runtime_pb2.Error()
        if detail.Unpack(update):
            found.append(update)
    return found
