//! How schedulers share a line: fairness and delay bounds, guarantees, borrowing.

use crate::support;

use support::*;
use traffic::{
    Chance, Departure, Discipline, Manager, NodeConfig, NodeKind, Output, PortConfig,
    SchedulerConfig, ShaperConfig,
};
use units::{Bytes, ClassId, PortId, Rate, Span, Time};

/// 8 Mb/s: a byte takes 1 us.
const BYTE_A_US: Rate = Rate::from_mbps(8);

fn port(scheduler: SchedulerConfig, class_count: usize) -> PortConfig {
    let mut port = PortConfig::strict(Some(BYTE_A_US), class_count);
    port.scheduler = scheduler;
    port.queues.iter_mut().for_each(|queue| queue.limit = traffic::Limit::packets(1000));
    port
}

/// Keeps the classes backlogged until `until`; `length` says how long each next packet is.
fn saturate(
    manager: &mut Manager<Packet>,
    from: Time,
    until: Time,
    classes: &[u8],
    mut length: impl FnMut(u8) -> u64,
) -> Vec<Departure<Packet>> {
    let mut departures = Vec::new();
    for class in classes {
        let held = manager.queue(PortId(1), ClassId(*class)).map_or(0, |queue| queue.depth.packets);
        (held..4).for_each(|id| send(manager, from, id, length(*class), *class));
    }
    while let Some(due) = manager.next_due().filter(|due| *due < until) {
        while let Some(output) = manager.poll_output(due) {
            let Output::Depart(departure) = output else { panic!("nothing is dropped") };
            departures.push(departure);
        }
        // The contract: inputs are dated with the instant reached.
        for class in classes {
            let depth = manager.queue(PortId(1), ClassId(*class)).map_or(0, |q| q.depth.packets);
            (depth..4).for_each(|id| send(manager, due, id, length(*class), *class));
        }
    }
    departures
}

fn bytes_of(departures: &[Departure<Packet>], class: u8) -> u64 {
    let own = departures.iter().filter(|departure| departure.class == ClassId(class));
    own.map(|departure| departure.packet.length).sum()
}

fn share_of(departures: &[Departure<Packet>], class: u8) -> f64 {
    let all: u64 = departures.iter().map(|departure| departure.packet.length).sum();
    bytes_of(departures, class) as f64 / all as f64
}

#[test]
fn drr_keeps_its_fairness_bound_over_every_interval() {
    // Q = 500 for weight 1; quanta 500, 1000, 1500, so f = 1, 2, 3. Lengths 64 to 1500.
    let (quantum, longest) = (500.0, 1500.0);
    let weights = [1u32, 2, 3];
    let scheduler = SchedulerConfig::shared(Discipline::Drr { quantum: Bytes(500) }, &weights);
    let mut manager = one_port(port(scheduler, 3));
    let mut chance = Chance::new(1, "lengths");
    let end = Time::ZERO + Span::from_secs(3);
    let departures = saturate(&mut manager, us(0), end, &[0, 1, 2], |_| 64 + chance.below(1437));
    assert!(departures.len() > 3000);
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let (fi, fj) = (f64::from(weights[i]), f64::from(weights[j]));
        // The largest gap over any interval is the spread of sent_i / f_i - sent_j / f_j.
        let (mut gap, mut low, mut high) = (0.0, 0.0f64, 0.0f64);
        for departure in &departures {
            let length = departure.packet.length as f64;
            match departure.class.index() {
                class if class == i => gap += length / fi,
                class if class == j => gap -= length / fj,
                _ => {}
            }
            (low, high) = (low.min(gap), high.max(gap));
        }
        let bound = quantum + longest / fi + longest / fj;
        assert!(high - low <= bound, "classes {i} and {j}: {} above {bound}", high - low);
    }
}

