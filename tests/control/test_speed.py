"""How fast tables are written and read over gRPC; the budgets are those of a 2-core machine."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf import text_format
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller.p4info import P4Info
from tests.control.conftest import DEVICE_ID, Compiled

ENTRY_COUNT = 100_000
BATCH_SIZE = 5_000
# The budgets (50,000 writes a second, 100,000 entries read in a second), times five: a machine
# that is busy with other tests must not fail this one, a switch that became slow must.
WRITE_SPAN_MAX_S = 5 * ENTRY_COUNT / 50_000
READ_SPAN_MAX_S = 5 * 1.0


@pytest.fixture
def channel(switch_address: str) -> Iterator[grpc.Channel]:
    # The client's own limit of 4 MiB for a message is enough: reads come in chunks.
    with grpc.insecure_channel(switch_address) as channel:
        yield channel


def test_batched_writes_and_a_large_read_stay_within_their_budgets(
    channel: grpc.Channel, compiled: Compiled
):
    stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
    election_id = p4runtime_pb2.Uint128(low=1)
    hello = p4runtime_pb2.StreamMessageRequest()
    hello.arbitration.device_id = DEVICE_ID
    hello.arbitration.election_id.CopyFrom(election_id)
    requests: queue.Queue = queue.Queue()
    requests.put(hello)
    # The stream stays open, and this controller primary, until None is put.
    answers = stub.StreamChannel(iter(requests.get, None))
    assert next(answers).arbitration.status.code == 0

    info = text_format.Parse(compiled.p4info.read_text(), p4info_pb2.P4Info())
    load = p4runtime_pb2.SetForwardingPipelineConfigRequest(
        device_id=DEVICE_ID,
        election_id=election_id,
        action=p4runtime_pb2.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
    )
    load.config.p4info.CopyFrom(info)
    load.config.p4_device_config = compiled.json.read_bytes()
    stub.SetForwardingPipelineConfig(load)

    # What is timed is the switch and gRPC: this client's protobuf is pure Python and far slower, so
    # requests are made before and answers are looked into after.
    batches = [
        _batch(P4Info(info), election_id, range(first, first + BATCH_SIZE)).SerializeToString()
        for first in range(0, ENTRY_COUNT, BATCH_SIZE)
    ]
    write = channel.unary_unary("/p4.v1.P4Runtime/Write")
    started_at = time.monotonic()
    for batch in batches:
        write(batch)
    write_span_s = time.monotonic() - started_at

    query = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
    query.entities.add().table_entry.table_id = P4Info(info).tables["lpm_table"].id
    read = channel.unary_stream("/p4.v1.P4Runtime/Read")
    started_at = time.monotonic()
    answers = list(read(query.SerializeToString()))
    read_span_s = time.monotonic() - started_at
    found = sum(len(p4runtime_pb2.ReadResponse.FromString(it).entities) for it in answers)
    requests.put(None)
    print(f"{ENTRY_COUNT / write_span_s:,.0f} writes a second, read in {read_span_s:.2f} s")
    assert found == ENTRY_COUNT
    assert write_span_s < WRITE_SPAN_MAX_S
    assert read_span_s < READ_SPAN_MAX_S


def _batch(info: P4Info, election_id: p4runtime_pb2.Uint128, addresses: range):
    request = p4runtime_pb2.WriteRequest(device_id=DEVICE_ID, election_id=election_id)
    table = info.tables["lpm_table"].id
    action = info.actions["forward"].id
    for address in addresses:
        update = request.updates.add(type=p4runtime_pb2.Update.INSERT)
        entry = update.entity.table_entry
        entry.table_id = table
        match = entry.match.add(field_id=1)
        # Prefixes of 40 of the 48 bits.
        match.lpm.value = (address + 1 << 8).to_bytes(6, "big").lstrip(b"\0")
        match.lpm.prefix_len = 40
        entry.action.action.action_id = action
        entry.action.action.params.add(param_id=1, value=b"\1")
    return request
