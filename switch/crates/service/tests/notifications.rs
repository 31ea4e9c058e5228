//! Digests as clients of bmv2's runtime interface get them: published over nanomsg's protocol, spoken
//! here byte by byte, and acknowledged over Thrift. Over real sockets, packets through a whole switch.

use crate::support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;

use service::publisher::Place;
use service::server::ServerConfig;
use support::{DEVICE_ID, PATIENCE, Switch, psa_program, server_config};

const PUBLISHER: [u8; 8] = *b"\0SP\0\0\x20\0\0";
const SUBSCRIBER: [u8; 8] = *b"\0SP\0\0\x21\0\0";
/// The type of a frame that teaches its source address.
const LEARN: u8 = 1;

async fn start(place: Place) -> Switch {
    let notifications = Some(place);
    let switch =
        Switch::start_as(ServerConfig { thrift_port: Some(0), notifications, ..server_config() });
    let mut controller = switch.controller(1).await;
    controller.load_program(psa_program()).await;
    switch
}

/// Says what it is, and hears what the other side is.
fn subscribe(mut stream: impl Read + Write) -> impl Read + Write {
    stream.write_all(&SUBSCRIBER).unwrap();
    let mut greeting = [0; 8];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(greeting, PUBLISHER);
    stream
}

/// The next message, which has these bytes before the length.
fn message(stream: &mut impl Read, before_length: &[u8]) -> Vec<u8> {
    let mut front = vec![0; before_length.len() + 8];
    stream.read_exact(&mut front).unwrap();
    let (kind, length) = front.split_at(before_length.len());
    assert_eq!(kind, before_length);
    let mut message = vec![0; u64::from_be_bytes(length.try_into().unwrap()) as usize];
    stream.read_exact(&mut message).unwrap();
    message
}

/// The message about one host that was seen at port 3.
fn learned(buffer_id: u64, host: u8) -> Vec<u8> {
    let header = [
        &b"LEA|"[..],
        &DEVICE_ID.to_le_bytes(),
        &0_u32.to_le_bytes(),
        &1_u32.to_le_bytes(),
        &buffer_id.to_le_bytes(),
        &1_u32.to_le_bytes(),
    ];
    [&header.concat(), &[0, 0, 0, 0, 0, host][..], &[0, 0, 0, 3]].concat()
}

fn teach(switch: &Switch, host: u8) {
    switch.receive(3, &[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, host, 0, LEARN, b'x']);
}

/// A call of `standard` with numbers as arguments, and the reply's bytes behind its name.
fn call(door: SocketAddr, method: &str, i32s: [i32; 2], i64s: &[i64]) -> Vec<u8> {
    let name = format!("standard:{method}");
    let mut bytes = b"\x80\x01\0\x01".to_vec();
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(name.bytes());
    bytes.extend(7_u32.to_be_bytes());
    for (number, value) in (1_u16..).zip(i32s) {
        bytes.push(8);
        bytes.extend(number.to_be_bytes());
        bytes.extend(value.to_be_bytes());
    }
    for (number, value) in (3_u16..).zip(i64s) {
        bytes.push(10);
        bytes.extend(number.to_be_bytes());
        bytes.extend(value.to_be_bytes());
    }
    bytes.push(0);
    let mut stream = TcpStream::connect(door).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&bytes).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    // Version and kind, the length of the name, the name, the sequence number.
    let name_length = u32::from_be_bytes(reply[4..8].try_into().unwrap()) as usize;
    reply.split_off(8 + name_length + 4)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_packets_teach_is_published_once_until_it_is_acknowledged() {
    let path = std::env::temp_dir().join(format!("vitrine-learn-{}.ipc", std::process::id()));
    let switch = start(Place::Ipc(path.clone())).await;
    let door = switch.server.as_ref().unwrap().door().unwrap();
    let stream = UnixStream::connect(&path).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = subscribe(stream);
    teach(&switch, 7);
    assert_eq!(message(&mut stream, &[1]), learned(1, 7));
    // Host 7 again is no news, host 9 is.
    teach(&switch, 7);
    teach(&switch, 9);
    assert_eq!(message(&mut stream, &[1]), learned(2, 9));
    // The one field of an empty result is its end.
    assert_eq!(call(door, "bm_learning_ack_buffer", [0, 1], &[1]), [0]);
    teach(&switch, 9);
    teach(&switch, 7);
    assert_eq!(message(&mut stream, &[1]), learned(3, 7));
    // List 9 is none: exception 1, a structure whose field 1 is the code 1.
    let reply = call(door, "bm_learning_ack_buffer", [0, 9], &[1]);
    assert_eq!(reply, [12, 0, 1, 8, 0, 1, 0, 0, 0, 1, 0, 0]);
    drop(switch);
    assert!(!path.exists(), "the socket goes with the switch");
}

/// Another user's file or directory: only its owner may remove it.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_moves_the_socket_and_clients_are_told_where() {
    let name = format!("vitrine-taken-{}", std::process::id());
    let taken = std::env::temp_dir().join(format!("{name}.ipc"));
    std::fs::create_dir_all(&taken).unwrap();
    let switch = start(Place::IpcNear(taken.clone())).await;
    let door = switch.server.as_ref().unwrap().door().unwrap();
    let own = taken.with_file_name(format!("{name}-{}.ipc", std::process::id()));
    let info = call(door, "bm_mgmt_get_info", [0, 0], &[]);
    let said = String::from_utf8_lossy(&info).into_owned();
    assert!(said.contains(&format!("ipc://{}", own.display())), "{said}");
    let stream = UnixStream::connect(&own).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = subscribe(stream);
    teach(&switch, 7);
    assert_eq!(message(&mut stream, &[1]), learned(1, 7));
    drop(switch);
    assert!(!own.exists() && taken.exists());
    std::fs::remove_dir(&taken).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_may_come_over_tcp_and_strangers_are_sent_away() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let switch = start(Place::Tcp(free)).await;
    let mut stranger = TcpStream::connect(free).unwrap();
    stranger.write_all(b"GET / HT").unwrap();
    stranger.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut heard = Vec::new();
    // Its remaining bytes are thrown away with the connection, which may reset it.
    let _ended = stranger.read_to_end(&mut heard);
    assert!(heard.is_empty() || heard == PUBLISHER);
    let stream = TcpStream::connect(free).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = subscribe(stream);
    teach(&switch, 7);
    assert_eq!(message(&mut stream, &[]), learned(1, 7));
}

/// The next one is subscribed when another leaves, and receives what is learned from then on.
#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_may_subscribe_at_a_time() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let switch = start(Place::Tcp(free)).await;
    let connect = || {
        let stream = TcpStream::connect(free).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let mut subscribers: Vec<_> = (0..64).map(|_| subscribe(connect())).collect();
    let waiting = connect();
    teach(&switch, 7);
    for subscriber in &mut subscribers {
        assert_eq!(message(subscriber, &[]), learned(1, 7));
    }
    drop(subscribers.pop());
    let mut late = subscribe(waiting);
    teach(&switch, 8);
    assert_eq!(message(&mut late, &[]), learned(2, 8));
}
