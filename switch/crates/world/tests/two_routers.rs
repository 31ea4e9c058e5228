//! Two of the kit's routers between two hosts: instants that can be checked by hand.
//!
//! ```text
//!   h1 ---- 1 s1 2 ======== 2 s2 1 ---- h2
//!  100 Mb/s    10 Mb/s, 5 ms     100 Mb/s
//! ```

mod rig;

use bits::Int;
use device::LinkConfig;
use pipeline::{Config, Entry, EntryAction, KeyMatch, Pipeline};
use rig::{CPU_PORT, Notebook, router, router_p4};
use traffic::{Impairment, PortConfig};
use units::{Rate, Span, Time};
use wire::Sum;
use world::{Direction, NodeId, Report, World};

const H1: [u8; 4] = [10, 0, 1, 1];
const H2: [u8; 4] = [10, 0, 2, 1];
const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A frame of `size` bytes: Ethernet, IPv4 and, of ICMP, the type and the checksum.
fn icmp(kind: u8, from: [u8; 4], to: [u8; 4], size: usize) -> Vec<u8> {
    let mut frame = vec![0; size];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 1, 8, 0]);
    frame[14..24].copy_from_slice(&[0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 1]);
    frame[16..18].copy_from_slice(&(size as u16 - 14).to_be_bytes());
    frame[26..30].copy_from_slice(&from);
    frame[30..34].copy_from_slice(&to);
    let sum = Sum::of(&frame[14..34]).checksum();
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame[34] = kind;
    let sum = Sum::of(&frame[34..]).checksum();
    frame[36..38].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// What a host makes of an echo request for it.
fn echo(frame: &[u8]) -> Option<Vec<u8>> {
    let address = |at: usize| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
    (frame[34] == ECHO_REQUEST).then(|| icmp(ECHO_REPLY, address(30), address(26), frame.len()))
}

/// The kit's router with a route for each network: prefix of 24 bits, port.
fn with_routes(routes: &[([u8; 4], u64)]) -> impl FnOnce(Config) -> Pipeline {
    let routes = routes.to_vec();
    move |config| {
        let mut pipeline = router_p4(config);
        let table = pipeline.table_index("ingress.routing.ipv4_routes").expect("a table");
        let action =
            pipeline.action_index(table, "ingress.routing.set_next_hop").expect("an action");
        for (prefix, port) in routes {
            let value = u64::from(u32::from_be_bytes(prefix));
            let key = vec![KeyMatch::Lpm { value: value.into(), length_bits: 24 }];
            let data = [port, 0x0200_0000_00fe, 0x0200_0000_0001].map(Int::from).to_vec();
            let action = EntryAction::Action { action, data };
            let entry = Entry { key, priority: 0, action, idle_timeout: None };
            let _ = pipeline.insert_entry(table, entry, Time::ZERO).expect("there is room");
        }
        pipeline
    }
}

struct Dumbbell {
    world: World<Notebook>,
    h1: NodeId,
    h2: NodeId,
    s1: NodeId,
    s2: NodeId,
}

fn dumbbell(h1: Notebook, h2: Notebook) -> Dumbbell {
    let port = |mbps, delay| {
        let transmit = Impairment { delay, ..Impairment::default() };
        let link = LinkConfig { transmit, ..LinkConfig::default() };
        (PortConfig::strict(Some(Rate::from_mbps(mbps)), 1), link)
    };
    let cpu = (CPU_PORT.0, (PortConfig::strict(None, 1), LinkConfig::default()));
    let ports = || [(1, port(100, Span::ZERO)), (2, port(10, Span::from_ms(5))), cpu.clone()];
    let to_h1 = |out| ([10, 0, 1, 0], out);
    let to_h2 = |out| ([10, 0, 2, 0], out);
    let mut world = World::new();
    let (h1, h2) = (world.add_host(h1), world.add_host(h2));
    let s1 = router(1, ports(), with_routes(&[to_h1(1), to_h2(2)]));
    let s2 = router(2, ports(), with_routes(&[to_h1(2), to_h2(1)]));
    let (s1, s2) = (world.add_router(s1, Some(CPU_PORT)), world.add_router(s2, Some(CPU_PORT)));
    world.connect(h1.port(0), s1.port(1));
    world.connect(s1.port(2), s2.port(2));
    world.connect(s2.port(1), h2.port(0));
    Dumbbell { world, h1, h2, s1, s2 }
}

