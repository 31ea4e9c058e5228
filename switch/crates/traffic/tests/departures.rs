//! Exact instants of departure, worked out by hand. 1500 bytes at 100 Mb/s take 120 us.

use crate::support;

use support::*;
use traffic::{DropReason, Limit, Output, PortConfig, ShaperConfig, Verdict};
use units::{Bytes, ClassId, PacketRate, PortId, Rate, Span, Time};

fn hundred_megabits(class_count: usize) -> PortConfig {
    PortConfig::strict(Some(Rate::from_mbps(100)), class_count)
}

#[test]
fn packets_leave_back_to_back_at_the_line_rate() {
    let mut manager = one_port(hundred_megabits(1));
    (0..3).for_each(|id| send(&mut manager, us(10), id, 1500, 0));
    let out = departures(&mut manager, us(1000));
    // The first leaves on arrival, each further one when the line is free: 120 us later.
    assert_eq!(instants(&out), [(0, 10), (1, 130), (2, 250)]);
    assert_eq!(out[2].line_free_at, us(370));
    // Packet 2 found both others in the queue, and left an empty queue.
    assert_eq!(out[2].residence.enqueue_depth.packets, 2);
    assert_eq!(out[2].residence.enqueue_depth.bytes, Bytes(3000));
    assert_eq!(out[2].residence.dequeue_depth.packets, 0);
    assert_eq!(out[2].queueing_span(), Span::from_us(240));
}

#[test]
fn a_late_poll_gives_the_instants_of_a_prompt_one() {
    let run = |polls: &[u64]| {
        let mut manager = one_port(hundred_megabits(1));
        (0..5).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
        polls.iter().flat_map(|at| departures(&mut manager, us(*at))).collect::<Vec<_>>()
    };
    let prompt: Vec<u64> = (0..600).collect();
    assert_eq!(run(&prompt), run(&[599]));
    assert_eq!(run(&prompt), run(&[1, 300, 301, 480]));
}

#[test]
fn low_priority_waits_while_high_is_backlogged() {
    let mut manager = one_port(hundred_megabits(2));
    (0..2).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    let mut out = departures(&mut manager, us(0));
    (10..13).for_each(|id| send(&mut manager, us(50), id, 1500, 1));
    out.extend(departures(&mut manager, us(1000)));
    // Packet 0 is on the line when class 1 comes; packet 1 waits for all of class 1.
    assert_eq!(instants(&out), [(0, 0), (10, 120), (11, 240), (12, 360), (1, 480)]);
}

/// Windows of 1 ms; frames of 120 us leave from 300 us on, back to back. The seventh, at 1020 us, is
/// the first that leaves in the second window: the first one was busy for 700 of 1000 us, which
/// includes 100 of the 120 us of the frame before it. The second one was busy throughout.
#[test]
fn a_departure_knows_how_busy_the_line_was_in_the_last_whole_window() {
    let window = Span::from_ms(1);
    let port = PortConfig { utilisation_window: window, ..hundred_megabits(1) };
    let mut manager = one_port(port);
    (0..16).for_each(|id| send(&mut manager, us(300), id, 1500, 0));
    let shares: Vec<u16> = departures(&mut manager, us(2500))
        .iter()
        .map(|departure| departure.utilisation_basis_points)
        .collect();
    // 300, 420, ... 900 us; 1020 ... 1980 us; 2100 us.
    assert_eq!(shares[..6], [0; 6]);
    assert_eq!(shares[6..15], [7000; 9]);
    assert_eq!(shares[15], 10_000);
}

#[test]
fn a_new_line_rate_acts_on_the_backlog() {
    let mut manager = one_port(hundred_megabits(1));
    (0..4).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    let mut out = departures(&mut manager, us(150));
    edit_port(&mut manager, us(150), |port| port.line_rate = Some(Rate::from_mbps(1000)));
    out.extend(departures(&mut manager, us(1000)));
    // Packet 1 has been on the line since 120 us and ends at 240 us as promised; packets 2 and 3
    // take 12 us each at 1 Gb/s.
    assert_eq!(instants(&out), [(0, 0), (1, 120), (2, 240), (3, 252)]);
}

#[test]
fn a_queue_rate_in_packets_a_second_acts_on_the_backlog() {
    let mut manager = one_port(PortConfig::strict(None, 1));
    let mut config = manager.config().clone();
    config.set_queue_rate(1000, Some(PortId(1)), None).expect("port 1 exists");
    manager.configure(us(0), config).expect("valid");
    (0..5).for_each(|id| send(&mut manager, us(0), id, 64, 0));
    let mut out = departures(&mut manager, us(1500));
    // At 1000 packets a second: 0 and 1000 us. Packet 2 is owed until 2000 us when the rate rises
    // tenfold at 1500 us: the 500 us that are left become 50 us.
    let mut config = manager.config().clone();
    config.set_queue_rate(10_000, None, None).expect("ports exist");
    manager.configure(us(1500), config).expect("valid");
    out.extend(departures(&mut manager, us(10_000)));
    assert_eq!(instants(&out), [(0, 0), (1, 1000), (2, 1550), (3, 1650), (4, 1750)]);
}