#[test]
fn wrr_favours_long_packets_and_drr_does_not() {
    let run = |discipline| {
        let mut manager = one_port(port(SchedulerConfig::shared(discipline, &[1, 1]), 2));
        let end = Time::ZERO + Span::from_secs(2);
        let length = |class| if class == 0 { 64 } else { 1500 };
        share_of(&saturate(&mut manager, us(0), end, &[0, 1], length), 0)
    };
    // 64 / (64 + 1500) = 4.09 %.
    assert!((run(Discipline::Wrr) - 0.0409).abs() < 0.0005);
    assert!((run(Discipline::Drr { quantum: Bytes(1500) }) - 0.5).abs() < 0.002);
    assert!((run(Discipline::Wfq) - 0.5).abs() < 0.002);
}

/// When the fluid server (GPS) would finish each packet, in microseconds: simulated on its own,
/// in floating point, from `(arrival, class, length)` in order of arrival.
fn fluid_finishes(packets: &[(f64, usize, f64)], weights: &[f64]) -> Vec<f64> {
    let mut finishes = vec![0.0; packets.len()];
    let mut queues: Vec<Vec<(usize, f64)>> = vec![Vec::new(); weights.len()];
    let (mut now, mut next) = (0.0, 0);
    loop {
        let busy: f64 =
            queues.iter().zip(weights).filter(|(queue, _)| !queue.is_empty()).map(|(_, w)| w).sum();
        let arrival = packets.get(next).map(|packet| packet.0);
        // A class of weight w is served w / busy bytes a microsecond.
        let first_done = queues
            .iter()
            .zip(weights)
            .filter_map(|(queue, w)| queue.first().map(|(_, left)| now + left * busy / w))
            .fold(f64::INFINITY, f64::min);
        let until = arrival.unwrap_or(f64::INFINITY).min(first_done);
        if until.is_infinite() {
            return finishes;
        }
        for (queue, w) in queues.iter_mut().zip(weights) {
            if let Some((packet, left)) = queue.first_mut() {
                *left -= (until - now) * w / busy;
                if *left < 1e-6 {
                    finishes[*packet] = until;
                    queue.remove(0);
                }
            }
        }
        now = until;
        if arrival == Some(until) {
            let (_, class, length) = packets[next];
            queues[class].push((next, length));
            next += 1;
        }
    }
}

#[test]
fn wfq_finishes_no_packet_later_than_the_fluid_server_plus_one_longest_packet() {
    let weights = [1u32, 2, 5];
    for seed in 0..20 {
        let mut chance = Chance::new(seed, "wfq");
        let mut manager = one_port(port(SchedulerConfig::shared(Discipline::Wfq, &weights), 3));
        let (mut packets, mut finished) = (Vec::new(), Vec::new());
        let mut now = Time::ZERO;
        for id in 0..2000 {
            // 782 bytes on average every 850 us: 92 % of the line, with busy periods of all sizes.
            now += Span::from_us(chance.exponential(Span::from_us(850)).whole_us());
            finished.extend(departures(&mut manager, now));
            let (class, length) = (chance.below(3), 64 + chance.below(1437));
            packets.push((now.whole_us() as f64, class as usize, length as f64));
            send(&mut manager, now, id, length, class as u8);
        }
        finished.extend(departures(&mut manager, now + Span::from_secs(10)));
        assert_eq!(finished.len(), 2000);
        let fluid = fluid_finishes(&packets, &weights.map(f64::from));
        for departure in &finished {
            let finish = departure.line_free_at.ps() as f64 / 1e6;
            let bound = fluid[departure.packet.id as usize] + 1500.0;
            assert!(finish <= bound + 0.01, "seed {seed}: {departure:?} after {bound} us");
        }
    }
}

