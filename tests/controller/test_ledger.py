"""The entities written again after a restart: only those in force, and referenced ones first."""

from p4.v1 import p4runtime_pb2 as p4

from controller.ledger import Ledger

INSERT, MODIFY, DELETE = p4.Update.INSERT, p4.Update.MODIFY, p4.Update.DELETE


def entry(match, **more):
    field = p4.FieldMatch(field_id=1, exact=p4.FieldMatch.Exact(value=bytes([match])))
    return p4.Entity(table_entry=p4.TableEntry(table_id=1, match=[field], **more))


def member(number):
    return p4.Entity(
        action_profile_member=p4.ActionProfileMember(action_profile_id=1, member_id=number)
    )


def group(number, *members):
    entity = p4.Entity(
        action_profile_group=p4.ActionProfileGroup(action_profile_id=1, group_id=number)
    )
    for each in members:
        entity.action_profile_group.members.add(member_id=each)
    return entity


def default(action):
    entity = p4.Entity(table_entry=p4.TableEntry(table_id=1, is_default_action=True))
    entity.table_entry.action.action.action_id = action
    return entity


def meter_of(match):
    return p4.Entity(direct_meter_entry=p4.DirectMeterEntry(table_entry=entry(match).table_entry))


def kinds(updates):
    return [update.entity.WhichOneof("entity") for update in updates]


def ledger(*updates):
    made = Ledger()
    made.note(p4.Update(type=kind, entity=entity) for kind, entity in updates)
    return made


def test_what_others_name_comes_first_whatever_was_changed_last():
    written = ledger(
        (INSERT, entry(1)),
        (INSERT, meter_of(1)),
        (INSERT, member(1)),
        (INSERT, group(1, 1)),
        (MODIFY, entry(1)),
        (INSERT, member(2)),
        (MODIFY, group(1, 2)),
    )
    assert kinds(written.updates()) == [
        "action_profile_member",
        "action_profile_member",
        "action_profile_group",
        "table_entry",
        "direct_meter_entry",
    ]


def test_with_an_entry_goes_its_meter():
    # An entry is removed by match and priority; what else it held does not matter.
    changed = entry(1, idle_timeout_ns=5)
    written = ledger((INSERT, changed), (MODIFY, meter_of(1)), (DELETE, entry(1)))
    assert written.updates() == []


def test_what_a_device_has_is_modified_and_the_rest_is_inserted():
    written = ledger((INSERT, entry(1)), (INSERT, entry(2)), (MODIFY, default(7)))
    assert [update.type for update in written.updates([entry(2)])] == [INSERT, MODIFY, MODIFY]
    assert not written.lacks([entry(1), entry(2), default(7)])
    assert written.lacks([entry(1), default(7)])
    assert written.lacks([entry(1), entry(2), default(8)])


def test_one_query_finds_all_entries_of_a_table():
    written = ledger((INSERT, entry(1)), (INSERT, entry(2)), (INSERT, member(3)))
    found = [query.WhichOneof("entity") for query in written.queries()]
    assert found == ["table_entry", "action_profile_member"]
    # Registers are there in any case, and packets change them.
    register = p4.Entity(register_entry=p4.RegisterEntry(register_id=4))
    assert ledger((MODIFY, register)).queries() == []
