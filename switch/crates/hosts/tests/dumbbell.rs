//! Long flows over a bottleneck: sawtooth, utilisation and queue as theory has them.

use crate::net;

use hosts::{Bulk, BulkConfig, Listener, ListenerConfig, Service, TcpSettings, Until};
use net::{Net, Pipe};
use units::{Rate, Span};

/// 50 Mb/s and 40 ms: a bandwidth-delay product of 165 packets of 1514 bytes.
const RATE: Rate = Rate::from_mbps(50);
const BDP_PACKETS: usize = 165;

/// `flows` flows from one host to another, with a queue of this many frames.
fn dumbbell(congestion: &str, flows: usize, queue_frames: usize, mark_from: Option<usize>) -> Net {
    let settings = TcpSettings {
        congestion: congestion.parse().expect("it exists"),
        ..TcpSettings::default()
    };
    let mut there = Pipe::clean(Some(RATE), Span::from_ms(20), queue_frames);
    there.mark_from = mark_from;
    let back = Pipe::clean(None, Span::from_ms(20), 0);
    let mut net = Net::new(1, 1, &settings, there, back, 1);
    let service = Service::Discard;
    let config = ListenerConfig { port: 5001, service, congestion: None };
    net.start_right(0, Box::new(Listener::new(config)));
    let (to, until) = (net.right(0, 5001), Until::Span(Span::from_secs(10_000)));
    let config = BulkConfig { to, until, after: Span::ZERO, congestion: None, parallel: flows };
    net.start_left(0, Box::new(Bulk::new(config)));
    net
}

/// Utilisation in percent, and the mean queue in frames, from `warm_up` on.
fn watch(net: &mut Net, warm_up: u64, seconds: u64) -> (f64, f64) {
    net.run(Span::from_secs(warm_up));
    let before = net.there();
    net.run(Span::from_secs(seconds));
    let after = net.there();
    let bits = (after.carried_bytes - before.carried_bytes) as f64 * 8.0;
    let waited = (after.waited - before.waited).as_secs_f64();
    let busy = bits / (RATE.bps() as f64 * seconds as f64);
    // Little: the mean queue is the arrival rate times the mean wait.
    (busy * 100.0, waited / seconds as f64)
}

/// THEORY.md 1.11: one Reno flow uses 75 % of a line without buffer, 89.3 % with a quarter of a BDP,
/// 96.4 % with half of one, all of it with a whole one.
#[test]
fn one_reno_flow_uses_what_theory_says() {
    for (buffer_bdps, theory) in [(0.25, 89.3), (0.5, 96.4), (1.0, 100.0)] {
        let queue = (BDP_PACKETS as f64 * buffer_bdps) as usize;
        let mut net = dumbbell("reno", 1, queue, None);
        let (utilisation, _) = watch(&mut net, 30, 120);
        eprintln!("reno {buffer_bdps} BDP: {utilisation:.2} % ({theory} %)");
        assert!((utilisation - theory).abs() < 3.0, "{buffer_bdps}: {utilisation} {theory}");
    }
}

/// CUBIC needs 0.43 BDP for the whole line (beta = 0.7).
#[test]
fn one_cubic_flow_fills_the_line_with_half_a_bdp() {
    let mut net = dumbbell("cubic", 1, BDP_PACKETS / 2, None);
    let (utilisation, queue) = watch(&mut net, 30, 120);
    eprintln!("cubic: {utilisation:.2} %, {queue:.1} frames");
    assert!(utilisation > 98.0, "{utilisation}");
}

/// BBR keeps the line busy and the queue short, where Reno fills four BDP of buffer.
#[test]
fn bbr_leaves_a_deep_buffer_nearly_empty() {
    let mut bbr = dumbbell("bbr", 1, 4 * BDP_PACKETS, None);
    let (busy, queue) = watch(&mut bbr, 10, 60);
    eprintln!("bbr: {busy:.2} %, {queue:.1} frames");
    let mut reno = dumbbell("reno", 1, 4 * BDP_PACKETS, None);
    let (_, full) = watch(&mut reno, 30, 60);
    eprintln!("reno: {full:.1} frames");
    assert!(busy > 95.0 && queue < BDP_PACKETS as f64 / 4.0, "{busy} {queue}");
    assert!(full > BDP_PACKETS as f64, "{full}");
}

/// BBRv3 too, in a deep buffer; and in a shallow one it loses far less than version 1, which keeps
/// twice what the path holds in flight.
#[test]
fn bbr3_spares_the_buffer_deep_or_shallow() {
    let mut deep = dumbbell("bbr3", 1, 4 * BDP_PACKETS, None);
    let (busy, queue) = watch(&mut deep, 10, 60);
    eprintln!("bbr3: {busy:.2} %, {queue:.1} frames");
    assert!(busy > 90.0 && queue < BDP_PACKETS as f64 / 2.0, "{busy} {queue}");
    let losses = |name: &str| {
        let mut net = dumbbell(name, 2, BDP_PACKETS / 4, None);
        let (busy, _) = watch(&mut net, 10, 60);
        eprintln!("{name}: {busy:.2} %, {:?}", net.there());
        (busy, net.there().dropped)
    };
    let ((_, lost_1), (busy_3, lost_3)) = (losses("bbr"), losses("bbr3"));
    assert!(lost_3 * 4 < lost_1, "{lost_3} of version 3, {lost_1} of version 1");
    assert!(busy_3 > 80.0, "{busy_3}");
}

/// RFC 8257 section 4.1: with a marking threshold above C x RTT / 7 DCTCP uses the whole line and
/// keeps the queue near the threshold, without a loss.
#[test]
fn dctcp_holds_the_queue_at_the_threshold() {
    let threshold = BDP_PACKETS / 5;
    let mut net = dumbbell("dctcp", 2, 1000, Some(threshold));
    let (utilisation, queue) = watch(&mut net, 20, 60);
    eprintln!("dctcp: {utilisation:.2} %, {queue:.1} frames, threshold {threshold}");
    assert!(utilisation > 98.0, "{utilisation}");
    assert!(queue < 1.5 * threshold as f64, "{queue}");
}

/// The same run gives the same bytes at the same instants; another seed gives others.
#[test]
fn a_run_is_a_function_of_its_seed() {
    let digest = |seed: u64, step: Span| {
        let settings = TcpSettings::default();
        let there = Pipe::clean(Some(RATE), Span::from_ms(5), 30);
        let mut net =
            Net::new(1, 1, &settings, there, Pipe::clean(None, Span::from_ms(5), 0), seed);
        let service = Service::Discard;
        let config = ListenerConfig { port: 5001, service, congestion: None };
        net.start_right(0, Box::new(Listener::new(config)));
        for (n, algorithm) in hosts::algorithms().enumerate() {
            let (to, until) = (net.right(0, 5001), Until::Span(Span::from_secs(10)));
            let congestion = Some(algorithm);
            let after = Span::from_ms(100 * n as u64);
            let config = BulkConfig { to, until, after, congestion, parallel: 1 };
            net.start_left(0, Box::new(Bulk::new(config)));
        }
        let end = net.now + Span::from_secs(4);
        while net.now < end {
            net.run(step);
        }
        (net.digest, net.there())
    };
    let whole = digest(7, Span::from_secs(4));
    assert_eq!(whole, digest(7, Span::from_secs(4)), "the same again");
    assert_eq!(whole, digest(7, Span::from_ms(1)), "in small steps");
    assert_ne!(whole.0, digest(8, Span::from_secs(4)).0, "another seed");
}
