//! Active queue management inside a port: who is dropped or marked, where, and in whose books.

use crate::support;

use support::*;
use traffic::{
    AqmConfig, AqmState, Arrival, CodelConfig, CodelState, Discipline, DropReason, DualPi2Config,
    Ecn, EcnStepConfig, Limit, Manager, PieConfig, PieState, PortConfig, Probability, RedConfig,
    RedProfile, RedState, SchedulerConfig, Verdict,
};
use units::{Bytes, ClassId, PortId, Rate, Span, Time};

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

/// The state of the queue's management.
fn state(manager: &Manager<Packet>) -> Option<AqmState> {
    manager.queue(PortId(1), ClassId(0)).expect("it is configured").aqm
}

#[test]
fn codel_shows_when_it_will_drop_next() {
    let mut manager = one_port(port(AqmConfig::Codel(CodelConfig::default())));
    assert_eq!(state(&manager), Some(AqmState::Codel(CodelState { count: 0, next: None })));
    let mut shown = Vec::new();
    let mut dropped = Vec::new();
    for now in 0..500 {
        let out = outputs(&mut manager, ms(now)).1;
        dropped.extend(out.iter().map(|drop| drop.at));
        match state(&manager) {
            Some(AqmState::Codel(CodelState { next: Some(next), .. })) => shown.push(next),
            Some(AqmState::Codel(_)) => {}
            other => panic!("not CoDel's: {other:?}"),
        }
        (0..2).for_each(|id| send(&mut manager, ms(now), id, 1000, 0));
    }
    shown.dedup();
    // Under a steady overload what it announces, it does: at the next departure, which is at most
    // a millisecond later. The first drop is not announced, the last may be still to come.
    assert!(dropped.len() > 3, "{dropped:?}");
    for (announced, at) in shown.iter().zip(&dropped[1..]) {
        assert!(announced <= at && at.since(*announced) <= Span::from_ms(1), "{announced} {at}");
    }
    assert!(dropped.len() - 1 <= shown.len() && shown.len() <= dropped.len());
}

