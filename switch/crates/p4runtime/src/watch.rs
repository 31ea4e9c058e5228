//! Watching a running switch: the clients' filters, and the events that wait for each client.
//!
//! ```text
//!   data-plane thread                                 |  gRPC threads
//!   device -> Event -> agent::watch::Watchers -> Item -> Feed -> FeedStream -> WatchResponse
//!                                 (Filter)                       router::watch
//! ```
//!
//! The data-plane thread hands values over and never waits. A watcher that reads too slowly loses
//! what finds its feed full; how much, and where in the stream, is part of the stream.

use std::collections::BTreeSet;

use device::{DropReason, Inside, TraceRecord};
use traffic::{Depth, Step};
use units::{ClassId, PortId, Span, Time};

use crate::router::columns::Columns;
use crate::router::counters::Snapshot;

/// An output queue of a port.
pub type QueueId = (PortId, ClassId);

/// The events that one client wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Time between samples, if it wants any.
    pub interval: Option<Span>,
    /// Only these ports; all if it is empty.
    pub ports: Vec<PortId>,
    /// Packets that are dropped, for one of these reasons; for any if it is empty.
    pub drops: Option<BTreeSet<DropReason>>,
    /// Packets that are marked.
    pub marks: bool,
    /// Depths that cross a level.
    pub thresholds: Vec<Threshold>,
    /// Queues with every packet that enters and leaves them.
    pub queues: BTreeSet<QueueId>,
    /// Packets that cross the fabric.
    pub crossings: bool,
    /// Every step of every packet.
    pub packets: bool,
    /// Every round of the crossbar's arbiter.
    pub arbitrations: bool,
    /// Ports that go up and down.
    pub links: bool,
    /// Instants at which the model lagged.
    pub overruns: bool,
    /// Bytes of packets that are dropped or marked or, with `packets`, new; of a flow with `flows`.
    pub head_size: usize,
    /// The number of samples sent at once, as columns; 0: each by itself.
    pub together: usize,
    /// Samples contain the flows of waiting packets.
    pub flows: bool,
}

/// A depth of a queue whose crossing is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    pub queue: QueueId,
    pub level: Level,
}

/// A depth in one of its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// At least one.
    Packets(u64),
    /// At least one.
    Bytes(u64),
}

impl Level {
    /// Whether `depth` is at the level or above it.
    pub fn is_reached(self, depth: Depth) -> bool {
        match self {
            Level::Packets(level) => depth.packets >= level,
            Level::Bytes(level) => depth.bytes.count() >= level,
        }
    }
}

impl Filter {
    /// Whether it selects anything at all.
    pub fn asks_for_something(&self) -> bool {
        self.interval.is_some() || self.asks_for_events()
    }

    /// Whether it selects anything but samples.
    pub fn asks_for_events(&self) -> bool {
        let places = !self.thresholds.is_empty() || !self.queues.is_empty();
        let packets = self.marks || self.crossings || self.packets;
        let others = self.links || self.overruns || self.arbitrations;
        self.drops.is_some() || places || packets || others
    }

    /// Whether events at this port are wanted.
    pub fn wants_port(&self, port: PortId) -> bool {
        self.ports.is_empty() || self.ports.contains(&port)
    }

    /// The queues of thresholds, then those watched packet by packet.
    pub fn queues_in_order(&self) -> impl Iterator<Item = QueueId> + '_ {
        let of_thresholds = self.thresholds.iter().map(|threshold| threshold.queue);
        of_thresholds.chain(self.queues.iter().copied())
    }
}

/// The beginning of a watch.
#[derive(Clone, Debug)]
pub struct Start {
    /// Everything from this instant on is reported.
    pub time: Time,
    /// The offset to the wall clock.
    pub epoch_offset_ns: i64,
    /// The depths in the order of [`Filter::queues_in_order`].
    pub queues: Vec<(QueueId, Depth)>,
}

/// An item for a watcher.
#[derive(Clone, Debug)]
pub enum Item {
    /// The numbers of several instants.
    Columns(Box<Columns>),
    /// All events until this instant have been sent; only in virtual time.
    CompleteUntil(Time),
    /// A packet crosses the fabric.
    Crossing {
        step: Step,
        /// When both sides are free again.
        until: Time,
    },
    /// From the device.
    Event(device::Event),
    /// A packet was there already.
    Inside {
        /// When the watch began.
        at: Time,
        packet: Box<Inside>,
    },
    /// So many events are missing here.
    Lost(u64),
    /// The model lagged.
    Overrun {
        /// When that was seen, by the clock.
        at: Time,
        /// How far behind the model was.
        lag: Span,
    },
    /// The numbers of one instant.
    Sample {
        snapshot: Box<Snapshot>,
        /// Samples left out before it.
        missed: u64,
    },
    /// The depth of a queue changed.
    Queue(Step),
    /// A step of a packet that is traced.
    Step(Box<TraceRecord>),
    /// A depth crossed a threshold.
    Threshold {
        at: Time,
        /// Which of the filter's thresholds.
        index: u32,
        /// Whether the depth became at least the level.
        above: bool,
        depth: Depth,
    },
}
