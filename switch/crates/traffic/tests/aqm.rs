//! Active queue management inside a port: who is dropped or marked, where, and in whose books.

mod support;

use support::*;
use traffic::{
    AqmConfig, CodelConfig, DropReason, Ecn, EcnStepConfig, Limit, Manager, PieConfig, PortConfig,
    Probability, RedConfig, RedProfile, Verdict,
};
use units::{ClassId, PortId, Rate, Span, Time};

/// 8 Mb/s: a byte takes 1 us, 1000 bytes 1 ms.
fn port(aqm: AqmConfig) -> PortConfig {
    let mut port = PortConfig::strict(Some(Rate::from_mbps(8)), 1);
    port.queues[0].limit = Limit::packets(1000);
    port.queues[0].aqm = Some(aqm);
    port
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Offers `per_ms` packets of 1000 bytes every millisecond until `until_ms`; each millisecond
/// serves one.
fn overload(manager: &mut Manager<Packet>, per_ms: u64, until_ms: u64, ecn: Ecn) -> Seen {
    let mut seen = Seen::default();
    for now in 0..until_ms {
        let (departed, dropped) = outputs(manager, ms(now));
        seen.waits.extend(departed.iter().map(|departure| departure.queueing_span()));
        seen.marked += departed.iter().filter(|d| d.residence.marked).count() as u64;
        seen.dropped_at_head.extend(dropped.iter().map(|drop| (drop.at, drop.reason)));
        for id in 0..per_ms {
            let mut arrival = arrival(id, 1000, 0);
            arrival.ecn = ecn;
            if let Verdict::Dropped(dropped) = manager.handle_packet(ms(now), arrival) {
                assert_eq!(dropped.reason, DropReason::Aqm);
                seen.refused += 1;
            }
        }
        assert!(manager.balance());
    }
    seen
}

#[derive(Default)]
struct Seen {
    waits: Vec<Span>,
    marked: u64,
    refused: u64,
    dropped_at_head: Vec<(Time, DropReason)>,
}

#[test]
fn codel_drops_at_the_head_on_its_schedule() {
    let mut manager = one_port(port(AqmConfig::Codel(CodelConfig::default())));
    let seen = overload(&mut manager, 2, 500, Ecn::NotEct);
    // Two packets a millisecond against one: after k departures a packet has waited about k / 2
    // ms, so the target of 5 ms is passed around 10 ms; an interval later the first drop, then
    // +100, +70.71, +57.74, +50, +44.72 ms, each at the departure that follows: within 1 ms.
    let at: Vec<u64> = seen.dropped_at_head.iter().map(|(at, _)| at.whole_us() / 1000).collect();
    let first = at[0];
    assert!((105..=115).contains(&first), "{at:?}");
    let after: Vec<u64> = at.iter().map(|at| at - first).collect();
    assert_eq!(after[..5], [0, 100, 171, 229, 279]);
    assert!(seen.dropped_at_head.iter().all(|(_, reason)| *reason == DropReason::Aqm));
    let queue = manager.queue(PortId(1), ClassId(0)).expect("configured");
    assert_eq!(queue.counters.dropped(DropReason::Aqm).packets, at.len() as u64);
}

#[test]
fn codel_marks_what_can_be_marked_and_drops_nothing_then() {
    let mut manager = one_port(port(AqmConfig::Codel(CodelConfig::default())));
    let seen = overload(&mut manager, 2, 500, Ecn::Ect0);
    assert!(seen.marked >= 5 && seen.dropped_at_head.is_empty());
    let queue = manager.queue(PortId(1), ClassId(0)).expect("configured");
    assert_eq!(queue.counters.marked.packets, seen.marked);
}

#[test]
fn pie_steers_an_unresponsive_overload_to_its_target() {
    // Half of what comes must go: the probability rises until the wait is near the target.
    let mut manager = one_port(port(AqmConfig::Pie(PieConfig::default())));
    let seen = overload(&mut manager, 2, 60_000, Ecn::NotEct);
    let late = &seen.waits[seen.waits.len() / 2..];
    let mean_us = late.iter().map(|wait| wait.whole_us()).sum::<u64>() / late.len() as u64;
    assert!((10_000..20_000).contains(&mean_us), "a mean wait of {mean_us} us for 15 ms");
    let share = seen.refused as f64 / 120_000.0;
    assert!((share - 0.5).abs() < 0.02, "{share} refused");
}

#[test]
fn red_drops_arrivals_in_proportion_to_the_average_queue() {
    // From 0 at 100 packets to 100 % at 300: half must go, so the queue settles around 200, or a
    // little below because drops are spaced evenly (a mean gap of (1 + 1 / p) / 2 packets: half
    // go at p = 1/3, which is at 167).
    let profile = RedProfile { min: 100, max: 300, max_probability: Probability::ALWAYS };
    let red = RedConfig {
        profiles: vec![profile],
        weight: Probability::ppm(20_000),
        gentle: false,
        ..RedConfig::default()
    };
    let mut manager = one_port(port(AqmConfig::Red(red)));
    let seen = overload(&mut manager, 2, 20_000, Ecn::NotEct);
    let queue = manager.queue(PortId(1), ClassId(0)).expect("configured");
    assert!(queue.depth.packets.abs_diff(167) < 15, "{:?}", queue.depth);
    assert!((seen.refused as f64 / 40_000.0 - 0.5).abs() < 0.02);
}

#[test]
fn a_step_marks_above_its_threshold_and_drops_nobody() {
    let threshold = Limit::packets(3);
    let mut manager = one_port(port(AqmConfig::EcnStep(EcnStepConfig { threshold })));
    let arrivals = [true, true, true, true, false, true];
    for (id, ecn_capable) in arrivals.into_iter().enumerate() {
        let mut arrival = arrival(id as u64, 1000, 0);
        arrival.ecn = if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
        assert_eq!(manager.handle_packet(ms(0), arrival), Verdict::Held);
    }
    let marked: Vec<bool> =
        departures(&mut manager, ms(100)).iter().map(|d| d.residence.marked).collect();
    // Packets 3 and 5 find three or more waiting; packet 4 cannot be marked.
    assert_eq!(marked, [false, false, false, true, false, true]);
    assert_eq!(manager.totals().marked.packets, 2);
}
