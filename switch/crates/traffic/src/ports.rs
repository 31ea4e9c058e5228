//! The output ports of a router, by number, and what they share.

use units::PortId;

use crate::fate::{DropReason, Waiting};
use crate::port::Port;

#[derive(Default)]
pub(crate) struct Ports {
    /// By port number; ports that are not configured are `None`.
    states: Vec<Option<Box<Port>>>,
}

impl Ports {
    pub fn get(&self, port: PortId) -> Option<&Port> {
        self.states.get(port.index())?.as_deref()
    }

    pub fn get_mut(&mut self, port: PortId) -> Option<&mut Port> {
        self.states.get_mut(port.index())?.as_deref_mut()
    }

    /// A port that something says exists: a lane of the fabric, a packet that was admitted.
    #[inline]
    pub fn existing(&self, port: PortId) -> &Port {
        self.get(port).expect("the port is configured")
    }

    /// Like [`Ports::existing`].
    #[inline]
    pub fn existing_mut(&mut self, port: PortId) -> &mut Port {
        self.get_mut(port).expect("the port is configured")
    }

    /// Adds, replaces or removes a port.
    pub fn set(&mut self, port: PortId, state: Option<Port>) {
        if self.states.len() <= port.index() {
            self.states.resize_with(port.index() + 1, || None);
        }
        self.states[port.index()] = state.map(Box::new);
    }

    /// All configured ports with their numbers, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (PortId, &Port)> {
        let numbered = (0..=u16::MAX).map(PortId).zip(&self.states);
        numbered.filter_map(|(port, state)| Some((port, state.as_deref()?)))
    }

    /// Whether the packet's port and class exist; a bad class is counted at the port.
    pub fn class_exists(&mut self, waiting: &Waiting) -> Result<(), DropReason> {
        let port = self.get_mut(waiting.output).ok_or(DropReason::UnknownPort)?;
        if waiting.class.index() < port.queues.len() {
            return Ok(());
        }
        port.misfits.offered.add(waiting.length);
        port.misfits.count_drop(DropReason::BadClass, waiting.length);
        Err(DropReason::BadClass)
    }

    /// Whether the packet's output queue takes it now; the queue's books say that it was offered
    /// and, if not taken, dropped. The class must exist.
    #[inline]
    pub fn admit(&mut self, waiting: &Waiting) -> Result<(), DropReason> {
        let class = waiting.class.index();
        let port = self.existing_mut(waiting.output);
        let verdict = port.admit(class, waiting.length);
        let counters = &mut port.queues[class].counters;
        counters.offered.add(waiting.length);
        if let Err(reason) = verdict {
            counters.count_drop(reason, waiting.length);
        }
        verdict
    }
}
