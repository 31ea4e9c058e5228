"""Random updates of the tables of a program, compared with a model of P4Runtime.

    python -m tests.conformance.entries PROGRAM.p4 --updates 250000 --seed 7 -- -I DIR

Compiles the program (flags behind `--` are the compiler's), starts a switch without ports, and
sends batches: entries that fit, entries that are there already or not there, tables that run full,
and entries with one thing wrong. Each update has the code that the specification gives it, and
after every hundredth batch all tables are read and compared. It stands in the place of sonic-pins'
p4_fuzzer, which is built with Bazel from sources of the network.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

import grpc
from google.protobuf import text_format
from google.rpc import code_pb2, status_pb2
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from tests.process.switch import BINARIES, ROOT, free_port, running

from . import making, schema
from .model import Model, Update, action_of, key_of

BATCH = 200
DEADLINE_S = 300.0
# A status may name every update of a batch.
METADATA_BYTES_MAX = 16 << 20
WRONG_SHARE = 0.25
# Of changes and removals: how many mean an entry that is there.
KNOWN_SHARE = 0.7
TYPES = (Update.INSERT, Update.INSERT, Update.MODIFY, Update.DELETE)


class Switch:
    """A switch that runs the program, and a controller that has it alone."""

    def __init__(self, port: int, info: p4info_pb2.P4Info, json: bytes) -> None:
        options = [("grpc.max_metadata_size", METADATA_BYTES_MAX)]
        options.append(("grpc.max_receive_message_length", -1))
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=options)
        self._stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        self._election = p4runtime_pb2.Uint128(low=1)
        hello = p4runtime_pb2.StreamMessageRequest()
        hello.arbitration.device_id = 0
        hello.arbitration.election_id.CopyFrom(self._election)
        self._end = threading.Event()
        self._stream = self._stub.StreamChannel(self._say(hello))
        next(self._stream)
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(
            action=p4runtime_pb2.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            election_id=self._election,
        )
        request.config.p4info.CopyFrom(info)
        request.config.p4_device_config = json
        self._stub.SetForwardingPipelineConfig(request, timeout=DEADLINE_S)

    def _say(self, hello: p4runtime_pb2.StreamMessageRequest):  # type: ignore[no-untyped-def]
        yield hello
        self._end.wait()

    def write(self, updates: list[p4runtime_pb2.Update]) -> list[int]:
        """The code of each update."""
        request = p4runtime_pb2.WriteRequest(updates=updates, election_id=self._election)
        try:
            self._stub.Write(request, timeout=DEADLINE_S)
        except grpc.RpcError as error:
            details = dict(error.trailing_metadata()).get("grpc-status-details-bin")
            if details is None:
                raise
            status = status_pb2.Status.FromString(details)
            codes = []
            for one in status.details:
                told = p4runtime_pb2.Error()
                one.Unpack(told)
                codes.append(told.canonical_code)
            return codes
        return [code_pb2.OK] * len(updates)

    def read(self) -> dict[int, dict[bytes, bytes]]:
        """Every entry, by table and key."""
        request = p4runtime_pb2.ReadRequest()
        request.entities.add().table_entry.table_id = 0
        found: dict[int, dict[bytes, bytes]] = {}
        for answer in self._stub.Read(request, timeout=DEADLINE_S):
            for entity in answer.entities:
                entry = entity.table_entry
                found.setdefault(entry.table_id, {})[key_of(entry)] = action_of(entry)
        return found

    def end(self) -> None:
        """Leaves."""
        self._end.set()
        self._stream.cancel()


def update(
    dice: Random, tables: list[schema.Table], model: Model
) -> tuple[p4runtime_pb2.Update, bool]:
    """A random one, and whether something is wrong with it."""
    table = dice.choice(tables)
    made = p4runtime_pb2.Update(type=dice.choice(TYPES))
    entry = making.entry(dice, table)
    held = model.held[table.id]
    if held and dice.random() < (0.1 if made.type == Update.INSERT else KNOWN_SHARE):
        # One that was there when the batch began.
        known = dice.choice(list(held.values()))
        del entry.match[:]
        entry.match.extend(known.match)
        entry.priority = known.priority
    is_wrong = False
    if dice.random() < WRONG_SHARE:
        mistakes = making.KEY_MISTAKES
        if made.type != Update.DELETE:
            mistakes += making.ACTION_MISTAKES
        if made.type == Update.INSERT:
            mistakes += making.INSERT_MISTAKES
        is_wrong = dice.choice(mistakes)(dice, entry, table)
    made.entity.table_entry.CopyFrom(entry)
    return made, is_wrong


def run(switch: Switch, tables: list[schema.Table], count: int, dice: Random) -> Counter[int]:
    """Sends `count` updates; an AssertionError says what differs."""
    model, seen = Model(tables), Counter[int]()
    for batch in range((count + BATCH - 1) // BATCH):
        updates = [update(dice, tables, model) for _ in range(BATCH)]
        codes = switch.write([made for made, _ in updates])
        for (made, is_wrong), code in zip(updates, codes, strict=True):
            expected = model.expect(made, is_wrong=is_wrong)
            assert code in expected, f"{_names([code])}, not {_names(expected)}, for:\n{made}"
            seen[code] += 1
            if code == code_pb2.OK:
                model.carry_out(made)
        if batch % 100 == 99:
            compare(model, switch.read())
    compare(model, switch.read())
    return seen


def _names(codes: Iterable[int]) -> str:
    return " or ".join(sorted(code_pb2.Code.Name(it) for it in codes))


def compare(model: Model, found: dict[int, dict[bytes, bytes]]) -> None:
    """All that is held, and nothing else."""
    for table, held in model.entries().items():
        there = found.get(table, {})
        assert there == held, (
            f"table {table} holds {len(there)} entries where {len(held)} are right; "
            f"{len(held.keys() - there.keys())} are missing, {len(there.keys() - held.keys())} too "
            "many"
        )


def compiled(program: Path, flags: list[str], folder: Path) -> tuple[p4info_pb2.P4Info, bytes]:
    """P4Info and JSON of a program."""
    json, text = folder / "program.json", folder / "program.p4info.txtpb"
    command = [str(BINARIES / "vitrine-p4c"), "--Wdisable", *flags, str(program)]
    command += ["-o", str(json), "--p4runtime-files", str(text)]
    subprocess.run(command, check=True, cwd=ROOT)
    return text_format.Parse(text.read_text(), p4info_pb2.P4Info()), json.read_bytes()


def main() -> int:
    """Prints how many updates had which code; the status says whether all were right."""
    parser = argparse.ArgumentParser(prog="tests.conformance.entries", description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("--updates", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments, flags = parser.parse_args(words[:end]), words[end + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        info, json = compiled(arguments.program.absolute(), flags, Path(folder))
        port, log = free_port(), Path(folder) / "log"
        with running("--grpc", f"127.0.0.1:{port}", port=port, log=log):
            switch = Switch(port, info, json)
            try:
                dice = Random(arguments.seed)
                seen = run(switch, schema.tables(info), arguments.updates, dice)
            except AssertionError as error:
                print(f"{arguments.program.name}, seed {arguments.seed}: {error}", file=sys.stderr)
                return 1
            finally:
                switch.end()
    told = ", ".join(f"{count} {_names([code])}" for code, count in seen.most_common())
    print(f"{arguments.program.name}, seed {arguments.seed}: {told}; none differs", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
