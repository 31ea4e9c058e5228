"""Reports on the hosts of a live network as a network in virtual time does on its own: WatchHosts;
and starts and stops flows in them.

    with telling.serving({"h1": pid, "h2": pid}, address, flows, key) as address:
        ...a page shows congestion windows of the hosts' TCP...

It is these calls of vitrine.v1.World, WatchHosts, Look, Start and Stop, served by the process that
runs the network, at a Unix socket that only root and the user who called sudo can open: other users
could otherwise use up root's descriptors and threads. The kernel is asked only while somebody
listens. Instants are those of the first router's clock, so that curves of hosts and of that router
lie on one another.

A program of that user may look, in a few calls at a time. Programs are started as root, so Start
and Stop need the network's key too (`controller.routers`).
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias, TypeVar

import grpc
from vitrine.v1 import router_pb2, world_pb2

from controller import ownership, routers
from controller.addresses import at_socket, parted, unused_socket
from controller.connection import CHANNEL_OPTIONS
from controller.router_service import RouterStub
from labs.worlds.live.flows import Flows, RefusedError
from labs.worlds.live.kernel_sockets import KernelSockets

# Shorter intervals are of no use; each sample costs the machine.
INTERVAL_NS_MIN = 20_000_000
_CALLS_MAX = 16
# Of those, this many are for callers without the key, so that they cannot lock its user out.
_LOOKING_MAX = 12
_NS_PER_S, _PS_PER_NS = 1_000_000_000, 1_000
_DESCRIBE_DEADLINE_S = 5.0


@contextlib.contextmanager
def serving(
    hosts: Mapping[str, int], router: str, flows: Flows | None = None, key: str = ""
) -> Iterator[str]:
    """The address, for the length of a `with` block; `hosts` are process ids in them, by name.

    Who knows the `key` starts and stops `flows`, if they are given.
    """
    ending = threading.Event()
    server = grpc.server(ThreadPoolExecutor(_CALLS_MAX, thread_name_prefix="hosts"))
    told = _Hosts(hosts, router, ending)
    access = _Access(key)
    methods = {
        "WatchHosts": grpc.unary_stream_rpc_method_handler(
            access.watching(told.watch),
            world_pb2.WatchHostsRequest.FromString,
            world_pb2.WatchHostsResponse.SerializeToString,
        )
    }
    if flows is not None and key:
        steered = _Steered(told, flows)
        for name, call in (
            ("Look", access.looking(steered.look)),
            ("Start", access.steering(steered.start)),
            ("Stop", access.steering(steered.stop)),
        ):
            methods[name] = grpc.unary_unary_rpc_method_handler(
                call,
                getattr(world_pb2, f"{name}Request").FromString,
                getattr(world_pb2, f"{name}Response").SerializeToString,
            )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("vitrine.v1.World", methods),)
    )
    folder = routers.folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = unused_socket(folder, "hosts")
    try:
        _bind(server, path)
        server.start()
        yield at_socket(path)
    finally:
        ending.set()
        server.stop(grace=None).wait()
        path.unlink(missing_ok=True)


def _bind(server: grpc.Server, path: Path) -> None:
    before = os.umask(0o177)
    try:
        server.add_insecure_port(at_socket(path))
    finally:
        os.umask(before)
    ownership.give_to_caller(path)


class _Hosts:
    def __init__(self, hosts: Mapping[str, int], router: str, ending: threading.Event) -> None:
        self._hosts, self._router, self._ending = hosts, router, ending

    def watch(
        self, request: world_pb2.WatchHostsRequest, context: grpc.ServicerContext
    ) -> Iterator[world_pb2.WatchHostsResponse]:
        """A sample at each interval, until the listener or the network goes."""
        interval_ns = max(INTERVAL_NS_MIN, request.interval_ns)
        # One socket a host, however often the request names it.
        wanted = dict.fromkeys(request.hosts or self._hosts)
        try:
            zero_ns = self._router_zero_ns()
        except grpc.RpcError:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                "the router does not report its time, which samples of hosts need.",
            )
        gone = threading.Event()
        context.add_callback(gone.set)
        with contextlib.ExitStack() as stack:
            sockets = {
                name: stack.enter_context(KernelSockets(self._hosts[name]))
                for name in wanted
                if name in self._hosts
            }
            while not (gone.wait(interval_ns / _NS_PER_S) or self._ending.is_set()):
                now_ps = _instant_ps(zero_ns)
                states = [
                    world_pb2.HostState(host=name, connections=each.connections())
                    for name, each in sockets.items()
                ]
                sample = world_pb2.HostSample(time_ps=now_ps, hosts=states)
                yield world_pb2.WatchHostsResponse(complete_until_ps=now_ps, sample=sample)

    def now_ps(self) -> int:
        """The present instant; 0 while the router does not say what time it has."""
        try:
            return _instant_ps(self._router_zero_ns())
        except grpc.RpcError:
            return 0

    def connections(self, host: str) -> list[world_pb2.Connection]:
        """Those of a host's TCP."""
        with KernelSockets(self._hosts[host]) as sockets:
            return sockets.connections()

    def _router_zero_ns(self) -> int:
        """The value of our monotonic clock when the router's began: both see the same wall clock
        now, which may be set anew a moment later."""
        address, device_id = parted(self._router)
        with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
            request = router_pb2.DescribeRequest(device_id=device_id or 0, ports=[1])
            answer = RouterStub(channel).describe(request, timeout=_DESCRIBE_DEADLINE_S)
        return time.monotonic_ns() - (time.time_ns() - int(answer.epoch_offset_ns))


