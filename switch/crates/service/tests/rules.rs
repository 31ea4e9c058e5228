//! Rules of P4Runtime that few controllers ever meet, each named after what the specification asks.

use crate::support;

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{self, FieldMatchType};
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::table_action::Type as ActionType;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use tonic::Code;
use units::PortId;

use support::{Controller, Ids, Switch, config, entries_program, update};

const VERIFY_AND_SAVE: i32 = 2;
const RECONCILE_AND_COMMIT: i32 = 5;

fn call(action_id: u32, argument: Option<&'static [u8]>) -> p4::Action {
    let params = argument.map(|value| p4::action::Param { param_id: 1, value: value.into() });
    p4::Action { action_id, params: params.into_iter().collect() }
}

fn action(action: p4::Action) -> Option<p4::TableAction> {
    Some(p4::TableAction { r#type: Some(ActionType::Action(action)) })
}

fn default_entry(table_id: u32, action: Option<p4::TableAction>) -> p4::TableEntry {
    p4::TableEntry { table_id, is_default_action: true, action, ..Default::default() }
}

/// The code and message of the one error that a read of one entity ends with.
async fn read_refused(controller: &mut Controller, entity: Entity) -> (Code, String) {
    let status = controller.read(entity).await.unwrap_err();
    let errors = support::errors_of(&status);
    (Code::from_i32(errors[0].canonical_code), errors[0].message.clone())
}

#[tokio::test]
async fn resetting_a_default_entry_resets_what_was_attached_to_it() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let table_id = ids.table("ternary_table");
    let metadata = Bytes::from_static(b"mine");
    let forward = call(ids.action("forward"), Some(b"\x02"));
    let mine = p4::TableEntry { metadata, ..default_entry(table_id, action(forward)) };
    let modify = |entry| vec![update(Type::Modify, Entity::TableEntry(entry))];
    controller.write(modify(mine.clone())).await.unwrap();
    assert_eq!(controller.read_tables(default_entry(table_id, None)).await[0].metadata, "mine");
    controller.write(modify(p4::TableEntry { action: None, ..mine })).await.unwrap();
    let found = controller.read_tables(default_entry(table_id, None)).await;
    assert_eq!(found, [default_entry(table_id, action(call(ids.action("drop"), None)))]);
}

#[tokio::test]
async fn only_the_program_makes_entries_const_and_reads_say_which_are() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let drop = action(call(ids.action("drop"), None));
    let wanted =
        p4::TableEntry { is_const: true, ..default_entry(ids.table("ternary_table"), drop) };
    let (code, message) =
        controller.refused(update(Type::Modify, Entity::TableEntry(wanted))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("is_const is set"), "{message}");
    for (table, is_const) in [("lpm_table", true), ("selector_table", true), ("exact_table", false)]
    {
        let found = controller.read_tables(default_entry(ids.table(table), None)).await;
        assert_eq!(found[0].is_const, is_const, "{table}");
    }
}

#[tokio::test]
async fn the_time_since_the_last_hit_is_known_only_where_the_program_asks_for_it() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let since = Some(p4::table_entry::IdleTimeout::default());
    let query =
        |table_id| p4::TableEntry { table_id, time_since_last_hit: since, ..Default::default() };
    let lpm = Entity::TableEntry(query(ids.table("lpm_table")));
    let (code, message) = read_refused(&mut controller, lpm).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("support_timeout"), "{message}");
    assert_eq!(controller.read_tables(query(ids.table("exact_table"))).await, []);
    // Of all tables: where it is known.
    assert_eq!(controller.read_tables(query(0)).await.len(), 2, "the const entries");
}

