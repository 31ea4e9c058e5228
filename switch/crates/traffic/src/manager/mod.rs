//! The traffic manager: packets in by `handle_packet`, out by `poll_output`.

mod configure;
mod crossing;
mod guests;
mod passing;
mod report;

use std::collections::VecDeque;

use units::{Bytes, DropReason, HasLength, PortId, Span, Time};

use crate::aqm::AqmVerdict;
use crate::config::{Config, QueueOrder};
use crate::counters::Counters;
use crate::due::DueHeap;
use crate::fate::{Arrival, Departure, Depth, Dropped, Output, Residence, Verdict, Waiting};
use crate::ports::{Admitted, Ports};
use crate::slab::{Handle, Slab};
use crate::watch::{Event, StepKind, Watch, Watching};

use crossing::Crossing;

pub use report::{
    BufferReport, InputReport, Inside, PortReport, QueueReport, TransferReport, VoqReport,
};

/// The input stage, fabric, queues, schedulers and lines of one router.
///
/// # Driving contract
///
/// The manager has no clock. Its driver, at the instants of a simulation or late and in bursts
/// behind a real clock, does this and nothing else:
///
/// 1. Let `t` be the earlier of [`next_due`](Manager::next_due) and your own next input (a packet,
///    a new configuration). When the real clock is late, `t` lies in the past: that is fine.
/// 2. Call [`poll_output(t)`](Manager::poll_output) until it returns `None`. Each
///    [`Departure`] carries its exact instant. Run egress processing on it; if that changed the
///    length, call [`settle`](Manager::settle) before polling again. A packet that egress drops
///    has still used its time on the line.
/// 3. Hand in **all** your inputs of instant `t`: [`handle_packet`](Manager::handle_packet) in
///    order of (port, sequence), then [`configure`](Manager::configure).
///    A packet that egress sends back (a clone, a recirculated packet) is handed in at the instant
///    of its departure, before the next poll.
/// 4. Go to 1. (`next_due` may well be `t` again: a packet for an idle port departs at once.)
///
/// A caller that has exactly one input for an instant may try
/// [`pass_packet`](Manager::pass_packet) first: where the packet departs at once, it returns the
/// departure without a poll.
///
/// So at one instant departures come first, then arrivals, then control. The crossbar of a router
/// that has one arbitrates when an instant is over, with all that happened in it: it is due one
/// picosecond later, and what it does is dated to the instant itself.
///
/// Instants never go backwards, over all calls together. Polling late is harmless: what is due comes out in the
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
    /// The configuration in force.
    config: Config,
    /// For all dice of the router.
    seed: u64,
    /// The latest instant at which anything happened.
    now: Time,
    slab: Slab<P>,
    ports: Ports,
    /// When each port departs next.
    due: DueHeap,
    crossing: Option<Box<Crossing>>,
    /// Dropped after they had been held, not yet polled.
    dropped: VecDeque<Dropped<P>>,
    /// Of the router as a whole.
    totals: Counters,
    held: Depth,
    /// How many packets have been handed in.
    sequence: u64,
    /// The longest packet ever handed in.
    longest: Bytes,
    /// The watcher of packets; nearly always none.
    watch: Option<Box<Watch>>,
}

/// Where a packet is let in.
enum Place {
    /// Into this lane of the input stage.
    Input(usize),
    /// Into its output queue.
    Output(Admitted),
}

/// Which queue a packet was in that is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// That of its input.
    Input,
    /// That of its output.
    Output,
}

/// The crossbar arbitrates this long after the instant it arbitrates for.
const INSTANT_IS_OVER: Span = Span::from_ps(1);