#[test]
fn a_queue_that_must_wait_lets_lower_classes_pass() {
    let mut config = hundred_megabits(2);
    let rate = PacketRate::from_pps(1000).expect("not zero");
    config.queues[1].shaper = Some(ShaperConfig::Packets { rate, burst: 1, catches_up: false });
    let mut manager = one_port(config);
    (10..12).for_each(|id| send(&mut manager, us(0), id, 1500, 1));
    (0..10).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    let out = departures(&mut manager, us(2000));
    // Class 1 may send at 0 and at 1000 us. Class 0 fills the line from 120 us: its packet 7 goes
    // at 960 us and keeps the line until 1080 us; then class 1 is first again.
    let late: Vec<_> = instants(&out).into_iter().filter(|(_, at)| *at >= 900).collect();
    assert_eq!(late, [(7, 960), (11, 1080), (8, 1200), (9, 1320)]);
}

/// Two classes of 1000 packets a second each, at a line that takes nothing for 20 ms, as a full queue
/// in the kernel does: each class misses 20 turns.
#[test]
fn behind_a_line_slower_than_rates_that_catch_up_the_highest_class_has_it() {
    let order = |catches_up: bool| {
        let mut config = hundred_megabits(2);
        let rate = PacketRate::from_pps(1000).expect("not zero");
        for queue in &mut config.queues {
            queue.shaper = Some(ShaperConfig::Packets { rate, burst: 1, catches_up });
        }
        let mut manager = one_port(config);
        manager.set_stalled(us(0), PortId(1), true);
        (0..20).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
        (20..40).for_each(|id| send(&mut manager, us(0), id, 1500, 1));
        manager.set_stalled(us(20_000), PortId(1), false);
        // Eleven departures at 120 us.
        departures(&mut manager, us(21_200)).iter().map(|it| it.packet.id).collect::<Vec<_>>()
    };
    // All that was missed is due.
    assert_eq!(order(true), (20..31).collect::<Vec<_>>());
    // Nothing was missed: each class goes on with one packet a millisecond.
    assert_eq!(order(false), [20, 0, 21, 1]);
}

#[test]
fn a_port_shaper_holds_all_classes_to_its_rate() {
    let mut config = hundred_megabits(2);
    config.shaper = Some(ShaperConfig::Bits { rate: Rate::from_mbps(10), burst: Bytes(3000) });
    let mut manager = one_port(config);
    (0..3).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    send(&mut manager, us(0), 10, 1500, 1);
    let out = departures(&mut manager, us(10_000));
    // The bucket covers two packets: 0 us and, when the line is free, 120 us. 1500 bytes earn at
    // 10 Mb/s in 1200 us, counted from when the bucket began to drain.
    assert_eq!(instants(&out), [(10, 0), (0, 120), (1, 1200), (2, 2400)]);
}

#[test]
fn the_line_carries_what_egress_made_of_the_packet() {
    let mut manager = one_port(hundred_megabits(1));
    (0..2).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    assert!(matches!(manager.poll_output(us(0)), Some(Output::Depart(_))));
    // Egress adds 250 bytes of telemetry: 1750 bytes take 140 us.
    assert_eq!(manager.settle(PortId(1), Bytes(1750)), us(140));
    assert_eq!(manager.next_due(), Some(us(140)));
}

#[test]
fn overhead_counts_on_the_line_and_nowhere_else() {
    let mut config = hundred_megabits(1);
    config.overhead = Bytes(24);
    config.queues[0].limit = Limit::bytes(Bytes(3000));
    let mut manager = one_port(config);
    (0..2).for_each(|id| send(&mut manager, us(0), id, 1476, 0));
    // 1476 + 24 = 1500 bytes take 120 us.
    assert_eq!(instants(&departures(&mut manager, us(500))), [(0, 0), (1, 120)]);
}

