//! The traffic manager's answers to a program that reads queues.

use pipeline::{QueueRead, Queues};
use traffic::{Depth, Manager};
use units::Time;

use crate::fate::Queued;

/// The queues at an instant.
pub(crate) struct At<'a> {
    pub now: Time,
    pub traffic: &'a Manager<Queued>,
}

impl Queues for At<'_> {
    fn read(&self, read: QueueRead) -> [u64; 2] {
        let At { now, traffic } = *self;
        let numbers = |depth: Option<Depth>| {
            depth.map_or([0; 2], |depth| [depth.packets, depth.bytes.count()])
        };
        match read {
            QueueRead::BufferUse => match traffic.shared_buffer() {
                Some(buffer) => [(buffer.shared - buffer.free).count(), buffer.shared.count()],
                None => [traffic.held().bytes.count(), 0],
            },
            QueueRead::PortRate { port } => {
                let rate = traffic.config().ports.get(&port).and_then(|port| port.line_rate);
                let busy = traffic.utilisation_basis_points(port, now);
                [rate.map_or(0, |rate| rate.bps()), busy.into()]
            }
            QueueRead::QueueDepth { port, class } => numbers(traffic.queue_depth(port, class)),
            QueueRead::VoqDepth { input, port, class } => {
                numbers(traffic.voq_depth(input, port, class))
            }
        }
    }
}