#[test]
fn red_shows_its_average_and_pie_and_dualpi2_their_probabilities() {
    // With a weight of 1 the average is what the last arrival found: three packets.
    let weight = Probability::ALWAYS;
    let red = RedConfig { weight, ..RedConfig::default() };
    let mut manager = one_port(port(AqmConfig::Red(red)));
    (0..4).for_each(|id| send(&mut manager, ms(0), id, 1000, 0));
    assert_eq!(state(&manager), Some(AqmState::Red(RedState { average_thousandths: 3000 })));

    let mut manager = one_port(port(AqmConfig::Pie(PieConfig::default())));
    overload(&mut manager, 2, 1000, Ecn::NotEct);
    let Some(AqmState::Pie(PieState { probability_ppb, delay, burst_left })) = state(&manager)
    else {
        panic!("not PIE's")
    };
    // Of two packets one has to go, so the probability is on its way there.
    assert!((10_000_000..=1_000_000_000).contains(&probability_ppb), "{probability_ppb}");
    assert!(delay > Span::from_ms(15) && burst_left == Span::ZERO);

    let mut port = port(AqmConfig::Dualpi2(DualPi2Config::default()));
    port.queues.push(port.queues[0].clone());
    port.queues[1].aqm = None;
    port.scheduler = SchedulerConfig::strict(2);
    let mut manager = one_port(port);
    overload(&mut manager, 2, 1000, Ecn::NotEct);
    let Some(AqmState::Dualpi2(told)) = state(&manager) else { panic!("not DualPI2's") };
    let base_ppb = told.base_ppb;
    assert!((1..=1_000_000_000).contains(&base_ppb), "{base_ppb}");

    let step = EcnStepConfig { threshold: Limit::packets(1) };
    let step = AqmConfig::EcnStep(step);
    assert_eq!(state(&one_port(self::port(step))), None, "it remembers nothing");
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
    // Half of the traffic must be dropped: the probability rises until the wait is near the target.
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

/// Two classes at 8 Mb/s, coupled: class 0 is Classic, class 1 is L4S and served nine times as much.
fn coupled() -> PortConfig {
    let mut port = PortConfig::strict(Some(Rate::from_mbps(8)), 2);
    port.scheduler = SchedulerConfig::shared(Discipline::Drr { quantum: Bytes(1000) }, &[1, 9]);
    port.queues.iter_mut().for_each(|queue| queue.limit = Limit::packets(10_000));
    port.queues[0].aqm = Some(AqmConfig::Dualpi2(DualPi2Config::default()));
    port
}

/// Packets of 1000 bytes, of which the line takes one a millisecond, for a minute; the first half
/// does not count. `tenths` gives the offered load of each codepoint in tenths of the line. Returns
/// by class the shares of packets dropped and marked, and the mean wait.
fn minute_of(tenths: &[(Ecn, u64)]) -> [(f64, f64, Span); 2] {
    let mut manager = one_port(coupled());
    let mut seen = [(0u64, 0u64, 0u64, Span::ZERO); 2];
    let mut sent = 0;
    for tenth in 0..600_000u64 {
        let now = Time::ZERO + Span::from_us(100 * tenth);
        let (departed, dropped) = outputs(&mut manager, now);
        if tenth > 300_000 {
            for departure in departed {
                let seen = &mut seen[departure.class.index()];
                seen.0 += 1;
                seen.2 += u64::from(departure.residence.marked);
                seen.3 += departure.queueing_span();
            }
            for drop in dropped {
                assert_eq!(drop.reason, DropReason::Aqm);
                seen[drop.class.index()].0 += 1;
                seen[drop.class.index()].1 += 1;
            }
        }
        for (ecn, rate) in tenths {
            // A whole line is one packet in ten of these steps.
            if tenth * rate / 100 != (tenth + 1) * rate / 100 {
                sent += 1;
                // All say class 0: the codepoint decides.
                let arrival = Arrival { ecn: *ecn, ..arrival(sent, 1000, 0) };
                assert_eq!(manager.handle_packet(now, arrival), Verdict::Held);
            }
        }
    }
    assert!(manager.balance());
    seen.map(|(all, dropped, marked, waits)| {
        let all = all.max(1);
        (dropped as f64 / all as f64, marked as f64 / all as f64, waits / all)
    })
}

#[test]
fn dualpi2_couples_the_marks_of_l4s_to_the_square_root_of_classic_drops() {
    // Classic traffic of 0.9 and L4S of 0.2 lines: 0.1 must be dropped, so p_C = 0.1 / 0.9 = 0.111
    // and p' = 0.333, at which the Classic wait stands at its target; L4S is marked with 2 p' = 0.667
    // and dropped not at all.
    let [classic, l4s] = minute_of(&[(Ecn::NotEct, 9), (Ecn::Ect1, 2)]);
    assert!((classic.0 - 0.111).abs() < 0.01, "{classic:?}");
    assert!((l4s.1 - 0.667).abs() < 0.03 && l4s.0 == 0.0, "{l4s:?}");
    let ms = |span: Span| span.whole_us() as f64 / 1000.0;
    assert!((ms(classic.2) - 15.0).abs() < 2.0, "{classic:?}");
    // An L4S packet waits for the frame on the line, and one or two before it.
    assert!(ms(l4s.2) < 2.0, "{l4s:?}");
}

#[test]
fn dualpi2_marks_classic_packets_that_can_be_marked_until_it_is_overloaded() {
    // Marks alone slow no sender here: the wait grows, p' passes 1 / k, and ECN is no longer of
    // use. 0.2 of 1.2 lines must go: p_C = 0.167 would do, but ECT(0) packets are dropped only from
    // p_C = 0.25 on, so the controller alternates between marking all and dropping too many.
    let [classic, _] = minute_of(&[(Ecn::Ect0, 12)]);
    assert!((classic.0 - 0.167).abs() < 0.02, "{classic:?}");
    assert!(classic.1 > 0.0, "{classic:?}");
}

#[test]
fn dualpi2_drops_l4s_packets_that_do_not_respond_to_their_marks() {
    // 1.5 lines of L4S: a third must go, p_C = 1 / 3 and p' = 0.577 > 1 / k; the rest is marked.
    let [_, l4s] = minute_of(&[(Ecn::Ect1, 15)]);
    assert!((l4s.0 - 0.333).abs() < 0.02, "{l4s:?}");
    assert!(l4s.0 + l4s.1 > 0.99, "{l4s:?}");
}

#[test]
fn two_classes_are_coupled_only_where_it_makes_sense() {
    let refused = |edit: fn(&mut PortConfig)| {
        let mut port = coupled();
        edit(&mut port);
        port.check("port 1").expect_err("refused").to_string()
    };
    assert!(
        refused(|port| port.queues[1].aqm = AqmConfig::named("codel"))
            .contains("class 0, AQM: the L4S class 1, which has queue management of its own")
    );
    assert!(
        refused(|port| {
            port.queues.truncate(1);
            port.scheduler = SchedulerConfig::strict(1);
        })
        .contains("the L4S class 1, which has no queue")
    );
    assert!(
        refused(|port| {
            port.queues.swap(0, 1);
        })
        .contains("class 1, AQM: class 1 as the L4S class of itself")
    );
    assert!(
        refused(|port| {
            port.queues.push(port.queues[0].clone());
            port.scheduler = SchedulerConfig::strict(3);
        })
        .contains("class 2, AQM: the L4S class 1, which another class has taken")
    );
}