#[test]
fn a_ping_takes_what_its_bits_and_the_cable_take() {
    let ping = icmp(ECHO_REQUEST, H1, H2, 1000);
    let mut net = dumbbell(Notebook::sending(vec![(us(100), ping)]), Notebook::answering(echo));
    net.world.advance(us(20_000));
    // 1000 bytes take 80 us from h1 to s1 at 100 Mb/s, 5 ms on the cable, and 800 us from s1 to s2
    // at 10 Mb/s, which s2's receive line emulates. A host has a frame when its first bit leaves.
    assert_eq!(net.world.host(net.h2).instants(), [us(100 + 80 + 5_000 + 800)]);
    // The way back takes as long.
    assert_eq!(net.world.host(net.h1).instants(), [us(100 + 2 * 5_880)]);
    let (_, reply) = &net.world.host(net.h1).seen[0];
    // Two routers: the time to live is two less, and the checksum says so.
    assert_eq!((reply[22], reply[34]), (62, ECHO_REPLY));
    assert!(Sum::of(&reply[14..34]).is_right());
    assert!(net.world.balances());
}

#[test]
fn packets_that_meet_at_the_bottleneck_leave_one_after_the_other() {
    // Three frames of 500 bytes at once: the host's card puts one on the line each 40 us.
    let frames = (0..3).map(|_| (us(0), icmp(ECHO_REPLY, H1, H2, 500))).collect();
    let mut net = dumbbell(Notebook::sending(frames), Notebook::default());
    net.world.advance(us(20_000));
    // The first is in s1 at 40 us and leaves at once; 500 bytes keep 10 Mb/s for 400 us, so the
    // others leave at 440 and 840 us. Each is 5,400 us later in s2 and, at 100 Mb/s, h2's.
    let expected = [40, 440, 840].map(|left| us(left + 5_000 + 400));
    assert_eq!(net.world.host(net.h2).instants(), expected);
}

#[test]
fn what_the_program_sends_to_the_controller_is_reported_and_packet_outs_leave() {
    // ARP goes to the controller: two bytes of header say the port, and why.
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let asks = Notebook::sending(vec![(us(0), arp.clone())]);
    let mut net = dumbbell(asks, Notebook::default());
    net.world.advance(us(1_000));
    let Some(Report::PacketIn { router, at, bytes }) = net.world.poll_report() else {
        panic!("the router reports")
    };
    // 60 bytes take 4.8 us at 100 Mb/s.
    assert_eq!((router, at), (net.s1, Time::from_ps(4_800_000)));
    assert_eq!(bytes[bytes.len() - 60..], arp);
    // The answer: 7 bits of padding and 9 bits of port, then the frame. It leaves at once.
    net.world.packet_out(net.s1, &[&[0, 1], &arp[..]].concat());
    net.world.advance(us(1_000));
    assert_eq!(net.world.host(net.h1).seen, [(us(1_000), arp)]);
    assert!(net.world.balances(), "{:?}", net.world.ledger());
}

#[test]
fn a_capture_has_every_frame_of_its_port_and_no_other() {
    let ping = icmp(ECHO_REQUEST, H1, H2, 100);
    let mut net = dumbbell(Notebook::sending(vec![(us(0), ping)]), Notebook::answering(echo));
    net.world.capture(net.s2.port(1), true);
    net.world.advance(us(20_000));
    let captured: Vec<_> = std::iter::from_fn(|| net.world.poll_capture()).collect();
    let at_h2 = net.world.host(net.h2).instants()[0];
    let told: Vec<_> = captured.iter().map(|one| (one.at, one.direction)).collect();
    assert_eq!(told, [(at_h2, Direction::Sent), (at_h2, Direction::Received)]);
    assert!(captured.iter().all(|one| one.end == net.s2.port(1)));
}