impl<P: HasLength> Manager<P> {
    /// A manager without ports: every packet is for an unknown port until it is configured. All
    /// its dice are thrown with `seed`.
    pub fn new(seed: u64) -> Manager<P> {
        Manager {
            config: Config::default(),
            seed,
            now: Time::ZERO,
            slab: Slab::new(),
            ports: Ports::default(),
            due: DueHeap::default(),
            crossing: None,
            dropped: VecDeque::new(),
            totals: Counters::default(),
            held: Depth::default(),
            sequence: 0,
            longest: Bytes::ZERO,
            watch: None,
        }
    }

    /// A packet comes from ingress processing at `now`.
    pub fn handle_packet(&mut self, now: Time, arrival: Arrival<P>) -> Verdict<P> {
        self.advance(now);
        let Arrival { packet, input, output, class, ecn, precedence, rank, number } = arrival;
        let class = self.ports.queue_for(output, class, ecn);
        let length = packet.length();
        self.totals.offered.add(length);
        self.longest = self.longest.max(length);
        self.sequence += 1;
        let sequence = self.sequence;
        let waiting =
            Waiting { length, input, output, class, ecn, precedence, rank, sequence, number };
        let place = match self.admit(&waiting, now) {
            Ok(place) => place,
            Err(reason) => {
                self.totals.count_drop(reason, length);
                self.note_step(now, &waiting, |_| StepKind::Dropped { reason, depth: None });
                return Verdict::Dropped(Dropped { packet, input, output, class, at: now, reason });
            }
        };
        self.totals.enqueued.add(length);
        self.held.packets += 1;
        self.held.bytes += length;
        let residence = Residence { arrived_at: now, ..Residence::default() };
        let handle = self.slab.insert(packet, waiting, residence);
        match place {
            Place::Input(lane) => self.enqueue_input(lane, handle, now),
            Place::Output(admitted) => self.enqueue_output(handle, admitted, now),
        }
        Verdict::Held
    }

    /// The next packet that leaves or is dropped by `now`, in the order of their instants.
    pub fn poll_output(&mut self, now: Time) -> Option<Output<P>> {
        loop {
            if let Some(dropped) = self.dropped.pop_front() {
                return Some(Output::Drop(dropped));
            }
            let departure = self.due.first().filter(|(at, _)| *at <= now);
            let arbitration = self.arbitration_due().filter(|at| *at < now);
            match (departure, arbitration) {
                (None, None) => return None,
                (Some((at, _)), Some(arbitration)) if arbitration < at => {
                    self.arbitrate(arbitration);
                }
                (None, Some(arbitration)) => self.arbitrate(arbitration),
                (Some((at, port)), _) => {
                    let output = self.depart(PortId(port as u16), at);
                    if output.is_some() {
                        return output;
                    }
                }
            }
        }
    }

    /// When `poll_output` will have something to do, if nothing is handed in before.
    pub fn next_due(&self) -> Option<Time> {
        if let Some(dropped) = self.dropped.front() {
            return Some(dropped.at);
        }
        let departure = self.due.first().map(|(at, _)| at);
        let arbitration = self.arbitration_due().map(|at| at.saturating_add(INSTANT_IS_OVER));
        match (departure, arbitration) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Egress processing gave the packet that departed last from `port` this length. The line
    /// carries it, so it is free earlier or later than the departure said; returns that instant.
    /// To be called before the next poll. Unknown ports are ignored.
    pub fn settle(&mut self, port: PortId, length: Bytes) -> Time {
        let Some(state) = self.ports.get_mut(port) else { return self.now };
        let line_free_at = state.settle(length);
        self.due.set(port.index(), state.due());
        line_free_at
    }

    /// Whatever takes the frames of `port` has no room for more, or has room again: until then
    /// packets stay in their queues, are counted there and dropped by the queues' own limits.
    /// Unknown ports are ignored.
    pub fn set_stalled(&mut self, now: Time, port: PortId, stalled: bool) {
        self.advance(now);
        let Some(state) = self.ports.get_mut(port) else { return };
        state.set_stalled(now, stalled);
        self.due.set(port.index(), state.due());
    }

    /// Watches this from now on, instead of something else. To watch nothing gives up the waiting
    /// events.
    pub fn watch(&mut self, watching: &Watching) {
        if *watching == Watching::default() {
            self.watch = None;
        } else {
            self.watch.get_or_insert_default().set(watching);
        }
    }

    /// Whether anything is watched.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// The next event that is watched, in the order in which they happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.watch.as_mut()?.poll_event()
    }

