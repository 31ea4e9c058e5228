//! The limits for controllers' open and waiting things: one that exceeds them is refused, and
//! others are served.

use crate::support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use service::calls::intake::FREE_SIZE_BYTES;
use service::connections::CONNECTION_COUNT_MAX;
use service::server::MESSAGE_SIZE_BYTES_MAX;
use tonic::{Code, Status};

use support::by_hand::ByHand;
use support::{Controller, DEVICE_ID, Switch, stream_over, tcp_address, update};
use units::memory::Budget;

/// A Write of about this many bytes: one entry with metadata.
fn write_of(length: usize, controller: &Controller) -> p4::WriteRequest {
    let metadata = Bytes::from(vec![7; length]);
    let entry = p4::TableEntry { table_id: 1, metadata, ..Default::default() };
    p4::WriteRequest {
        device_id: DEVICE_ID,
        election_id: controller.election_id,
        updates: vec![update(Type::Insert, Entity::TableEntry(entry))],
        ..Default::default()
    }
}

async fn write(controller: &Controller, length: usize) -> Result<(), Status> {
    let mut client = controller.client.clone();
    client.write(write_of(length, controller)).await.map(drop)
}

/// While the data plane does not answer, a large request keeps its room.
#[tokio::test]
async fn large_requests_share_a_room_and_short_ones_need_none() {
    // Of 768 MiB requests have 96, and one client half of that.
    let mut rig = ByHand::start_with(Budget::new(units::Bytes(768 << 20), units::Bytes(0)));
    let mut controller = stream_over(rig.client().await, "").await;
    rig.drive(async {
        controller.bid(Some(1)).await.unwrap();
        controller.load().await;
    })
    .await;

    // Each byte counts twice, and 40 and 30 MiB are more than 48: the second is answered first.
    let (mut first, mut second) =
        (Box::pin(write(&controller, 20 << 20)), Box::pin(write(&controller, 15 << 20)));
    let (answer, mut held) = tokio::select! {
        answer = &mut first => (answer, second),
        answer = &mut second => (answer, first),
    };
    let refusal = answer.unwrap_err();
    assert_eq!(refusal.code(), Code::ResourceExhausted);
    assert!(refusal.message().contains("of 96 are free"), "{}", refusal.message());

    // Others are served meanwhile, in calls and on streams.
    let capabilities = controller.client.clone().capabilities(p4::CapabilitiesRequest {}).await;
    assert!(capabilities.is_ok());
    let mut other = stream_over(rig.client().await, "").await;
    let standing = other.bid(Some(0)).await.unwrap().status.unwrap();
    assert_eq!(standing.code, Code::AlreadyExists as i32, "a backup, because its id is lower");
    let small = write(&controller, FREE_SIZE_BYTES / 2);
    let answer = rig.drive(async { tokio::join!(&mut held, small) }).await;
    // Both are of a table that does not exist; neither is refused for its size.
    assert!([answer.0, answer.1].iter().all(|it| it.as_ref().unwrap_err().code() == Code::Unknown));

    // And there is room again.
    let again = rig.drive(write(&controller, 20 << 20)).await.unwrap_err();
    assert_eq!(again.code(), Code::Unknown, "{}", again.message());
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_and_takes_no_room() {
    let switch = Switch::start();
    let controller = switch.controller(1).await;
    for _ in 0..2 {
        let refusal = write(&controller, MESSAGE_SIZE_BYTES_MAX).await.unwrap_err();
        assert!(refusal.message().contains("the limit is: 67108864"), "{}", refusal.message());
    }
    let refusal = write(&controller, 30 << 20).await.unwrap_err();
    assert_ne!(refusal.code(), Code::ResourceExhausted, "{}", refusal.message());
}

/// A connection that says hello, and what the server says then.
fn greet(address: SocketAddr) -> (TcpStream, Vec<u8>) {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    // Settings of some length come from the server that serves, empty ones from a refusal.
    let mut header = vec![0; 9];
    connection.read_exact(&mut header).unwrap();
    (connection, header)
}

/// 256 connections that have no call, one of them a controller's that is done; then another comes.
#[tokio::test]
async fn an_idle_connection_gives_way_and_those_with_calls_stay() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let address = tcp_address(switch.server.as_ref().unwrap());
    let mut idle: Vec<TcpStream> = (1..CONNECTION_COUNT_MAX).map(|_| greet(address).0).collect();
    let (_served, header) = greet(address);
    assert!(header[2] > 0, "it is served");
    // The first of the idle ones was closed for it.
    let mut rest = Vec::new();
    idle[0].read_to_end(&mut rest).unwrap();
    idle[1].set_nonblocking(true).unwrap();
    let mut byte = vec![0; 1024];
    while idle[1].read(&mut byte).is_ok_and(|count| count > 0) {}
    let open = idle[1].read(&mut byte).unwrap_err();
    assert_eq!(open.kind(), std::io::ErrorKind::WouldBlock);
    // The controller's has a stream, which is a call.
    controller.load().await;
}

/// 255 connections with a stream each, and the primary's; then another that becomes primary.
#[tokio::test]
async fn a_primary_that_returns_gets_in_and_the_one_that_there_is_stays() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let mut busy = Vec::new();
    for _ in 1..CONNECTION_COUNT_MAX {
        busy.push(switch.stream("").await);
    }
    let mut late = switch.controller(2).await;
    // The oldest of the others was closed for it.
    assert!(busy[0].hear().await.is_err());
    late.load().await;
    let heard = controller.hear().await;
    assert!(
        matches!(heard, Ok(FromSwitch::Arbitration(_))),
        "it is told of the new one: {heard:?}"
    );
}
