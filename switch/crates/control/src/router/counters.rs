//! Counters and depths: what is copied out of the traffic manager, and its messages.
//!
//! The data-plane thread only copies numbers ([`PortSnapshot`]); turning them into messages is
//! done by whoever asked.

use traffic::{Counters, Depth, DropReason, LineReport, Manager, Tally};
use units::{HasLength, PortId};

use super::link;
use crate::proto::vitrine::v1;

/// The numbers of one port at one instant.
#[derive(Clone, Debug)]
pub struct PortSnapshot {
    /// The port.
    pub port: PortId,
    /// All its queues together, and what reached none of them.
    pub counters: Counters,
    /// What waits in all its queues.
    pub held: Depth,
    /// Its queues, class 0 first.
    pub queues: Vec<QueueSnapshot>,
    /// The line from the neighbour.
    pub receive_line: LineReport,
    /// The line to the neighbour.
    pub transmit_line: LineReport,
}

/// The numbers of one queue at one instant.
#[derive(Clone, Debug)]
pub struct QueueSnapshot {
    /// Packets and bytes in, out, dropped and marked.
    pub counters: Counters,
    /// What waits.
    pub held: Depth,
    /// The most packets and the most bytes that ever waited, each on its own.
    pub high_water: Depth,
}

/// Copies the numbers of the ports that `wanted` names; an empty list means all. Ports that do
/// not exist are left out. `lines` knows a port's receive and transmit line.
pub fn snapshot<P: HasLength>(
    manager: &Manager<P>,
    lines: impl Fn(PortId) -> (LineReport, LineReport),
    wanted: &[PortId],
) -> Vec<PortSnapshot> {
    let mut ports: Vec<PortSnapshot> = manager
        .ports()
        .filter(|report| wanted.is_empty() || wanted.contains(&report.port))
        .map(|report| {
            let (receive_line, transmit_line) = lines(report.port);
            PortSnapshot {
                port: report.port,
                counters: report.counters,
                held: report.depth,
                queues: Vec::with_capacity(report.config.queues.len()),
                receive_line,
                transmit_line,
            }
        })
        .collect();
    for queue in manager.queues() {
        // Both lists are in the order of ports, so a binary search finds the queue's port.
        if let Ok(at) = ports.binary_search_by_key(&queue.port, |port| port.port) {
            ports[at].queues.push(QueueSnapshot {
                counters: *queue.counters,
                held: queue.depth,
                high_water: queue.high_water,
            });
        }
    }
    ports
}

/// A port's numbers as a message.
pub fn port_message(port: &PortSnapshot) -> v1::PortCounters {
    let queues = port.queues.iter().zip(0..).map(|(queue, class)| v1::QueueCounters {
        class,
        counters: Some(counters_message(&queue.counters)),
        held: Some(depth_message(queue.held)),
        high_water: Some(depth_message(queue.high_water)),
    });
    v1::PortCounters {
        counters: Some(counters_message(&port.counters)),
        held: Some(depth_message(port.held)),
        queues: queues.collect(),
        receive_line: Some(link::line_counters(&port.receive_line)),
        transmit_line: Some(link::line_counters(&port.transmit_line)),
    }
}

fn counters_message(counters: &Counters) -> v1::Counters {
    let dropped = counters.drops().map(|(reason, tally)| v1::Drop {
        reason: reason_message(reason).into(),
        tally: Some(tally_message(tally)),
    });
    v1::Counters {
        offered: Some(tally_message(counters.offered)),
        departed: Some(tally_message(counters.departed)),
        dropped: dropped.collect(),
        marked: Some(tally_message(counters.marked)),
    }
}

pub(super) fn tally_message(tally: Tally) -> v1::Tally {
    v1::Tally { packets: tally.packets, bytes: tally.bytes.0 }
}

pub(super) fn depth_message(depth: Depth) -> v1::Tally {
    v1::Tally { packets: depth.packets, bytes: depth.bytes.0 }
}

fn reason_message(reason: DropReason) -> v1::DropReason {
    match reason {
        DropReason::Aqm => v1::DropReason::Aqm,
        DropReason::BadClass => v1::DropReason::BadClass,
        DropReason::InputLimit => v1::DropReason::InputLimit,
        DropReason::PortLimit => v1::DropReason::PortLimit,
        DropReason::QueueLimit => v1::DropReason::QueueLimit,
        DropReason::QueueRemoved => v1::DropReason::QueueRemoved,
        DropReason::SharedBuffer => v1::DropReason::SharedBuffer,
        DropReason::UnknownPort => v1::DropReason::UnknownPort,
        DropReason::VoqLimit => v1::DropReason::VoqLimit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::{Arrival, Config, PortConfig};
    use units::{Bytes, ClassId, Rate, Time};

    #[derive(Debug)]
    struct Frame(u64);

    impl HasLength for Frame {
        fn length(&self) -> Bytes {
            Bytes(self.0)
        }
    }

    #[test]
    fn a_snapshot_balances_and_names_the_reasons_of_drops() {
        let mut manager = Manager::new(0);
        // One packet waits, one is on the line, the third finds the queue full: limit 1.
        let mut port = PortConfig::strict(Rate::from_bps(10_000_000), 1);
        port.queues[0].limit = traffic::Limit::packets(1);
        let ports = [(PortId(1), port.clone()), (PortId(2), port)].into();
        manager.configure(Time::ZERO, Config { ports, ..Config::default() }).unwrap();
        for _ in 0..3 {
            let arrival = Arrival::new(Frame(100), PortId(2), PortId(1), ClassId(0));
            let _verdict = manager.handle_packet(Time::ZERO, arrival);
            let _output = manager.poll_output(Time::ZERO);
        }

        let no_lines = |_| Default::default();
        let all = snapshot(&manager, no_lines, &[]);
        assert_eq!(all.iter().map(|port| port.port).collect::<Vec<_>>(), [PortId(1), PortId(2)]);
        let ports = snapshot(&manager, no_lines, &[PortId(1), PortId(77)]);
        assert_eq!(ports.len(), 1);
        let message = port_message(&ports[0]);
        let counters = message.counters.unwrap();
        assert_eq!(counters.offered.unwrap().packets, 3);
        assert_eq!(counters.departed.unwrap().packets, 1);
        assert_eq!(message.held, Some(v1::Tally { packets: 1, bytes: 100 }));
        assert_eq!(counters.dropped.len(), 1);
        assert_eq!(counters.dropped[0].reason(), v1::DropReason::QueueLimit);
        assert_eq!(message.queues[0].high_water, Some(v1::Tally { packets: 1, bytes: 100 }));
    }
}