    /// The number of events that found no room since the last call, because they were not polled.
    pub fn take_lost_event_count(&mut self) -> u64 {
        self.watch.as_mut().map_or(0, |watch| watch.take_lost_count())
    }

    /// Tells who watches of a step that the books show already; `kind` is given what waits in the
    /// packet's output queue.
    #[inline]
    fn note_step(&mut self, at: Time, waiting: &Waiting, kind: impl FnOnce(Depth) -> StepKind) {
        let Some(watch) = &mut self.watch else { return };
        let port = self.ports.get(waiting.output);
        let queue = port.and_then(|port| port.queues.get(waiting.class.index()));
        let depth = queue.map(|queue| queue.depth()).unwrap_or_default();
        watch.note(at, waiting, kind(depth));
    }

    /// Takes note of an instant; a debug build insists on the driving contract.
    fn advance(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time goes backwards: {now} after {}", self.now);
        debug_assert!(
            self.due.first().is_none_or(|(at, _)| at >= now)
                && self.arbitration_due().is_none_or(|at| at >= now),
            "an input at {now} overtakes what is due at {:?}",
            self.next_due()
        );
        self.now = now;
    }

    fn arbitration_due(&self) -> Option<Time> {
        self.crossing.as_ref().and_then(|crossing| crossing.due)
    }

    /// Whether the router takes the packet, and where.
    #[inline]
    fn admit(&mut self, waiting: &Waiting, now: Time) -> Result<Place, DropReason> {
        self.ports.class_exists(waiting)?;
        match self.admit_to_input(waiting)? {
            Some(lane) => Ok(Place::Input(lane)),
            None => {
                self.push_out(waiting, now);
                self.ports.admit(waiting, now).map(Place::Output)
            }
        }
    }

    /// Makes room for a packet in a full queue that is ordered by rank: those of the highest ranks
    /// are dropped, if the packet fits without them and its own rank is lower.
    #[inline]
    pub(super) fn push_out(&mut self, waiting: &Waiting, now: Time) {
        let (output, class) = (waiting.output, waiting.class.index());
        let port = self.ports.existing(output);
        if port.queues[class].config.order == QueueOrder::Arrival {
            return;
        }
        let count = port.queues[class].in_the_way(&self.slab, waiting);
        for _ in 0..count {
            let port = self.ports.existing_mut(output);
            let Some(handle) = port.unlink_last(&mut self.slab, class) else { return };
            let length = self.slab.slot(handle).waiting.length;
            port.queues[class].counters.count_drop(DropReason::Rank, length);
            port.tell_dropped(class, length);
            let due = port.due();
            self.due.set(output.index(), due);
            self.ports.account(output, class, |held| held + length);
            self.drop_held(handle, now, DropReason::Rank, Origin::Output);
        }
    }

    /// Puts an admitted packet into its output queue.
    #[inline]
    fn enqueue_output(&mut self, handle: Handle, admitted: Admitted, now: Time) {
        let slot = self.slab.slot_mut(handle);
        slot.residence.marked |= admitted.marked;
        let waiting = slot.waiting;
        if admitted.marked {
            self.totals.marked.add(waiting.length);
        }
        self.ports.enqueue(&mut self.slab, handle, now);
        self.note_step(now, &waiting, |depth| StepKind::Queued { depth });
        let output = waiting.output;
        let port = self.ports.existing(output);
        if port.due_may_have_changed() {
            self.due.set(output.index(), port.due());
        }
    }

