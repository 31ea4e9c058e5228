//! TCP from host to host through two of the kit's routers.

use crate::rig;

use hosts::{DropReason, Ping, PingConfig, Report, TcpSettings, Until};
use rig::dumbbell::{Dumbbell, Plan};
use rig::router_p4;
use units::{Bytes, Rate, Span, Time};

fn dumbbell(plan: &Plan) -> Dumbbell {
    let mut built = Dumbbell::new(plan, &mut router_p4, None);
    built.listen();
    built
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Whatever decides how fast it sends: 600 kB over a line that drops arrive once and in order, and
/// no frame is unaccounted for at any instant at which something happens.
#[test]
fn every_algorithm_brings_every_byte_there_and_no_frame_vanishes() {
    for congestion in hosts::algorithms() {
        let mut plan = Plan::new(Rate::from_mbps(10), Span::from_ms(5), 8);
        plan.tcp = TcpSettings { congestion: congestion.clone(), ..TcpSettings::default() };
        plan.access = Some(Rate::from_mbps(100));
        let mut net = dumbbell(&plan);
        let app = net.bulk(0, Until::Sent(Bytes(600_000)), 1, Span::ZERO);
        let mut instants = 0;
        net.step_through(us(100_000_000), |net| {
            instants += 1;
            assert!(net.world.balances(), "{congestion}: {:?}", net.world.ledger());
        });
        let (sent, heard) = (net.bulk_report(0, app), net.heard(0));
        assert_eq!((sent.acknowledged, sent.failed), (600_000, 0), "{congestion}");
        assert_eq!((heard.ended, heard.taken_bytes), (1, 600_000), "{congestion}");
        // 600,000 / 1448 are 415 segments, each in four nodes.
        assert!(instants > 4 * 415, "{congestion}: {instants}");
        let ledger = net.world.ledger();
        assert!(!ledger.dropped.is_empty(), "{congestion}: the queue was never full");
        for node in [net.left[0], net.right[0]] {
            let books = net.world.host(node).books();
            assert_eq!(books.wrong_payload, 0, "{congestion}");
            assert_eq!(books.dropped(DropReason::BadChecksum), 0, "{congestion}");
            assert_eq!(net.world.host(node).connection_count(), 0, "{congestion}");
        }
    }
}

#[test]
fn a_handshake_takes_what_its_bits_and_the_cables_take() {
    let mut plan = Plan::new(Rate::from_mbps(10), Span::from_ms(5), 100);
    plan.access = Some(Rate::from_mbps(100));
    let mut net = dumbbell(&plan);
    let app = net.bulk(0, Until::Sent(Bytes(1)), 1, Span::from_us(300));
    net.run(Span::from_ms(100));
    // A SYN is 14 + 20 + 40 = 74 bytes: 5.92 us at 100 Mb/s, 59.2 us at 10 Mb/s. It leaves at
    // 300 us and the answer, of the same length, takes as long.
    let there = Span::from_ns(5_920 + 5_000_000 + 59_200);
    assert_eq!(net.bulk_report(0, app).started_at, Some(us(300) + there * 2));
}

/// The live measurement of the lab of the same name: a queue of 100 packets in front of 1.5 Mb/s,
/// filled by one flow.
#[test]
fn a_full_buffer_makes_a_ping_wait_for_all_that_is_in_it() {
    let mut plan =
        Plan::new(Rate::from_bps(1_500_000).expect("it is not zero"), Span::from_ms(10), 100);
    plan.tcp.congestion = "reno".parse().expect("it exists");
    plan.access = Some(Rate::from_mbps(100));
    let mut net = dumbbell(&plan);
    let app = net.bulk(0, Until::Span(Span::from_secs(120)), 1, Span::from_ms(950));
    let ping = PingConfig {
        to: net.to(0).address,
        interval: Span::from_ms(100),
        count: None,
        payload: Bytes(56),
        hop_limit: None,
        after: Span::ZERO,
    };
    let ping = net.start(net.left[0], Ping::new(ping));
    net.run(Span::from_secs(60));
    let before = net.carried().bytes;
    net.run(Span::from_secs(40));
    let carried = net.carried().bytes.count() - before.count();

    let Some(Report::Ping(pings)) = net.world.host(net.left[0]).report(ping) else {
        panic!("a ping was started")
    };
    let rtt = |number: u64| pings.answers.iter().find(|it| it.number == number).map(|it| it.rtt);
    // 98 bytes each way: 7.84 us at 100 Mb/s, 522.667 us at 1.5 Mb/s (rounded up), 10 ms of cable.
    let one_way = Span::from_ps(7_840_000 + 522_666_667 + 10_000_000_000);
    assert_eq!(rtt(0), Some(one_way * 2));
    // Behind 100 packets of 1514 bytes, 8.075 ms each at 1.5 Mb/s, one more is on the line at most:
    // the queue alone is 807 to 816 ms. A ping that finds the queue full is dropped, so the
    // longest that is seen found one place in it.
    let packet = Span::from_ps(8_074_666_667);
    let longest = pings.answers.iter().map(|it| it.rtt).max().expect("there are some");
    assert!(longest <= one_way * 2 + packet * 101, "{longest:?}");
    assert!(longest >= one_way * 2 + packet * 95, "{longest:?}");
    // The buffer is 35 times the bandwidth-delay product, so the line never rests: 1.5 Mb/s x 40 s
    // are 7.5 MB, but for the frame that is under way at either end.
    assert!(carried.abs_diff(7_500_000) <= 1514, "{carried}");
    assert!(net.bulk_report(0, app).ended_at.is_none());
    assert!(net.world.balances());
}

/// Hosts that have to ask who their gateway is, do: the routers' controllers would answer. Without
/// any, packets wait for the answer, and the books say what became of them.
#[test]
fn a_host_that_does_not_know_its_gateway_asks_for_it() {
    let plan = Plan::new(Rate::from_mbps(10), Span::from_ms(5), 100);
    let mut topology = rig::dumbbell::topology(&plan);
    topology.asks_for_gateways = true;
    let asking = world::network::host(&topology, &topology.hosts[0], 1);
    let knowing = world::network::host(&rig::dumbbell::topology(&plan), &topology.hosts[0], 1);
    let mut world = world::World::new();
    for host in [asking, knowing] {
        let node = world.add_host(host);
        world.capture(node.port(0), true);
        world.with_host(node, |host, now| {
            let to = hosts::Endpoint::new([10, 2, 0, 1].into(), 80);
            let until = Until::Sent(Bytes(1));
            let (after, congestion, parallel) = (Span::ZERO, None, 1);
            let config = hosts::BulkConfig { to, until, after, congestion, parallel };
            host.start(now, Box::new(hosts::Bulk::new(config)));
        });
    }
    world.advance(us(1_000));
    let kinds: Vec<[u8; 2]> = std::iter::from_fn(|| world.poll_capture())
        .map(|captured| [captured.bytes[12], captured.bytes[13]])
        .collect();
    assert_eq!(kinds, [[8, 6], [8, 0]], "ARP of the first, IPv4 of the second");
    assert!(world.balances());
}
