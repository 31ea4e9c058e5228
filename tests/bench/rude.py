"""`make bench-rude`: what 64 rude clients cost packets and a polite client.

A frame crosses the switch every millisecond, and a controller writes and reads an entry all the
time; in turn without and with the rude ones, so that the machine's moods fall on both alike. They
flood with writes that are refused, read everything and take it or leave it, begin messages that
never end, and send packets that are refused in words that they do not read. They take processor
time of their own, on this machine: what is printed is an upper bound of what the switch itself lets
them cost.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import numpy as np
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller.entries import Call, Entry, Exact, Lpm
from controller.p4info import P4Info
from controller.session import Session
from tests.control.cables import Cable, cables
from tests.control.conftest import DEVICE_ID, ROOT, compile_program, running_switch
from tests.control.greedy import EMPTY_UPDATE, WRITE, beginning

CLIENT_COUNT = 64
PROCESS_COUNT = 4
# Of each client that reads and leaves.
UNTAKEN_COUNT = 100
FRAME_INTERVAL_S = 0.001
PERCENTILES = (50, 90, 99, 99.9)


@dataclass
class Measured:
    """The measurements in one of both states, in seconds."""

    frames: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    lost: int = 0


def main() -> int:
    """Returns the exit status."""
    if sys.argv[1:2] == ["--client"]:
        be_rude(sys.argv[2], int(sys.argv[3]))
        return 0
    is_quick = os.environ.get("QUICK") == "1"
    pair_count, span_s = (1, 2.0) if is_quick else (10, 10.0)
    alone, beside = Measured(), Measured()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        laid = stack.enter_context(cables(1, 2))
        program = compile_program(ROOT / "tests/control/driven.p4", folder)
        flags = [word for port, it in laid.items() for word in ("-i", f"{port}@{it.device}")]
        switch = stack.enter_context(running_switch(folder, *flags))
        session = stack.enter_context(
            Session.connect(switch.address, device_id=DEVICE_ID, election_id=1000)
        )
        session.load(P4Info.load(program.p4info), program.json.read_bytes())
        to_second = {"hdr.ethernet.dst_addr": Lpm(2, 48)}
        session.insert([Entry("ingress.lpm_table", to_second, Call("ingress.forward", port=2))])
        for number in range(pair_count):
            measure(alone, laid, session, span_s)
            with rude_clients(switch.address):
                measure(beside, laid, session, span_s)
            print(f"{number + 1} of {pair_count} pairs", file=sys.stderr, flush=True)
    print(table(alone, beside))
    return 0


def measure(into: Measured, laid: dict[int, Cable], session: Session, span_s: float) -> None:
    """Measures frames and calls at the same time, for `span_s` seconds."""
    stop = threading.Event()
    thread = threading.Thread(target=_time_calls, args=(into.calls, session, stop))
    thread.start()
    try:
        _time_frames(into, laid, span_s)
    finally:
        stop.set()
        thread.join()


def _time_frames(into: Measured, laid: dict[int, Cable], span_s: float) -> None:
    head = (2).to_bytes(6, "big") + bytes(6) + b"\x88\x02" + bytes(11)
    end_s = time.monotonic() + span_s
    for number in itertools.count():
        begun_s = time.monotonic()
        if begun_s >= end_s:
            return
        laid[1].send(head + number.to_bytes(8, "big") + bytes(27))
        arrived = laid[2].receive(1, deadline_s=1.0)
        now_s = time.monotonic()
        if arrived:
            into.frames.append(now_s - begun_s)
        else:
            into.lost += 1
        threading.Event().wait(max(0.0, begun_s + FRAME_INTERVAL_S - now_s))


def _time_calls(into: list[float], session: Session, stop: threading.Event) -> None:
    match = {"hdr.ethernet.dst_addr": Exact(7)}
    entry = Entry("ingress.exact_table", match, Call("ingress.drop"))
    while not stop.is_set():
        for call in (
            lambda: session.insert([entry]),
            lambda: list(session.read("ingress.exact_table")),
            lambda: session.delete([entry]),
        ):
            begun_s = time.monotonic()
            call()
            into.append(time.monotonic() - begun_s)


@contextlib.contextmanager
def rude_clients(address: str) -> Iterator[None]:
    """All of them, once they have begun."""
    words = ["-m", "tests.bench.rude", "--client", address, str(CLIENT_COUNT // PROCESS_COUNT)]
    processes = [
        subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESS_COUNT)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def be_rude(address: str, count: int) -> None:
    """So many clients, each with a connection of its own, until the process is killed."""
    kinds = itertools.cycle([_flood, _read, _leave, _announce])
    threads = [
        threading.Thread(target=next(kinds), args=(address, number), daemon=True)
        for number in range(count)
    ]
    for thread in threads:
        thread.start()
    print("begun", flush=True)
    threading.Event().wait()


def _stub(address: str, number: int) -> tuple[grpc.Channel, p4runtime_pb2_grpc.P4RuntimeStub]:
    channel = grpc.insecure_channel(address, [("vitrine.number", number)])
    return channel, p4runtime_pb2_grpc.P4RuntimeStub(channel)


def _everything() -> p4runtime_pb2.ReadRequest:
    everything = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
    everything.entities.add().table_entry.table_id = 0
    everything.entities.add().register_entry.register_id = 0
    return everything


def _flood(address: str, number: int) -> None:
    channel, _ = _stub(address, number)
    write = channel.unary_unary(WRITE)
    while True:
        calls = [write.future(EMPTY_UPDATE * 50_000) for _ in range(10)]
        for call in calls:
            call.code()


def _read(address: str, number: int) -> None:
    _, stub = _stub(address, number)
    while True:
        for call in [stub.Read(_everything()) for _ in range(10)]:
            with contextlib.suppress(grpc.RpcError):
                list(call)


def _leave(address: str, number: int) -> None:
    _, stub = _stub(address, number)
    hello, packet = p4runtime_pb2.StreamMessageRequest(), p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.device_id = DEVICE_ID
    hello.arbitration.election_id.low = number + 1
    packet.packet.payload = bytes(10_000)
    held: list[grpc.Call] = [stub.Read(_everything()) for _ in range(UNTAKEN_COUNT)]
    held.append(stub.StreamChannel(itertools.chain([hello], itertools.repeat(packet))))
    threading.Event().wait()


def _announce(address: str, number: int) -> None:
    with beginning(address, 64 << 20):
        threading.Event().wait()


def table(alone: Measured, beside: Measured) -> str:
    """Percentiles of both, for people."""
    lines = [f"{'milliseconds':24}" + "".join(f"{f'{it:g} %':>10}" for it in PERCENTILES)]
    for what, name in (("a frame", "frames"), ("a call", "calls")):
        for state, measured in (("alone", alone), (f"beside {CLIENT_COUNT}", beside)):
            values = np.percentile(getattr(measured, name), PERCENTILES) * 1000
            row = "".join(f"{value:10.3f}" for value in values)
            lines.append(f"{f'{what}, {state}':24}{row}")
    lines.append(f"frames lost: {alone.lost} alone, {beside.lost} beside {CLIENT_COUNT}")
    lines.append(f"of {len(alone.frames)} and {len(beside.frames)} frames, ")
    lines[-1] += f"{len(alone.calls)} and {len(beside.calls)} calls"
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