/// The switch has ports 1, 2, 3 and 510.
#[tokio::test]
async fn a_choice_watches_a_port_that_exists_or_none() {
    use messages::p4::v1::action_profile_group::member::WatchKind;
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let action_profile_id = info.action_profiles[0].preamble.as_ref().unwrap().id;
    let member = p4::ActionProfileMember {
        action_profile_id,
        member_id: 1,
        action: Some(call(ids.action("drop"), None)),
    };
    controller
        .write(vec![update(Type::Insert, Entity::ActionProfileMember(member))])
        .await
        .unwrap();
    let group = |group_id, port: &'static [u8]| {
        let watch_kind = Some(WatchKind::WatchPort(port.into()));
        let member = p4::action_profile_group::Member { member_id: 1, weight: 1, watch_kind };
        let group = p4::ActionProfileGroup {
            action_profile_id,
            group_id,
            members: vec![member],
            max_size: 4,
        };
        update(Type::Insert, Entity::ActionProfileGroup(group))
    };
    for (port, expected) in [(&b"\x04"[..], "watches port 4"), (b"\x02\x00", "has 9 bits")] {
        let (code, message) = controller.refused(group(1, port)).await;
        assert_eq!(code, Code::InvalidArgument);
        assert!(message.contains(expected), "{message}");
    }
    let given = [&b""[..], b"\x01", b"\x01\xfe"];
    let groups = (1..).zip(given).map(|(id, port)| group(id, port)).collect();
    controller.write(groups).await.unwrap();

    // The same for entries that bring their choices along, in a selector without groups.
    let delete = |id| {
        let mut update = group(id, b"");
        update.r#type = Type::Delete.into();
        update
    };
    controller.write((1..=3).map(delete).collect()).await.unwrap();
    let member = p4::ActionProfileMember { action_profile_id, member_id: 1, action: None };
    controller
        .write(vec![update(Type::Delete, Entity::ActionProfileMember(member))])
        .await
        .unwrap();
    let choice = p4::ActionProfileAction {
        action: Some(call(ids.action("drop"), None)),
        weight: 1,
        watch_kind: Some(p4::action_profile_action::WatchKind::WatchPort(Bytes::from_static(&[9]))),
    };
    let set = p4::ActionProfileActionSet { action_profile_actions: vec![choice] };
    let exact = p4::field_match::Exact { value: Bytes::from_static(b"\x08\x00") };
    let entry = p4::TableEntry {
        table_id: ids.table("selector_table"),
        r#match: vec![p4::FieldMatch {
            field_id: 1,
            field_match_type: Some(p4::field_match::FieldMatchType::Exact(exact)),
        }],
        action: Some(p4::TableAction { r#type: Some(ActionType::ActionProfileActionSet(set)) }),
        ..Default::default()
    };
    let (code, message) = controller.refused(update(Type::Insert, Entity::TableEntry(entry))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("watches port 9"), "{message}");
}

/// The saved program has no header for packet-outs; the one in force has.
#[tokio::test]
async fn packets_go_by_the_program_in_force_while_another_is_saved() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    controller.load().await;
    let (info, json) = support::large_program();
    let saved = support::config(&info, json);
    controller.set_config(VERIFY_AND_SAVE, Some(saved)).await.unwrap();
    let metadata =
        |metadata_id, value: &'static [u8]| p4::PacketMetadata { metadata_id, value: value.into() };
    let packet = p4::PacketOut {
        payload: Bytes::from_static(&[7; 60]),
        metadata: vec![metadata(1, b"\x03"), metadata(2, b"\x00")],
    };
    controller.say(ToSwitch::Packet(packet)).await;
    // Not by a wait that blocks this thread: the message is on its way on it.
    let (port, sent) = loop {
        match switch.sent.try_recv() {
            Ok(sent) => break sent,
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(1)).await,
        }
    };
    assert_eq!((port.0, sent), (3, vec![7; 60]));
}

#[tokio::test]
async fn before_a_program_is_in_force_packets_are_refused_on_the_stream() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    controller.say(ToSwitch::Packet(p4::PacketOut::default())).await;
    let FromSwitch::Error(error) = controller.hear().await.unwrap() else { panic!("an error") };
    assert_eq!(error.canonical_code, Code::FailedPrecondition as i32);
}

/// `other`, which the specification leaves to what it does not know itself.
#[tokio::test]
async fn messages_beyond_the_specification_are_refused_on_the_stream_which_goes_on() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let type_url = "type.googleapis.com/somebodys.Extension".to_owned();
    let other = prost_types::Any { type_url, value: vec![1, 2, 3] };
    controller.say(ToSwitch::Other(other.clone())).await;
    let FromSwitch::Error(error) = controller.hear().await.unwrap() else { panic!("an error") };
    assert_eq!(error.canonical_code, Code::Unimplemented as i32);
    assert!(error.message.contains("beyond P4Runtime's own"), "{}", error.message);
    let about = p4::StreamOtherError { other: Some(other) };
    assert_eq!(error.details, Some(p4::stream_error::Details::Other(about)));
    let standing = controller.bid(Some(2)).await.unwrap();
    assert_eq!(standing.status.unwrap().code, Code::Ok as i32);
}

