"""Members, groups, clones, replicas, registers and meters in names, as P4Runtime messages."""

import pytest
from google.protobuf import text_format
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2

from controller.entities import (
    CloneSession,
    Group,
    Member,
    Meter,
    MulticastGroup,
    Register,
    clone_session,
    register_value,
    to_entity,
)
from controller.entries import Call
from controller.errors import EntryError, NameNotFoundError, ValueRangeError
from controller.ledger import Ledger
from controller.p4info import P4Info

TEXT = """
actions {
  preamble { id: 0x01000001 name: "ingress.forward" alias: "forward" }
  params { id: 1 name: "port" bitwidth: 9 }
}
action_profiles {
  preamble { id: 0x11000001 name: "ingress.selector" alias: "selector" }
  with_selector: true
  size: 16
}
registers {
  preamble { id: 0x16000001 name: "ingress.last_seen" alias: "last_seen" }
  type_spec { bitstring { bit { bitwidth: 48 } } }
  size: 4
}
meters {
  preamble { id: 0x14000001 name: "ingress.police" alias: "police" }
  spec { unit: BYTES }
  size: 4
}
"""
INFO = P4Info(text_format.Parse(TEXT, p4info_pb2.P4Info()))


def test_a_member_and_a_group_are_named_by_their_profile():
    member = to_entity(Member("selector", 5, Call("forward", port=2)), INFO).action_profile_member
    assert (member.action_profile_id, member.member_id) == (0x11000001, 5)
    assert member.action.params[0].value == b"\x02"
    group = to_entity(Group("selector", 7, {5: 1, 6: 3}, 8), INFO).action_profile_group
    assert [(each.member_id, each.weight) for each in group.members] == [(5, 1), (6, 3)]
    assert (group.group_id, group.max_size) == (7, 8)


def test_clone_sessions_are_read_back_as_they_were_written():
    session = CloneSession(7, (4, 5), class_=2, length_bytes_max=128)
    entity = to_entity(session, INFO)
    assert clone_session(entity.packet_replication_engine_entry) == session


def test_the_replicas_of_a_multicast_group_are_numbered():
    entry = to_entity(MulticastGroup(3, (1, 2)), INFO).packet_replication_engine_entry
    replicas = entry.multicast_group_entry.replicas
    assert [(each.egress_port, each.instance) for each in replicas] == [(1, 0), (2, 1)]


def test_registers_and_meters_are_cells_by_name_and_index():
    register = to_entity(Register("last_seen", 3, 300), INFO)
    assert register.register_entry.index.index == 3
    assert register_value(register) == 300
    config = to_entity(Meter("police", 0, 1000, 1500, 2000, 3000), INFO).meter_entry.config
    assert (config.cir, config.cburst, config.pir, config.pburst) == (1000, 1500, 2000, 3000)


@pytest.mark.parametrize(
    ("item", "error", "complaint"),
    [
        (Register("last_seen", 4, 0), EntryError, "last_seen has cells 0 to 3, and no 4"),
        (Register("last_seen", 0, 1 << 48), ValueRangeError, r"last_seen\[0\] is 48 bits wide"),
        (Register("lastseen", 0, 0), NameNotFoundError, "did you mean 'ingress.last_seen'"),
        (Meter("police", -1, 1, 1, 1, 1), EntryError, "police has cells 0 to 3, and no -1"),
        (Member("selector", 1, Call("forward")), EntryError, "needs a value for 'port'"),
        (Group("chooser", 1), NameNotFoundError, "no action profile is named 'chooser'"),
        (CloneSession(0, (1,)), EntryError, "needs an id above 0"),
    ],
)
def test_what_does_not_fit_the_program_is_refused(item, error, complaint):
    with pytest.raises(error, match=complaint):
        to_entity(item, INFO)


def updates(kind, *items):
    number = p4runtime_pb2.Update.Type.Value(kind)
    return [p4runtime_pb2.Update(type=number, entity=to_entity(item, INFO)) for item in items]


def test_a_ledger_keeps_what_is_there_in_the_end():
    ledger = Ledger()
    member = Member("selector", 5, Call("forward", port=2))
    ledger.note(updates("INSERT", member, CloneSession(7, (4,)), Group("selector", 1, {5: 1})))
    ledger.note(updates("MODIFY", Member("selector", 5, Call("forward", port=3))))
    ledger.note(updates("MODIFY", Register("last_seen", 0, 1), Register("last_seen", 0, 2)))
    ledger.note(updates("DELETE", CloneSession(7, ())))
    written = ledger.updates()
    kinds = [update.entity.WhichOneof("entity") for update in written]
    assert kinds == ["action_profile_member", "action_profile_group", "register_entry"]
    # The member as it was changed, the register as it was set last; a register is only modified.
    assert written[0].entity.action_profile_member.action.params[0].value == b"\x03"
    assert register_value(written[2].entity) == 2
    assert [update.Type.Name(update.type) for update in written] == ["INSERT", "INSERT", "MODIFY"]
    ledger.clear()
    assert ledger.updates() == []
