//! The output ports of a router, by number, and the buffer they share.

use units::{Bytes, ClassId, DropReason, PortId, Time};

use crate::aqm::{AqmVerdict, Asking};
use crate::buffer::{SharedBuffer, beyond_minimum};
use crate::config::Config;
use crate::fate::Waiting;
use crate::outside::AqmQuestion;
use crate::port::Port;
use crate::queue::Queue;
use crate::slab::{Handle, Slab};
use wire::Ecn;

#[derive(Default)]
pub(crate) struct Ports {
    /// By port number; ports that are not configured are `None`.
    states: Vec<Option<Box<Port>>>,
    buffer: Option<SharedBuffer>,
}

/// A packet was let in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    /// Whether AQM marked it on the way.
    pub marked: bool,
}

impl Ports {
    #[inline]
    pub fn get(&self, port: PortId) -> Option<&Port> {
        self.states.get(port.index())?.as_deref()
    }

    #[inline]
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

    /// Sets the high-water marks of all queues down to what waits now.
    pub fn reset_high_water(&mut self) {
        let ports = self.states.iter_mut().flatten();
        ports.flat_map(|port| &mut port.queues).for_each(|queue| queue.high_water = queue.depth());
    }

    /// Whether there is a shared buffer, so that what one queue holds matters to the others.
    #[inline]
    pub fn share_a_buffer(&self) -> bool {
        self.buffer.is_some()
    }

    /// The shared buffer, if there is one.
    pub fn buffer(&self) -> Option<&SharedBuffer> {
        self.buffer.as_ref()
    }

    /// Opens the shared buffer's books anew: a size, minima or alphas may have changed.
    pub fn reconfigure_buffer(&mut self, config: &Config) {
        let queues = || self.iter().flat_map(|(_, port)| &port.queues);
        let used = |queue: &Queue| beyond_minimum(&queue.config.share, queue.fifo.bytes());
        self.buffer = config.buffer.map(|buffer| {
            // Without a buffer the minima mean nothing, and their sum is not checked.
            let minima: Bytes = queues().map(|queue| queue.config.share.minimum).sum();
            SharedBuffer::new(buffer, minima, queues().map(used).sum())
        });
    }

    /// The class in whose queue a packet for `class` waits: another one only where two are managed as
    /// a pair.
    #[inline]
    pub fn queue_for(&self, port: PortId, class: ClassId, ecn: Ecn) -> ClassId {
        self.get(port).map_or(class, |port| port.queue_for(class, ecn))
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

    /// Whether the limits of queue, port and shared buffer leave room for a packet of `length`.
    #[inline]
    pub fn has_room(&self, port: PortId, class: usize, length: Bytes) -> Result<(), DropReason> {
        let port = self.existing(port);
        port.admit(class, length)?;
        let Some(buffer) = &self.buffer else { return Ok(()) };
        let queue = &port.queues[class];
        match buffer.admits(&queue.config.share, queue.fifo.bytes(), length) {
            true => Ok(()),
            false => Err(DropReason::SharedBuffer),
        }
    }

    /// Whether some queue of the port might refuse a packet of up to `length`.
    pub fn may_refuse(&self, port: PortId, length: Bytes) -> bool {
        let class_count = self.existing(port).queues.len();
        (0..class_count).any(|class| self.has_room(port, class, length).is_err())
    }

    /// Whether the packet's output queue takes it at `now`; the queue's books say that it was
    /// offered and, if not taken, dropped. The class must exist.
    #[inline]
    pub fn admit(&mut self, waiting: &Waiting, now: Time) -> Result<Admitted, DropReason> {
        let class = waiting.class.index();
        let room = self.has_room(waiting.output, class, waiting.length);
        let port = self.existing_mut(waiting.output);
        let line_rate = port.config.line_rate;
        let queue = &mut port.queues[class];
        queue.counters.offered.add(waiting.length);
        let verdict = room.and_then(|()| {
            let depth = queue.depth();
            let asking = Asking { now, waiting, depth, line_rate };
            let question = AqmQuestion {
                at: now,
                waited: None,
                bytes: waiting.length.count(),
                queue_packets: depth.packets,
                queue_bytes: depth.bytes.count(),
                is_capable: waiting.ecn.is_capable(),
            };
            match queue.judge(&question, |aqm| aqm.handle_arrival(&asking)) {
                AqmVerdict::Drop => Err(DropReason::Aqm),
                AqmVerdict::Mark => Ok(Admitted { marked: true }),
                AqmVerdict::Pass => Ok(Admitted { marked: false }),
            }
        });
        match verdict {
            Ok(Admitted { marked: true }) => queue.counters.marked.add(waiting.length),
            Ok(_) => {}
            Err(reason) => queue.counters.count_drop(reason, waiting.length),
        }
        verdict
    }

    /// Puts an admitted packet into its queue.
    #[inline]
    pub fn enqueue<P>(&mut self, slab: &mut Slab<P>, handle: Handle, now: Time) {
        let waiting = slab.slot(handle).waiting;
        let port = self.existing_mut(waiting.output);
        port.enqueue(slab, handle, now);
        self.account(waiting.output, waiting.class.index(), |held| held - waiting.length);
    }

    /// The queue's bytes changed, from `before`.
    #[inline]
    pub fn account(&mut self, port: PortId, class: usize, before: impl Fn(Bytes) -> Bytes) {
        let Some(mut buffer) = self.buffer else { return };
        let queue = &self.existing(port).queues[class];
        let held = queue.fifo.bytes();
        buffer.account(&queue.config.share, before(held), held);
        self.buffer = Some(buffer);
    }
}
