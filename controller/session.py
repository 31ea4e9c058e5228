"""One controller's connection to one device: P4Runtime in names and typed values.

    with Session.connect("127.0.0.1:9559", device_id=0) as session:
        session.load(P4Info.load(info_path), program_path.read_bytes())
        session.insert(entries)

The order is fixed: `connect` becomes the primary controller (P4Runtime specification section 5),
`load` gives the device its program, and only then entries can be written. `use` stands in for
`load` when the device already runs the program.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType

import grpc
from google.rpc import status_pb2
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import entries as entries_module
from controller.entries import Entry
from controller.errors import (
    ConnectError,
    ControllerError,
    NotPrimaryError,
    RequestError,
    WriteError,
)
from controller.p4info import P4Info

# A device on this machine answers in milliseconds; these bounds only end a wait for one that does
# not.
CONNECT_DEADLINE_S = 10.0
REQUEST_DEADLINE_S = 30.0
# Programs and wildcard reads exceed gRPC's default of 4 MiB.
MESSAGE_BYTES_MAX = 64 << 20
# The port IANA gave to P4Runtime.
DEFAULT_ADDRESS = "127.0.0.1:9559"


class Session:
    """A connection on which this controller is the primary one. Closing it gives that up."""

    def __init__(
        self, channel: grpc.Channel, address: str, device_id: int, election_id: int
    ) -> None:
        """Use `Session.connect`; the constructor neither waits nor becomes primary."""
        self.channel = channel
        self.address = address
        self.device_id = device_id
        self.election_id = election_id
        self._stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        self._stream = _Stream(self._stub)
        self._program: P4Info | None = None

    @classmethod
    def connect(
        cls,
        address: str = DEFAULT_ADDRESS,
        *,
        device_id: int = 0,
        election_id: int = 1,
        deadline_s: float = CONNECT_DEADLINE_S,
    ) -> Session:
        """Connects and becomes the primary controller, or says within `deadline_s` why not."""
        channel = open_channel(address, deadline_s)
        session = cls(channel, address, device_id, election_id)
        try:
            session._become_primary(deadline_s)
        except BaseException:
            session.close()
            raise
        return session

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the stream, with it the role of primary, and the connection."""
        self._stream.close()
        self.channel.close()

    # ---- the program -----------------------------------------------------------------------------

    @property
    def program(self) -> P4Info:
        """The index of the program that the device runs."""
        if self._program is None:
            raise ControllerError("no program is loaded: call `load` or `use` first.")
        return self._program

    def load(self, program: P4Info, config: bytes) -> None:
        """Gives the device a program: P4Info and compiled form (BMv2 JSON). Entries are gone."""
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=p4runtime_pb2.Uint128(low=self.election_id),
            action=p4runtime_pb2.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
        )
        request.config.p4info.CopyFrom(program.message)
        request.config.p4_device_config = config
        with _refusals("the device refused the program"):
            self._stub.SetForwardingPipelineConfig(request, timeout=REQUEST_DEADLINE_S)
        self._program = program

    def use(self) -> P4Info:
        """Takes over the program that the device runs already."""
        request = p4runtime_pb2.GetForwardingPipelineConfigRequest(device_id=self.device_id)
        with _refusals("the device does not say what it runs"):
            answer = self._stub.GetForwardingPipelineConfig(request, timeout=REQUEST_DEADLINE_S)
        self._program = P4Info(answer.config.p4info)
        return self._program

    # ---- entries ---------------------------------------------------------------------------------

    def insert(self, entries: Iterable[Entry]) -> None:
        """Adds entries, all in one batch."""
        self._write(p4runtime_pb2.Update.INSERT, entries)

    def modify(self, entries: Iterable[Entry]) -> None:
        """Changes the actions of entries that exist, or default entries."""
        self._write(p4runtime_pb2.Update.MODIFY, entries)

    def delete(self, entries: Iterable[Entry]) -> None:
        """Removes entries; only their match and priority count."""
        self._write(p4runtime_pb2.Update.DELETE, entries)

    def read(self, table: str) -> Iterator[Entry]:
        """The entries of a table, without its default entry; their values are plain integers."""
        entity = p4runtime_pb2.Entity()
        entity.table_entry.table_id = self.program.tables[table].id
        for answer in self._read(entity):
            yield entries_module.from_message(answer.table_entry, self.program)

    def counter(self, name: str, index: int) -> tuple[int, int]:
        """One cell of an indexed counter: packets and bytes."""
        entity = p4runtime_pb2.Entity()
        entity.counter_entry.counter_id = self.program.counters[name].id
        entity.counter_entry.index.index = index
        for answer in self._read(entity):
            data = answer.counter_entry.data
            return data.packet_count, data.byte_count
        raise RequestError(f"the device has no counter {name}[{index}].")

    # ---- underneath ------------------------------------------------------------------------------

    def _become_primary(self, deadline_s: float) -> None:
        request = p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = self.device_id
        request.arbitration.election_id.low = self.election_id
        self._stream.send(request)
        answer = self._stream.arbitration(self.address, deadline_s)
        if answer.status.code != 0:
            raise NotPrimaryError(
                f"another controller with election id {answer.election_id.low} holds the device at "
                f"{self.address}: end it, or connect with a higher election id."
            )

    def _write(self, kind: int, entries: Iterable[Entry]) -> None:
        entries = list(entries)
        request = p4runtime_pb2.WriteRequest(
            device_id=self.device_id, election_id=p4runtime_pb2.Uint128(low=self.election_id)
        )
        for entry in entries:
            update = request.updates.add(type=kind)
            update.entity.table_entry.CopyFrom(entries_module.to_message(entry, self.program))
        try:
            self._stub.Write(request, timeout=REQUEST_DEADLINE_S)
        except grpc.RpcError as error:
            raise WriteError(_write_refusal(error, entries)) from error

    def _read(self, entity: p4runtime_pb2.Entity) -> Iterator[p4runtime_pb2.Entity]:
        request = p4runtime_pb2.ReadRequest(device_id=self.device_id, entities=[entity])
        with _refusals("the device refused a read"):
            for answer in self._stub.Read(request, timeout=REQUEST_DEADLINE_S):
                yield from answer.entities