#[test]
fn wfq_shares_what_a_class_of_higher_priority_leaves() {
    use traffic::GroupConfig;
    // Class 2 takes half the line in bursts; classes 0 and 1 share the rest 1 : 3.
    let groups = vec![
        GroupConfig::new(Discipline::Wrr, &[(2, 1)]),
        GroupConfig::new(Discipline::Wfq, &[(0, 1), (1, 3)]),
    ];
    let mut config = port(SchedulerConfig::Groups(groups), 3);
    config.queues[2].shaper =
        Some(ShaperConfig::Bits { rate: Rate::from_mbps(4), burst: Bytes(5000) });
    let mut manager = one_port(config);
    let end = Time::ZERO + Span::from_secs(3);
    let departures = saturate(&mut manager, us(0), end, &[0, 1, 2], |_| 1000);
    assert!((share_of(&departures, 2) - 0.5).abs() < 0.005, "{}", share_of(&departures, 2));
    let ratio = bytes_of(&departures, 1) as f64 / bytes_of(&departures, 0) as f64;
    assert!((ratio - 3.0).abs() < 0.03, "{ratio}");
}

/// Root 8 Mb/s; two leaves with the given rates, ceils and quanta.
fn tree(leaves: [(u64, u64, u64); 2]) -> SchedulerConfig {
    let leaves = leaves.iter().enumerate().map(|(class, (rate, ceil, quantum))| {
        let (rate, ceil) = (Rate::from_bps(rate * 1000), Rate::from_bps(ceil * 1000));
        let (rate, ceil) = (rate.expect("not zero"), ceil.expect("not zero"));
        let mut leaf = NodeConfig::leaf("leaf", class as u8, rate, ceil);
        let (class, quantum) = (ClassId(class as u8), Bytes(*quantum));
        leaf.kind = NodeKind::Leaf { class, priority: 0, quantum };
        leaf
    });
    SchedulerConfig::Hierarchy(NodeConfig::inner("root", BYTE_A_US, BYTE_A_US, leaves.collect()))
}

#[test]
fn a_tree_guarantees_rates_and_lends_what_nobody_uses() {
    // 5.6 and 2.4 of 8 Mb/s guaranteed, ceil 8 Mb/s each: 70 : 30, all of it alone, 70 : 30 again.
    let mut manager = one_port(port(tree([(5600, 8000, 1514), (2400, 8000, 1514)]), 2));
    let second = |s: u64| Time::ZERO + Span::from_secs(s);
    let both = saturate(&mut manager, second(0), second(2), &[0, 1], |_| 1000);
    assert!((share_of(&both, 0) - 0.7).abs() < 0.005, "{}", share_of(&both, 0));
    // Class 1 pauses; its last packets leave first.
    let alone = saturate(&mut manager, second(2), second(4), &[0], |_| 1000);
    assert!(bytes_of(&alone, 0) >= 1_990_000, "a byte a us for 2 s: {}", bytes_of(&alone, 0));
    let again = saturate(&mut manager, second(4), second(5), &[0, 1], |_| 1000);
    assert!((share_of(&again, 0) - 0.7).abs() < 0.01, "{}", share_of(&again, 0));
}

#[test]
fn a_tree_shares_the_surplus_by_quantum_and_stops_at_the_ceil() {
    let end = Time::ZERO + Span::from_secs(4);
    // 1.6 + 1.6 guaranteed, 4.8 left, shared 3 : 1: 1.6 + 3.6 = 5.2 and 1.6 + 1.2 = 2.8 Mb/s.
    let mut manager = one_port(port(tree([(1600, 8000, 4500), (1600, 8000, 1500)]), 2));
    let departures = saturate(&mut manager, us(0), end, &[0, 1], |_| 500);
    assert!((share_of(&departures, 0) - 0.65).abs() < 0.01, "{}", share_of(&departures, 0));
    // With a ceil of 4 Mb/s for class 0 the other gets what is left.
    let mut manager = one_port(port(tree([(1600, 4000, 4500), (1600, 8000, 1500)]), 2));
    let departures = saturate(&mut manager, us(0), end, &[0, 1], |_| 500);
    assert!((share_of(&departures, 0) - 0.5).abs() < 0.005, "{}", share_of(&departures, 0));
    // Alone it still stops at its ceil: 4 Mb/s for 4 s are 2,000,000 bytes, and a burst.
    let mut manager = one_port(port(tree([(1600, 4000, 4500), (1600, 8000, 1500)]), 2));
    let departures = saturate(&mut manager, us(0), end, &[0], |_| 500);
    let sent = bytes_of(&departures, 0);
    assert!((1_999_000..=2_000_000 + 1514 + 500).contains(&sent), "{sent}");
}

