//! Readers that may lose delay no other, and learn how much is missing; and samples that count
//! flows.

use crate::rig;

use messages::vitrine::v1;
use rig::{Rig, drained, told, wire_topology};

/// Ten seconds of a transfer that fills 10 Mb/s, of which each packet has five steps.
const SPAN_MS: u64 = 10_000;

fn busy_wire() -> Rig {
    let mut rig = Rig::empty();
    let mut topology = wire_topology();
    topology.routers[0].ports[0].config.as_mut().unwrap().rate_bps = Some(100_000_000);
    rig.build(v1::BuildRequest { topology: Some(topology), seed: 1 }).unwrap();
    rig.load(1);
    for port in [5201, 5202] {
        let listener = v1::Listener { port, ..Default::default() };
        rig.start("h2", v1::app::Kind::Listener(listener));
        let to = Some(v1::Peer { host: "h2".to_owned(), port });
        rig.start("h1", v1::app::Kind::Bulk(v1::Bulk { to, ..Default::default() }));
    }
    rig
}

#[test]
fn time_does_not_wait_for_a_watch_that_may_lose_and_what_it_lost_is_counted() {
    let mut rig = busy_wire();
    let request = v1::WatchRequest {
        interval_ms: 1,
        packets: true,
        head_bytes: 48,
        may_lose: true,
        ..Default::default()
    };
    let mut slow = rig.watch(request);
    // The reader takes nothing, and yet the run ends, while the wall clock stands still.
    rig.advance_ms(SPAN_MS);
    let first = told(&mut slow);
    assert_eq!(first.last().unwrap().complete_until_ps, SPAN_MS * 1_000_000_000);
    assert!(first.iter().map(|it| it.lost_events).sum::<u64>() > 10_000);
    // It reads again, and gets everything else, with a note of the gap in front.
    rig.advance_ms(2);
    let second = told(&mut slow);
    let all: Vec<_> = first.into_iter().chain(second).collect();
    let samples: Vec<_> = all.iter().filter_map(|it| it.sample.as_ref()).collect();
    let missed: u64 = samples.iter().map(|it| it.missed).sum();
    assert!(missed > 1000, "{missed} samples");
    assert_eq!(samples.len() as u64 + missed, SPAN_MS + 2);
}

#[test]
fn time_does_not_wait_for_a_watch_of_hosts_that_may_lose() {
    let mut rig = busy_wire();
    let request =
        v1::WatchHostsRequest { interval_ns: 10_000, may_lose: true, ..Default::default() };
    let mut slow = rig.watch_hosts(request);
    rig.advance_ms(1000);
    let first = drained(&mut slow).0;
    assert_eq!(first.last().unwrap().complete_until_ps, 1_000_000_000_000);
    rig.advance_ms(1);
    let all: Vec<_> = first.into_iter().chain(drained(&mut slow).0).collect();
    let (lost, told) = all
        .iter()
        .fold((0, 0), |(lost, told), it| (lost + it.lost, told + u64::from(it.sample.is_some())));
    assert!(lost > 0);
    assert_eq!(lost + told, 1001 * 100);
}

#[test]
fn samples_tell_what_each_flow_has_in_each_queue() {
    let mut rig = busy_wire();
    let request =
        v1::WatchRequest { interval_ms: 10, flows: true, head_bytes: 48, ..Default::default() };
    let mut feed = rig.watch(request);
    rig.advance_ms(500);
    let messages = told(&mut feed);
    let samples: Vec<_> = messages.iter().filter_map(|it| it.sample.as_ref()).collect();
    assert_eq!(samples.len(), 50);
    let mut most = 0;
    for sample in samples {
        let port = sample.ports.iter().find(|it| it.port == 2).unwrap();
        let held = port.counters.as_ref().unwrap().held.unwrap();
        let queue = Some(v1::flow_share::Place::Queued(v1::QueueRef { port: 2, class: 0 }));
        let shares: Vec<_> = sample.flows.iter().filter(|it| it.place == queue).collect();
        let of_all = shares
            .iter()
            .map(|it| it.held.unwrap())
            .fold((0, 0), |sum, held| (sum.0 + held.packets, sum.1 + held.bytes));
        assert_eq!(of_all, (held.packets, held.bytes));
        // Told apart by the port of the sender, which its packets begin with.
        let mut ports: Vec<_> = shares.iter().map(|it| it.head[36..38].to_vec()).collect();
        ports.sort();
        ports.dedup();
        assert_eq!(ports.len(), shares.len(), "each flow stands there once");
        most = most.max(shares.len());
    }
    assert_eq!(most, 2, "both transfers wait at one time");
}
