//! A controller's view of a PSA program: packets to and from it, digests, direct counters and
//! meters, action profiles and selectors. Over a real connection, packets through a whole switch.

use crate::support;

use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{Exact, FieldMatchType};
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::table_action::Type as ActionType;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use support::{Controller, Ids, Switch, id_of, psa_program, update};
use units::PortId;

const LEARN: u8 = 1;
const TO_CONTROLLER: u8 = 2;
const PROFILE: u8 = 3;
const SELECTOR: u8 = 4;

async fn start() -> (Switch, Controller, P4Info) {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let info = controller.load_program(psa_program()).await;
    (switch, controller, info)
}

/// A frame to host 00:00:00:00:00:01 from `from`; its type says what the program does with it.
fn frame(from: u8, kind: u8) -> Vec<u8> {
    vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, from, 0, kind, b'x']
}

fn forward(ids: &Ids<'_>, name: &str, port: u8) -> p4::Action {
    let param = p4::action::Param { param_id: 1, value: vec![port].into() };
    p4::Action { action_id: ids.action(name), params: vec![param] }
}

/// An entry for the host that [`frame`] goes to.
fn entry(ids: &Ids<'_>, table: &str, action: ActionType) -> p4::TableEntry {
    let host = FieldMatchType::Exact(Exact { value: Bytes::from_static(b"\x01") });
    p4::TableEntry {
        table_id: ids.table(table),
        r#match: vec![p4::FieldMatch { field_id: 1, field_match_type: Some(host) }],
        action: Some(p4::TableAction { r#type: Some(action) }),
        ..Default::default()
    }
}

fn insert(entity: Entity) -> p4::Update {
    update(Type::Insert, entity)
}

fn profile_id(info: &P4Info, name: &str) -> u32 {
    id_of(info.action_profiles.iter().filter_map(|it| it.preamble.as_ref()), name)
}

fn member(action_profile_id: u32, member_id: u32, action: p4::Action) -> Entity {
    let action = Some(action);
    Entity::ActionProfileMember(p4::ActionProfileMember { action_profile_id, member_id, action })
}

#[tokio::test(flavor = "multi_thread")]
async fn packets_go_to_the_controller_and_come_from_it_by_psas_cpu_port() {
    let (switch, mut controller, _info) = start().await;
    let seen = frame(9, TO_CONTROLLER);
    switch.receive(3, &seen);
    let FromSwitch::Packet(packet) = controller.hear().await.unwrap() else { panic!("a packet") };
    let metadata = |value| p4::PacketMetadata { metadata_id: 1, value: vec![value].into() };
    assert_eq!((packet.payload.to_vec(), packet.metadata), (seen.clone(), vec![metadata(3)]));

    let out = p4::PacketOut { payload: seen.clone().into(), metadata: vec![metadata(2)] };
    controller.say(ToSwitch::Packet(out)).await;
    assert_eq!(switch.next_sent(), (PortId(2), seen));
}

#[tokio::test]
async fn a_digest_says_what_the_deparser_packed() {
    let (switch, mut controller, info) = start().await;
    let digest_id = info.digests[0].preamble.as_ref().unwrap().id;
    let config = p4::digest_entry::Config {
        max_timeout_ns: 0,
        max_list_size: 1,
        ack_timeout_ns: 3_600_000_000_000,
    };
    let digest = Entity::DigestEntry(p4::DigestEntry { digest_id, config: Some(config) });
    controller.write(vec![insert(digest)]).await.unwrap();
    switch.receive(3, &frame(7, LEARN));
    let FromSwitch::Digest(list) = controller.hear().await.unwrap() else { panic!("a digest") };
    let Some(p4::p4_data::Data::Struct(learned)) = list.data[0].data.clone() else {
        panic!("a struct");
    };
    let leaf = |byte: u8| Some(p4::p4_data::Data::Bitstring(vec![byte].into()));
    let members: Vec<_> = learned.members.into_iter().map(|member| member.data).collect();
    assert_eq!((list.digest_id, members), (digest_id, vec![leaf(7), leaf(3)]));
}

/// A burst of two, and one packet a second more: of 200 at once not all pass.
#[tokio::test]
async fn a_direct_meter_stops_what_its_entry_does_not_grant_and_the_counter_counts_all() {
    let (switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let action = ActionType::Action(forward(&ids, "forward_within_rates", 2));
    let rates = p4::MeterConfig { cir: 1, cburst: 1, pir: 1, pburst: 2, ..Default::default() };
    let limited =
        p4::TableEntry { meter_config: Some(rates), ..entry(&ids, "hosts", action.clone()) };
    controller.write(vec![insert(Entity::TableEntry(limited.clone()))]).await.unwrap();
    for _ in 0..200 {
        switch.receive(1, &frame(9, 0));
    }
    let query =
        p4::TableEntry { action: None, counter_data: Some(Default::default()), ..limited.clone() };
    let counted = loop {
        let found = controller.read_tables(query.clone()).await;
        let counted = found[0].counter_data.unwrap();
        if counted.packet_count == 200 {
            break counted;
        }
    };
    assert_eq!(counted.byte_count, 200 * 15);
    let passed = switch.sent.try_iter().count();
    assert!((2..200).contains(&passed), "{passed} packets passed");
}

#[tokio::test]
async fn an_entry_of_an_action_profile_does_what_its_member_says() {
    let (switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let profile = profile_id(&info, "hops");
    let of = entry(&ids, "by_profile", ActionType::ActionProfileMemberId(5));
    let first = member(profile, 5, forward(&ids, "forward", 2));
    controller.write(vec![insert(first), insert(Entity::TableEntry(of))]).await.unwrap();
    switch.receive(1, &frame(9, PROFILE));
    assert_eq!(switch.next_sent(), (PortId(2), frame(9, PROFILE)));
    let second = member(profile, 5, forward(&ids, "forward", 3));
    controller.write(vec![update(Type::Modify, second)]).await.unwrap();
    switch.receive(1, &frame(9, PROFILE));
    assert_eq!(switch.next_sent(), (PortId(3), frame(9, PROFILE)));
}

/// The source address is what the selector hashes: each keeps its port, and both ports are used.
#[tokio::test]
async fn an_action_selector_keeps_a_flow_on_one_port_and_spreads_flows() {
    let (switch, mut controller, info) = start().await;
    let ids = Ids(&info);
    let action_profile_id = profile_id(&info, "paths");
    let in_group =
        |member_id| p4::action_profile_group::Member { member_id, weight: 1, ..Default::default() };
    let group = Entity::ActionProfileGroup(p4::ActionProfileGroup {
        action_profile_id,
        group_id: 1,
        members: vec![in_group(1), in_group(2)],
        max_size: 2,
    });
    let hop = |id, port| insert(member(action_profile_id, id, forward(&ids, "forward", port)));
    let of = entry(&ids, "by_selector", ActionType::ActionProfileGroupId(1));
    let updates = vec![hop(1, 2), hop(2, 3), insert(group), insert(Entity::TableEntry(of))];
    controller.write(updates).await.unwrap();
    let mut ways = Vec::new();
    for from in 0..32 {
        let send = || {
            switch.receive(1, &frame(from, SELECTOR));
            switch.next_sent().0
        };
        let way = send();
        assert_eq!(send(), way, "flow {from} changes its port");
        ways.push(way);
    }
    assert!(ways.contains(&PortId(2)) && ways.contains(&PortId(3)), "{ways:?}");
}
