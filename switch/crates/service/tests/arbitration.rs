//! Client arbitration over a real connection to a whole switch in this process: who is primary, who is
//! told what, and what ends a stream.

use crate::support;

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::field_match::{Exact, FieldMatchType};
use messages::p4::v1::stream_error::Details;
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::table_action::Type as ActionType;
use messages::p4::v1::update::Type;
use p4runtime::arbitration::{CLIENT_COUNT_MAX, ROLE_COUNT_MAX, ROLES_PER_CONNECTION_MAX};
use prost::bytes::Bytes;
use tonic::{Code, Status};

use support::{Controller, DEVICE_ID, Ids, Switch, stream_over, update};

/// A bid as a client of any kind may make it.
fn bid(role: &str, election_id: Option<(u64, u64)>) -> p4::MasterArbitrationUpdate {
    let role = p4::Role { name: role.to_owned(), ..Default::default() };
    p4::MasterArbitrationUpdate {
        device_id: DEVICE_ID,
        role: (!role.name.is_empty()).then_some(role),
        election_id: election_id.map(|(high, low)| p4::Uint128 { high, low }),
        status: None,
    }
}

/// A controller's next notice of its standing.
async fn told(controller: &mut Controller) -> Result<Code, Status> {
    match controller.hear().await? {
        FromSwitch::Arbitration(update) => {
            Ok(Code::from_i32(update.status.expect("it says what the client is").code))
        }
        other => panic!("expected an arbitration update, got {other:?}"),
    }
}

async fn answer(
    controller: &mut Controller,
    update: p4::MasterArbitrationUpdate,
) -> Result<Code, Status> {
    controller.say(ToSwitch::Arbitration(update)).await;
    told(controller).await
}

/// The status that the stream ends with.
async fn ended(controller: &mut Controller, update: p4::MasterArbitrationUpdate) -> Code {
    answer(controller, update).await.expect_err("that ends a stream").code()
}

#[tokio::test]
async fn all_128_bits_of_an_election_id_count_and_0_is_one() {
    let switch = Switch::start();
    let mut low = switch.stream("").await;
    assert_eq!(answer(&mut low, bid("", Some((0, 0)))).await.unwrap(), Code::Ok);
    let mut lower_half = switch.stream("").await;
    assert_eq!(answer(&mut lower_half, bid("", Some((0, u64::MAX)))).await.unwrap(), Code::Ok);
    let mut upper_half = switch.stream("").await;
    assert_eq!(answer(&mut upper_half, bid("", Some((1, 0)))).await.unwrap(), Code::Ok);
    assert_eq!(told(&mut lower_half).await.unwrap(), Code::AlreadyExists);
}

#[tokio::test]
async fn a_client_without_election_id_never_becomes_primary() {
    let switch = Switch::start();
    let mut backup = switch.stream("").await;
    for _ in 0..2 {
        assert_eq!(answer(&mut backup, bid("", None)).await.unwrap(), Code::NotFound);
    }
    let refused = backup.write(Vec::new()).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    let primary = switch.controller(1).await;
    assert_eq!(told(&mut backup).await.unwrap(), Code::AlreadyExists);
    drop(primary);
    assert_eq!(told(&mut backup).await.unwrap(), Code::NotFound);
}

#[tokio::test]
async fn a_primary_that_lowers_its_id_steps_down_and_the_highest_ever_seen_counts() {
    let switch = Switch::start();
    let mut first = switch.controller(5).await;
    let mut second = switch.stream("").await;
    assert_eq!(answer(&mut second, bid("", Some((0, 3)))).await.unwrap(), Code::AlreadyExists);
    assert_eq!(answer(&mut first, bid("", Some((0, 2)))).await.unwrap(), Code::NotFound);
    assert_eq!(told(&mut second).await.unwrap(), Code::NotFound);
    // It has the highest of those that are there, and not of those that there were.
    assert_eq!(answer(&mut second, bid("", Some((0, 4)))).await.unwrap(), Code::NotFound);
    assert_eq!(answer(&mut second, bid("", Some((0, 5)))).await.unwrap(), Code::Ok);
    assert_eq!(told(&mut first).await.unwrap(), Code::AlreadyExists);
}

#[tokio::test]
async fn a_stream_keeps_its_device_and_its_role() {
    let switch = Switch::start();
    let elsewhere = p4::MasterArbitrationUpdate { device_id: DEVICE_ID + 1, ..bid("", None) };
    for other in [elsewhere, bid("telemetry", None)] {
        let mut controller = switch.stream("").await;
        assert!(answer(&mut controller, bid("", None)).await.is_ok());
        assert_eq!(ended(&mut controller, other).await, Code::FailedPrecondition);
    }
    let mut controller = switch.stream("").await;
    let configured = p4::Role { config: Some(prost_types::Any::default()), ..Default::default() };
    let configured = p4::MasterArbitrationUpdate { role: Some(configured), ..bid("", None) };
    assert_eq!(ended(&mut controller, configured).await, Code::InvalidArgument);
}

