"""Large batches: every entry is read back, every failure told, in messages that clients take."""

from __future__ import annotations

import grpc
import pytest
from google.rpc import code_pb2
from p4.v1 import p4runtime_pb2

from tests.control.batches import METADATA_BYTES, errors_of, primary
from tests.control.conftest import DEVICE_ID, Compiled

ENTRY_COUNT = 20_000
BATCH_SIZE = 5_000
# The default limit of gRPC clients.
MESSAGE_BYTES_MAX = 4 << 20


def test_every_entry_that_was_written_is_read_in_messages_that_clients_take(
    switch_address: str, compiled: Compiled
):
    with primary(switch_address, compiled) as controller:
        for first in range(0, ENTRY_COUNT, BATCH_SIZE):
            addresses = range(first, first + BATCH_SIZE)
            controller.write(controller.batch(p4runtime_pb2.Update.INSERT, addresses))

        query = p4runtime_pb2.ReadRequest(device_id=DEVICE_ID)
        query.entities.add().table_entry.table_id = controller.info.tables["lpm_table"].id
        read = controller.channel.unary_stream("/p4.v1.P4Runtime/Read")
        answers = list(read(query.SerializeToString()))
    assert max(map(len, answers)) < MESSAGE_BYTES_MAX
    keys = {
        entity.table_entry.match[0].lpm.value
        for answer in answers
        for entity in p4runtime_pb2.ReadResponse.FromString(answer).entities
    }
    assert len(keys) == ENTRY_COUNT


@pytest.mark.parametrize("size", [1, 100, 150, 1_000, ENTRY_COUNT])
def test_a_failed_batch_of_any_length_has_a_status_that_a_client_takes_unless_told_otherwise(
    switch_address: str, compiled: Compiled, size: int
):
    with primary(switch_address, compiled) as controller:
        # Entries that are not there.
        batch = controller.batch(p4runtime_pb2.Update.DELETE, range(size))
        # gRPC refuses headers near its limit by lot, so once says little.
        for _ in range(5):
            with pytest.raises(grpc.RpcError) as failed:
                controller.write(batch)
            assert failed.value.code() == grpc.StatusCode.UNKNOWN
            assert f"{size} of {size} failed; the first is number 0: " in failed.value.details()
            errors = errors_of(failed.value)
            assert {error.canonical_code for error in errors} == {code_pb2.NOT_FOUND}
            is_whole = len(errors) == size
            assert is_whole == ("takes 8192 bytes of metadata" not in failed.value.details())
            assert is_whole == (size <= 100)
        # On the same connection.
        controller.write(controller.batch(p4runtime_pb2.Update.INSERT, range(10)))


def test_a_client_that_takes_as_much_as_the_specification_advises_gets_every_error(
    switch_address: str, compiled: Compiled
):
    option = ("grpc.max_metadata_size", METADATA_BYTES + 100 * BATCH_SIZE)
    with primary(switch_address, compiled, option) as controller:
        controller.write(controller.batch(p4runtime_pb2.Update.INSERT, range(BATCH_SIZE // 2)))
        with pytest.raises(grpc.RpcError) as failed:
            controller.write(controller.batch(p4runtime_pb2.Update.INSERT, range(BATCH_SIZE)))
    assert failed.value.code() == grpc.StatusCode.UNKNOWN
    half = BATCH_SIZE // 2
    codes = [error.canonical_code for error in errors_of(failed.value)]
    assert codes == half * [code_pb2.ALREADY_EXISTS] + half * [code_pb2.OK]
