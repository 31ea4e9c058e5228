//! Reading everything back: depths, high-water marks, counters, residence times.

use units::{ClassId, HasLength, PortId};

use super::Manager;
use crate::config::{PortConfig, QueueConfig};
use crate::counters::Counters;
use crate::fate::Depth;
use crate::histogram::Histogram;
use crate::queue::Queue;

/// One output queue, as it is now and as it has been since it was configured.
#[derive(Clone, Copy, Debug)]
pub struct QueueReport<'a> {
    /// The queue's port.
    pub port: PortId,
    /// The queue's class.
    pub class: ClassId,
    /// What is configured.
    pub config: &'a QueueConfig,
    /// What waits in it.
    pub depth: Depth,
    /// The most packets and the most bytes that ever waited in it, each on its own.
    pub high_water: Depth,
    /// Packets and bytes in, out, dropped and marked.
    pub counters: &'a Counters,
    /// How long the packets that departed had been in it.
    pub residence: &'a Histogram,
}

/// One output port.
#[derive(Clone, Copy, Debug)]
pub struct PortReport<'a> {
    /// The port.
    pub port: PortId,
    /// What is configured.
    pub config: &'a PortConfig,
    /// What waits in all its queues together.
    pub depth: Depth,
    /// The sum over its queues, and of packets whose class is none of them.
    pub counters: Counters,
}

impl<P: HasLength> Manager<P> {
    /// The router as a whole: everything handed in, and what became of it.
    pub fn totals(&self) -> &Counters {
        &self.totals
    }

    /// What is inside the router.
    pub fn held(&self) -> Depth {
        self.held
    }

    /// One output queue.
    pub fn queue(&self, port: PortId, class: ClassId) -> Option<QueueReport<'_>> {
        let state = self.ports.get(port.index())?.as_ref()?;
        Some(report_on(port, class, state.queues.get(class.index())?))
    }

    /// All output queues, by port and class.
    pub fn queues(&self) -> impl Iterator<Item = QueueReport<'_>> {
        (0..).zip(&self.ports).flat_map(|(port, state)| {
            let queues = state.iter().flat_map(|state| (0..).zip(&state.queues));
            queues.map(move |(class, queue)| report_on(PortId(port), ClassId(class), queue))
        })
    }

    /// One output port.
    pub fn port(&self, port: PortId) -> Option<PortReport<'_>> {
        let state = self.ports.get(port.index())?.as_ref()?;
        let mut counters = state.misfits;
        state.queues.iter().for_each(|queue| counters += queue.counters);
        Some(PortReport { port, config: &state.config, depth: state.held, counters })
    }

    /// All output ports.
    pub fn ports(&self) -> impl Iterator<Item = PortReport<'_>> {
        (0..).zip(&self.ports).filter_map(|(port, _)| self.port(PortId(port)))
    }

    /// Whether the conservation law holds at every queue and for the router as a whole.
    pub fn balance(&self) -> bool {
        self.queues().all(|queue| queue.counters.balance(queue.depth))
            && self.ports().all(|port| port.counters.balance(port.depth))
            && self.totals.balance(self.held)
    }
}

fn report_on(port: PortId, class: ClassId, queue: &Queue) -> QueueReport<'_> {
    QueueReport {
        port,
        class,
        config: &queue.config,
        depth: queue.depth(),
        high_water: queue.high_water,
        counters: &queue.counters,
        residence: &queue.residence,
    }
}
