//! The rules of P4Runtime, over a real connection to a whole switch in this process.

#![allow(deprecated, reason = "the older metadata field must be read back too")]

use crate::support;

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{self, FieldMatchType};
use messages::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::table_action::Type as ActionType;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use tonic::Code;
use units::PortId;

use support::{
    CPU_PORT, DEVICE_ID, Ids, Switch, config, errors_of, id_of, program, tcp_address, update,
};

const VERIFY: i32 = 1;
const VERIFY_AND_SAVE: i32 = 2;
const VERIFY_AND_COMMIT: i32 = 3;
const COMMIT: i32 = 4;
const RECONCILE_AND_COMMIT: i32 = 5;

fn b(bytes: &'static [u8]) -> Bytes {
    Bytes::from_static(bytes)
}

fn table(kind: Type, entry: &p4::TableEntry) -> p4::Update {
    update(kind, Entity::TableEntry(entry.clone()))
}

fn call(action_id: u32, args: &[&'static [u8]]) -> p4::Action {
    let params =
        (1..).zip(args).map(|(param_id, value)| p4::action::Param { param_id, value: b(value) });
    p4::Action { action_id, params: params.collect() }
}

fn action(action_id: u32, args: &[&'static [u8]]) -> Option<p4::TableAction> {
    Some(p4::TableAction { r#type: Some(ActionType::Action(call(action_id, args))) })
}

fn matching(field_id: u32, given: FieldMatchType) -> p4::FieldMatch {
    p4::FieldMatch { field_id, field_match_type: Some(given) }
}

fn exact(field_id: u32, value: &'static [u8]) -> p4::FieldMatch {
    matching(field_id, FieldMatchType::Exact(field_match::Exact { value: b(value) }))
}

/// An entry of the exact table: this MAC address goes out of port 2.
fn exact_entry(ids: &Ids<'_>, mac: &'static [u8]) -> p4::TableEntry {
    p4::TableEntry {
        table_id: ids.table("exact_table"),
        r#match: vec![exact(1, mac)],
        action: action(ids.action("forward_and_meter"), &[b"\x02"]),
        ..Default::default()
    }
}

fn lpm_entry(ids: &Ids<'_>, prefix: &'static [u8], prefix_len: i32) -> p4::TableEntry {
    let lpm = FieldMatchType::Lpm(field_match::Lpm { value: b(prefix), prefix_len });
    p4::TableEntry {
        table_id: ids.table("lpm_table"),
        r#match: vec![matching(1, lpm)],
        action: action(ids.action("forward"), &[b"\x03"]),
        ..Default::default()
    }
}

#[tokio::test]
async fn primary_and_backup_are_told_what_they_are_and_the_backup_may_not_write() {
    let switch = Switch::start();
    let mut first = switch.controller(1).await;
    let mut second = switch.stream("").await;
    let standing = second.bid(Some(0)).await.unwrap();
    assert_eq!(standing.status.unwrap().code, Code::AlreadyExists as i32);
    assert_eq!(standing.election_id.unwrap().low, 1, "the highest the switch has seen");
    let status = second.write(Vec::new()).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);

    // The second takes over; the first hears of it.
    let standing = second.bid(Some(2)).await.unwrap();
    assert_eq!(standing.status.unwrap().code, Code::Ok as i32);
    let FromSwitch::Arbitration(told) = first.hear().await.unwrap() else { panic!("arbitration") };
    assert_eq!(told.status.unwrap().code, Code::AlreadyExists as i32);
}

#[tokio::test]
async fn a_controller_that_reconnects_with_its_election_id_is_primary_again() {
    let switch = Switch::start();
    let first = switch.controller(1).await;
    let mut backup = switch.stream("").await;
    backup.bid(None).await.unwrap();
    drop(first);
    let FromSwitch::Arbitration(told) = backup.hear().await.unwrap() else { panic!("arbitration") };
    assert_eq!(told.status.unwrap().code, Code::NotFound as i32, "nobody is primary");
    switch.controller(1).await;
}

#[tokio::test]
async fn a_wrong_device_or_an_election_id_in_use_ends_the_stream() {
    let switch = Switch::start();
    let _first = switch.controller(1).await;
    let mut twin = switch.stream("").await;
    assert_eq!(twin.bid(Some(1)).await.unwrap_err().code(), Code::InvalidArgument);
    let mut stranger = switch.stream("").await;
    let update = p4::MasterArbitrationUpdate { device_id: DEVICE_ID + 1, ..Default::default() };
    stranger.say(ToSwitch::Arbitration(update)).await;
    assert_eq!(stranger.hear().await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn requests_are_checked_in_the_order_of_the_specification() {
    let switch = Switch::start();
    let mut client = switch.client().await;
    let write = |device_id| p4::WriteRequest { device_id, ..Default::default() };
    assert_eq!(client.write(write(9)).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(client.write(write(DEVICE_ID)).await.unwrap_err().code(), Code::PermissionDenied);
    let mut controller = switch.controller(1).await;
    let status = controller.write(Vec::new()).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "no program is loaded");
    let read = p4::ReadRequest { device_id: DEVICE_ID, ..Default::default() };
    assert_eq!(client.read(read).await.unwrap_err().code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_configuration_is_read_back_as_it_was_sent() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let (info, json) = program();
    let sent = config(&info, json);
    controller.set_config(VERIFY, Some(sent.clone())).await.unwrap();
    let get = |kind: ResponseType| p4::GetForwardingPipelineConfigRequest {
        device_id: DEVICE_ID,
        response_type: kind.into(),
    };
    let mut client = switch.client().await;
    let answer = client.get_forwarding_pipeline_config(get(ResponseType::All)).await.unwrap();
    assert_eq!(answer.into_inner().config, None, "VERIFY changes nothing");
    controller.set_config(VERIFY_AND_COMMIT, Some(sent.clone())).await.unwrap();
    let answer = client.get_forwarding_pipeline_config(get(ResponseType::All)).await.unwrap();
    assert_eq!(answer.into_inner().config, Some(sent));
}

#[tokio::test]
async fn what_cannot_be_loaded_is_refused_with_its_place() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let (info, _) = program();
    let garbage = config(&info, b(b"{\"header_types\": 7}"));
    let status = controller.set_config(VERIFY_AND_COMMIT, Some(garbage)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("/header_types"), "{}", status.message());
    let status = controller.set_config(COMMIT, None).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound, "nothing is saved");
}

#[tokio::test]
async fn writes_to_a_saved_program_take_effect_with_commit() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let entry = exact_entry(&ids, b"\x0a");
    controller.write(vec![table(Type::Insert, &entry)]).await.unwrap();

    let (info, json) = program();
    controller.set_config(VERIFY_AND_SAVE, Some(config(&info, json))).await.unwrap();
    let other = exact_entry(&ids, b"\x0b");
    controller.write(vec![table(Type::Insert, &other)]).await.unwrap();
    let all = p4::TableEntry { table_id: ids.table("exact_table"), ..Default::default() };
    assert_eq!(controller.read_tables(all.clone()).await, std::slice::from_ref(&other));
    controller.set_config(COMMIT, None).await.unwrap();
    assert_eq!(controller.read_tables(all).await, [other]);
}

#[tokio::test]
async fn reconciling_keeps_the_forwarding_state() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let entries = [exact_entry(&ids, b"\x0a"), exact_entry(&ids, b"\x0b")];
    let updates = entries.iter().map(|entry| table(Type::Insert, entry)).collect();
    controller.write(updates).await.unwrap();
    let (info, json) = program();
    controller.set_config(RECONCILE_AND_COMMIT, Some(config(&info, json))).await.unwrap();
    let all = p4::TableEntry { table_id: ids.table("exact_table"), ..Default::default() };
    assert_eq!(controller.read_tables(all).await, entries);
}

#[tokio::test]
async fn an_entry_of_every_match_kind_is_read_back_as_it_was_written() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let ternary = FieldMatchType::Ternary(field_match::Ternary {
        value: b(b"\x01\x00"),
        mask: b(b"\xff\x00"),
    });
    let optional = FieldMatchType::Optional(field_match::Optional { value: b(b"\x08\x00") });
    let range = FieldMatchType::Range(field_match::Range { low: b(b"\x01"), high: b(b"\x03") });
    let entries = [
        p4::TableEntry {
            metadata: b(b"mine"),
            controller_metadata: 7,
            ..exact_entry(&ids, b"\x0a")
        },
        lpm_entry(&ids, b"\x0a\x00\x00\x00\x00\x00", 8),
        p4::TableEntry {
            table_id: ids.table("ternary_table"),
            r#match: vec![matching(1, ternary), matching(2, optional), matching(3, range)],
            action: action(ids.action("drop"), &[]),
            priority: 10,
            ..Default::default()
        },
    ];
    let updates = entries.iter().map(|entry| table(Type::Insert, entry)).collect();
    controller.write(updates).await.unwrap();
    for entry in &entries {
        let query = p4::TableEntry { action: None, metadata: Bytes::new(), ..entry.clone() };
        assert_eq!(controller.read_tables(query).await, std::slice::from_ref(entry));
    }
    let const_entries = 2;
    let everything = controller.read_tables(p4::TableEntry::default()).await;
    assert_eq!(everything.len(), entries.len() + const_entries);
}

#[tokio::test]
async fn each_broken_rule_of_table_entries_has_its_code() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let good = exact_entry(&ids, b"\x0a");
    controller.write(vec![table(Type::Insert, &good)]).await.unwrap();
    let default = p4::TableEntry {
        table_id: ids.table("lpm_table"),
        is_default_action: true,
        action: action(ids.action("forward"), &[b"\x01"]),
        ..Default::default()
    };
    let constant = p4::TableEntry {
        table_id: ids.table("const_table"),
        r#match: vec![exact(1, b"\x08\x06")],
        action: action(ids.action("forward"), &[b"\x01"]),
        ..Default::default()
    };
    let new = || exact_entry(&ids, b"\x0b");
    let unknown_table = p4::TableEntry { table_id: 1, ..new() };
    let no_key = p4::TableEntry { r#match: Vec::new(), ..new() };
    let prioritised = p4::TableEntry { priority: 1, ..new() };
    let foreign = p4::TableEntry { action: action(ids.action("forward"), &[b"\x01"]), ..new() };
    let no_action = p4::TableEntry { action: None, ..new() };
    let wide =
        p4::TableEntry { action: action(ids.action("forward_and_meter"), &[b"\x02\x00"]), ..new() };
    let no_arg = p4::TableEntry { action: action(ids.action("forward_and_meter"), &[]), ..new() };
    let default_only = p4::TableEntry { action: action(ids.action("NoAction"), &[]), ..new() };
    let is_const = p4::TableEntry { is_const: true, ..new() };
    let meters = p4::TableEntry { meter_counter_data: Some(Default::default()), ..new() };
    let cases = [
        ("inserted twice", table(Type::Insert, &good), Code::AlreadyExists),
        ("modified, absent", table(Type::Modify, &new()), Code::NotFound),
        ("deleted, absent", table(Type::Delete, &new()), Code::NotFound),
        ("no type", table(Type::Unspecified, &new()), Code::InvalidArgument),
        ("unknown table", table(Type::Insert, &unknown_table), Code::InvalidArgument),
        ("exact field missing", table(Type::Insert, &no_key), Code::InvalidArgument),
        ("priority not wanted", table(Type::Insert, &prioritised), Code::InvalidArgument),
        ("not the table's action", table(Type::Insert, &foreign), Code::InvalidArgument),
        ("no action", table(Type::Insert, &no_action), Code::InvalidArgument),
        ("port of 10 bits", table(Type::Insert, &wide), Code::InvalidArgument),
        ("no argument", table(Type::Insert, &no_arg), Code::InvalidArgument),
        ("default-only action", table(Type::Insert, &default_only), Code::PermissionDenied),
        ("is_const", table(Type::Insert, &is_const), Code::InvalidArgument),
        ("counters per colour", table(Type::Insert, &meters), Code::Unimplemented),
        ("const default", table(Type::Modify, &default), Code::PermissionDenied),
        ("default inserted", table(Type::Insert, &default), Code::InvalidArgument),
        ("const entries", table(Type::Insert, &constant), Code::PermissionDenied),
    ];
    for (name, update, code) in cases {
        let (found, message) = controller.refused(update).await;
        assert_eq!(found, code, "{name}: {message}");
        assert!(message.len() > 20, "{name}: says what to do: {message}");
    }
}

#[tokio::test]
async fn a_full_table_and_a_missing_priority_are_refused() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let entry = |priority| p4::TableEntry {
        table_id: ids.table("ternary_table"),
        action: action(ids.action("drop"), &[]),
        priority,
        ..Default::default()
    };
    assert_eq!(controller.refused(table(Type::Insert, &entry(0))).await.0, Code::InvalidArgument);
    // The table declares size 8; the same key with other priorities makes other entries.
    let updates = (1..=8).map(|priority| table(Type::Insert, &entry(priority))).collect();
    controller.write(updates).await.unwrap();
    assert_eq!(controller.refused(table(Type::Insert, &entry(9))).await.0, Code::ResourceExhausted);
    let one = p4::TableEntry { priority: 5, action: None, ..entry(5) };
    assert_eq!(controller.read_tables(one).await, [entry(5)]);
}

