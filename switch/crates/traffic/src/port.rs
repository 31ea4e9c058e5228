//! One output port: its queues, its scheduler and its line.
//!
//! The port holds no packet that has departed: from the departure on, the packet is on the line and
//! the line is busy until `line_free_at`. So the instants here are those of the modelled line, and
//! it does not matter how late they are read.

use units::{Bytes, CLASS_COUNT_MAX, ClassId, Distance, DropReason, HasLength, PortId, Span, Time};

use crate::aqm::configs::AqmConfig;
use crate::aqm::{AqmVerdict, Leaving};
use crate::config::{PortConfig, QueueOrder};
use crate::counters::Counters;
use crate::credit::{ClassCredit, Credits};
use crate::fate::Depth;
use crate::outside::{AqmOutside, AqmQuestion, Fault, Guest, SchedulerOutside};
use crate::queue::{Dice, Queue};
use crate::schedule::{ClassSet, Head, Heads, Scheduler};
use crate::shaper::Shaper;
use crate::slab::{Handle, Slab};
use crate::utilisation::Utilisation;
use wire::Ecn;

pub(crate) struct Port {
    id: PortId,
    seed: u64,
    pub config: PortConfig,
    pub queues: Vec<Queue>,
    /// The first packets of the queues in `backlog`.
    heads: Heads,
    /// The classes whose queue is not empty.
    backlog: ClassSet,
    /// The depth of all queues together.
    pub held: Depth,
    /// The instant from which the line can take the next frame.
    line_free_at: Time,
    /// The receiver behind the line takes no frame for now.
    stalled: bool,
    /// When the last frame went on the line.
    departed_at: Time,
    shaper: Option<Shaper>,
    scheduler: Scheduler,
    /// Chooses in its place.
    guest: Option<Guest<dyn SchedulerOutside>>,
    /// Whether any instant but the line's can hold a class back.
    shaped: bool,
    /// Whether a packet that comes alone waits for nothing but the line, and no scheduler or AQM
    /// needs to know of it: strict priority, no shaper, no AQM.
    plain: bool,
    /// Queues that one method manages together.
    pairs: Vec<Pair>,
    /// Packets dropped before their queue was known.
    pub misfits: Counters,
    utilisation: Utilisation,
}

/// Two queues that one method manages, by their classes; the method is the Classic queue's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    classic: usize,
    l4s: usize,
}

impl Pair {
    fn has(self, class: usize) -> bool {
        class == self.classic || class == self.l4s
    }
}

impl Port {
    /// An idle port; the dice of its queues are named after `id`.
    pub fn new(config: &PortConfig, id: PortId, seed: u64, now: Time) -> Port {
        let mut port = Port {
            id,
            seed,
            config: config.clone(),
            queues: Vec::new(),
            heads: [Head::default(); CLASS_COUNT_MAX],
            backlog: ClassSet::default(),
            held: Depth::default(),
            line_free_at: now,
            stalled: false,
            departed_at: now,
            shaper: config.shaper.map(|shaper| Shaper::new(shaper, now)),
            scheduler: Scheduler::new(&config.scheduler, config.line_rate, now),
            guest: None,
            shaped: false,
            plain: false,
            pairs: Vec::new(),
            misfits: Counters::default(),
            utilisation: Utilisation::new(config.utilisation_window),
        };
        port.add_queues(now);
        port
    }

    /// Whether the port and the queue of `class` have room for a packet of `length`.
    #[inline]
    pub fn admit(&self, class: usize, length: Bytes) -> Result<(), DropReason> {
        self.queues[class].admit(length)?;
        if !self.config.limit.has_room(self.held.packets, self.held.bytes, length) {
            return Err(DropReason::PortLimit);
        }
        Ok(())
    }

