"""One controller's connection to one device: P4Runtime in names and typed values.

    with Session.connect("s1") as session:
        session.load(P4Info.load(info_path), program_path.read_bytes())
        session.insert(entries)

The order is fixed: `connect` becomes the primary controller (P4Runtime specification section 5),
`load` gives the device its program, and only then entries can be written. `use` stands in for
`load` when the device already runs the program.

A session outlives its connection. When the device goes away, the session comes back by itself:

1. the stream ends; from now on requests wait, at most `REQUEST_DEADLINE_S`, and the request that
   was cut off is made again once the device is back,
2. a new stream becomes primary again,
3. if the device no longer runs our program, or lacks entries, it is given program and entries
   again, then whatever `on_restored` was told to do (queues, for one),
4. when all of that was accepted, requests go on; what the device refuses ends the session.

Where another controller takes over with a higher election id, writes are refused until it is gone;
then this session is primary again. `keeper` has the states.

What counters, registers and meters had counted is lost with the device; what was written into them
by this session is written again.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeAlias, TypeVar

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import device, entities, entries, ledger, routers
from controller.addresses import parted
from controller.connection import (
    CONNECT_DEADLINE_S,
    REQUEST_DEADLINE_S,
    accepted,
    is_early,
    is_passing,
    open_channel,
    refusals,
    write_refusal,
)
from controller.entities import CloneSession, Item
from controller.entries import Entry
from controller.errors import (
    ConnectError,
    ControllerError,
    EntryError,
    RequestError,
    WriteError,
)
from controller.keeper import Keeper, State
from controller.ledger import Ledger, identity
from controller.p4info import P4Info
from controller.stream import Inbox, Primary, Standing, bid, halves
from controller.values import Value, decode, encode

T = TypeVar("T")

# A change of an item, in the caller's words and as the device reads it.
_Change: TypeAlias = tuple[p4runtime_pb2.Update.Type, Item, p4runtime_pb2.Entity]


@dataclass(frozen=True)
class Packet:
    """A frame from or to the device, with the fields of its packet header by name."""

    payload: bytes
    metadata: Mapping[str, Value]


class Session:
    """A connection on which this controller is the primary one. Closing it gives that up."""

    def __init__(self, channel: grpc.Channel, address: str, device_id: int) -> None:
        """Use `Session.connect`; the constructor neither waits nor becomes primary."""
        self.channel = channel
        self.address = address
        self.device_id = device_id
        self._stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        self._inbox = Inbox()
        self._program: P4Info | None = None
        self._config: p4runtime_pb2.ForwardingPipelineConfig | None = None
        self._ledger = Ledger()
        # Whether a restoration has begun that has not come to its end.
        self._is_restoring = False
        self._when_restored: list[Callable[[], None]] = []
        # Held while something is written and noted, so that no restoration in between misses it.
        self._writing = threading.RLock()
        self._keeper = Keeper(self._stub, self._inbox, address, device_id, self._restore)

    @classmethod
    def connect(
        cls,
        router: str = "",
        *,
        device_id: int | None = None,
        election_id: int | None = None,
        deadline_s: float = CONNECT_DEADLINE_S,
    ) -> Session:
        """Connects and becomes the primary controller, or says within `deadline_s` why not.

        A router is said by its name or its address; without either it is the one that `vitrine top`
        would show.

        Without `device_id` it is the number of the device that answers. Without `election_id` it is
        one above the highest that the device has seen: whoever is primary is so again when this
        session ends.
        """
        address = routers.address_of(router)
        channel = open_channel(address, deadline_s)
        try:
            number = device.find_id(channel, address) if device_id is None else device_id
        except BaseException:
            channel.close()
            raise
        session = cls(channel, address, number)

        def free_id() -> int:
            return device.free_election_id(channel, address, number)

        try:
            session._keeper.become_primary(deadline_s, election_id, free_id)
        except BaseException:
            session.close()
            raise
        return session

    @classmethod
    def observe(cls, router: str = "", *, deadline_s: float = CONNECT_DEADLINE_S) -> Session:
        """Connects to look only: queues and what happens in them, which anybody may read."""
        address = routers.address_of(router)
        return cls(open_channel(address, deadline_s), address, parted(address)[1] or 0)

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
        self._keeper.close()
        self.channel.close()

    @property
    def election_id(self) -> int:
        """The id this session is primary with; it grows where another controller came between."""
        return self._keeper.election_id

    @property
    def state(self) -> State:
        """The session's present abilities; `keeper` says how each state is entered."""
        return self._keeper.state

    @property
    def is_ready(self) -> bool:
        """Whether the device is there and has what this session wrote."""
        return self.state is State.READY

    def primary(self) -> Primary:
        """Which controller may write now, as the device said last."""
        stream = self._keeper.stream
        word = stream.word(CONNECT_DEADLINE_S) if stream else None
        if word is None:
            why = stream.why_silent() if stream else "this session only observes"
            raise ConnectError(f"the device at {self.address} does not say who is primary: {why}.")
        return Primary(word.highest_id, word.standing is Standing.PRIMARY)

    # ---- the program -----------------------------------------------------------------------------

    @property
    def program(self) -> P4Info:
        """The index of the program that the device runs."""
        if self._program is None:
            raise ControllerError("no program is loaded: call `load` or `use` first.")
        return self._program

    def load(self, program: P4Info, config: bytes) -> None:
        """Gives the device a program: P4Info and compiled form (BMv2 JSON). Entries are gone."""
        message = _configuration(program, config)

        def put() -> None:
            with self._writing, refusals("the device refused the program"):
                self._push(message)
                self._program, self._config = program, message
                self._ledger.clear()

        self.patiently(put)

    def swap(
        self, program: P4Info, config: bytes, insert: Iterable[Item], modify: Iterable[Item] = ()
    ) -> None:
        """Replaces the program while packets flow: no packet meets it before its entries are there.

        The program is saved at the device, filled there, and put in force whole. What the device
        refuses changes nothing for the packets.
        """
        message = _configuration(program, config)
        updates = [
            p4runtime_pb2.Update(type=kind, entity=entities.to_entity(item, program))
            for kind, items in (
                (p4runtime_pb2.Update.INSERT, insert),
                (p4runtime_pb2.Update.MODIFY, modify),
            )
            for item in items
        ]
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest

        def put() -> None:
            with self._writing:
                with refusals("the device refused the program"):
                    self._push(message, request.VERIFY_AND_SAVE)
                try:
                    self._write_back(updates)
                    with refusals("the device does not put the program in force"):
                        self._push(None, request.COMMIT)
                except ControllerError as error:
                    if self._config is not None and not is_passing(error):
                        # Writes would go on reaching the program that is saved, so it is replaced.
                        self._push(self._config)
                        self._write_back(self._ledger.updates())
                    raise
                self._program, self._config = program, message
                self._ledger.clear()
                self._ledger.note(updates)

        self.patiently(put)

    def use(self) -> P4Info:
        """Takes over the program that the device runs already, with the entries it has.

        After a restart of the device such a session restores the program and its own entries.
        """
        all_of_it = p4runtime_pb2.GetForwardingPipelineConfigRequest.ALL
        self._config = self.patiently(lambda: self._running(all_of_it))
        self._program = P4Info(self._config.p4info)
        return self._program

    def on_restored(self, action: Callable[[], None], *, first: bool = False) -> None:
        """Calls `action` whenever a restarted device has got its program and entries again.

        `first` is for what others need: it is done before all that was to be done until now.
        """
        self._when_restored.insert(0 if first else len(self._when_restored), action)

    def patiently(self, request: Callable[[], T]) -> T:
        """The answer to a request; one that the device's end has cut off is made a second time.

        So is one that a step of the machine's clock has ended. It waits for a device that is coming
        back. `request` is a call that may be made twice, of this session or of another service on
        its channel.
        """
        for is_last in (False, True):
            self._keeper.await_ready(REQUEST_DEADLINE_S)
            stream, begun_s = self._keeper.stream, time.monotonic()
            try:
                return request()
            except (grpc.RpcError, ControllerError) as error:
                if not is_last and is_early(error, time.monotonic() - begun_s):
                    continue
                if not self._keeper.has_lost(stream, error):
                    raise
                if is_last:
                    raise ConnectError(
                        f"the device at {self.address} went away during a request, came back, and "
                        f"went away again when the request was repeated ({error})"
                    ) from error
        raise AssertionError("the last time either answers or raises")

    # ---- entries ---------------------------------------------------------------------------------

    def insert(self, items: Iterable[Item]) -> None:
        """Adds entries, members, groups, clone sessions, ..., all in one batch."""
        self._write_all(p4runtime_pb2.Update.INSERT, items)

    def modify(self, items: Iterable[Item]) -> None:
        """Changes what exists: actions of entries, default entries, registers, meters, ..."""
        self._write_all(p4runtime_pb2.Update.MODIFY, items)

    def delete(self, items: Iterable[Item]) -> None:
        """Removes entries and the like; of an entry only match and priority count."""
        self._write_all(p4runtime_pb2.Update.DELETE, items)

    def replace(self, present: Iterable[Item], wanted: Iterable[Item]) -> None:
        """Turns what is present into what is wanted, in one batch.

        What is in both is left alone: packets go on finding it, and its counters go on.
        """
        before = {identity(entity): (item, entity) for item, entity in self._entities(present)}
        after = {identity(entity): (item, entity) for item, entity in self._entities(wanted)}
        changes = [
            (p4runtime_pb2.Update.DELETE, item, entity)
            for key, (item, entity) in before.items()
            if key not in after
        ]
        for key, (item, entity) in after.items():
            if key not in before:
                changes.append((p4runtime_pb2.Update.INSERT, item, entity))
            elif before[key][1] != entity:
                changes.append((p4runtime_pb2.Update.MODIFY, item, entity))
        if changes:
            self._write(changes)

    def read(self, table: str) -> Iterator[Entry]:
        """The entries of a table, without its default entry; their values are plain integers."""
        entity = p4runtime_pb2.Entity()
        entity.table_entry.table_id = self.program.tables[table].id
        for answer in self._read(entity):
            yield entries.from_message(answer.table_entry, self.program)

    def read_traffic(self, table: str) -> Iterator[tuple[Entry, int, int]]:
        """The entries of a table with a direct counter: entry, packets and bytes."""
        entity = p4runtime_pb2.Entity()
        entity.table_entry.table_id = self.program.tables[table].id
        entity.table_entry.counter_data.SetInParent()
        for answer in self._read(entity):
            entry = entries.from_message(answer.table_entry, self.program)
            data = answer.table_entry.counter_data
            yield entry, data.packet_count, data.byte_count

    def counter(self, name: str, index: int) -> tuple[int, int]:
        """One cell of an indexed counter: packets and bytes."""
        entity = p4runtime_pb2.Entity()
        entity.counter_entry.counter_id = self.program.counters[name].id
        entity.counter_entry.index.index = index
        for answer in self._read(entity):
            data = answer.counter_entry.data
            return data.packet_count, data.byte_count
        raise RequestError(f"the device has no counter {name}[{index}].")

    def register(self, name: str, index: int) -> int:
        """One cell of a register."""
        entity = p4runtime_pb2.Entity()
        entity.register_entry.register_id = self.program.registers[name].id
        entity.register_entry.index.index = index
        for answer in self._read(entity):
            return entities.register_value(answer)
        raise RequestError(f"the device has no register {name}[{index}].")

    def register_cells(self, name: str) -> list[int]:
        """All cells of a register."""
        entity = p4runtime_pb2.Entity()
        entity.register_entry.register_id = self.program.registers[name].id
        return [entities.register_value(answer) for answer in self._read(entity)]

    def clone_sessions(self) -> Iterator[CloneSession]:
        """The clone sessions that the device has."""
        entity = p4runtime_pb2.Entity()
        entity.packet_replication_engine_entry.clone_session_entry.SetInParent()
        for answer in self._read(entity):
            yield entities.clone_session(answer.packet_replication_engine_entry)

    # ---- packets ---------------------------------------------------------------------------------

    def send(self, packet: Packet) -> None:
        """Hands a frame to the device's program, as a packet-out."""
        header = self.program.packet_headers["packet_out"]
        given = dict(packet.metadata)
        request = p4runtime_pb2.StreamMessageRequest()
        request.packet.payload = packet.payload
        for field in header.fields:
            # Padding has no meaning, so it may be left out.
            value = given.pop(field.name, 0 if field.name.startswith("padding") else None)
            if value is None:
                raise EntryError(f"a packet-out needs a value for {field.name!r}.")
            data = encode(value, field.width_bits, f"{field.name} of a packet-out")
            request.packet.metadata.add(metadata_id=field.id, value=data)
        if given:
            names = ", ".join(field.name for field in header.fields)
            raise EntryError(f"a packet-out has no {next(iter(given))!r}; it has: {names}.")
        self._keeper.await_ready(REQUEST_DEADLINE_S)
        self._send(request)

    def receive(self, deadline_s: float) -> Packet | None:
        """The next packet-in, or None if none comes in time."""
        try:
            message = self._inbox.packets.get(timeout=deadline_s)
        except queue.Empty:
            return None
        fields = {
            field.id: field.name
            for header in self.program.packet_headers
            if header.name == "packet_in"
            for field in header.fields
        }
        # Between two programs a packet may have fields that only the other one had.
        metadata = {
            fields[each.metadata_id]: decode(each.value)
            for each in message.metadata
            if each.metadata_id in fields
        }
        return Packet(message.payload, metadata)

    def settle(self) -> None:
        """Waits until the device has what was sent to it, and all that it has said is here."""
        stream = self._keeper.stream
        again = bid(self.device_id, self.election_id)
        if stream is None or not stream.settle(again, REQUEST_DEADLINE_S):
            why = stream.why_silent() if stream else "this session only observes"
            raise ConnectError(f"the device at {self.address} has not answered: {why}.")

    def receive_digest(self, deadline_s: float) -> p4runtime_pb2.DigestList | None:
        """The next list of digests, which is acknowledged here, or None if none comes in time."""
        try:
            digest = self._inbox.digests.get(timeout=deadline_s)
        except queue.Empty:
            return None
        request = p4runtime_pb2.StreamMessageRequest()
        request.digest_ack.digest_id, request.digest_ack.list_id = digest.digest_id, digest.list_id
        self._send(request)
        return digest

    # ---- underneath ------------------------------------------------------------------------------

    def _send(self, request: p4runtime_pb2.StreamMessageRequest) -> None:
        if self._keeper.stream is None:
            raise ControllerError("this session only observes: use `Session.connect`.")
        self._keeper.stream.send(request)

    def _restore(self) -> None:
        """Gives the device what it lacks; raises if it does not accept all of that.

        It may be called again after it was interrupted anywhere: each time the device is asked what
        it has.
        """
        with self._writing:
            if self._config is None:
                return
            if not self._runs(self._config):
                self._is_restoring = True
                self._push(self._config)
            present = self._present()
            if self._ledger.lacks(present) or self._is_restoring:
                self._is_restoring = True
                self._write_back(self._ledger.updates(present))
                for action in self._when_restored:
                    action()
                self._is_restoring = False

    def _runs(self, config: p4runtime_pb2.ForwardingPipelineConfig) -> bool:
        """Whether the device runs our program: by its cookie, or all of it where it has none."""
        request = p4runtime_pb2.GetForwardingPipelineConfigRequest
        cookie = config.cookie.cookie
        try:
            found = self._running(request.COOKIE_ONLY if cookie else request.ALL)
        except RequestError as error:
            if is_passing(error):
                raise
            # A device without a program refuses to show one.
            return False
        if cookie:
            return found.cookie.cookie == cookie
        return found.p4_device_config == config.p4_device_config and found.p4info == config.p4info

    def _present(self) -> list[p4runtime_pb2.Entity]:
        """The device's entities, of the kinds that this session has written."""
        return self._found(self._ledger.queries())

    def _found(self, queries: list[p4runtime_pb2.Entity]) -> list[p4runtime_pb2.Entity]:
        if not queries:
            return []
        request = p4runtime_pb2.ReadRequest(device_id=self.device_id, entities=queries)
        with refusals("the device refused a read"):
            answers = self._stub.Read(request, timeout=REQUEST_DEADLINE_S)
            return [entity for answer in answers for entity in answer.entities]

    def _write_back(self, updates: list[p4runtime_pb2.Update]) -> None:
        if not updates:
            return
        try:
            self._stub.Write(self._request(updates), timeout=REQUEST_DEADLINE_S)
        except grpc.RpcError as error:
            names = [update.entity.WhichOneof("entity") for update in updates]
            raise WriteError(write_refusal(error, names)) from None

    def _push(
        self,
        config: p4runtime_pb2.ForwardingPipelineConfig | None,
        action: p4runtime_pb2.SetForwardingPipelineConfigRequest.Action = (
            p4runtime_pb2.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT
        ),
    ) -> None:
        request = p4runtime_pb2.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=p4runtime_pb2.Uint128(**halves(self.election_id)),
            action=action,
            config=config,
        )
        self._stub.SetForwardingPipelineConfig(request, timeout=REQUEST_DEADLINE_S)

    def _running(
        self, what: p4runtime_pb2.GetForwardingPipelineConfigRequest.ResponseType
    ) -> p4runtime_pb2.ForwardingPipelineConfig:
        request = p4runtime_pb2.GetForwardingPipelineConfigRequest(
            device_id=self.device_id, response_type=what
        )
        with refusals("the device does not say what it runs"):
            answer = self._stub.GetForwardingPipelineConfig(request, timeout=REQUEST_DEADLINE_S)
        return answer.config

    def _request(self, updates: Iterable[p4runtime_pb2.Update]) -> p4runtime_pb2.WriteRequest:
        return p4runtime_pb2.WriteRequest(
            device_id=self.device_id,
            election_id=p4runtime_pb2.Uint128(**halves(self.election_id)),
            updates=updates,
        )

    def _entities(self, items: Iterable[Item]) -> Iterator[tuple[Item, p4runtime_pb2.Entity]]:
        return ((item, entities.to_entity(item, self.program)) for item in items)

    def _write_all(self, kind: p4runtime_pb2.Update.Type, items: Iterable[Item]) -> None:
        self._write([(kind, item, entity) for item, entity in self._entities(items)])

    def _write(self, changes: Sequence[_Change]) -> None:
        was_cut_off = False

        def put() -> None:
            nonlocal was_cut_off
            with self._writing:
                # Nobody knows how much of a batch that was cut off the device has carried out.
                todo = self._to_repeat(changes) if was_cut_off else changes
                was_cut_off = True
                self._write_once(todo)

        self.patiently(put)

    def _to_repeat(self, changes: Sequence[_Change]) -> list[_Change]:
        """The changes that the device has not made; together they have the effect of all of
        them."""
        found = self._found(ledger.queries(entity for _, _, entity in changes))
        present = {identity(entity) for entity in found}
        todo = []
        for kind, item, entity in changes:
            update = p4runtime_pb2.Update(type=kind, entity=entity)
            again = ledger.to_repeat(update, present)
            if again is None:
                self._ledger.note([update])
            else:
                todo.append((again, item, entity))
        return todo

    def _write_once(self, changes: Sequence[_Change]) -> None:
        items = [item for _, item, _ in changes]
        updates = [p4runtime_pb2.Update(type=kind, entity=entity) for kind, _, entity in changes]
        if not updates:
            return
        try:
            self._stub.Write(self._request(updates), timeout=REQUEST_DEADLINE_S)
        except grpc.RpcError as error:
            # CONTINUE_ON_ERROR: what was not refused is in force.
            self._ledger.note(accepted(error, updates))
            if error.code() is grpc.StatusCode.PERMISSION_DENIED:
                raise self._keeper.not_primary() from None
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise ConnectError(
                    f"the device at {self.address} did not answer within {REQUEST_DEADLINE_S:g} s: "
                    "it may carry the batch out or not; read what is there."
                ) from error
            raise WriteError(write_refusal(error, items)) from None
        self._ledger.note(updates)

    def _read(self, entity: p4runtime_pb2.Entity) -> Iterator[p4runtime_pb2.Entity]:
        yield from self.patiently(lambda: self._found([entity]))


def _configuration(program: P4Info, config: bytes) -> p4runtime_pb2.ForwardingPipelineConfig:
    message = p4runtime_pb2.ForwardingPipelineConfig(p4_device_config=config)
    message.p4info.CopyFrom(program.message)
    # By the cookie a session knows its program again when it comes back to a device.
    digest = hashlib.sha256(program.message.SerializeToString(deterministic=True) + config)
    message.cookie.cookie = int.from_bytes(digest.digest()[:8], "big")
    return message
