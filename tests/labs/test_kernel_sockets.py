"""The kernel's data of TCP connections without `ss` are those of `ss`."""

import contextlib
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
from vitrine.v1 import router_pb2, world_pb2

from labs.worlds.live import sockets, telling
from labs.worlds.live.flows import Flows
from labs.worlds.live.kernel_sockets import KernelSockets
from tests.controller import device_double
from topo import wait

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into a namespace")
_US_PS = 1_000_000


@contextlib.contextmanager
def connected(family, address):
    """Two ends of a connection that has carried something and is idle."""
    with (
        socket.create_server((address, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
        server.accept()[0] as far,
    ):
        client.sendall(b"x" * 100_000)
        got = 0
        while got < 100_000:
            got += len(far.recv(1 << 16))
        yield client, far


def ours(found, client):
    port = client.getsockname()[1]
    return next(each for each in found if each.local.endswith(f":{port}"))


def test_an_idle_connection_is_told_as_ss_tells_it():
    with connected(socket.AF_INET, "127.0.0.1") as (client, _), KernelSockets(os.getpid()) as own:
        # Its last acknowledgment may be on its way.
        wait.until(lambda: ours(own.connections(), client).unacked == 0, "an idle connection", 60)
        told = ours(own.connections(), client)
        done = subprocess.run(sockets.COMMAND, capture_output=True, text=True, check=True)
        said = ours(sockets.parse(done.stdout, 0.0), client)
    assert (told.local, told.peer, told.congestion) == (said.local, said.peer, said.congestion)
    assert (told.cwnd, told.mss_bytes) == (said.cwnd_packets, said.mss_bytes)
    assert told.bytes_acked == said.bytes_acked
    assert told.rtt_ps / _US_PS == pytest.approx(1000 * said.rtt_ms, abs=1)
    assert told.ssthresh == said.ssthresh_packets
    assert told.HasField("minrtt_ps") and told.minrtt_ps <= 10**12
    # Nothing is lost on the way to oneself.
    assert told.bytes_sent >= 100_000
    assert told.retrans_total == 0
    assert told.pmtu_bytes >= told.mss_bytes


def test_ends_of_both_versions_of_ip_are_written_as_people_write_them():
    with connected(socket.AF_INET6, "::1") as (client, far), KernelSockets(os.getpid()) as own:
        found = own.connections()
        assert ours(found, client).local == f"[::1]:{client.getsockname()[1]}"
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), KernelSockets(os.getpid()) as own:
            far, _ = server.accept()
            with far:
                # The side of the server has an IPv6 socket for it.
                assert ours(own.connections(), far).local == f"127.0.0.1:{port}"


class RouterDouble(device_double.DeviceDouble):
    """One that says what time it has."""

    def describe(self, request, context):
        return router_pb2.DescribeResponse(epoch_offset_ns=self.epoch_offset_ns)


def test_hosts_of_a_live_network_are_told_by_the_routers_clock(monkeypatch):
    double = RouterDouble()
    # It began 5 s after 1970, and now is 7 s after.
    double.epoch_offset_ns = 5 * 10**9
    monkeypatch.setattr(telling.time, "time_ns", lambda: 7 * 10**9)
    # Our own clock stands still.
    monkeypatch.setattr(telling.time, "monotonic_ns", lambda: 3 * 10**9)
    describe = grpc.unary_unary_rpc_method_handler(
        double.describe,
        router_pb2.DescribeRequest.FromString,
        router_pb2.DescribeResponse.SerializeToString,
    )
    handler = grpc.method_handlers_generic_handler("vitrine.v1.Router", {"Describe": describe})
    with (
        connected(socket.AF_INET, "127.0.0.1") as (client, _),
        device_double.serving(double, handler) as router,
        telling.serving({"h1": os.getpid()}, router) as address,
        grpc.insecure_channel(address) as channel,
    ):
        watch = channel.unary_stream(
            "/vitrine.v1.World/WatchHosts",
            request_serializer=world_pb2.WatchHostsRequest.SerializeToString,
            response_deserializer=world_pb2.WatchHostsResponse.FromString,
        )
        call = watch(world_pb2.WatchHostsRequest(interval_ns=1), timeout=60)
        told = [next(call), next(call)]
        call.cancel()
        for each in told:
            assert each.complete_until_ps == each.sample.time_ps == 2 * 10**12
            (host,) = each.sample.hosts
            assert host.host == "h1"
            assert ours(host.connections, client).cwnd > 0


def watching(channel):
    return channel.unary_stream(
        "/vitrine.v1.World/WatchHosts",
        request_serializer=world_pb2.WatchHostsRequest.SerializeToString,
        response_deserializer=world_pb2.WatchHostsResponse.FromString,
    )


@contextlib.contextmanager
def hosts_beside_a_router(key=""):
    """A channel to the service of one host."""
    double = RouterDouble()
    double.epoch_offset_ns = time.time_ns()
    describe = grpc.unary_unary_rpc_method_handler(
        double.describe,
        router_pb2.DescribeRequest.FromString,
        router_pb2.DescribeResponse.SerializeToString,
    )
    handler = grpc.method_handlers_generic_handler("vitrine.v1.Router", {"Describe": describe})
    with (
        device_double.serving(double, handler) as router,
        telling.serving({"h1": os.getpid()}, router, Flows({}), key) as address,
        grpc.insecure_channel(address) as channel,
    ):
        yield channel


def test_a_host_that_a_request_names_often_takes_one_socket():
    with hosts_beside_a_router() as channel:
        before = sum(1 for _ in Path("/proc/self/fd").iterdir())
        call = watching(channel)(world_pb2.WatchHostsRequest(hosts=["h1"] * 400), timeout=60)
        assert len(next(call).sample.hosts) == 1
        assert sum(1 for _ in Path("/proc/self/fd").iterdir()) - before < 100
        call.cancel()


def test_callers_without_the_key_leave_threads_to_its_user():
    with hosts_beside_a_router("secret") as channel:
        watch, calls = watching(channel), []
        for _ in range(telling._LOOKING_MAX):
            calls.append(watch(world_pb2.WatchHostsRequest(), timeout=600))
            next(calls[-1])
        refused = watch(world_pb2.WatchHostsRequest(), timeout=600)
        with pytest.raises(grpc.RpcError) as told:
            next(refused)
        assert told.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        key = (("authorization", "Bearer secret"),)
        stop = channel.unary_unary(
            "/vitrine.v1.World/Stop",
            request_serializer=world_pb2.StopRequest.SerializeToString,
            response_deserializer=world_pb2.StopResponse.FromString,
        )
        # It is answered, though there is no such flow.
        with pytest.raises(grpc.RpcError) as told:
            stop(world_pb2.StopRequest(app=9), metadata=key, timeout=600)
        assert told.value.code() is grpc.StatusCode.NOT_FOUND
        own = watch(world_pb2.WatchHostsRequest(), metadata=key, timeout=600)
        assert next(own).sample.hosts
        for call in (*calls, own):
            call.cancel()


def test_the_place_of_a_caller_that_leaves_is_free_again():
    with hosts_beside_a_router() as channel:
        watch = watching(channel)

        def is_served():
            call = watch(world_pb2.WatchHostsRequest(), timeout=600)
            try:
                return bool(next(call).sample.hosts)
            except grpc.RpcError:
                return False
            finally:
                call.cancel()

        for _ in range(telling._LOOKING_MAX + 1):
            wait.until(is_served, "a place", 60)


def test_other_users_cannot_open_the_socket():
    with telling.serving({"h1": os.getpid()}, "127.0.0.1:1") as address:
        path = Path(address.removeprefix("unix:"))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        come = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        run = subprocess.run(
            [sys.executable, "-c", come, path],
            user=65534,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "PermissionError" in run.stderr
    assert not path.exists()
