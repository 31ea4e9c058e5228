//! The shared buffer's dynamic thresholds against their fluid model (Choudhury and Hahne 1998).

use crate::support;

use support::{Packet, us};
use traffic::{
    Arrival, BufferConfig, BufferShare, Config, DropReason, Limit, Manager, PortConfig, Verdict,
};
use units::{Bytes, ClassId, PortId, Rate, Ratio, Span, Time};

const SIZE: Bytes = Bytes(10_000);

/// Ports 0 .. `count` of 8 Mb/s (a byte takes 1 us) with one queue each, sharing [`SIZE`].
fn router(count: u16, share: BufferShare) -> Manager<Packet> {
    let mut port = PortConfig::strict(Some(Rate::from_mbps(8)), 1);
    port.queues[0].limit = Limit::NONE;
    port.queues[0].share = share;
    let ports = (0..count).map(|id| (PortId(id), port.clone())).collect();
    let buffer = Some(BufferConfig { size: SIZE });
    let mut manager = Manager::new(1);
    manager.configure(Time::ZERO, Config { ports, buffer, input: None }).expect("valid");
    manager
}

fn alpha(over: u32, under: u32) -> BufferShare {
    BufferShare { alpha: Ratio::new(over, under), minimum: Bytes::ZERO }
}

/// Offers a packet of one byte; tells whether it was let in.
fn offer(manager: &mut Manager<Packet>, now: Time, port: u16) -> bool {
    let packet = Packet { id: 0, length: 1 };
    match manager.handle_packet(now, Arrival::new(packet, PortId(0), PortId(port), ClassId(0))) {
        Verdict::Held => true,
        Verdict::Dropped(dropped) => {
            assert_eq!(dropped.reason, DropReason::SharedBuffer);
            false
        }
    }
}

fn depth(manager: &Manager<Packet>, port: u16) -> u64 {
    manager.queue(PortId(port), ClassId(0)).map_or(0, |queue| queue.depth.bytes.count())
}

#[test]
fn saturated_queues_share_alpha_over_one_plus_alpha_n() {
    for (over, under) in [(1, 2), (1, 1), (2, 1), (4, 1), (8, 1), (16, 1)] {
        for count in [1, 2, 3, 4, 8] {
            let mut manager = router(count, alpha(over, under));
            // Each queue is offered a byte in turn, at one instant, until none takes any.
            while (0..count).filter(|port| offer(&mut manager, us(0), *port)).count() > 0 {}
            let alpha = f64::from(over) / f64::from(under);
            let share = alpha / (1.0 + alpha * f64::from(count)) * SIZE.count() as f64;
            for port in 0..count {
                let held = depth(&manager, port) as f64;
                assert!((held - share).abs() <= 2.0, "alpha {alpha}, n {count}: {held} of {share}");
            }
        }
    }
}

#[test]
fn a_burst_is_cut_where_the_fluid_model_says() {
    // Queue 0 is saturated at T0 = 5000 of 10000. A burst of r line rates into the empty queue 1
    // meets its threshold at (r - 1) T0 / ((r - 1) x 2 - 1): r = 2 gives the fair share of 3333,
    // r = 10 gives 2647; all at once gives 2500.
    for (rate, expected) in [(2, 3333), (10, 2647), (0, 2500)] {
        let mut manager = router(2, alpha(1, 1));
        while offer(&mut manager, us(0), 0) {}
        assert_eq!(depth(&manager, 0), 5000);
        let mut now = us(0);
        let cut = 'burst: loop {
            // In each microsecond both lines send a byte and queue 0 is offered two.
            while manager.poll_output(now).is_some() {}
            for _ in 0..if rate == 0 { 100_000 } else { rate } {
                if !offer(&mut manager, now, 1) {
                    break 'burst depth(&manager, 1);
                }
            }
            offer(&mut manager, now, 0);
            offer(&mut manager, now, 0);
            now += Span::from_us(1);
        };
        assert!(cut.abs_diff(expected) <= 12, "r = {rate}: cut at {cut}, not {expected}");
    }
}

#[test]
fn complete_sharing_locks_a_victim_out_and_a_guaranteed_minimum_does_not() {
    let shared = BufferShare { alpha: None, minimum: Bytes::ZERO };
    let mut manager = router(2, shared);
    while offer(&mut manager, us(0), 0) {}
    assert_eq!(depth(&manager, 0), SIZE.count());
    assert!(!offer(&mut manager, us(0), 1), "nothing is left for the victim");
    let mut manager = router(2, BufferShare { minimum: Bytes(500), ..shared });
    while offer(&mut manager, us(0), 0) {}
    // 10000 - 2 x 500 are shared, and the first queue's own 500.
    assert_eq!(depth(&manager, 0), 9500);
    while offer(&mut manager, us(0), 1) {}
    assert_eq!(depth(&manager, 1), 500);
}

#[test]
fn minima_that_do_not_fit_are_refused() {
    let mut manager = router(2, alpha(1, 1));
    let mut config = manager.config().clone();
    let minimum = Bytes(6000);
    config.ports.values_mut().for_each(|port| port.queues[0].share.minimum = minimum);
    let error = manager.configure(us(0), config).expect_err("12000 of 10000");
    assert!(error.to_string().contains("add up to 12000 B of 10000 B"), "{error}");
}
