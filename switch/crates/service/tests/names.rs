//! Types that the program translates: controllers write strings, packets meet numbers.

use crate::support;

use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{Exact, FieldMatchType, Optional};
use messages::p4::v1::packet_replication_engine_entry::Type as Replication;
use messages::p4::v1::replica::PortKind;
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use tonic::Code;
use units::PortId;

use support::{Controller, Ids, Switch, config, names_program, update};

const RECONCILE_AND_COMMIT: i32 = 5;

async fn start() -> (Switch, Controller, P4Info) {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load_program(names_program()).await;
    (switch, controller, info)
}

fn exact(value: &'static str) -> FieldMatchType {
    FieldMatchType::Exact(Exact { value: value.into() })
}

fn optional(value: &'static str) -> FieldMatchType {
    FieldMatchType::Optional(Optional { value: value.into() })
}

/// An entry with these parts of its key, and an action with one parameter.
fn entry(
    ids: &Ids<'_>,
    table: &str,
    key: Vec<FieldMatchType>,
    (action, argument): (&str, &'static str),
) -> p4::TableEntry {
    let parts = (1..)
        .zip(key)
        .map(|(field_id, part)| p4::FieldMatch { field_id, field_match_type: Some(part) });
    let params = vec![p4::action::Param { param_id: 1, value: argument.into() }];
    let action = p4::Action { action_id: ids.action(action), params };
    p4::TableEntry {
        table_id: ids.table(table),
        r#match: parts.collect(),
        action: Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) }),
        priority: i32::from(table == "calls"),
        ..Default::default()
    }
}

fn insert(entry: p4::TableEntry) -> p4::Update {
    update(Type::Insert, Entity::TableEntry(entry))
}

/// Port 1 is of the tenant "red", whose calls to 7 leave by port 2.
fn red_calls_seven(ids: &Ids<'_>) -> [p4::TableEntry; 2] {
    [
        entry(ids, "tenants", vec![exact("1")], ("set_tenant", "red")),
        entry(ids, "calls", vec![optional("red"), exact("\x07")], ("forward", "2")),
    ]
}

#[tokio::test]
async fn entries_and_actions_are_written_and_read_as_strings() {
    let (switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let entries = red_calls_seven(&ids);
    controller.write(entries.clone().map(insert).into()).await.unwrap();
    switch.receive(1, b"\x07");
    assert_eq!(switch.next_sent(), (PortId(2), b"\x07".to_vec()));
    for entry in entries {
        let query = p4::TableEntry { action: None, ..entry.clone() };
        assert_eq!(controller.read_tables(query).await, [entry]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn packets_carry_ports_as_strings_both_ways() {
    let (switch, mut controller, _info) = start().await;
    switch.receive(3, b"\x09");
    let FromSwitch::Packet(packet) = controller.hear().await.unwrap() else { panic!("a packet") };
    let metadata = |port: &'static str| {
        let one = |metadata_id, value| p4::PacketMetadata { metadata_id, value };
        vec![one(1, Bytes::from(port)), one(2, Bytes::from_static(b"\x00"))]
    };
    assert_eq!((packet.payload, packet.metadata), (Bytes::from_static(b"\x09"), metadata("3")));
    let payload = Bytes::from_static(b"call");
    let out = p4::PacketOut { payload, metadata: metadata("2") };
    controller.say(ToSwitch::Packet(out)).await;
    assert_eq!(switch.next_sent(), (PortId(2), b"call".to_vec()));
}

#[tokio::test]
async fn copies_leave_by_ports_given_as_strings() {
    let (switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let replica = |port: &'static str| p4::Replica {
        instance: 1,
        port_kind: Some(PortKind::Port(port.into())),
        ..Default::default()
    };
    let group = |replicas| {
        let multicast_group_id = 5;
        let group = p4::MulticastGroupEntry { multicast_group_id, replicas, ..Default::default() };
        Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry {
            r#type: Some(Replication::MulticastGroupEntry(group)),
        })
    };
    let both = group(vec![replica("2"), replica("3")]);
    let copies = entry(&ids, "calls", vec![optional(""), exact("\x08")], ("copy", "\x05"));
    controller.write(vec![update(Type::Insert, both.clone()), insert(copies)]).await.unwrap();
    switch.receive(1, b"\x08");
    let mut ports = [switch.next_sent().0, switch.next_sent().0];
    ports.sort();
    assert_eq!(ports, [PortId(2), PortId(3)]);
    assert_eq!(controller.read(group(Vec::new())).await.unwrap(), [both]);

    let lost = update(Type::Modify, group(vec![replica("Ethernet0")]));
    let (code, message) = controller.refused(lost).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("\"Ethernet0\" is no port"), "{message}");
}

#[tokio::test]
async fn strings_keep_their_numbers_when_a_program_takes_over_the_entries() {
    let (switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let first = entry(&ids, "tenants", vec![exact("2")], ("set_tenant", "blue"));
    let entries = red_calls_seven(&ids);
    let mut updates = vec![insert(first)];
    updates.extend(entries.clone().map(insert));
    controller.write(updates).await.unwrap();
    let (info_again, json) = names_program();
    let again = config(&info_again, json);
    controller.set_config(RECONCILE_AND_COMMIT, Some(again)).await.unwrap();
    switch.receive(1, b"\x07");
    assert_eq!(switch.next_sent().0, PortId(2));
    let [tenant, _call] = entries;
    let query = p4::TableEntry { action: None, ..tenant.clone() };
    assert_eq!(controller.read_tables(query).await, [tenant]);
}

/// Four bits in the data plane, 32 for the controller: what fits both is the same number.
#[tokio::test]
async fn a_number_of_another_width_has_to_fit_the_data_plane() {
    let (_switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let lane = |value| {
        let nothing = p4::Action { action_id: ids.action("NoAction"), params: Vec::new() };
        let action =
            Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(nothing)) });
        let entry = entry(&ids, "lanes", vec![exact(value)], ("set_tenant", ""));
        insert(p4::TableEntry { action, ..entry })
    };
    controller.write(vec![lane("\0\0\0\x0f")]).await.unwrap();
    let (code, message) = controller.refused(lane("\0\0\0\x10")).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("0x00000010"), "{message}");
}
