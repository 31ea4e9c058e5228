//! Samples that come together say what samples that come one by one say.

use crate::rig;

use agent::feed::FeedStream;
use messages::vitrine::v1;
use rig::{Rig, told, wire_topology};

/// A port's numbers at an instant: held, departed (packets and bytes each), what waits in front of
/// it, what is on its lines (in, out), dropped.
type Row = (u64, [u64; 7], u64);

/// The wire with room for three packets at the port that everything is for, and a transfer that
/// fills it.
fn network() -> Rig {
    let mut rig = Rig::empty();
    let mut topology = wire_topology();
    topology.routers[0].ports[0].config.as_mut().unwrap().rate_bps = Some(100_000_000);
    let limit = Some(v1::Limit { packets: 3, bytes: 0 });
    topology.routers[0].ports[1].config.as_mut().unwrap().limit = limit;
    rig.build(v1::BuildRequest { topology: Some(topology), seed: 3 }).unwrap();
    rig.load(1);
    let listener = v1::Listener { port: 5201, ..Default::default() };
    rig.start("h2", v1::app::Kind::Listener(listener));
    let bulk = v1::Bulk {
        to: Some(v1::Peer { host: "h2".to_owned(), port: 5201 }),
        until: Some(v1::bulk::Until::LengthBytes(400_000)),
        ..Default::default()
    };
    rig.start("h1", v1::app::Kind::Bulk(bulk));
    rig
}

fn watch(rig: &mut Rig, samples_together: u32) -> FeedStream {
    rig.watch(v1::WatchRequest { interval_ms: 1, samples_together, ..Default::default() })
}

fn row_of(sample: &v1::Sample, port: u32) -> Row {
    let found = sample.ports.iter().find(|it| it.port == port).unwrap();
    let port = found.counters.as_ref().unwrap();
    let (held, counters) = (port.held.unwrap(), port.counters.as_ref().unwrap());
    let departed = counters.departed.unwrap();
    let dropped = counters.dropped.iter().map(|drop| drop.tally.unwrap().packets).sum();
    let packets = |tally: Option<v1::Tally>| tally.map_or(0, |it| it.packets);
    let (receive, transmit) = (port.receive_line.as_ref(), port.transmit_line.as_ref());
    let numbers = [
        held.packets,
        held.bytes,
        departed.packets,
        departed.bytes,
        packets(receive.and_then(|it| it.backlog)),
        packets(receive.and_then(|it| it.under_way)),
        packets(transmit.and_then(|it| it.under_way)),
    ];
    (sample.time_ps, numbers, dropped)
}

fn rows_of(columns: &v1::Columns, port: u32) -> Vec<Row> {
    let found = columns.ports.iter().find(|it| it.port == port).unwrap();
    let counters = found.counters.as_ref().unwrap();
    let (receive, transmit) =
        (found.receive_line.as_ref().unwrap(), found.transmit_line.as_ref().unwrap());
    let at =
        |column: &Vec<u64>, row: usize| if column.len() == 1 { column[0] } else { column[row] };
    let row = |(row, time_ps): (usize, &u64)| {
        let numbers = [
            &counters.held_packets,
            &counters.held_bytes,
            &counters.departed_packets,
            &counters.departed_bytes,
            &receive.backlog_packets,
            &receive.under_way_packets,
            &transmit.under_way_packets,
        ];
        let dropped = counters.dropped.iter().map(|drop| at(&drop.packets, row)).sum();
        (*time_ps, numbers.map(|column| at(column, row)), dropped)
    };
    columns.time_ps.iter().enumerate().map(row).collect()
}

#[test]
fn they_are_the_same_samples_and_none_waits_when_the_world_stands() {
    let mut rig = network();
    let (mut single, mut together) = (watch(&mut rig, 0), watch(&mut rig, 50));
    let (mut ones, mut sets) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        rig.advance_ms(120);
        ones.extend(told(&mut single));
        let new = told(&mut together);
        // 50 + 50 + the 20 that the world's standing still ends, and the word that it stands.
        let lens = new.iter().filter_map(|it| it.columns.as_ref()).map(|it| it.time_ps.len());
        assert_eq!(lens.collect::<Vec<_>>(), [50, 50, 20]);
        assert!(new.last().unwrap().complete_until_ps > 0);
        sets.extend(new);
    }
    for port in [1, 2] {
        let of_ones = ones.iter().filter_map(|it| it.sample.as_ref());
        let of_ones: Vec<Row> = of_ones.map(|sample| row_of(sample, port)).collect();
        let of_sets = sets.iter().filter_map(|it| it.columns.as_ref());
        let of_sets: Vec<Row> = of_sets.flat_map(|columns| rows_of(columns, port)).collect();
        assert_eq!(of_ones.len(), 480);
        assert_eq!(of_ones, of_sets);
        let dropped = of_ones.iter().any(|(.., dropped)| *dropped > 0);
        assert_eq!(dropped, port == 2, "the buffer is small");
        let waited = of_ones.iter().any(|(_, [.., backlog, _, _], _)| *backlog > 0);
        assert_eq!(waited, port == 1, "h1 hands over a window at once, h2 acknowledges one by one");
    }
}

#[test]
fn after_a_change_of_queues_columns_are_those_of_the_new_ones() {
    let mut rig = network();
    let mut together = watch(&mut rig, 50);
    rig.advance_ms(10);
    let front = rig.fronts.named(1).unwrap().front;
    let config = v1::PortConfig { queue_count: Some(4), ..Default::default() };
    let request = v1::ConfigureRequest {
        device_id: 1,
        election_id: Some(v1::ElectionId { high: 0, low: 1 }),
        ports: vec![v1::PortChange { port: 2, config: Some(config) }],
        ..Default::default()
    };
    let room = p4runtime::details::Room::USUAL;
    rig.complete(async move { front.configure(request, room).await }).unwrap();
    rig.advance_ms(10);
    let queues: Vec<(usize, usize)> = told(&mut together)
        .iter()
        .filter_map(|it| it.columns.as_ref())
        .map(|it| (it.time_ps.len(), it.ports[1].queues.len()))
        .collect();
    // A port has eight by default.
    assert_eq!(queues, [(10, 8), (10, 4)]);
}
