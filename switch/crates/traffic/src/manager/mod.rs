//! The traffic manager: packets in by `handle_packet`, out by `poll_output`.

mod configure;
mod report;

use std::collections::VecDeque;

use units::{Bytes, ClassId, HasLength, PortId, Time};

use crate::config::Config;
use crate::counters::Counters;
use crate::due::DueHeap;
use crate::fate::{
    Arrival, Departure, Depth, DropReason, Dropped, Output, Residence, Verdict, Waiting,
};
use crate::port::Port;
use crate::slab::{Handle, Slab};

pub use report::{PortReport, QueueReport};

/// The queues, schedulers and lines of one router.
///
/// # Driving contract
///
/// The manager has no clock. Whoever drives it, at the instants of a simulation or late and in
/// bursts behind a real clock, does this and nothing else:
///
/// 1. Let `t` be the earlier of [`next_due`](Manager::next_due) and your own next input (a packet,
///    a new configuration). When the real clock is late, `t` lies in the past: that is fine.
/// 2. Call [`poll_output(t)`](Manager::poll_output) until it returns `None`. Each
///    [`Departure`] carries its exact instant. Run egress processing on it; if that changed the
///    length, call [`settle`](Manager::settle) before polling again. A packet that egress drops
///    has still used its time on the line.
/// 3. Hand in **all** your inputs of instant `t`: [`handle_packet`](Manager::handle_packet) in
///    order of (port, sequence), then [`configure`](Manager::configure).
/// 4. Go to 1. (`next_due` may well be `t` again: a packet for an idle port departs at once.)
///
/// So at one instant departures come first, then arrivals, then control. Instants never go
/// backwards, over all calls together. Polling late is harmless: what is due comes out in the
/// order and with the instants of a prompt poll, as long as every input with an instant in between
/// is handed in at its place in time. That is checked in debug builds.
///
/// Why a departure is not computed at arrival: which packet leaves is decided when the port
/// becomes free, with the queues, weights and rates of that instant.
///
/// # Lengths
///
/// Inside the router a packet has the length it arrived with; limits, shapers, schedulers and
/// counters use that. The line alone carries what egress made of the packet: `settle` tells it.
///
/// # Cost
///
/// A packet costs the same whatever the number of packets queued, idle ports cost nothing, and
/// nothing is allocated once the largest backlog has been seen.
pub struct Manager<P> {
    config: Config,
    /// The latest instant anybody mentioned.
    now: Time,
    slab: Slab<P>,
    /// By port number; ports that are not configured are `None`.
    ports: Vec<Option<Box<Port>>>,
    /// When each port departs next.
    due: DueHeap,
    /// Dropped after they had been held, not yet polled.
    dropped: VecDeque<Dropped<P>>,
    /// Of the router as a whole.
    totals: Counters,
    held: Depth,
}

impl<P: HasLength> Manager<P> {
    /// A manager without ports: every packet is for an unknown port until it is configured.
    pub fn new() -> Manager<P> {
        Manager {
            config: Config::default(),
            now: Time::ZERO,
            slab: Slab::new(),
            ports: Vec::new(),
            due: DueHeap::default(),
            dropped: VecDeque::new(),
            totals: Counters::default(),
            held: Depth::default(),
        }
    }

    /// A packet comes from ingress processing at `now`.
    pub fn handle_packet(&mut self, now: Time, arrival: Arrival<P>) -> Verdict<P> {
        self.advance(now);
        let Arrival { packet, input, output, class } = arrival;
        let length = packet.length();
        self.totals.offered.add(length);
        let waiting = Waiting { length, input, output, class };
        if let Err(reason) = self.admit_to_output(&waiting) {
            self.totals.count_drop(reason, length);
            return Verdict::Dropped(Dropped { packet, input, output, class, at: now, reason });
        }
        self.totals.enqueued.add(length);
        self.held.packets += 1;
        self.held.bytes += length;
        let residence = Residence { arrived_at: now, ..Residence::default() };
        let handle = self.slab.insert(packet, waiting, residence);
        self.enqueue(handle, output, now);
        Verdict::Held
    }

