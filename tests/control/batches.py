"""A primary controller that writes large batches, on a channel of the test's own choice."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator
from dataclasses import dataclass

import grpc
from google.protobuf import text_format
from google.rpc import status_pb2
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller.p4info import P4Info
from tests.control.conftest import DEVICE_ID, Compiled

# The default limit of a client for an answer's metadata.
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
    with (
        grpc.secure_channel(address, credentials, options=options)
        if credentials
        else grpc.insecure_channel(address, options=options)
    ) as channel:
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


def errors_of(failure: grpc.RpcError) -> list[p4runtime_pb2.Error]:
    """A failed batch's error for each of its updates."""
    packed = dict(failure.trailing_metadata())["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(packed)
    errors = [p4runtime_pb2.Error() for _ in status.details]
    assert all(detail.Unpack(error) for detail, error in zip(status.details, errors, strict=True))
    return errors
