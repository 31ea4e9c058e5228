//! Queues that are ordered by rank. 1500 bytes at 100 Mb/s take 120 us, 1000 bytes 80 us.

use crate::support;

use support::*;
use traffic::{
    Arrival, Discipline, Dropped, Limit, Manager, PortConfig, QueueOrder, SchedulerConfig, Tally,
    Verdict,
};
use units::{Bytes, ClassId, DropReason, PortId, Rate, Time};

fn ranked(limit: Limit) -> PortConfig {
    let mut port = PortConfig::strict(Some(Rate::from_mbps(100)), 1);
    port.queues[0].limit = limit;
    port.queues[0].order = QueueOrder::Rank;
    port
}

/// A packet of this length and rank.
fn of_rank(id: u64, length: u64, rank: u32) -> Arrival<Packet> {
    Arrival { rank, ..arrival(id, length, 0) }
}

/// Hands packets in that must be held: their numbers and ranks.
fn send_ranked(manager: &mut Manager<Packet>, now: Time, packets: &[(u64, u32)]) {
    for (id, rank) in packets {
        let verdict = manager.handle_packet(now, of_rank(*id, 1500, *rank));
        assert_eq!(verdict, Verdict::Held, "packet {id} at {now}");
    }
}

/// Numbers and reasons of the dropped packets.
fn reasons(dropped: &[Dropped<Packet>]) -> Vec<(u64, DropReason)> {
    dropped.iter().map(|drop| (drop.packet.id, drop.reason)).collect()
}

#[test]
fn the_lowest_rank_leaves_first_and_equal_ranks_in_the_order_of_arrival() {
    let mut manager = one_port(ranked(Limit::NONE));
    send_ranked(&mut manager, us(10), &[(0, 50), (1, 30), (2, 40), (3, 30), (4, 50)]);
    let out = departures(&mut manager, us(1000));
    assert_eq!(instants(&out), [(1, 10), (3, 130), (2, 250), (0, 370), (4, 490)]);
}

#[test]
fn a_packet_on_the_line_is_not_called_back() {
    let mut manager = one_port(ranked(Limit::NONE));
    send_ranked(&mut manager, us(0), &[(0, 9), (1, 9)]);
    // Packet 0 is on the line since 0 us when a lower rank arrives.
    let mut out = departures(&mut manager, us(0));
    send_ranked(&mut manager, us(60), &[(2, 1)]);
    out.extend(departures(&mut manager, us(1000)));
    assert_eq!(instants(&out), [(0, 0), (2, 120), (1, 240)]);
}

#[test]
fn a_full_queue_drops_the_highest_rank_and_of_equal_ranks_the_latest() {
    let mut manager = one_port(ranked(Limit::packets(3)));
    send_ranked(&mut manager, us(0), &[(0, 50), (1, 30), (2, 50)]);
    // Three wait. Rank 40 takes the place of the later one of rank 50, which comes out as a drop.
    send_ranked(&mut manager, us(0), &[(3, 40)]);
    // Ranks 50 and 60 are not lower than any that waits: these two are dropped at the door.
    for (id, rank) in [(4, 50), (5, 60)] {
        let Verdict::Dropped(drop) = manager.handle_packet(us(0), of_rank(id, 1500, rank)) else {
            panic!("there is no room for packet {id}");
        };
        assert_eq!((drop.packet.id, drop.reason, drop.at), (id, DropReason::Rank, us(0)));
    }
    assert!(manager.balance());
    let (out, dropped) = outputs(&mut manager, us(1000));
    assert_eq!(instants(&out), [(1, 0), (3, 120), (0, 240)]);
    assert_eq!(reasons(&dropped), [(2, DropReason::Rank)]);
    // Three drops of 1500 bytes for one reason, and none for another.
    let counters = manager.queue(PortId(1), ClassId(0)).expect("configured").counters;
    let rank = Tally { packets: 3, bytes: Bytes(4500) };
    assert_eq!((counters.dropped(DropReason::Rank), counters.dropped_in_all()), (rank, rank));
    assert!(manager.balance());
}