    /// The next packet that leaves or is dropped by `now`, in the order of their instants.
    pub fn poll_output(&mut self, now: Time) -> Option<Output<P>> {
        self.now = self.now.max(now);
        loop {
            if let Some(dropped) = self.dropped.pop_front() {
                return Some(Output::Drop(dropped));
            }
            let (at, port) = self.due.first()?;
            if at > now {
                return None;
            }
            if let Some(departure) = self.depart(port, at) {
                return Some(Output::Depart(departure));
            }
        }
    }

    /// When `poll_output` will have something, if nothing is handed in before.
    pub fn next_due(&self) -> Option<Time> {
        match self.dropped.front() {
            Some(dropped) => Some(dropped.at),
            None => self.due.first().map(|(at, _)| at),
        }
    }

    /// Egress processing gave the packet that departed last from `port` this length. The line
    /// carries it, so it is free earlier or later than the departure said; returns that instant.
    /// To be called before the next poll. Unknown ports are ignored.
    pub fn settle(&mut self, port: PortId, length: Bytes) -> Time {
        let Some(state) = self.ports.get_mut(port.index()).and_then(Option::as_mut) else {
            return self.now;
        };
        let line_free_at = state.settle(length);
        self.due.set(port.index(), state.due());
        line_free_at
    }

    /// Takes note of an instant; a debug build insists on the driving contract.
    fn advance(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time goes backwards: {now} after {}", self.now);
        debug_assert!(
            self.due.first().is_none_or(|(at, _)| at >= now),
            "an input at {now} overtakes a departure that is due at {:?}",
            self.due.first()
        );
        self.now = now;
    }

    /// Whether the output queue takes the packet now; counts it as offered there and, if not, as
    /// dropped.
    fn admit_to_output(&mut self, waiting: &Waiting) -> Result<(), DropReason> {
        let state = self.ports.get_mut(waiting.output.index()).and_then(Option::as_mut);
        let port = state.ok_or(DropReason::UnknownPort)?;
        let class = waiting.class.index();
        if class >= port.queues.len() {
            port.misfits.offered.add(waiting.length);
            port.misfits.count_drop(DropReason::BadClass, waiting.length);
            return Err(DropReason::BadClass);
        }
        let verdict = port.admit(class, waiting.length);
        let counters = &mut port.queues[class].counters;
        counters.offered.add(waiting.length);
        if let Err(reason) = verdict {
            counters.count_drop(reason, waiting.length);
        }
        verdict
    }

    /// Puts an admitted packet into its output queue.
    fn enqueue(&mut self, handle: Handle, output: PortId, now: Time) {
        let port = self.ports[output.index()].as_mut().expect("the packet was admitted to it");
        port.enqueue(&mut self.slab, handle, now);
        self.due.set(output.index(), port.due());
    }

    /// Lets the packet go that the port's scheduler chooses at `at`.
    fn depart(&mut self, index: usize, at: Time) -> Option<Departure<P>> {
        let port = self.ports[index].as_mut().expect("only configured ports are due");
        let class = port.choose(at)?;
        let utilisation_permille = port.utilisation_permille(at);
        let handle = port.depart(&mut self.slab, class, at)?;
        let dequeue_depth = port.queues[class].depth();
        let line_free_at = port.line_free_at();
        self.due.set(index, port.due());
        let (packet, waiting, mut residence) = self.slab.remove(handle);
        residence.dequeue_depth = dequeue_depth;
        self.held.packets -= 1;
        self.held.bytes -= waiting.length;
        self.totals.departed.add(waiting.length);
        Some(Departure {
            packet,
            input: waiting.input,
            output: waiting.output,
            class: waiting.class,
            at,
            line_free_at,
            residence,
            utilisation_permille,
        })
    }

    /// Drops every packet of an output queue that is about to go.
    fn flush(&mut self, port: PortId, class: ClassId, now: Time) {
        let state = self.ports[port.index()].as_mut().expect("the port is configured");
        while let Some(handle) = state.unlink_head(&mut self.slab, class.index()) {
            let (packet, waiting, _) = self.slab.remove(handle);
            let reason = DropReason::QueueRemoved;
            self.held.packets -= 1;
            self.held.bytes -= waiting.length;
            self.totals.count_drop(reason, waiting.length);
            self.dropped.push_back(Dropped {
                packet,
                input: waiting.input,
                output: waiting.output,
                class: waiting.class,
                at: now,
                reason,
            });
        }
    }
}

impl<P: HasLength> Default for Manager<P> {
    fn default() -> Manager<P> {
        Manager::new()
    }
}
