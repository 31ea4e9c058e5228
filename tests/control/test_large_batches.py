"""Large batches: every entry is read back, in messages that clients take."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf import text_format
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller.p4info import P4Info
from tests.control.conftest import DEVICE_ID, Compiled

ENTRY_COUNT = 20_000
BATCH_SIZE = 5_000
# What gRPC clients take unless they are told otherwise.
MESSAGE_BYTES_MAX = 4 << 20


@pytest.fixture
def channel(switch_address: str) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(switch_address) as channel:
        yield channel


def test_every_entry_that_was_written_is_read_in_messages_that_clients_take(
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

    # Messages go as bytes: this client's protobuf is pure Python and slow.
    write = channel.unary_unary("/p4.v1.P4Runtime/Write")
    for first in range(0, ENTRY_COUNT, BATCH_SIZE):
        batch = _batch(P4Info(info), election_id, range(first, first + BATCH_SIZE))
        write(batch.SerializeToString())

    query = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
    query.entities.add().table_entry.table_id = P4Info(info).tables["lpm_table"].id
    read = channel.unary_stream("/p4.v1.P4Runtime/Read")
    answers = list(read(query.SerializeToString()))
    requests.put(None)
    assert max(map(len, answers)) < MESSAGE_BYTES_MAX
    keys = {
        entity.table_entry.match[0].lpm.value
        for answer in answers
        for entity in p4runtime_pb2.ReadResponse.FromString(answer).entities
    }
    assert len(keys) == ENTRY_COUNT


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
