"""Everything a session writes besides table entries: members, groups, clones, replicas, registers.

    session.insert([CloneSession(7, ports=(4,)), *entries])

Each is a value in names; `to_entity` makes the message after checking it against P4Info.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from p4.v1 import p4runtime_pb2

from controller import entries
from controller.entries import Call, Entry
from controller.errors import EntryError
from controller.p4info import P4Info
from controller.values import Value, decode, encode


@dataclass(frozen=True)
class Member:
    """An action that entries and groups of an action profile refer to by its id."""

    profile: str
    id: int
    call: Call


@dataclass(frozen=True)
class Group:
    """Members of an action selector, among which a hash picks; each with its weight."""

    profile: str
    id: int
    weights: Mapping[int, int] = field(default_factory=dict)
    # How large the weights together may become; 0: what the selector allows.
    size_max: int = 0


@dataclass(frozen=True)
class CloneSession:
    """Where clones of that session go, whole or cut to a length, and in which class they wait."""

    id: int
    ports: tuple[int, ...]
    class_: int = 0
    # 0: whole.
    length_bytes_max: int = 0


@dataclass(frozen=True)
class MulticastGroup:
    """The ports that get a replica; the position in the tuple is the replica's `egress_rid`."""

    id: int
    ports: tuple[int, ...]


@dataclass(frozen=True)
class Register:
    """One cell of a register; it can only be modified."""

    name: str
    index: int
    value: Value


@dataclass(frozen=True)
class Meter:
    """The rates of one cell of a meter, in its unit (packets or bytes); it can only be modified."""

    name: str
    index: int
    committed_rate: int
    committed_burst: int
    peak_rate: int
    peak_burst: int


Item: TypeAlias = Entry | Member | Group | CloneSession | MulticastGroup | Register | Meter


def to_entity(item: Item, program: P4Info) -> p4runtime_pb2.Entity:
    """The message of anything that can be written."""
    entity = p4runtime_pb2.Entity()
    if isinstance(item, Entry):
        entity.table_entry.CopyFrom(entries.to_message(item, program))
    elif isinstance(item, Member):
        member = entity.action_profile_member
        member.action_profile_id, member.member_id = program.profiles[item.profile].id, item.id
        member.action.CopyFrom(entries.action_message(item.call, program))
    elif isinstance(item, Group):
        group = entity.action_profile_group
        group.action_profile_id, group.group_id = program.profiles[item.profile].id, item.id
        group.max_size = item.size_max
        for member_id, weight in sorted(item.weights.items()):
            group.members.add(member_id=member_id, weight=weight)
    elif isinstance(item, Register):
        register = program.registers[item.name]
        _check_index(item.name, item.index, register.size)
        entity.register_entry.register_id = register.id
        entity.register_entry.index.index = item.index
        what = f"{item.name}[{item.index}]"
        entity.register_entry.data.bitstring = encode(item.value, register.width_bits, what)
    elif isinstance(item, Meter):
        meter = program.meters[item.name]
        _check_index(item.name, item.index, meter.size)
        entity.meter_entry.meter_id = meter.id
        entity.meter_entry.index.index = item.index
        config = entity.meter_entry.config
        config.cir, config.cburst = item.committed_rate, item.committed_burst
        config.pir, config.pburst = item.peak_rate, item.peak_burst
    else:
        _set_replication(entity.packet_replication_engine_entry, item)
    return entity


def register_value(entity: p4runtime_pb2.Entity) -> int:
    """The number in a cell that was read."""
    return decode(entity.register_entry.data.bitstring)


def clone_session(message: p4runtime_pb2.PacketReplicationEngineEntry) -> CloneSession:
    """A clone session that was read."""
    clone = message.clone_session_entry
    ports = tuple(replica.egress_port for replica in clone.replicas)
    return CloneSession(clone.session_id, ports, clone.class_of_service, clone.packet_length_bytes)


def _set_replication(
    message: p4runtime_pb2.PacketReplicationEngineEntry, item: CloneSession | MulticastGroup
) -> None:
    if isinstance(item, CloneSession):
        clone = message.clone_session_entry
        clone.session_id, clone.class_of_service = item.id, item.class_
        clone.packet_length_bytes = item.length_bytes_max
        replicas = clone.replicas
    else:
        message.multicast_group_entry.multicast_group_id = item.id
        replicas = message.multicast_group_entry.replicas
    if item.id <= 0:
        raise EntryError(f"{item} needs an id above 0.")
    for instance, port in enumerate(item.ports):
        replicas.add(egress_port=port, instance=instance)


def _check_index(name: str, index: int, size: int) -> None:
    if not 0 <= index < size:
        raise EntryError(f"{name} has cells 0 to {size - 1}, and no {index}.")