    /// Lets the packet go that the port's scheduler chooses at `at`.
    #[inline]
    fn depart(&mut self, output: PortId, at: Time) -> Option<Output<P>> {
        self.now = self.now.max(at);
        let class = self.choose_past_aqm(output, at)?;
        let port = self.ports.existing_mut(output);
        let handle = port.depart(&mut self.slab, class, at)?;
        // Only now is the frame before this one in the line's books.
        let utilisation_basis_points = port.utilisation_basis_points(at);
        let dequeue_depth = port.queues[class].depth();
        let line_free_at = port.line_free_at();
        self.due.set(output.index(), port.due());
        let (packet, waiting, mut residence) = self.slab.remove(handle);
        self.ports.account(output, class, |held| held + waiting.length);
        self.note_room(output, at);
        let marked = residence.marked;
        self.note_step(at, &waiting, |depth| StepKind::Departed { depth, marked });
        residence.dequeue_depth = dequeue_depth;
        self.held.packets -= 1;
        self.held.bytes -= waiting.length;
        self.totals.departed.add(waiting.length);
        Some(Output::Depart(Departure {
            packet,
            input: waiting.input,
            output: waiting.output,
            class: waiting.class,
            at,
            line_free_at,
            residence,
            utilisation_basis_points,
        }))
    }

    /// The class that sends at `at`, after AQM has dropped or marked at the head of its queue.
    /// None if that left nothing to send; the port is then due anew.
    #[inline]
    fn choose_past_aqm(&mut self, output: PortId, at: Time) -> Option<usize> {
        loop {
            let port = self.ports.existing_mut(output);
            let Some(class) = port.choose(at) else {
                let due = port.due();
                self.due.set(output.index(), due);
                return None;
            };
            loop {
                let port = self.ports.existing_mut(output);
                match port.judge_head(&self.slab, class, at) {
                    AqmVerdict::Pass => break,
                    AqmVerdict::Mark => {
                        self.mark_head(output, class);
                        break;
                    }
                    AqmVerdict::Drop => self.drop_head(output, class, at),
                }
            }
            if self.ports.existing(output).queues[class].fifo.is_empty() {
                self.ports.existing_mut(output).forget_credit(class);
            } else {
                return Some(class);
            }
        }
    }

    /// AQM marks the packet that is about to depart.
    fn mark_head(&mut self, output: PortId, class: usize) {
        let queue = &mut self.ports.existing_mut(output).queues[class];
        let Some(head) = queue.fifo.head() else { return };
        let slot = self.slab.slot_mut(head);
        slot.residence.marked = true;
        queue.counters.marked.add(slot.waiting.length);
        self.totals.marked.add(slot.waiting.length);
    }

    /// AQM drops the packet that was about to depart.
    fn drop_head(&mut self, output: PortId, class: usize, at: Time) {
        let port = self.ports.existing_mut(output);
        let Some(handle) = port.unlink_head(&mut self.slab, class) else { return };
        let length = self.slab.slot(handle).waiting.length;
        port.queues[class].counters.count_drop(DropReason::Aqm, length);
        port.tell_dropped(class, length);
        self.ports.account(output, class, |held| held + length);
        self.drop_held(handle, at, DropReason::Aqm, Origin::Output);
        self.note_room(output, at);
    }

    /// Drops a packet that had been held and is in no queue any more.
    fn drop_held(&mut self, handle: Handle, at: Time, reason: DropReason, from: Origin) {
        let (packet, waiting, _) = self.slab.remove(handle);
        self.note_step(at, &waiting, |depth| {
            let depth = (from == Origin::Output).then_some(depth);
            StepKind::Dropped { reason, depth }
        });
        let Waiting { length, input, output, class, .. } = waiting;
        self.held.packets -= 1;
        self.held.bytes -= length;
        self.totals.count_drop(reason, length);
        self.dropped.push_back(Dropped { packet, input, output, class, at, reason });
    }
}