#[tokio::test]
async fn the_default_entry_is_changed_and_reset() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let default = |action| p4::TableEntry {
        table_id: ids.table("ternary_table"),
        is_default_action: true,
        action,
        ..Default::default()
    };
    let drop = default(action(ids.action("drop"), &[]));
    assert_eq!(controller.read_tables(default(None)).await, std::slice::from_ref(&drop));
    let forward = default(action(ids.action("forward"), &[b"\x02"]));
    controller.write(vec![table(Type::Modify, &forward)]).await.unwrap();
    assert_eq!(controller.read_tables(default(None)).await, [forward]);
    controller.write(vec![table(Type::Modify, &default(None))]).await.unwrap();
    assert_eq!(controller.read_tables(default(None)).await, [drop]);
}

#[tokio::test]
async fn a_batch_has_one_error_per_update_and_carries_out_the_others() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let good = exact_entry(&ids, b"\x0a");
    let bad = p4::TableEntry { table_id: 1, ..good.clone() };
    let batch = || vec![table(Type::Insert, &good), table(Type::Insert, &bad)];
    let status = controller.write(batch()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unknown);
    let codes: Vec<_> = errors_of(&status).iter().map(|error| error.canonical_code).collect();
    assert_eq!(codes, [Code::Ok as i32, Code::InvalidArgument as i32]);
    let all = p4::TableEntry { table_id: ids.table("exact_table"), ..Default::default() };
    assert_eq!(controller.read_tables(all).await, [good]);
}