/// As the specification reads the entire forwarding state: with every kind of entity, ids unset.
#[tokio::test]
async fn all_externs_can_be_read_where_there_are_none_but_not_one_of_them() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    controller.load().await;
    let all = Entity::ExternEntry(p4::ExternEntry::default());
    assert_eq!(controller.read(all).await.unwrap(), []);
    let one = p4::ExternEntry { extern_type_id: 1, ..Default::default() };
    let (code, _) = read_refused(&mut controller, Entity::ExternEntry(one)).await;
    assert_eq!(code, Code::Unimplemented);
}

/// The third of four updates names no table.
#[tokio::test]
async fn a_batch_that_is_taken_back_has_an_error_for_each_update() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let table_id = Ids(&info).table("ternary_table");
    let reset = || update(Type::Modify, Entity::TableEntry(default_entry(table_id, None)));
    let absent = update(Type::Modify, Entity::TableEntry(p4::TableEntry::default()));
    let updates = vec![reset(), reset(), absent, reset()];
    let status = controller.write_with(updates, 1).await.unwrap_err();
    let codes: Vec<_> = support::errors_of(&status).iter().map(|it| it.canonical_code).collect();
    let aborted = Code::Aborted as i32;
    assert_eq!((codes.len(), codes[0], codes[1], codes[3]), (4, aborted, aborted, aborted));
    assert_ne!(codes[2], aborted);
}

/// A weight of 5 in a group that was made for 4.
#[tokio::test]
async fn a_group_that_outgrows_its_own_max_size_is_refused_as_a_full_table_is() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let action_profile_id = info.action_profiles[0].preamble.as_ref().unwrap().id;
    let action = Some(call(ids.action("forward"), Some(b"\x01")));
    let member = p4::ActionProfileMember { action_profile_id, member_id: 1, action };
    let group = |kind, weight| {
        let members =
            vec![p4::action_profile_group::Member { member_id: 1, weight, ..Default::default() }];
        let group = p4::ActionProfileGroup { action_profile_id, group_id: 7, members, max_size: 4 };
        update(kind, Entity::ActionProfileGroup(group))
    };
    let member = update(Type::Insert, Entity::ActionProfileMember(member));
    controller.write(vec![member]).await.unwrap();
    let refused = controller.refused(group(Type::Insert, 5)).await;
    assert_eq!(refused.0, Code::ResourceExhausted, "{}", refused.1);
    controller.write(vec![group(Type::Insert, 4)]).await.unwrap();
    assert_eq!(controller.refused(group(Type::Modify, 5)).await.0, Code::ResourceExhausted);
}

/// An entry of the program with entries: what it matches, its priority, the port it leads to.
fn way(ids: &Ids<'_>, what: u8, priority: i32, port: &'static [u8]) -> p4::TableEntry {
    use p4::field_match::{FieldMatchType, Ternary};
    let value = vec![what].into();
    let ternary = FieldMatchType::Ternary(Ternary { value, mask: Bytes::from_static(b"\xff") });
    p4::TableEntry {
        table_id: ids.table("ways"),
        r#match: vec![p4::FieldMatch { field_id: 1, field_match_type: Some(ternary) }],
        priority,
        action: action(call(ids.action("forward"), Some(port))),
        ..Default::default()
    }
}