class _Steered:
    """Starts and stops flows."""

    def __init__(self, told: _Hosts, flows: Flows) -> None:
        self._told, self._flows = told, flows

    def look(
        self, request: world_pb2.LookRequest, _: grpc.ServicerContext
    ) -> world_pb2.LookResponse:
        """The started flows, and the connections of those hosts."""
        connections = functools.cache(self._told.connections)
        apps = self._flows.reports(connections)
        answer = world_pb2.LookResponse(time_ps=self._told.now_ps(), running=True)
        if request.apps:
            answer.apps.extend(apps)
        if request.connections:
            for name in dict.fromkeys(each.host for each in apps):
                answer.hosts.add(host=name, connections=connections(name))
        return answer

    def start(
        self, request: world_pb2.StartRequest, context: grpc.ServicerContext
    ) -> world_pb2.StartResponse:
        """Starts a program in a host."""
        try:
            number = self._flows.start(request.host, request.app)
        except RefusedError as refused:
            context.abort(refused.code, str(refused))
        return world_pb2.StartResponse(app=number, time_ps=self._told.now_ps())

    def stop(
        self, request: world_pb2.StopRequest, context: grpc.ServicerContext
    ) -> world_pb2.StopResponse:
        """Ends one that was started here."""
        try:
            report = self._flows.stop(request.app)
        except RefusedError as refused:
            context.abort(refused.code, str(refused))
        return world_pb2.StopResponse(report=report, time_ps=self._told.now_ps())


_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_Call: TypeAlias = Callable[[_Request, grpc.ServicerContext], _Response]


class _Access:
    """Decides which callers get one of the server's threads for a call."""

    def __init__(self, key: str) -> None:
        self._wanted = f"Bearer {key}".encode() if key else None
        self._looking = threading.BoundedSemaphore(_LOOKING_MAX)

    def watching(
        self, call: _Call[_Request, Iterator[_Response]]
    ) -> _Call[_Request, Iterator[_Response]]:
        """A stream that needs no key; without it, a few at a time."""

        def bounded(request: _Request, context: grpc.ServicerContext) -> Iterator[_Response]:
            with self._place(context):
                yield from call(request, context)

        return bounded

    def looking(self, call: _Call[_Request, _Response]) -> _Call[_Request, _Response]:
        """A call that needs no key; without it, a few at a time."""

        def bounded(request: _Request, context: grpc.ServicerContext) -> _Response:
            with self._place(context):
                return call(request, context)

        return bounded

    def steering(self, call: _Call[_Request, _Response]) -> _Call[_Request, _Response]:
        """A call that needs the key."""

        def checked(request: _Request, context: grpc.ServicerContext) -> _Response:
            if not self._has_key(context):
                context.abort(
                    grpc.StatusCode.PERMISSION_DENIED,
                    "only the owner of the network may start flows",
                )
            return call(request, context)

        return checked

    @contextlib.contextmanager
    def _place(self, context: grpc.ServicerContext) -> Iterator[None]:
        if self._has_key(context):
            yield
            return
        if not self._looking.acquire(blocking=False):
            context.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"{_LOOKING_MAX} callers watch the hosts already; end one of them",
            )
        try:
            yield
        finally:
            self._looking.release()

    def _has_key(self, context: grpc.ServicerContext) -> bool:
        if self._wanted is None:
            return False
        given = dict(context.invocation_metadata()).get("authorization", "")
        return hmac.compare_digest(str(given).encode(), self._wanted)


def _instant_ps(zero_ns: int) -> int:
    return (time.monotonic_ns() - zero_ns) * _PS_PER_NS
