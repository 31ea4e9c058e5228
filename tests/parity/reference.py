"""simple_switch's results for a program and its packets: frames by port, counters, registers.

It runs with files in place of its ports: it waits a while, for its tables to be filled, then takes
all packets in the order of their times. It never ends by itself.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path

from controller.p4info import P4Info
from controller.session import Session
from controller.simple_switch import SimpleSwitch
from controller.toolchain import SIMPLE_SWITCH
from tests.parity import pcap, stf
from topo import wait
from topo.backend import await_answer, on_loopback
from topo.errors import ProcessError
from topo.process import Process

# How long it waits before it reads: at first, and after a machine was too slow for that.
_PATIENCE_S = (3, 12, 48)
# Several packets at one instant would come in any order.
_SPACING_US = 2000
_OUTPUT_DEADLINE_S = 300.0
# It has rested for this long, with nothing to do: it will do nothing more. A machine that does not
# let it run is no rest.
_QUIET_S = 1.0
# Thrift gives registers as numbers of 64 bits.
_REGISTER_BITS_MAX = 64


class TooLateError(Exception):
    """The tables were not filled before the first packet was read."""


@dataclass
class Observed:
    """A switch's results."""

    frames: dict[int, list[bytes]] = field(default_factory=dict)
    # Every cell of a counter, and every entry of a table with one, by name and index: packets and
    # bytes.
    counters: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    registers: dict[tuple[str, int], int] = field(default_factory=dict)


def observe(stem: Path, script: stf.Script, folder: Path, number: int) -> Observed:
    """Runs STEM.json and STEM.p4info.txtpb; `number` keeps parallel runs apart."""
    for patience_s in _PATIENCE_S:
        try:
            return _attempt(stem, script, folder, number, patience_s)
        except TooLateError:
            continue
    raise TooLateError(f"{SIMPLE_SWITCH} could not be set up within {_PATIENCE_S[-1]} s.")


def _attempt(
    stem: Path, script: stf.Script, folder: Path, number: int, patience_s: int
) -> Observed:
    folder.mkdir(parents=True, exist_ok=True)
    program = P4Info.load(stem.with_suffix(".p4info.txtpb"))
    for port in script.ports:
        sent = [
            (_SPACING_US * index, bytes.fromhex(packet.digits))
            for index, packet in enumerate(script.packets)
            if packet.port == port
        ]
        pcap.write(folder / f"p{port}_in.pcap", sent)
        (folder / f"p{port}_out.pcap").unlink(missing_ok=True)
    grpc, thrift = 21000 + number, 23000 + number
    argv = [SIMPLE_SWITCH, "--use-files", str(patience_s), "--device-id", str(1000 + number)]
    argv += ["--thrift-port", str(thrift)]
    for port in script.ports:
        argv += ["-i", f"{port}@{folder}/p{port}"]
    argv += [str(stem.with_suffix(".json"))]
    # No port for a controller: what a program sends there leaves by a port like any other.
    argv += ["--", "--grpc-server-addr", f"127.0.0.1:{grpc}", "--priority-queues", "8"]
    began_s = time.monotonic()
    process = Process(argv, folder / "switch.log")
    try:
        await_answer(process, SIMPLE_SWITCH, [on_loopback(grpc), on_loopback(thrift)])
        # Then it has taken its packets, if it could run.
        taken_s = time.monotonic() + patience_s + len(script.packets) * _SPACING_US / 1e6
        with Session.connect(f"127.0.0.1:{grpc}", device_id=1000 + number) as session:
            session.load(program, stem.with_suffix(".json").read_bytes())
            inserted, modified = stf.items(script, program)
            session.insert(inserted)
            session.modify(modified)
        if time.monotonic() - began_s > patience_s:
            raise TooLateError
        frames = _await_output(folder, script, process, taken_s)
        with SimpleSwitch("127.0.0.1", thrift) as switch:
            return Observed(frames, *_state(switch, program, script))
    finally:
        process.end()


def _await_output(
    folder: Path, script: stf.Script, process: Process, taken_s: float
) -> dict[int, list[bytes]]:
    """The frames that left by each port, once it has taken its packets and rests."""
    rests_since_s: float | None = None

    def is_over() -> bool:
        nonlocal rests_since_s
        now_s = time.monotonic()
        if process.has_ended():
            raise ProcessError(f"{SIMPLE_SWITCH} ended half-way: {process.last_words()}")
        if now_s < taken_s or not rests(process):
            rests_since_s = None
            return False
        if rests_since_s is None:
            rests_since_s = now_s
        return now_s - rests_since_s >= _QUIET_S

    # A missing frame is a difference, not an error: the comparison reports it.
    wait.holds_within(is_over, _OUTPUT_DEADLINE_S)
    frames = {port: list(pcap.read(folder / f"p{port}_out.pcap")) for port in script.ports}
    return {port: found for port, found in frames.items() if found}


def rests(process: Process) -> bool:
    """Whether each of its threads sleeps; one that only has to wait for a processor does not."""
    states = []
    for thread in Path(f"/proc/{process.pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            # The name before the state may hold anything, brackets too.
            states.append(thread.read_text().rpartition(")")[2].split()[0])
    return all(state == "S" for state in states)


def _state(
    switch: SimpleSwitch, program: P4Info, script: stf.Script
) -> tuple[dict[tuple[str, int], tuple[int, int]], dict[tuple[str, int], int]]:
    counters = {
        (counter.name, index): switch.counter(counter.name, index)
        for counter in program.counters
        for index in range(counter.size)
    }
    counted = {each.direct_table_id for each in program.message.direct_counters}
    for table in program.tables:
        if table.id in counted:
            # Entries are numbered as they were added, in either switch.
            for index in range(script.entry_count(table.name)):
                counters[table.name, index] = switch.entry_counter(table.name, index)
    registers = {
        (register.name, index): value % (1 << register.width_bits)
        for register in program.registers
        if register.width_bits <= _REGISTER_BITS_MAX
        for index, value in enumerate(switch.register(register.name))
    }
    return counters, registers