/// The entries of the table: key, priority, whether it is const.
async fn ways(controller: &mut Controller, ids: &Ids<'_>) -> Vec<(u8, i32, bool)> {
    use p4::field_match::FieldMatchType;
    let query = p4::TableEntry { table_id: ids.table("ways"), ..Default::default() };
    let found = controller.read_tables(query).await.into_iter().map(|entry| {
        let Some(FieldMatchType::Ternary(key)) = entry.r#match[0].field_match_type.clone() else {
            panic!("{entry:?}");
        };
        (key.value[0], entry.priority, entry.is_const)
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    found
}

/// `entries` without `const`: the specification calls them initial entries. They come with the
/// priorities that the program gives them, and are changed like any other, but for those marked const.
#[tokio::test]
async fn initial_entries_are_changed_like_others_but_for_those_that_are_const() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load_program(entries_program()).await;
    let ids = Ids(&info);
    let begun = [(1, 100, true), (2, 50, false), (3, 40, false)];
    assert_eq!(ways(&mut controller, &ids).await, begun);

    let one = |kind, entry| vec![update(kind, Entity::TableEntry(entry))];
    let changed = way(&ids, 2, 50, b"\x03");
    controller.write(one(Type::Modify, changed)).await.unwrap();
    controller.write(one(Type::Insert, way(&ids, 4, 60, b"\x02"))).await.unwrap();
    controller.write(one(Type::Delete, way(&ids, 3, 40, b"\x02"))).await.unwrap();
    let fixed = way(&ids, 1, 100, b"\x03");
    for kind in [Type::Modify, Type::Delete] {
        let refused = controller.refused(update(kind, Entity::TableEntry(fixed.clone()))).await;
        assert_eq!(refused.0, Code::PermissionDenied, "{}", refused.1);
    }
    for (what, port) in [(1, 1), (2, 3), (4, 2)] {
        switch.receive(2, &[what, 0]);
        assert_eq!(switch.next_sent().0.0, port, "what {what}");
    }
    let now = [(1, 100, true), (2, 50, false), (4, 60, false)];
    assert_eq!(ways(&mut controller, &ids).await, now);

    // The same program again: what was written stays, what was removed stays away.
    let (info, json) = entries_program();
    let again = Some(config(&info, json));
    controller.set_config(RECONCILE_AND_COMMIT, again).await.unwrap();
    assert_eq!(ways(&mut controller, &ids).await, now);
    switch.receive(2, &[2, 0]);
    assert_eq!(switch.next_sent().0.0, 3, "what a controller changed is as it left it");
}

/// Fields of a value set match as the program says: here one with a mask, one by its first bits.
#[tokio::test]
async fn members_of_a_value_set_may_have_masks_and_prefixes() {
    use p4::field_match::{FieldMatchType, Lpm, Ternary};
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load_program(entries_program()).await;
    let value_set_id = info.value_sets[0].preamble.as_ref().unwrap().id;
    let field = |field_id, kind| p4::FieldMatch { field_id, field_match_type: Some(kind) };
    let member = |what: [&'static [u8]; 2], rest: Option<(&'static [u8], i32)>| {
        let ternary = Ternary { value: what[0].into(), mask: what[1].into() };
        let what = field(1, FieldMatchType::Ternary(ternary));
        let lpm = |(value, prefix_len): (&'static [u8], i32)| {
            field(2, FieldMatchType::Lpm(Lpm { value: value.into(), prefix_len }))
        };
        p4::ValueSetMember { r#match: [what].into_iter().chain(rest.map(lpm)).collect() }
    };
    let set = |members| Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id, members });
    // Odd numbers before 0x8?, and 0x40 before anything.
    let odd = member([b"\x01", b"\x01"], Some((b"\x80", 4)));
    let two = set(vec![odd, member([b"\x40", b"\xff"], None)]);
    controller.write(vec![update(Type::Modify, two.clone())]).await.unwrap();
    assert_eq!(controller.read(set(Vec::new())).await.unwrap(), [two]);
    // Port 3 is where marked packets go; what is not marked and known leaves by 1.
    for (frame, port) in
        [([7, 0x8f], 3), ([0x40, 0], 3), ([1, 0x85], 3), ([1, 0x7f], 1), ([1, 0x90], 1)]
    {
        switch.receive(2, &frame);
        assert_eq!(switch.next_sent().0.0, port, "{frame:02x?}");
    }
}

fn matching(field_id: u32, given: FieldMatchType) -> p4::FieldMatch {
    p4::FieldMatch { field_id, field_match_type: Some(given) }
}