class _Stream:
    """The StreamChannel: requests go out of one queue, answers are read by one thread."""

    def __init__(self, stub: p4runtime_pb2_grpc.P4RuntimeStub) -> None:
        self._requests: queue.Queue[p4runtime_pb2.StreamMessageRequest | None] = queue.Queue()
        self._arbitrations: queue.Queue[p4runtime_pb2.MasterArbitrationUpdate | grpc.RpcError] = (
            queue.Queue()
        )
        # None in the queue ends the stream.
        self._call = stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_answers, name="stream", daemon=True)
        self._reader.start()

    def send(self, request: p4runtime_pb2.StreamMessageRequest) -> None:
        self._requests.put(request)

    def arbitration(self, address: str, deadline_s: float) -> p4runtime_pb2.MasterArbitrationUpdate:
        """The device's next word on who is primary."""
        try:
            answer = self._arbitrations.get(timeout=deadline_s)
        except queue.Empty:
            raise ConnectError(
                f"the device at {address} did not answer the arbitration within {deadline_s:g} s."
            ) from None
        if isinstance(answer, grpc.RpcError):
            raise ConnectError(f"the device at {address} ended the stream: {answer.details()}.")
        return answer

    def close(self) -> None:
        self._requests.put(None)
        self._call.cancel()
        self._reader.join()

    def _read_answers(self) -> None:
        try:
            for answer in self._call:
                if answer.HasField("arbitration"):
                    self._arbitrations.put(answer.arbitration)
        except grpc.RpcError as error:
            # Also how a cancelled call ends; then nobody waits for the answer any more.
            self._arbitrations.put(error)


def open_channel(address: str, deadline_s: float = CONNECT_DEADLINE_S) -> grpc.Channel:
    """A connection to a device that answers, or an error that names the address."""
    channel = grpc.insecure_channel(
        address,
        options=[
            ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
            ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
            # The device is on this machine or in this lab; a proxy for the outside must not see it.
            ("grpc.enable_http_proxy", 0),
        ],
    )
    try:
        grpc.channel_ready_future(channel).result(timeout=deadline_s)
    except grpc.FutureTimeoutError:
        channel.close()
        raise ConnectError(
            f"nothing answers at {address} within {deadline_s:g} s: is the switch running?"
        ) from None
    return channel


@contextlib.contextmanager
def _refusals(what: str) -> Iterator[None]:
    """Turns a device's refusal into one sentence that begins with `what`."""
    try:
        yield
    except grpc.RpcError as error:
        raise RequestError(f"{what}: {error.details()}.") from error


def _write_refusal(error: grpc.RpcError, entries: list[Entry]) -> str:
    """Which entries of a batch were refused, and why.

    The device sends one p4.v1.Error for each update, in order, inside the status's details; those
    with code 0 were accepted. The primary may also lose its role, and then there are no details.
    """
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    refused = []
    if packed is not None:
        details = status_pb2.Status.FromString(packed).details
        for entry, detail in zip(entries, details, strict=False):
            update = p4runtime_pb2.Error()
            if detail.Unpack(update) and update.canonical_code != 0:
                refused.append(f"{entry}: {update.message}")
    if not refused:
        return f"the device refused the batch: {error.details()}."
    return f"the device refused {len(refused)} of {len(entries)} updates: " + "; ".join(refused)