    /// Appends an admitted packet to the queue of its class.
    #[inline]
    pub fn enqueue<P>(&mut self, slab: &mut Slab<P>, handle: Handle, now: Time) {
        let slot = slab.slot_mut(handle);
        let (class, length) = (slot.waiting.class.index(), slot.waiting.length);
        let queue = &mut self.queues[class];
        slot.residence.enqueued_at = now;
        slot.residence.enqueue_depth = queue.depth();
        slot.tag = self.scheduler.handle_enqueue(now, class, length + self.config.overhead);
        if let Some(guest) = &mut self.guest {
            guest.handle_enqueue(now, class, length.count());
        }
        if queue.fifo.is_empty() {
            self.heads[class] = Head { length, enqueued_at: now, tag: slot.tag };
            self.backlog.insert(class);
        }
        queue.enqueue(slab, handle);
        if queue.config.order == QueueOrder::Rank
            && let Some(head) = queue.head(slab)
        {
            self.heads[class] = head;
        }
        self.held.packets += 1;
        self.held.bytes += length;
    }

    /// When the next packet departs if nothing else happens before.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        if self.backlog.is_empty() || self.stalled {
            return None;
        }
        let free_at = self.free_at();
        let mut due = Time::MAX;
        for class in self.backlog.iter() {
            due = due.min(self.ready_at(class, free_at));
            // Nothing departs before the line is free, so no class can be earlier.
            if due == free_at {
                break;
            }
        }
        Some(due)
    }

    /// Whether a packet that just entered can make the port due earlier: not if the port only
    /// waits for its line and something was waiting for it already.
    #[inline]
    pub fn due_may_have_changed(&self) -> bool {
        self.held.packets == 1 || self.shaped || self.shaper.is_some()
    }

    /// The classes that may send at `at`.
    #[inline]
    fn eligible(&self, at: Time) -> ClassSet {
        // Without rates of their own all classes wait for the line only, and it is free.
        if !self.shaped {
            return self.backlog;
        }
        let mut eligible = self.backlog;
        let free_at = self.free_at();
        for class in self.backlog.iter() {
            if self.ready_at(class, free_at) > at {
                eligible.remove(class);
            }
        }
        eligible
    }

    /// From when on the line and the port's own bucket allow a frame.
    #[inline]
    fn free_at(&self) -> Time {
        match &self.shaper {
            None => self.line_free_at,
            Some(shaper) => {
                let heads = self.backlog.iter().map(|class| self.heads[class].length);
                let longest = heads.max().unwrap_or(Bytes::ZERO);
                self.line_free_at.max(shaper.eligible_at(longest))
            }
        }
    }

    /// From when on `class` may send, if the port is free from `free_at` on.
    #[inline]
    fn ready_at(&self, class: usize, free_at: Time) -> Time {
        let head = &self.heads[class];
        let ready_at = free_at.max(head.enqueued_at);
        if !self.shaped {
            return ready_at;
        }
        let ready_at = ready_at.max(self.scheduler.ready_at(class));
        match &self.queues[class].shaper {
            Some(shaper) => ready_at.max(shaper.eligible_at(head.length)),
            None => ready_at,
        }
    }

    /// Everything that decides at `now` which class is next, apart from the packets themselves.
    pub fn credits(&self, now: Time) -> Credits {
        let tokens = |shaper: &Option<Shaper>| shaper.as_ref().map(|it| it.tokens(now));
        let classes = self.queues.iter().enumerate().map(|(class, queue)| {
            let head = self.backlog.contains(class).then(|| &self.heads[class]);
            ClassCredit { share: self.scheduler.state(class, head), tokens: tokens(&queue.shaper) }
        });
        Credits {
            tokens: tokens(&self.shaper),
            classes: classes.collect(),
            nodes: self.scheduler.nodes(now),
        }
    }

    /// The class that departs at `at`, an instant given by [`Port::due`].
    #[inline]
    pub fn choose(&mut self, at: Time) -> Option<usize> {
        let eligible = self.eligible(at);
        match &mut self.guest {
            None => self.scheduler.choose(at, eligible, &self.heads),
            Some(guest) => {
                let own = match guest.compared {
                    true => self.scheduler.choose(at, eligible, &self.heads),
                    false => None,
                };
                guest.choose(at, eligible, &self.heads, own)
            }
        }
    }

    /// The verdict of active queue management on the first packet of `class`, about to depart at
    /// `at`.
    #[inline]
    pub fn judge_head<P>(&mut self, slab: &Slab<P>, class: usize, at: Time) -> AqmVerdict {
        let (manager, other) = match self.pair_of(class) {
            Some(pair) => (pair.classic, if class == pair.l4s { pair.classic } else { pair.l4s }),
            None => (class, class),
        };
        let queue = &self.queues[class];
        let Some(head) = queue.fifo.head() else { return AqmVerdict::Pass };
        if self.queues[manager].aqm.is_none() && queue.guest.is_none() {
            return AqmVerdict::Pass;
        }
        let slot = slab.slot(head);
        let left = Depth {
            packets: queue.fifo.packets() - 1,
            bytes: queue.fifo.bytes() - slot.waiting.length,
        };
        let has_other = other != class && self.backlog.contains(other);
        let leaving = Leaving {
            at,
            waited: at.since(slot.residence.enqueued_at),
            left,
            ecn: slot.waiting.ecn,
            is_l4s: class != manager,
            other_since: has_other.then(|| self.heads[other].enqueued_at),
        };
        let question = AqmQuestion {
            at,
            waited: Some(leaving.waited),
            bytes: slot.waiting.length.count(),
            queue_packets: left.packets,
            queue_bytes: left.bytes.count(),
            is_capable: leaving.ecn.is_capable(),
        };
        self.queues[manager].judge(&question, |aqm| aqm.handle_departure(&leaving))
    }

    /// The class in whose queue a packet for `class` waits.
    #[inline]
    pub fn queue_for(&self, class: ClassId, ecn: Ecn) -> ClassId {
        match self.pair_of(class.index()) {
            Some(pair) if ecn.is_l4s() => ClassId(pair.l4s as u8),
            Some(pair) => ClassId(pair.classic as u8),
            None => class,
        }
    }

    #[inline]
    fn pair_of(&self, class: usize) -> Option<Pair> {
        self.pairs.iter().copied().find(|pair| pair.has(class))
    }

    /// The queue of `class` was emptied by drops: it keeps no credit.
    pub fn forget_credit(&mut self, class: usize) {
        self.scheduler.handle_emptied(class);
    }

    /// Takes the first packet of `class` off its queue and puts it on the line at `at`.
    #[inline]
    pub fn depart<P: HasLength>(
        &mut self,
        slab: &mut Slab<P>,
        class: usize,
        at: Time,
    ) -> Option<Handle> {
        let handle = self.unlink_head(slab, class)?;
        let slot = slab.slot(handle);
        let length = slot.waiting.length;
        let waited = at.since(slot.residence.enqueued_at);
        self.queues[class].count_departure(at, length, waited);
        if let Some(shaper) = &mut self.shaper {
            shaper.charge(at, waited, length);
        }
        self.occupy(at, length);
        let emptied = !self.backlog.contains(class);
        if self.guest.as_ref().is_none_or(|guest| guest.is_beside_own()) {
            self.scheduler.handle_departure(at, self.line_free_at, class, length, emptied);
        }
        if let Some(guest) = &mut self.guest {
            guest.handle_departure(class, length.count(), emptied);
        }
        Some(handle)
    }

    /// Whether a packet of `length` that arrives at `at` departs at once.
    #[inline]
    pub fn lets_pass(&self, class: usize, length: Bytes, at: Time) -> bool {
        self.plain
            && self.held.packets == 0
            && self.line_free_at <= at
            && !self.stalled
            && class < self.queues.len()
            && self.admit(class, length).is_ok()
    }

    /// The books of a packet that [passes](Port::lets_pass), as entering its queue and leaving it
    /// would have made them.
    #[inline]
    pub fn pass(&mut self, class: usize, length: Bytes, at: Time) {
        self.queues[class].count_passage(at, length);
        self.occupy(at, length);
    }

    /// A frame of `length` goes on the line at `at`.
    #[inline]
    fn occupy(&mut self, at: Time, length: Bytes) {
        self.utilisation.record(self.departed_at, self.line_free_at);
        self.departed_at = at;
        self.line_free_at = at.saturating_add(self.occupancy(length));
    }

    /// Unlinks the first packet of `class`; the caller counts what becomes of it.
    #[inline]
    pub fn unlink_head<P: HasLength>(
        &mut self,
        slab: &mut Slab<P>,
        class: usize,
    ) -> Option<Handle> {
        let queue = &mut self.queues[class];
        let handle = queue.fifo.dequeue(slab)?;
        // A packet that has waited long is no longer in the caches: the next one is prefetched
        // before its turn.
        if let Some(next) = queue.fifo.head() {
            slab.packet(next).approach(Distance::Near);
        }
        self.held.packets -= 1;
        self.held.bytes -= slab.slot(handle).waiting.length;
        match queue.head(slab) {
            Some(head) => self.heads[class] = head,
            None => self.backlog.remove(class),
        }
        Some(handle)
    }

    /// Unlinks the last packet of `class`; the caller counts what becomes of it.
    pub fn unlink_last<P>(&mut self, slab: &mut Slab<P>, class: usize) -> Option<Handle> {
        let queue = &mut self.queues[class];
        let handle = queue.fifo.dequeue_last(slab)?;
        self.held.packets -= 1;
        self.held.bytes -= slab.slot(handle).waiting.length;
        if queue.fifo.is_empty() {
            self.backlog.remove(class);
            self.scheduler.handle_emptied(class);
        }
        Some(handle)
    }

    /// The first packet of `class` has been dropped, and unlinked.
    pub fn tell_dropped(&mut self, class: usize, length: Bytes) {
        let emptied = !self.backlog.contains(class);
        if let Some(guest) = &mut self.guest {
            guest.handle_drop(class, length.count(), emptied);
        }
    }

    /// How long a frame of `length` keeps the line.
    #[inline]
    fn occupancy(&self, length: Bytes) -> Span {
        match self.config.line_rate {
            Some(rate) => rate.span_of(length + self.config.overhead),
            None => Span::ZERO,
        }
    }

    /// The frame that departed last has `length` on the line; returns when the line is free.
    pub fn settle(&mut self, length: Bytes) -> Time {
        self.line_free_at = self.departed_at.saturating_add(self.occupancy(length));
        self.line_free_at
    }

    /// Stops departures, or lets them go on from `now`; what could have left in between has not.
    pub fn set_stalled(&mut self, now: Time, stalled: bool) {
        if self.stalled && !stalled {
            self.utilisation.record(self.departed_at, self.line_free_at);
            self.line_free_at = self.line_free_at.max(now);
            self.departed_at = self.line_free_at;
        }
        self.stalled = stalled;
    }

    /// When the line can take the next frame.
    pub fn line_free_at(&self) -> Time {
        self.line_free_at
    }

    /// The busy share of the line's last full window before `at`, in 0.01 %.
    #[inline]
    pub fn utilisation_basis_points(&mut self, at: Time) -> u16 {
        self.utilisation.basis_points(at)
    }

    /// The same for one who only looks, with the frame that is on the line counted as far as sent.
    pub fn seen_utilisation_basis_points(&self, now: Time) -> u16 {
        let mut utilisation = self.utilisation.clone();
        if self.departed_at < now {
            utilisation.record(self.departed_at, self.line_free_at.min(now));
        }
        utilisation.basis_points(now)
    }

    /// Takes over a new configuration at `now`. Queues that exist before and after keep their
    /// packets and their books; the caller has emptied those that go.
    pub fn reconfigure<P>(&mut self, slab: &mut Slab<P>, config: &PortConfig, now: Time) {
        // A departure that a shorter wait would have allowed in the past happens now, not then.
        self.utilisation.record(self.departed_at, self.line_free_at);
        self.line_free_at = self.line_free_at.max(now);
        self.departed_at = self.line_free_at;
        self.queues.truncate(config.queues.len());
        for (class, (queue, config)) in self.queues.iter_mut().zip(&config.queues).enumerate() {
            let is_ranked_now =
                queue.config.order == QueueOrder::Arrival && config.order == QueueOrder::Rank;
            queue.reconfigure(config, now);
            if is_ranked_now {
                queue.fifo.sort_by_rank(slab);
                self.heads[class] = queue.head(slab).unwrap_or_default();
            }
        }
        if self.config.shaper != config.shaper {
            match (&mut self.shaper, config.shaper) {
                (Some(shaper), Some(config)) => shaper.change(config, now),
                (shaper, config) => *shaper = config.map(|config| Shaper::new(config, now)),
            }
        }
        let reschedule =
            self.config.scheduler != config.scheduler || self.config.line_rate != config.line_rate;
        if self.config.utilisation_window != config.utilisation_window {
            self.utilisation = Utilisation::new(config.utilisation_window);
        }
        self.config = config.clone();
        if reschedule {
            self.scheduler = Scheduler::new(&config.scheduler, config.line_rate, now);
            self.tag_backlog(slab, now);
        }
        self.add_queues(now);
    }

    /// Tags what waits as if it had all arrived at `now`, each queue in its order.
    fn tag_backlog<P>(&mut self, slab: &mut Slab<P>, now: Time) {
        for (class, queue) in self.queues.iter().enumerate() {
            let handles: Vec<Handle> = queue.fifo.iter(slab).collect();
            for handle in handles {
                let slot = slab.slot_mut(handle);
                let length = slot.waiting.length + self.config.overhead;
                slot.tag = self.scheduler.handle_enqueue(now, class, length);
            }
            if let Some(head) = queue.head(slab) {
                self.heads[class] = head;
            }
        }
    }

    /// Adds the queues that are configured and not there yet.
    fn add_queues(&mut self, now: Time) {
        for (class, queue) in self.config.queues.iter().enumerate().skip(self.queues.len()) {
            let dice = Dice { seed: self.seed, name: format!("aqm/{}/{class}", self.id) };
            self.queues.push(Queue::new(queue, dice, now));
        }
        let pair = |(classic, queue): (usize, &Queue)| {
            let l4s = queue.config.aqm.as_ref().and_then(AqmConfig::l4s_class)?.index();
            Some(Pair { classic, l4s })
        };
        self.pairs = self.queues.iter().enumerate().filter_map(pair).collect();
        let own_rates = self.queues.iter().any(|queue| queue.shaper.is_some());
        self.shaped = own_rates || self.scheduler.has_rates();
        self.plain = self.scheduler.is_strict()
            && !self.shaped
            && self.shaper.is_none()
            && self.guest.is_none()
            && self.queues.iter().all(|queue| queue.aqm.is_none() && queue.guest.is_none());
    }

    /// `guest` chooses among the classes from now on.
    pub fn invite_scheduler(&mut self, guest: Guest<dyn SchedulerOutside>) {
        self.guest = Some(guest);
        self.plain = false;
    }

    /// `guest` manages the queue of `class` from now on; false if there is none.
    pub fn invite_aqm(&mut self, class: usize, guest: Guest<dyn AqmOutside>) -> bool {
        let Some(queue) = self.queues.get_mut(class) else { return false };
        queue.guest = Some(guest);
        self.plain = false;
        true
    }

    /// The fault of an outside decider at this port.
    pub fn fault(&self) -> Option<&Fault> {
        let own = self.guest.as_ref().and_then(|guest| guest.fault.as_ref());
        own.or_else(|| self.queues.iter().find_map(|queue| queue.guest.as_ref()?.fault.as_ref()))
    }
}
