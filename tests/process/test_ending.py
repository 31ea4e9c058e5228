"""The switch ends within a second of SIGTERM, whatever its clients and its files are up to.

How long it takes depends on the machine, so seconds are counted in the nightly run only.
`make test` sees that nothing holds the switch up for good.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import grpc
import pytest
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
from vitrine.v1 import router_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.router_service import RouterStub
from tests.control.greedy import EMPTY_UPDATE, WRITE, beginning
from topo import wait

from .switch import PROMPT_S, SWITCH, free_port, running

# As docs/switch.md promises.
END_S = 1.0
# On a machine that is busy with other tests, one of this many tries shows it.
TRIES = 4

Busy = Callable[[int], AbstractContextManager[object]]


def idle(port: int) -> AbstractContextManager[object]:
    return contextlib.nullcontext()


@contextlib.contextmanager
def streams(port: int) -> Iterator[None]:
    """Calls that stay open: of a controller, and of a watcher that does not read."""
    hello = p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.election_id.low = 1
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        held = stub.StreamChannel(iter([hello]))
        assert next(held).arbitration.status.code == 0
        watching = RouterStub(channel).watch(router_pb2.WatchRequest(interval_ms=1))
        next(watching)
        yield


@contextlib.contextmanager
def half_messages(port: int) -> Iterator[None]:
    """Requests that began and never go on."""
    with contextlib.ExitStack() as closing:
        for length in (1000, 64 << 20):
            closing.enter_context(beginning(f"127.0.0.1:{port}", length))
        yield


@contextlib.contextmanager
def silence(port: int) -> Iterator[None]:
    """Silent connections."""
    with contextlib.ExitStack() as closing:
        for _ in range(20):
            closing.enter_context(socket.create_connection(("127.0.0.1", port)))
        yield


@contextlib.contextmanager
def unheard(port: int) -> Iterator[None]:
    """Packets of a backup, each refused in words that it does not take, as fast as they go."""
    hello, packet = p4runtime_pb2.StreamMessageRequest(), p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.SetInParent()
    packet.packet.payload = bytes(10_000)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        held = stub.StreamChannel(itertools.chain([hello], itertools.repeat(packet)))
        assert next(held).HasField("arbitration")
        yield


@contextlib.contextmanager
def batches(port: int) -> Iterator[None]:
    """Batches of 100,000 updates, one behind the other."""
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
        write = channel.unary_unary(WRITE)
        held = [write.future(EMPTY_UPDATE * 100_000) for _ in range(20)]
        yield
        del held


every_client = pytest.mark.parametrize(
    "busy", [idle, streams, half_messages, silence, unheard, batches]
)


@every_client
def test_it_ends_whatever_its_clients_do(tmp_path: Path, busy: Busy):
    assert _span_of_end(tmp_path, busy) < PROMPT_S


@pytest.mark.nightly
@every_client
def test_it_ends_in_time_whatever_its_clients_do(tmp_path: Path, busy: Busy):
    assert _ends_in_time(tmp_path, busy)


def test_it_ends_though_nobody_reads_its_log():
    assert _ends_behind_a_full_pipe() < PROMPT_S


@pytest.mark.nightly
def test_it_ends_in_time_though_nobody_reads_its_log(tmp_path: Path):
    assert any(_ends_behind_a_full_pipe() <= END_S * wait.patience() for _ in range(TRIES))


def _ends_behind_a_full_pipe() -> float:
    """How long it takes to end that cannot say a word."""
    port = free_port()
    read, write = os.pipe()
    _fill(write)
    line = [SWITCH, "--no-p4", "--grpc", f"127.0.0.1:{port}", "--log-level", "trace"]
    process = subprocess.Popen(line, stdout=write, stderr=write)
    os.close(write)
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            grpc.channel_ready_future(channel).result(timeout=PROMPT_S)
        asked_s = time.monotonic()
        process.terminate()
        assert process.wait(PROMPT_S) == 0
        return time.monotonic() - asked_s
    finally:
        process.kill()
        process.wait()
        os.close(read)


def _fill(pipe: int) -> None:
    """Writes until nothing more fits."""
    os.set_blocking(pipe, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(pipe, bytes(4096)):
            pass
    # For the next writer it is a pipe like any other.
    os.set_blocking(pipe, True)


def test_it_ends_though_nobody_reads_its_capture(tmp_path: Path):
    with _unread(tmp_path / "capture") as pipe:
        assert _span_of_end(tmp_path, idle, "--capture", str(pipe)) < PROMPT_S


@pytest.mark.nightly
def test_it_ends_in_time_though_nobody_reads_its_capture(tmp_path: Path):
    with _unread(tmp_path / "capture") as pipe:
        assert _ends_in_time(tmp_path, idle, "--capture", str(pipe))


@contextlib.contextmanager
def _unread(pipe: Path) -> Iterator[Path]:
    """A full pipe without a reader."""
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    try:
        _fill(writer)
        yield pipe
    finally:
        os.close(reader)
        os.close(writer)


def _ends_in_time(folder: Path, busy: Busy, *flags: str) -> bool:
    """Whether it ends well each time, and once at least as soon as it promises."""
    return any(_span_of_end(folder, busy, *flags) <= END_S * wait.patience() for _ in range(TRIES))


def _span_of_end(folder: Path, busy: Busy, *flags: str) -> float:
    port = free_port()
    line = ("--no-p4", "--grpc", f"127.0.0.1:{port}", *flags)
    with running(*line, port=port, log=folder / "log") as process, busy(port):
        asked_s = time.monotonic()
        process.terminate()
        assert process.wait(PROMPT_S) == 0
        return time.monotonic() - asked_s


def test_a_limit_below_what_it_waits_for_ends_it_with_a_sentence(tmp_path: Path):
    port, log = free_port(), tmp_path / "log"
    with (
        running("--no-p4", "--grpc", f"127.0.0.1:{port}", port=port, log=log) as process,
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        router = RouterStub(channel)
        router.describe(router_pb2.DescribeRequest())
        # Lowered for good, so that the switch cannot raise it again.
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (1, 1))
        with contextlib.suppress(grpc.RpcError):
            # It waits once more after this.
            router.describe(router_pb2.DescribeRequest())
        assert process.wait(PROMPT_S) == 1
    said = log.read_text()
    assert "may have 1 files open, and waits for 2" in said and "ulimit -n" in said, said
