"""Large batches: every entry is read back, every failure told, in messages that clients take."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf import text_format
from google.rpc import code_pb2, status_pb2
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller.p4info import P4Info
from tests.control.conftest import DEVICE_ID, Compiled

ENTRY_COUNT = 20_000
BATCH_SIZE = 5_000
# What gRPC clients take unless they are told otherwise.
MESSAGE_BYTES_MAX = 4 << 20


# What a client that is told nothing takes of an answer's metadata.
METADATA_BYTES = 8192


@dataclass
class Primary:
    """A controller on a channel of its own, primary while its stream is open."""

    channel: grpc.Channel
    info: P4Info
    election_id: p4runtime_pb2.Uint128

    def write(self, request: p4runtime_pb2.WriteRequest) -> None:
        # As bytes: this client's protobuf is pure Python and slow.
        write = self.channel.unary_unary("/p4.v1.P4Runtime/Write")
        write(request.SerializeToString())

    def batch(self, kind: int, addresses: range) -> p4runtime_pb2.WriteRequest:
        """A change of one entry for each address."""
        request = p4runtime_pb2.WriteRequest(device_id=DEVICE_ID, election_id=self.election_id)
        table = self.info.tables["lpm_table"].id
        action = self.info.actions["forward"].id
        for address in addresses:
            entry = request.updates.add(type=kind).entity.table_entry
            entry.table_id = table
            match = entry.match.add(field_id=1)
            # Prefixes of 40 of the 48 bits.
            match.lpm.value = (address + 1 << 8).to_bytes(6, "big").lstrip(b"\0")
            match.lpm.prefix_len = 40
            entry.action.action.action_id = action
            entry.action.action.params.add(param_id=1, value=b"\1")
        return request


@contextlib.contextmanager
def primary(
    address: str,
    compiled: Compiled,
    *options: tuple[str, int],
    credentials: grpc.ChannelCredentials | None = None,
) -> Iterator[Primary]:
    """The primary controller of the loaded program, on a channel with such options."""
    credentials = credentials or grpc.experimental.insecure_channel_credentials()
    with grpc.secure_channel(address, credentials, options=options) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        election_id = p4runtime_pb2.Uint128(low=1)
        hello = p4runtime_pb2.StreamMessageRequest()
        hello.arbitration.device_id = DEVICE_ID
        hello.arbitration.election_id.CopyFrom(election_id)
        requests: queue.Queue = queue.Queue()
        requests.put(hello)
        # The stream stays open until None is put.
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
        try:
            yield Primary(channel, P4Info(info), election_id)
        finally:
            requests.put(None)


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


def errors_of(failure: grpc.RpcError) -> list[p4runtime_pb2.Error]:
    """What a failed batch says of each of its updates."""
    packed = dict(failure.trailing_metadata())["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(packed)
    errors = [p4runtime_pb2.Error() for _ in status.details]
    assert all(detail.Unpack(error) for detail, error in zip(status.details, errors, strict=True))
    return errors