#[test]
fn tail_drop_names_its_limit() {
    let mut config = hundred_megabits(2);
    config.queues[0].limit = Limit::packets(2);
    config.queues[1].limit = Limit::bytes(Bytes(1000));
    config.limit = Limit::packets(3);
    let mut manager = one_port(config);
    let mut reason_of =
        |length, class| match manager.handle_packet(us(0), arrival(0, length, class)) {
            Verdict::Held => None,
            Verdict::Dropped(dropped) => Some(dropped.reason),
        };
    assert_eq!(reason_of(1500, 0), None);
    assert_eq!(reason_of(1500, 0), None);
    assert_eq!(reason_of(1500, 0), Some(DropReason::QueueLimit));
    assert_eq!(reason_of(1001, 1), Some(DropReason::QueueLimit));
    assert_eq!(reason_of(100, 1), None);
    assert_eq!(reason_of(100, 1), Some(DropReason::PortLimit));
    assert_eq!(reason_of(100, 2), Some(DropReason::BadClass));
    let queue = manager.queue(PortId(1), ClassId(0)).expect("configured");
    assert_eq!(queue.counters.dropped(DropReason::QueueLimit).packets, 1);
    assert_eq!(queue.high_water.packets, 2);
    assert_eq!(manager.totals().dropped(DropReason::BadClass).packets, 1);
    assert!(manager.balance());
}

#[test]
fn high_water_marks_stay_until_they_are_reset() {
    let mut manager = one_port(hundred_megabits(1));
    (0..5).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    departures(&mut manager, us(400));
    let marks = |manager: &traffic::Manager<Packet>| {
        let queue = manager.queue(PortId(1), ClassId(0)).expect("configured");
        (queue.high_water.packets, queue.high_water.bytes)
    };
    assert_eq!(marks(&manager), (5, Bytes(7500)));
    // Packets 0 to 3 left at 0, 120, 240 and 360 us.
    manager.reset_high_water();
    assert_eq!(marks(&manager), (1, Bytes(1500)));
}

#[test]
fn a_packet_for_a_port_nobody_configured_is_counted() {
    let mut manager = one_port(hundred_megabits(1));
    let mut stray = arrival(0, 100, 0);
    stray.output = PortId(9);
    let Verdict::Dropped(dropped) = manager.handle_packet(us(0), stray) else {
        panic!("port 9 does not exist");
    };
    assert_eq!(dropped.reason, DropReason::UnknownPort);
    assert!(manager.balance());
}

#[test]
fn a_removed_port_drops_what_waits_and_says_so() {
    let mut manager = one_port(hundred_megabits(1));
    (0..3).for_each(|id| send(&mut manager, us(0), id, 1500, 0));
    departures(&mut manager, us(0));
    manager.configure(us(1), traffic::Config::default()).expect("no ports is valid");
    let (departed, dropped) = outputs(&mut manager, us(1));
    assert_eq!(departed, []);
    let ids: Vec<_> = dropped.iter().map(|dropped| (dropped.packet.id, dropped.reason)).collect();
    assert_eq!(ids, [(1, DropReason::QueueRemoved), (2, DropReason::QueueRemoved)]);
    assert!(manager.balance());
    assert_eq!(manager.next_due(), None);
}

#[test]
fn a_refused_configuration_changes_nothing_and_says_where() {
    let mut manager = one_port(hundred_megabits(2));
    let before = manager.config().clone();
    let mut config = before.clone();
    let port = config.ports.get_mut(&PortId(1)).expect("configured");
    port.line_rate = None;
    port.queues[1].limit = Limit::packets(0);
    let error = manager.configure(Time::ZERO, config).expect_err("a limit of 0 is refused");
    assert!(
        error.to_string().starts_with("port 1, class 1, limit: a limit of 0 packets"),
        "{error}"
    );
    assert_eq!(manager.config(), &before);
}

#[test]
fn a_stalled_port_keeps_its_packets_where_they_are_seen_and_goes_on_when_it_may() {
    let mut config = hundred_megabits(1);
    config.queues[0].limit = Limit::packets(2);
    let mut manager = one_port(config);
    send(&mut manager, us(0), 0, 1500, 0);
    let mut out = departures(&mut manager, us(10));
    manager.set_stalled(us(10), PortId(1), true);
    (1..3).for_each(|id| send(&mut manager, us(10), id, 1500, 0));
    // Nothing is due: not when the line would be free, not ever.
    assert_eq!(manager.next_due(), None);
    assert!(departures(&mut manager, us(5000)).is_empty());
    // Both wait in the queue, and the queue's own limit holds for the third.
    let full = manager.handle_packet(us(5000), arrival(9, 1500, 0));
    assert!(matches!(full, Verdict::Dropped(it) if it.reason == DropReason::QueueLimit));
    manager.set_stalled(us(6000), PortId(1), false);
    out.extend(departures(&mut manager, us(10_000)));
    // From then on at the line's rate again; what it could have sent before is not made up for.
    assert_eq!(instants(&out), [(0, 0), (1, 6000), (2, 6120)]);
    assert!(manager.balance());
}
