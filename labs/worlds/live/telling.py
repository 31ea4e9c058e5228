"""Tells of the hosts of a live network what a network in virtual time tells of its own: WatchHosts.

    with telling.serving({"h1": pid, "h2": pid}, "127.0.0.1:9559") as address:
        ...a page shows congestion windows of the hosts' TCP...

It is that one call of vitrine.v1.World, served by the process that runs the network, on the
machine's own address. The kernel is asked only while somebody listens. Instants are those of the
first router's clock, so that curves of hosts and of that router lie on one another.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import grpc
from vitrine.v1 import router_pb2, world_pb2

from controller.connection import parted
from controller.router_service import RouterStub
from labs.worlds.live.kernel_sockets import KernelSockets

# More often than this nobody needs to know; each time costs the machine.
INTERVAL_NS_MIN = 20_000_000
_LISTENERS_MAX = 8
_NS_PER_S, _PS_PER_NS = 1_000_000_000, 1_000
_DESCRIBE_DEADLINE_S = 5.0


@contextlib.contextmanager
def serving(hosts: Mapping[str, int], router: str) -> Iterator[str]:
    """The address, for the length of a `with` block; `hosts` are process ids in them, by name."""
    ending = threading.Event()
    server = grpc.server(ThreadPoolExecutor(_LISTENERS_MAX, thread_name_prefix="hosts"))
    watch = grpc.unary_stream_rpc_method_handler(
        _Hosts(hosts, router, ending).watch,
        world_pb2.WatchHostsRequest.FromString,
        world_pb2.WatchHostsResponse.SerializeToString,
    )
    methods = {"WatchHosts": watch}
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("vitrine.v1.World", methods),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        ending.set()
        server.stop(grace=None).wait()


class _Hosts:
    def __init__(self, hosts: Mapping[str, int], router: str, ending: threading.Event) -> None:
        self._hosts, self._router, self._ending = hosts, router, ending

    def watch(
        self, request: world_pb2.WatchHostsRequest, context: grpc.ServicerContext
    ) -> Iterator[world_pb2.WatchHostsResponse]:
        """A sample at each interval, until nobody listens or the network goes."""
        interval_ns = max(INTERVAL_NS_MIN, request.interval_ns)
        wanted = request.hosts or list(self._hosts)
        try:
            offset_ns = self._epoch_offset_ns()
        except grpc.RpcError:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                "the router does not say what time it has, so hosts cannot be told beside it.",
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
                now_ps = (time.time_ns() - offset_ns) * _PS_PER_NS
                states = [
                    world_pb2.HostState(host=name, connections=each.connections())
                    for name, each in sockets.items()
                ]
                sample = world_pb2.HostSample(time_ps=now_ps, hosts=states)
                yield world_pb2.WatchHostsResponse(complete_until_ps=now_ps, sample=sample)

    def _epoch_offset_ns(self) -> int:
        address, device_id = parted(self._router)
        with grpc.insecure_channel(address) as channel:
            request = router_pb2.DescribeRequest(device_id=device_id or 0, ports=[1])
            answer = RouterStub(channel).describe(request, timeout=_DESCRIBE_DEADLINE_S)
        return int(answer.epoch_offset_ns)