#[test]
fn as_many_packets_go_as_a_long_one_needs_and_none_if_that_is_not_enough() {
    let mut manager = one_port(ranked(Limit::bytes(Bytes(3000))));
    for (id, rank) in [(0, 10), (1, 20), (2, 30)] {
        let verdict = manager.handle_packet(us(0), of_rank(id, 1000, rank));
        assert_eq!(verdict, Verdict::Held);
    }
    // 2000 bytes of rank 15 need the places of ranks 20 and 30.
    assert_eq!(manager.handle_packet(us(0), of_rank(3, 2000, 15)), Verdict::Held);
    // 2500 bytes of rank 12 would need 1500 more than the one packet of a higher rank gives up.
    let refused = manager.handle_packet(us(0), of_rank(4, 2500, 12));
    assert!(matches!(refused, Verdict::Dropped(_)), "{refused:?}");
    // No room in the world for 3001 bytes.
    let refused = manager.handle_packet(us(0), of_rank(5, 3001, 0));
    assert!(matches!(refused, Verdict::Dropped(_)), "{refused:?}");
    let (out, dropped) = outputs(&mut manager, us(1000));
    // 1000 bytes take 80 us.
    assert_eq!(instants(&out), [(0, 0), (3, 80)]);
    assert_eq!(reasons(&dropped), [(2, DropReason::Rank), (1, DropReason::Rank)]);
    assert!(manager.balance());
}

#[test]
fn a_queue_of_one_packet_keeps_the_lowest_rank() {
    let mut manager = one_port(ranked(Limit::packets(1)));
    send_ranked(&mut manager, us(0), &[(0, 7), (1, 5), (2, 3)]);
    let (out, dropped) = outputs(&mut manager, us(1000));
    assert_eq!(instants(&out), [(2, 0)]);
    assert_eq!(reasons(&dropped), [(0, DropReason::Rank), (1, DropReason::Rank)]);
    assert!(manager.balance());
}

#[test]
fn what_waits_is_sorted_when_the_order_becomes_that_of_ranks() {
    let mut config = ranked(Limit::NONE);
    config.queues[0].order = QueueOrder::Arrival;
    let mut manager = one_port(config);
    send_ranked(&mut manager, us(0), &[(0, 9), (1, 8), (2, 7), (3, 6)]);
    let mut out = departures(&mut manager, us(0));
    edit_port(&mut manager, us(50), |port| port.queues[0].order = QueueOrder::Rank);
    out.extend(departures(&mut manager, us(1000)));
    let order: Vec<u64> = out.iter().map(|departure| departure.packet.id).collect();
    assert_eq!(order, [0, 3, 2, 1]);
}

#[test]
fn ranks_order_a_queue_and_the_scheduler_still_chooses_among_queues() {
    let mut config = PortConfig::strict(Some(Rate::from_mbps(100)), 2);
    config.queues.iter_mut().for_each(|queue| queue.order = QueueOrder::Rank);
    let mut manager = one_port(config);
    for (id, class, rank) in [(0, 0, 1), (1, 1, 9), (2, 1, 8), (3, 0, 0)] {
        let packet = Arrival { rank, ..arrival(id, 1500, class) };
        assert_eq!(manager.handle_packet(us(0), packet), Verdict::Held);
    }
    // Class 1 is served first, whatever the ranks in class 0.
    let out = departures(&mut manager, us(1000));
    assert_eq!(instants(&out), [(2, 0), (1, 120), (3, 240), (0, 360)]);
}

#[test]
fn weighted_fair_queueing_refuses_queues_ordered_by_rank() {
    let mut config = ranked(Limit::NONE);
    config.scheduler = SchedulerConfig::shared(Discipline::Wfq, &[1]);
    let error = config.check("port 1").expect_err("the tags would be out of order");
    assert!(error.to_string().contains("class 0, order"), "{error}");
}