fn exactly(value: &'static [u8]) -> Vec<p4::FieldMatch> {
    vec![matching(1, FieldMatchType::Exact(field_match::Exact { value: value.into() }))]
}

#[tokio::test]
async fn a_longer_byte_string_is_the_same_value_and_is_read_back_short() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let entry = |key, port| p4::TableEntry {
        table_id: ids.table("exact_table"),
        r#match: exactly(key),
        action: action(call(ids.action("forward_and_meter"), Some(port))),
        ..Default::default()
    };
    let write = |kind, entry| update(kind, Entity::TableEntry(entry));
    controller.write(vec![write(Type::Insert, entry(b"\0\0\x63", b"\0\x02"))]).await.unwrap();
    let all = p4::TableEntry { table_id: ids.table("exact_table"), ..Default::default() };
    assert_eq!(controller.read_tables(all.clone()).await, [entry(b"\x63", b"\x02")]);
    let twice = controller.refused(write(Type::Insert, entry(b"\x63", b"\x02"))).await;
    assert_eq!(twice.0, Code::AlreadyExists);
    controller.write(vec![write(Type::Delete, entry(b"\0\x63", b"\x02"))]).await.unwrap();
    assert_eq!(controller.read_tables(all).await, []);
    for (key, port) in [
        (&b""[..], &b"\x02"[..]),
        (b"\x01\0\0\0\0\0\0", b"\x02"),
        (b"\x63", b""),
        (b"\x63", b"\x02\0"),
    ] {
        let (code, message) = controller.refused(write(Type::Insert, entry(key, port))).await;
        assert_eq!(code, Code::InvalidArgument, "{key:?} {port:?}: {message}");
    }
}

#[tokio::test]
async fn a_field_left_out_matches_everything_and_stays_left_out() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let optional = field_match::Optional { value: Bytes::from_static(b"\x08\x06") };
    let entry = p4::TableEntry {
        table_id: ids.table("ternary_table"),
        r#match: vec![matching(2, FieldMatchType::Optional(optional))],
        action: action(call(ids.action("forward"), Some(b"\x03"))),
        priority: 1,
        ..Default::default()
    };
    controller.write(vec![update(Type::Insert, Entity::TableEntry(entry.clone()))]).await.unwrap();
    let all = p4::TableEntry { table_id: ids.table("ternary_table"), ..Default::default() };
    assert_eq!(controller.read_tables(all).await, [entry]);
    // By any port, to any address.
    for port in [1, 2] {
        switch.receive(port, b"\0\0\0\0\0\x0a\0\0\0\0\0\x01\x08\x06payload");
        assert_eq!(switch.next_sent().0, PortId(3));
    }
}

#[tokio::test]
async fn a_meter_of_two_rates_takes_no_excess_burst() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let meter_id = info.meters[0].preamble.as_ref().unwrap().id;
    let set = |eburst| {
        let config = p4::MeterConfig { cir: 5, cburst: 6, pir: 7, pburst: 8, eburst };
        let index = Some(p4::Index { index: 0 });
        let entry = p4::MeterEntry { meter_id, index, config: Some(config), ..Default::default() };
        update(Type::Modify, Entity::MeterEntry(entry))
    };
    controller.write(vec![set(0)]).await.unwrap();
    let (code, message) = controller.refused(set(9)).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("eburst is set"), "{message}");
}

#[tokio::test]
async fn backup_replicas_are_refused_rather_than_lost() {
    use p4::packet_replication_engine_entry::Type as Kind;
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    controller.load().await;
    let mut guarded = support::clone_session(5, &[1]);
    let Some(Entity::PacketReplicationEngineEntry(entry)) =
        guarded.entity.as_mut().and_then(|entity| entity.entity.as_mut())
    else {
        unreachable!("clone sessions are of the replication engine")
    };
    let Some(Kind::CloneSessionEntry(session)) = entry.r#type.as_mut() else { unreachable!() };
    let backup = p4::BackupReplica { port: Bytes::from_static(b"\x02"), instance: 1 };
    session.replicas[0].backup_replicas.push(backup);
    let (code, message) = controller.refused(guarded).await;
    assert_eq!(code, Code::Unimplemented);
    assert!(message.contains("backup_replicas"), "{message}");
}
