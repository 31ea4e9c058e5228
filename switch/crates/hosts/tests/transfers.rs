//! Whole transfers between two hosts: they arrive, whole and in order, whatever the link does.

use crate::net;

use chance::Probability;
use hosts::{
    Bulk, BulkConfig, BulkReport, DropReason, Endpoint, Listener, ListenerConfig, Report, Service,
    TcpSettings, Until,
};
use net::{Net, Pipe};
use units::{Bytes, Rate, Span, Time};

fn bulk(to: Endpoint, until: Until) -> Box<Bulk> {
    Box::new(Bulk::new(BulkConfig { to, until, after: Span::ZERO, congestion: None, parallel: 1 }))
}

fn listener() -> Box<Listener> {
    let (port, service) = (5001, Service::Discard);
    Box::new(Listener::new(ListenerConfig { port, service, congestion: None }))
}

fn pair(tcp: &TcpSettings, there: Pipe, back: Pipe, seed: u64) -> Net {
    let mut net = Net::new(1, 1, tcp, there, back, seed);
    net.start_right(0, listener());
    net
}

fn report(net: &Net, app: hosts::AppId) -> BulkReport {
    let Report::Bulk(report) = net.report(0, app) else { panic!("a bulk transfer was started") };
    report
}

#[test]
fn a_megabyte_arrives_over_a_clean_link() {
    let clean = Pipe::clean(Some(Rate::from_mbps(100)), Span::from_ms(10), 100);
    let mut net = pair(&TcpSettings::default(), clean.clone(), clean, 1);
    let app = bulk(net.right(0, 5001), Until::Sent(Bytes(1_000_000)));
    let app = net.start_left(0, app);
    net.run_until(Time::ZERO + Span::from_secs(5));
    let done = report(&net, app);
    eprintln!("{done:?} {:?} {:?}", net.hosts[0].books(), net.hosts[1].books());
    assert_eq!(done.acknowledged, 1_000_000);
    assert!(net.hosts.iter().all(|host| host.books().balance()));
    assert_eq!(net.hosts[1].books().dropped(DropReason::BadChecksum), 0);
    assert_eq!(net.hosts[1].books().wrong_payload, 0);
}

/// A link drawn by `dice`: some are merely slow, some lose, double, displace and corrupt.
fn nasty(dice: &mut chance::Chance) -> Pipe {
    let rate = [None, Some(Rate::from_mbps(1)), Some(Rate::from_mbps(50))][dice.below(3) as usize];
    let delay = Span::from_us(dice.below(40_000));
    let mut pipe = Pipe::clean(rate, delay, 2 + dice.below(60) as usize);
    let mut up_to = |ppm: u64| match dice.below(2) {
        0 => Probability::NEVER,
        _ => Probability::ppm(dice.below(ppm)),
    };
    pipe.loss = up_to(200_000);
    pipe.duplication = up_to(100_000);
    pipe.corruption = up_to(50_000);
    pipe.reordering = (up_to(200_000), Span::from_ms(30));
    pipe
}

/// Settings drawn by `dice`, so that every combination of extensions meets every kind of link.
fn some_settings(dice: &mut chance::Chance) -> TcpSettings {
    let mut coin = || dice.below(4) > 0;
    let (sack, timestamps, rack) = (coin(), coin(), coin());
    let (tail_loss_probe, frto, window_scaling, dsack) = (coin(), coin(), coin(), coin());
    let all: Vec<_> = hosts::algorithms().collect();
    TcpSettings {
        congestion: all[dice.below(all.len() as u64) as usize].clone(),
        sack,
        dsack,
        timestamps,
        rack,
        tail_loss_probe,
        frto,
        window_scaling,
        ..TcpSettings::default()
    }
}

/// RFC 9293's promise: every byte once and in order, under any loss, reordering, duplication and
/// corruption. A stream's bytes follow from their places, and every one that arrives is checked.
#[test]
fn every_byte_arrives_whatever_the_link_does() {
    let mut worst = Time::ZERO;
    // `make nightly` sets a million.
    let told = std::env::var("VITRINE_TRANSFERS").ok();
    let count = told.map_or(2_000, |count| count.parse().expect("VITRINE_TRANSFERS is a number"));
    for seed in 0..count {
        let mut dice = chance::Chance::new(seed, "nasty");
        let settings = some_settings(&mut dice);
        let (there, back) = (nasty(&mut dice), nasty(&mut dice));
        let mut net = pair(&settings, there.clone(), back, seed);
        let total = 1 + dice.below(150_000);
        let over_ipv6 = dice.below(2) == 0;
        let to = if over_ipv6 { net.right_ipv6(0, 5001) } else { net.right(0, 5001) };
        let app = bulk(to, Until::Sent(Bytes(total)));
        let app = net.start_left(0, app);
        net.run_until(Time::ZERO + Span::from_secs(3_000));
        let done = report(&net, app);
        let told =
            format!("seed {seed}, {to:?}: {settings:?} {there:?} {done:?} {:?}", net.snapshot(0));
        // So many losses in a row that the connection is given up are possible, but not here.
        assert_eq!((done.acknowledged, done.failed), (total, 0), "{told}");
        let Report::Listener(heard) = net.report(1, hosts::AppId(0)) else { panic!("{told}") };
        assert_eq!((heard.ended, heard.taken_bytes), (1, total), "{told}");
        for host in &net.hosts {
            assert_eq!(host.books().wrong_payload, 0, "{told}");
            assert!(host.books().balance(), "{told}");
            assert_eq!(host.connection_count(), 0, "{told}");
        }
        worst = worst.max(done.ended_at.expect("it ended"));
    }
    eprintln!("the slowest took {worst}");
}