#[tokio::test]
async fn a_batch_that_is_all_or_nothing_leaves_nothing_behind() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let kept = exact_entry(&ids, b"\x0a");
    controller.write(vec![table(Type::Insert, &kept)]).await.unwrap();
    let changed = p4::TableEntry { action: action(ids.action("drop"), &[]), ..kept.clone() };
    for atomicity in [1, 2] {
        let batch = vec![
            table(Type::Insert, &exact_entry(&ids, b"\x0b")),
            table(Type::Modify, &changed),
            table(Type::Delete, &kept),
            table(Type::Delete, &exact_entry(&ids, b"\x0c")),
        ];
        let status = controller.write_with(batch, atomicity).await.unwrap_err();
        let codes: Vec<_> = errors_of(&status).iter().map(|error| error.canonical_code).collect();
        let aborted = Code::Aborted as i32;
        assert_eq!(codes, [aborted, aborted, aborted, Code::NotFound as i32]);
        let all = p4::TableEntry { table_id: ids.table("exact_table"), ..Default::default() };
        assert_eq!(controller.read_tables(all).await, std::slice::from_ref(&kept));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn packets_go_to_the_controller_and_come_from_it_with_their_metadata() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let to_controller = p4::TableEntry {
        action: action(ids.action("to_controller"), &[]),
        ..exact_entry(&ids, b"\x0a")
    };
    controller.write(vec![table(Type::Insert, &to_controller)]).await.unwrap();
    let frame = b"\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x01\x12\x34payload";
    switch.receive(2, frame);
    let FromSwitch::Packet(packet) = controller.hear().await.unwrap() else { panic!("packet-in") };
    assert_eq!(packet.payload, &frame[..]);
    let port = packet.metadata.iter().find(|it| it.metadata_id == 1).unwrap();
    assert_eq!(port.value, b(b"\x02"));

    let metadata = |id, value| p4::PacketMetadata { metadata_id: id, value };
    let out = p4::PacketOut {
        payload: Bytes::from_static(frame),
        metadata: vec![metadata(1, b(b"\x03")), metadata(2, b(b"\x00"))],
    };
    controller.say(ToSwitch::Packet(out.clone())).await;
    let (port, sent) = switch.next_sent();
    assert_eq!((port, sent.as_slice()), (PortId(3), &frame[..]));

    // An error in a packet-out is reported on the stream, and the stream goes on.
    controller.say(ToSwitch::Packet(p4::PacketOut { metadata: Vec::new(), ..out })).await;
    let FromSwitch::Error(error) = controller.hear().await.unwrap() else { panic!("an error") };
    assert_eq!(error.canonical_code, Code::InvalidArgument as i32);
    assert_ne!(CPU_PORT, port);
}