#[tokio::test]
async fn roles_elect_independently() {
    let switch = Switch::start();
    let mut router = switch.controller(7).await;
    let mut telemetry = switch.stream("telemetry").await;
    assert_eq!(answer(&mut telemetry, bid("telemetry", Some((0, 1)))).await.unwrap(), Code::Ok);
    let mut other = switch.stream("telemetry").await;
    assert_eq!(answer(&mut other, bid("telemetry", Some((0, 2)))).await.unwrap(), Code::Ok);
    assert_eq!(told(&mut telemetry).await.unwrap(), Code::AlreadyExists);
    // The primary of the default role could still write, were there a program.
    assert_eq!(router.write(Vec::new()).await.unwrap_err().code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_role_has_so_many_clients_and_a_primary_that_returns_finds_room() {
    let switch = Switch::start();
    drop(switch.controller(9).await);
    let mut backups = Vec::new();
    for _ in 0..CLIENT_COUNT_MAX {
        let mut backup = switch.stream("").await;
        assert!(answer(&mut backup, bid("", None)).await.is_ok());
        backups.push(backup);
    }
    let mut late = switch.stream("").await;
    assert_eq!(ended(&mut late, bid("", None)).await, Code::ResourceExhausted);
    let mut returned = switch.stream("").await;
    assert_eq!(answer(&mut returned, bid("", Some((0, 9)))).await.unwrap(), Code::Ok);
    let last = backups.last_mut().expect("there are some");
    let end = loop {
        // It may have heard of others before.
        match last.hear().await {
            Ok(_) => {}
            Err(status) => break status,
        }
    };
    assert_eq!(end.code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn whoever_has_many_roles_makes_room_for_a_primary_that_returns() {
    let switch = Switch::start();
    // The default role is there for itself.
    let (mut taken, mut number) = (Vec::new(), 1);
    while number < ROLE_COUNT_MAX {
        let client = switch.client().await;
        for _ in 0..ROLES_PER_CONNECTION_MAX.min(ROLE_COUNT_MAX - number) {
            let role = format!("role {number}");
            let mut controller = stream_over(client.clone(), &role).await;
            assert_eq!(answer(&mut controller, bid(&role, Some((0, 1)))).await.unwrap(), Code::Ok);
            taken.push(controller);
            number += 1;
        }
    }
    let mut returned = switch.stream("telemetry").await;
    assert_eq!(answer(&mut returned, bid("telemetry", Some((0, 7)))).await.unwrap(), Code::Ok);
    // The last of those that came by a connection with sixteen.
    let gone = &mut taken[3 * ROLES_PER_CONNECTION_MAX - 1];
    let end = gone.hear().await.unwrap_err();
    assert_eq!(end.code(), Code::ResourceExhausted);
    assert!(end.message().contains("leads more than any other"), "{}", end.message());
}

#[tokio::test(flavor = "multi_thread")]
async fn packet_ins_reach_the_primaries_of_all_roles_and_packet_outs_come_from_them_alone() {
    let switch = Switch::start();
    let mut first = switch.controller(2).await;
    let info = first.load().await;
    let ids = Ids(&info);
    let mut second = switch.stream("telemetry").await;
    assert_eq!(answer(&mut second, bid("telemetry", Some((0, 1)))).await.unwrap(), Code::Ok);
    let mut backup = switch.stream("").await;
    assert_eq!(answer(&mut backup, bid("", Some((0, 1)))).await.unwrap(), Code::AlreadyExists);

    let key = Exact { value: Bytes::from_static(b"\x0a") };
    let key = p4::FieldMatch { field_id: 1, field_match_type: Some(FieldMatchType::Exact(key)) };
    let call = p4::Action { action_id: ids.action("to_controller"), params: Vec::new() };
    let entry = p4::TableEntry {
        table_id: ids.table("exact_table"),
        r#match: vec![key],
        action: Some(p4::TableAction { r#type: Some(ActionType::Action(call)) }),
        ..Default::default()
    };
    first.write(vec![update(Type::Insert, Entity::TableEntry(entry))]).await.unwrap();
    let frame = b"\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x01\x12\x34payload";
    switch.receive(2, frame);
    for primary in [&mut first, &mut second] {
        let FromSwitch::Packet(packet) = primary.hear().await.unwrap() else { panic!("a packet") };
        assert_eq!(packet.payload, &frame[..]);
    }

    // The backup's next message is about its own: it has got no packet. The error contains the
    // message that it is about, and the stream goes on.
    let sent = p4::PacketOut { payload: Bytes::from_static(frame), metadata: Vec::new() };
    backup.say(ToSwitch::Packet(sent.clone())).await;
    let FromSwitch::Error(error) = backup.hear().await.unwrap() else { panic!("an error") };
    assert_eq!(error.canonical_code, Code::PermissionDenied as i32);
    let Some(Details::PacketOut(about)) = error.details else { panic!("what it is about") };
    assert_eq!(about.packet_out, Some(sent));
    assert_eq!(answer(&mut backup, bid("", None)).await.unwrap(), Code::AlreadyExists);
}