#[test]
fn a_tree_lends_within_a_branch_before_it_lends_across() {
    // Root 8 Mb/s; branch A (rate 4, ceil 8) with leaves 0 (3) and 1 (1); branch B (rate 4,
    // ceil 4) with leaf 2 (4). Every leaf may borrow up to its branch's ceil.
    let mbps = Rate::from_mbps;
    let a = vec![
        NodeConfig::leaf("a0", 0, mbps(3), mbps(8)),
        NodeConfig::leaf("a1", 1, mbps(1), mbps(8)),
    ];
    let b = vec![NodeConfig::leaf("b2", 2, mbps(4), mbps(4))];
    let branches = vec![
        NodeConfig::inner("A", mbps(4), mbps(8), a),
        NodeConfig::inner("B", mbps(4), mbps(4), b),
    ];
    let tree = SchedulerConfig::Hierarchy(NodeConfig::inner("root", mbps(8), mbps(8), branches));
    let share_when = |active: &[u8]| {
        let mut manager = one_port(port(tree.clone(), 3));
        let end = Time::ZERO + Span::from_secs(3);
        let departures = saturate(&mut manager, us(0), end, active, |_| 500);
        let of_line = |class| bytes_of(&departures, class) as f64 / 3_000_000.0;
        [of_line(0), of_line(1), of_line(2)]
    };
    let close = |seen: [f64; 3], expected: [f64; 3]| {
        let near = seen.iter().zip(expected).all(|(seen, wanted)| (seen - wanted).abs() < 0.01);
        assert!(near, "{seen:?} instead of {expected:?}");
    };
    // Everybody sends: the guarantees are the whole line.
    close(share_when(&[0, 1, 2]), [0.375, 0.125, 0.5]);
    // Leaf 0 is silent: its 3 Mb/s go to leaf 1 next to it; leaf 2 is at its ceil anyway.
    close(share_when(&[1, 2]), [0.0, 0.5, 0.5]);
    // Branch B is silent: A's leaves get 3 + 1 and share the other 4 Mb/s evenly, by quantum.
    close(share_when(&[0, 1]), [0.625, 0.375, 0.0]);
    // Branch B alone stops at its ceil.
    close(share_when(&[2]), [0.0, 0.0, 0.5]);
}

#[test]
fn a_token_bucket_lets_a_burst_last_as_long_as_computed() {
    // r = 1 Mb/s, b = 10,000 bytes, on a line of p = 10 Mb/s: a greedy source sends at p for
    // b / (p - r) = 80,000 / 9,000,000 s = 8.889 ms, and b p / (p - r) = 11,111 bytes.
    let mut config = PortConfig::strict(Some(Rate::from_mbps(10)), 1);
    config.queues[0].limit = traffic::Limit::NONE;
    config.queues[0].shaper =
        Some(ShaperConfig::Bits { rate: Rate::from_mbps(1), burst: Bytes(10_000) });
    let mut manager = one_port(config);
    (0..20_000).for_each(|id| send(&mut manager, us(0), id, 1, 0));
    let departures = departures(&mut manager, Time::ZERO + Span::from_secs(1));
    let gap = departures.windows(2).position(|pair| pair[1].at > pair[0].line_free_at);
    let burst = gap.expect("the bucket runs dry") + 1;
    assert_eq!(burst, 11_111);
    // The burst's last bit: 11111 bytes of 0.8 us.
    assert_eq!(departures[burst - 1].line_free_at, Time::from_ps(8_888_800_000));
    // From then on exactly r: 8889 further bytes of 8 us each.
    let rest = departures[19_999].at.since(departures[burst].at);
    assert_eq!(rest, Span::from_us(8 * (20_000 - burst as u64 - 1)));
}