#[tokio::test]
async fn counters_meters_and_registers_are_written_and_read() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let counter_id =
        id_of(info.counters.iter().filter_map(|it| it.preamble.as_ref()), "port_counter");
    let meter_id = id_of(info.meters.iter().filter_map(|it| it.preamble.as_ref()), "port_meter");
    let register_id = id_of(info.registers.iter().filter_map(|it| it.preamble.as_ref()), "seen");
    let counter =
        |index, data| p4::CounterEntry { counter_id, index: Some(p4::Index { index }), data };
    let value = p4::CounterData { byte_count: 1000, packet_count: 10 };
    let modify = |entity| update(Type::Modify, entity);
    let five = Entity::CounterEntry(counter(5, Some(value)));
    controller.write(vec![modify(five.clone())]).await.unwrap();
    assert_eq!(controller.read(Entity::CounterEntry(counter(5, None))).await.unwrap(), [five]);
    let all = Entity::CounterEntry(p4::CounterEntry { counter_id, ..Default::default() });
    assert_eq!(controller.read(all).await.unwrap().len(), 16);
    let beyond = modify(Entity::CounterEntry(counter(16, Some(value))));
    assert_eq!(controller.refused(beyond).await.0, Code::OutOfRange);
    let negative = modify(Entity::CounterEntry(counter(-1, Some(value))));
    assert_eq!(controller.refused(negative).await.0, Code::InvalidArgument);
    let inserted = update(Type::Insert, Entity::CounterEntry(counter(1, Some(value))));
    assert_eq!(controller.refused(inserted).await.0, Code::InvalidArgument);

    let rates = p4::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 };
    let meter = Entity::MeterEntry(p4::MeterEntry {
        meter_id,
        index: Some(p4::Index { index: 2 }),
        config: Some(rates),
        counter_data: None,
    });
    controller.write(vec![modify(meter.clone())]).await.unwrap();
    assert_eq!(controller.read(meter.clone()).await.unwrap(), [meter]);

    let data = p4::P4Data { data: Some(p4::p4_data::Data::Bitstring(b(b"\x12\x34"))) };
    let register = |index: Option<i64>, data| {
        let index = index.map(|index| p4::Index { index });
        Entity::RegisterEntry(p4::RegisterEntry { register_id, index, data })
    };
    let one = register(Some(31), Some(data));
    controller.write(vec![modify(one.clone())]).await.unwrap();
    let cells = controller.read(register(None, None)).await.unwrap();
    assert_eq!((cells.len(), &cells[31]), (32, &one));
}

