//! Two of the kit's routers between two hosts: instants that can be checked by hand.
//!
//! ```text
//!   h1 ---- 1 s1 2 ======== 2 s2 1 ---- h2
//!  100 Mb/s    10 Mb/s, 5 ms     100 Mb/s
//! ```

use crate::rig;

use device::LinkConfig;
use hosts::TcpSettings;
use rig::{Notebook, router_p4};
use traffic::{Impairment, PortConfig};
use units::{Bytes, PortId, Rate, Span, Time};
use wire::{MacAddress, Sum};
use world::network::{
    Address, EndSpec, HostSpec, LinkSpec, Makers, Network, PortSpec, RouterSpec, Topology,
    fill_router,
};
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

/// A host's answer to an echo request for it.
fn echo(frame: &[u8]) -> Option<Vec<u8>> {
    let address = |at: usize| [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
    (frame[34] == ECHO_REQUEST).then(|| icmp(ECHO_REPLY, address(30), address(26), frame.len()))
}

struct Dumbbell {
    world: World<Notebook>,
    h1: NodeId,
    h2: NodeId,
    s1: NodeId,
    s2: NodeId,
}

/// The network above, as a topology file has it.
fn topology() -> Topology {
    let mac = |last| MacAddress([2, 0, 0, 0, 0, last]);
    let address = |ip: [u8; 4]| Address { ip: ip.into(), prefix_bits: 24 };
    let host = |name: &str, number, ip: [u8; 4], router: [u8; 4]| HostSpec {
        name: name.to_owned(),
        mac: mac(number),
        addresses: vec![(address(ip), router.into())],
        tcp: TcpSettings::default(),
    };
    let port = |number, own, ip: [u8; 4], mbps, delay| {
        let transmit = Impairment { delay, ..Impairment::default() };
        PortSpec {
            number: PortId(number),
            mac: mac(own),
            addresses: vec![address(ip)],
            settings: PortConfig::strict(Some(Rate::from_mbps(mbps)), 1),
            link: LinkConfig { transmit, ..LinkConfig::default() },
        }
    };
    let router = |name: &str, device_id, ports| RouterSpec {
        name: name.to_owned(),
        device_id,
        ports,
        buffer: None,
        input: None,
    };
    let delay = Span::from_ms(5);
    let s1 = vec![
        port(1, 0x11, [10, 0, 1, 254], 100, Span::ZERO),
        port(2, 0x12, [10, 0, 12, 1], 10, delay),
    ];
    let s2 = vec![
        port(1, 0x21, [10, 0, 2, 254], 100, Span::ZERO),
        port(2, 0x22, [10, 0, 12, 2], 10, delay),
    ];
    let link = |one: (&str, Option<u16>), other: (&str, Option<u16>)| LinkSpec {
        ends: [one, other]
            .map(|(node, port)| EndSpec { node: node.to_owned(), port: port.map(PortId) }),
        mtu: Bytes(1500),
    };
    Topology {
        hosts: vec![host("h1", 1, H1, [10, 0, 1, 254]), host("h2", 2, H2, [10, 0, 2, 254])],
        routers: vec![router("s1", 1, s1), router("s2", 2, s2)],
        links: vec![
            link(("h1", None), ("s1", Some(1))),
            link(("s1", Some(2)), ("s2", Some(2))),
            link(("s2", Some(1)), ("h2", None)),
        ],
        asks_for_gateways: false,
    }
}

fn dumbbell(h1: Notebook, h2: Notebook) -> Dumbbell {
    let topology = topology();
    let routes = topology.routes();
    let mut hosts = [h2, h1].to_vec();
    let makers = Makers {
        host: &mut |_, _, _| hosts.pop().expect("there are two"),
        program: &mut |router, config| {
            let mut pipeline = router_p4(config);
            fill_router(&mut pipeline, &routes[&router.name])?;
            Ok(pipeline)
        },
        compile: None,
    };
    let network = Network::build(topology, 1, makers).expect("the topology is right");
    let [h1, h2, s1, s2] =
        ["h1", "h2", "s1", "s2"].map(|name| network.node(name).expect("it is in the topology"));
    assert_eq!((network.router_of(2), network.router_of(3)), (Some(s2), None));
    Dumbbell { world: network.world, h1, h2, s1, s2 }
}

#[test]
fn routes_lead_over_the_fewest_links_to_the_next_hop() {
    let routes = topology().routes();
    let told = |router: &str| -> Vec<(String, u16, u8, u8)> {
        let of = routes[router].iter();
        of.map(|it| (it.to.to_string(), it.port.0, it.from_mac.0[5], it.to_mac.0[5])).collect()
    };
    let [h1, h2] = ["10.0.1.1", "10.0.2.1"].map(str::to_owned);
    assert_eq!(told("s1"), [(h1.clone(), 1, 0x11, 1), (h2.clone(), 2, 0x12, 0x22)]);
    assert_eq!(told("s2"), [(h1, 2, 0x22, 0x12), (h2, 1, 0x21, 2)]);
}

#[test]
fn a_topology_that_contradicts_itself_is_refused_with_its_place() {
    type Mistake = fn(&mut Topology);
    let refused = |mistake: Mistake| {
        let mut topology = topology();
        mistake(&mut topology);
        topology.check().expect_err("it is wrong").to_string()
    };
    let cases: [(Mistake, &str); 6] = [
        (|it| it.hosts[1].name = "h1".into(), "h1: the name is used twice; give each node its own"),
        (|it| it.routers[1].device_id = 1, "s2: device id 1 is another router's"),
        (|it| it.links[1].ends[0].port = None, "links[1]: s1: say which port, as in s1:1"),
        (|it| it.links[2].ends[0].port = Some(PortId(7)), "links[2]: s2:7: s2 has no port 7"),
        (|it| it.links[1].ends[0].port = Some(PortId(1)), "links[1]: s1:1 has a cable already"),
        (|it| _ = it.links.remove(0), "h1: the host is on no link"),
    ];
    for (mistake, message) in cases {
        assert_eq!(refused(mistake), message);
    }
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