#[tokio::test]
async fn a_packet_counts_in_the_direct_counter_of_the_entry_it_hits() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let entry = exact_entry(&ids, b"\x0a");
    controller.write(vec![table(Type::Insert, &entry)]).await.unwrap();
    let frame = b"\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x01\x12\x34payload";
    switch.receive(1, frame);
    let (port, _) = switch.next_sent();
    assert_eq!(port, PortId(2));
    let query = p4::TableEntry { counter_data: Some(Default::default()), ..entry.clone() };
    let found = controller.read_tables(p4::TableEntry { action: None, ..query }).await;
    let counted = found[0].counter_data.unwrap();
    // 14 bytes of Ethernet header and 7 of payload.
    assert_eq!((counted.packet_count, counted.byte_count), (1, 21));
    let direct = Entity::DirectCounterEntry(p4::DirectCounterEntry {
        table_entry: Some(p4::TableEntry { action: None, ..entry.clone() }),
        data: Some(p4::CounterData::default()),
    });
    controller.write(vec![update(Type::Modify, direct.clone())]).await.unwrap();
    assert_eq!(controller.read(direct.clone()).await.unwrap(), [direct]);
}

/// The default entry of the exact table forwards what no entry takes to port 2.
#[tokio::test]
async fn the_default_entry_counts_misses_and_has_a_meter_until_it_is_reset() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let rates = p4::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, ..Default::default() };
    let table_id = ids.table("exact_table");
    let default = p4::TableEntry { table_id, is_default_action: true, ..Default::default() };
    let forwarding = p4::TableEntry {
        action: action(ids.action("forward_and_meter"), &[b"\x02"]),
        counter_data: Some(p4::CounterData { byte_count: 1_000, packet_count: 10 }),
        meter_config: Some(rates),
        ..default.clone()
    };
    controller.write(vec![table(Type::Modify, &forwarding)]).await.unwrap();
    let frame = b"\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x01\x12\x34payload";
    switch.receive(1, frame);
    let (port, _) = switch.next_sent();
    assert_eq!(port, PortId(2));
    let query = p4::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..default.clone()
    };
    let found = controller.read_tables(query.clone()).await;
    // 14 bytes of Ethernet header and 7 of payload.
    let counted = Some(p4::CounterData { byte_count: 1_021, packet_count: 11 });
    assert_eq!(found, [p4::TableEntry { counter_data: counted, ..forwarding }]);

    let direct = |data| {
        let table_entry = Some(default.clone());
        Entity::DirectCounterEntry(p4::DirectCounterEntry { table_entry, data })
    };
    assert_eq!(controller.read(direct(None)).await.unwrap(), [direct(counted)]);
    let written = direct(Some(p4::CounterData { byte_count: 5, packet_count: 1 }));
    controller.write(vec![update(Type::Modify, written.clone())]).await.unwrap();
    assert_eq!(controller.read(direct(None)).await.unwrap(), [written]);
    let meter = |config| {
        let table_entry = Some(default.clone());
        Entity::DirectMeterEntry(p4::DirectMeterEntry { table_entry, config, counter_data: None })
    };
    assert_eq!(controller.read(meter(None)).await.unwrap(), [meter(Some(rates))]);

    // Without an action: back to what the program says, and the meter with it.
    controller.write(vec![table(Type::Modify, &default)]).await.unwrap();
    assert_eq!(controller.read(meter(None)).await.unwrap(), [meter(None)]);
    let found = controller.read_tables(query).await;
    assert_eq!(found[0].action, action(ids.action("NoAction"), &[]));
}

#[tokio::test]
async fn a_one_shot_entry_comes_back_as_one_and_does_not_mix_with_members() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let profile_id = info.action_profiles[0].preamble.as_ref().unwrap().id;
    let choice = |port, weight| p4::ActionProfileAction {
        action: Some(call(ids.action("forward"), &[port])),
        weight,
        watch_kind: None,
    };
    let set = p4::ActionProfileActionSet {
        action_profile_actions: vec![choice(b"\x01", 1), choice(b"\x02", 3)],
    };
    let entry = p4::TableEntry {
        table_id: ids.table("selector_table"),
        r#match: vec![exact(1, b"\x12\x34")],
        action: Some(p4::TableAction { r#type: Some(ActionType::ActionProfileActionSet(set)) }),
        ..Default::default()
    };
    controller.write(vec![table(Type::Insert, &entry)]).await.unwrap();
    let query = p4::TableEntry { action: None, ..entry.clone() };
    assert_eq!(controller.read_tables(query).await, std::slice::from_ref(&entry));
    let member = Entity::ActionProfileMember(p4::ActionProfileMember {
        action_profile_id: profile_id,
        member_id: 1,
        action: Some(call(ids.action("forward"), &[b"\x01"])),
    });
    let insert = update(Type::Insert, member.clone());
    assert_eq!(controller.refused(insert.clone()).await.0, Code::InvalidArgument);
    controller.write(vec![table(Type::Delete, &entry)]).await.unwrap();
    controller.write(vec![insert]).await.unwrap();
    let group = Entity::ActionProfileGroup(p4::ActionProfileGroup {
        action_profile_id: profile_id,
        group_id: 7,
        members: vec![p4::action_profile_group::Member {
            member_id: 1,
            weight: 2,
            watch_kind: None,
        }],
        max_size: i32::from(info.action_profiles[0].max_group_size > 0) * 4,
    });
    controller.write(vec![update(Type::Insert, group.clone())]).await.unwrap();
    assert_eq!(controller.read(group.clone()).await.unwrap(), [group]);
    let in_use = update(Type::Delete, member.clone());
    assert_eq!(controller.refused(in_use).await.0, Code::FailedPrecondition);
    assert_eq!(controller.read(member.clone()).await.unwrap(), [member]);
    assert_eq!(controller.refused(table(Type::Insert, &entry)).await.0, Code::InvalidArgument);
}

/// Sixteen frames with different sources, of a type that the selector hashes to port 1 or 2: the
/// ports they leave by.
fn ports_of_sixteen_flows(switch: &Switch) -> Vec<u16> {
    let frame = |source| [&[0; 11][..], &[source, 0x12, 0x34], &[0; 46]].concat();
    (0..16).for_each(|source| switch.receive(3, &frame(source)));
    (0..16).map(|_| switch.next_sent().0.0).collect()
}

/// The choice of port 1 watches port 1; the one of port 2 watches port 2 in the older field.
#[tokio::test]
async fn a_choice_whose_watched_port_is_down_is_not_taken_but_still_read_back() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    use messages::p4::v1::action_profile_action::WatchKind;
    let choice = |port, watch_kind| p4::ActionProfileAction {
        action: Some(call(ids.action("forward"), &[port])),
        weight: 1,
        watch_kind: Some(watch_kind),
    };
    let set = p4::ActionProfileActionSet {
        action_profile_actions: vec![
            choice(b"\x01", WatchKind::WatchPort(b(b"\x01"))),
            choice(b"\x02", WatchKind::Watch(2)),
        ],
    };
    let entry = p4::TableEntry {
        table_id: ids.table("selector_table"),
        r#match: vec![exact(1, b"\x12\x34")],
        action: Some(p4::TableAction { r#type: Some(ActionType::ActionProfileActionSet(set)) }),
        ..Default::default()
    };
    controller.write(vec![table(Type::Insert, &entry)]).await.unwrap();
    let ports = ports_of_sixteen_flows(&switch);
    assert!(ports.contains(&1) && ports.contains(&2), "{ports:?}");
    switch.set_port_up(1, false);
    assert_eq!(ports_of_sixteen_flows(&switch), [2; 16]);
    let query = p4::TableEntry { action: None, ..entry.clone() };
    assert_eq!(controller.read_tables(query).await, std::slice::from_ref(&entry));

    // The same with members and a group, written while port 1 is still down.
    controller.write(vec![table(Type::Delete, &entry)]).await.unwrap();
    let action_profile_id = info.action_profiles[0].preamble.as_ref().unwrap().id;
    let member = |member_id, port| {
        let action = Some(call(ids.action("forward"), &[port]));
        let member = p4::ActionProfileMember { action_profile_id, member_id, action };
        update(Type::Insert, Entity::ActionProfileMember(member))
    };
    use messages::p4::v1::action_profile_group::member::WatchKind as GroupWatch;
    let place = |member_id, port| p4::action_profile_group::Member {
        member_id,
        weight: 1,
        watch_kind: Some(GroupWatch::WatchPort(b(port))),
    };
    let group = p4::ActionProfileGroup {
        action_profile_id,
        group_id: 7,
        members: vec![place(1, b"\x01"), place(2, b"\x02")],
        max_size: 4,
    };
    let to_group = Some(p4::TableAction { r#type: Some(ActionType::ActionProfileGroupId(7)) });
    controller
        .write(vec![
            member(1, b"\x01"),
            member(2, b"\x02"),
            update(Type::Insert, Entity::ActionProfileGroup(group)),
            table(Type::Insert, &p4::TableEntry { action: to_group, ..entry }),
        ])
        .await
        .unwrap();
    assert_eq!(ports_of_sixteen_flows(&switch), [2; 16]);
    switch.set_port_up(1, true);
    let sorted = |mut ports: Vec<u16>| {
        ports.sort_unstable();
        ports
    };
    assert_eq!(sorted(ports_of_sixteen_flows(&switch)), sorted(ports), "hashed as before");
}

#[tokio::test]
async fn multicast_groups_clone_sessions_value_sets_and_digests_come_back_as_written() {
    use messages::p4::v1::packet_replication_engine_entry::Type as Replication;
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let replica = |port, instance| p4::Replica {
        backup_replicas: Vec::new(),
        instance,
        port_kind: Some(p4::replica::PortKind::Port(b(port))),
    };
    let engine = |given| {
        Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry {
            r#type: Some(given),
        })
    };
    let group = engine(Replication::MulticastGroupEntry(p4::MulticastGroupEntry {
        multicast_group_id: 4,
        replicas: vec![replica(b"\x01", 1), replica(b"\x02", 1)],
        metadata: b(b"mine"),
    }));
    let session = engine(Replication::CloneSessionEntry(p4::CloneSessionEntry {
        session_id: 100,
        replicas: vec![replica(b"\x01\xfe", 0)],
        class_of_service: 1,
        packet_length_bytes: 64,
    }));
    let digest = Entity::DigestEntry(p4::DigestEntry {
        digest_id: info.digests[0].preamble.as_ref().unwrap().id,
        config: Some(p4::digest_entry::Config {
            max_timeout_ns: 1_000_000,
            max_list_size: 2,
            ack_timeout_ns: 1_000_000_000,
        }),
    });
    for entity in [&group, &session, &digest] {
        controller.write(vec![update(Type::Insert, entity.clone())]).await.unwrap();
        assert_eq!(controller.read(entity.clone()).await.unwrap(), std::slice::from_ref(entity));
        let again = update(Type::Insert, entity.clone());
        assert_eq!(controller.refused(again).await.0, Code::AlreadyExists);
    }
    let member = |value| p4::ValueSetMember { r#match: vec![exact(1, value)] };
    let set = |members| {
        let value_set_id = info.value_sets[0].preamble.as_ref().unwrap().id;
        Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id, members })
    };
    let two = set(vec![member(b"\x08\x00"), member(b"\x86\xdd")]);
    controller.write(vec![update(Type::Modify, two.clone())]).await.unwrap();
    assert_eq!(controller.read(set(Vec::new())).await.unwrap(), [two]);
    let five = set((0..5).map(|_| member(b"\x01")).collect());
    assert_eq!(controller.refused(update(Type::Modify, five)).await.0, Code::ResourceExhausted);
}

#[tokio::test]
async fn a_digest_is_sent_once_until_it_is_acknowledged() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let digest_id = info.digests[0].preamble.as_ref().unwrap().id;
    let config = p4::digest_entry::Config {
        max_timeout_ns: 0,
        max_list_size: 1,
        ack_timeout_ns: 3_600_000_000_000,
    };
    let digest = Entity::DigestEntry(p4::DigestEntry { digest_id, config: Some(config) });
    let learn = p4::TableEntry {
        action: action(ids.action("learn"), &[]),
        ..lpm_entry(&ids, b"\x00\x00\x00\x00\x00\x00", 8)
    };
    let updates = vec![update(Type::Insert, digest), table(Type::Insert, &learn)];
    controller.write(updates).await.unwrap();
    let frame = |host| [&[0; 11][..], &[host, 0x12, 0x34]].concat();
    for host in [7, 7, 9] {
        switch.receive(2, &frame(host));
    }
    // Two hosts, three packets: the second packet of host 7 says nothing new.
    for (host, list_id) in [(7, 1), (9, 2)] {
        let FromSwitch::Digest(list) = controller.hear().await.unwrap() else { panic!("a digest") };
        let Some(p4::p4_data::Data::Struct(message)) = list.data[0].data.clone() else {
            panic!("a struct");
        };
        let leaf = |bytes: Vec<u8>| Some(p4::p4_data::Data::Bitstring(bytes.into()));
        assert_eq!(message.members[0].data, leaf(vec![host]));
        assert_eq!(message.members[1].data, leaf(vec![2]));
        assert_eq!((list.digest_id, list.list_id), (digest_id, list_id));
    }
    let ack = p4::DigestListAck { digest_id, list_id: 1 };
    controller.say(ToSwitch::DigestAck(ack)).await;
    // The acknowledgement and the frames take different ways, so the first frame may be too early.
    let mut ticks = tokio::time::interval(std::time::Duration::from_millis(10));
    let list = loop {
        tokio::select! {
            _ = ticks.tick() => switch.receive(2, &frame(7)),
            told = controller.hear() => break told.unwrap(),
        }
    };
    let FromSwitch::Digest(list) = list else { panic!("a digest") };
    assert_eq!(list.list_id, 3);
}

#[tokio::test]
async fn an_entry_that_no_packet_hits_is_reported_again_and_again() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let entry = p4::TableEntry {
        idle_timeout_ns: 20_000_000,
        metadata: b(b"mine"),
        ..exact_entry(&ids, b"\x0a")
    };
    controller.write(vec![table(Type::Insert, &entry)]).await.unwrap();
    for _ in 0..2 {
        let FromSwitch::IdleTimeoutNotification(told) = controller.hear().await.unwrap() else {
            panic!("an idle timeout");
        };
        assert_eq!(told.table_entry, std::slice::from_ref(&entry));
    }
    let unsupported =
        p4::TableEntry { idle_timeout_ns: 1, ..lpm_entry(&ids, b"\x0a\x00\x00\x00\x00\x00", 8) };
    let refused = controller.refused(table(Type::Insert, &unsupported)).await;
    assert_eq!(refused.0, Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_not_read_slows_nobody_and_what_it_loses_is_counted() {
    use messages::vitrine::v1;
    let switch = Switch::start();
    // The default role's primary does not read; another role's primary does. Both get packet-ins.
    let mut deaf = switch.controller(1).await;
    let info = deaf.load().await;
    let ids = Ids(&info);
    let to_controller = p4::TableEntry {
        action: action(ids.action("to_controller"), &[]),
        ..exact_entry(&ids, b"\x0a")
    };
    deaf.write(vec![table(Type::Insert, &to_controller)]).await.unwrap();
    let mut reader = switch.stream("reader").await;
    reader.bid(Some(1)).await.unwrap();
    let mut frame = b"\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x01\x12\x34".to_vec();
    frame.resize(9000, 0);
    // 1000 frames of 9000 bytes are 9 MB: more than the 4 MiB that may wait for one stream and what
    // the connection itself holds.
    for _ in 0..10 {
        (0..100).for_each(|_| switch.receive(1, &frame));
        for _ in 0..100 {
            let told = reader.hear().await.unwrap();
            assert!(matches!(told, FromSwitch::Packet(_)), "{told:?}");
        }
    }
    let mut router =
        service::stubs::vitrine::router_client::RouterClient::new(switch.channel().await);
    let described = router.describe(v1::DescribeRequest::default()).await.unwrap().into_inner();
    let lost = described.lost_reports;
    assert!((1..1000).contains(&lost), "{lost} of 1000");
    // The deaf one is primary still, and may write.
    deaf.write(vec![table(Type::Delete, &to_controller)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_on_the_port_and_clients_that_vanish_harm_nobody() {
    use tokio::io::AsyncWriteExt;
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load().await;
    let ids = Ids(&info);
    let address = tcp_address(switch.server.as_ref().unwrap());
    for seed in 0..32u8 {
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let garbage: Vec<u8> = (0..4096u32).map(|at| (at as u8).wrapping_mul(seed | 1)).collect();
        // The server may have closed the connection after the first bytes.
        let _closed = socket.write_all(&garbage).await;
    }
    for low in 2..10 {
        let mut other = switch.stream("other").await;
        other.bid(Some(low)).await.unwrap();
    }
    let entry = exact_entry(&ids, b"\x0a");
    controller.write(vec![table(Type::Insert, &entry)]).await.unwrap();
}

#[tokio::test]
async fn a_table_that_the_program_reserves_for_a_role_is_that_roles_alone() {
    let switch = Switch::start();
    let mut default = switch.controller(1).await;
    let (mut info, json) = program();
    let reserved = |table: &&mut messages::p4::config::v1::Table| {
        table.preamble.as_ref().is_some_and(|preamble| preamble.name == "ingress.exact_table")
    };
    let table_info = info.tables.iter_mut().find(reserved).unwrap();
    let annotations = &mut table_info.preamble.as_mut().unwrap().annotations;
    annotations.push("@p4runtime_role(\"forwarding\")".to_owned());
    default.set_config(VERIFY_AND_COMMIT, Some(config(&info, json))).await.unwrap();
    let ids = Ids(&info);

    let mut owner = switch.stream("forwarding").await;
    owner.bid(Some(1)).await.unwrap();
    let mut other = switch.stream("telemetry").await;
    other.bid(Some(1)).await.unwrap();
    let entry = exact_entry(&ids, b"\x0a");
    owner.write(vec![table(Type::Insert, &entry)]).await.unwrap();
    let (code, message) = other.refused(table(Type::Delete, &entry)).await;
    assert_eq!(code, Code::PermissionDenied, "{message}");
    let all = p4::TableEntry { table_id: entry.table_id, ..Default::default() };
    assert_eq!(other.read_tables(all.clone()).await, [], "its role filters what it reads");
    assert_eq!(owner.read_tables(all.clone()).await.len(), 1);
    // The default role has access to everything.
    default.write(vec![table(Type::Delete, &entry)]).await.unwrap();
}
