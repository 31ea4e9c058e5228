//! Watchers on the data-plane thread: their events, and when samples are due.
//!
//! The device records the union of the watchers' requests; each event is then offered to each
//! watcher, whose filter decides. Samples are taken at multiples of the interval on the device's
//! clock, after everything that was due by then, so they show the model and not the machine.
//!
//! A watcher of events alone gets each as soon as it has happened. One of samples too draws
//! pictures, and gets the events between two samples with the second: to carry and to read a
//! message costs many times as much as an event in it.

use std::sync::Arc;

use device::{Device, Event, PacketStep, PacketStepKind, Watching};
use p4runtime::refusal::Refusal;
use p4runtime::router::columns::Columns;
use p4runtime::router::counters::{Detail, Snapshot};
use p4runtime::watch::{Filter, Item, Start};
use traffic::{Depth, Step, StepKind};
use units::{Span, Time};

use crate::feed::Feed;

/// Clients that may watch at the same time: each costs every event a look at its filter.
const WATCHER_COUNT_MAX: usize = 32;

/// The packets inside that one watcher gets when it begins. Copying the heads of as many takes two
/// milliseconds, during which nothing else runs.
const INSIDE_COUNT_MAX: usize = 1 << 14;

/// Samples that are sent together take about this much memory at the most: half of the default
/// limit of gRPC's clients for one message.
const COLUMNS_BYTES_MAX: usize = 2 << 20;

/// An event waits no longer than this for the next sample.
const WAIT_SPAN_MAX: Span = Span::from_ms(50);

/// A model that is this many samples late leaves some out rather than fall behind further.
const LATE_SAMPLE_COUNT_MAX: u64 = 8;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    all: Vec<Watcher>,
    /// The model lagged the clock, and this has not been reported yet.
    overrun: Option<(Time, Span)>,
}

#[derive(Debug)]
struct Watcher {
    filter: Filter,
    feed: Arc<Feed>,
    /// For each threshold, whether the depth was at its level last.
    above: Vec<bool>,
    /// When the next sample is due.
    next_sample: Option<Time>,
    /// When the reader is to get the events that wait for the next sample, should none have come by
    /// then.
    tell_by: Option<Time>,
    missed_samples: u64,
    /// Samples that are sent together and are not complete yet.
    columns: Columns,
    /// Items not yet handed to the feed.
    pending: Vec<Item>,
}

impl Watchers {
    /// Another one; its filter must fit the device.
    pub fn add(
        &mut self,
        device: &mut Device,
        now: Time,
        filter: Filter,
        feed: Arc<Feed>,
    ) -> Result<Start, Refusal> {
        self.forget_closed(device);
        if self.all.len() == WATCHER_COUNT_MAX {
            return Err(Refusal::exhausted(format!(
                "{WATCHER_COUNT_MAX} clients watch already, which is the most there may be; end \
                 one of them"
            )));
        }
        check(device, &filter)?;
        // Earlier events are not for the new watcher.
        self.handle_events(device, now);
        let depth = |queue: (_, _)| device.traffic().queue(queue.0, queue.1).map(|it| it.depth);
        let queues = filter.queues_in_order();
        let queues: Vec<_> =
            queues.map(|queue| (queue, depth(queue).unwrap_or_default())).collect();
        let above = filter.thresholds.iter().zip(&queues);
        let above = above.map(|(threshold, (_, depth))| threshold.level.is_reached(*depth));
        let mut watcher = Watcher {
            above: above.collect(),
            next_sample: filter.interval.map(|interval| first_multiple(now, interval)),
            tell_by: None,
            feed,
            missed_samples: 0,
            columns: Columns::default(),
            pending: inside(device, now, &filter)?,
            filter,
        };
        watcher.hand_over();
        self.all.push(watcher);
        device.watch(self.union());
        Ok(Start { time: now, epoch_offset_ns: 0, queues })
    }

    /// When the next sample is due.
    pub fn next_sample(&self) -> Option<Time> {
        self.all.iter().filter_map(|watcher| watcher.next_sample).min()
    }

    /// When something is to be sent, even if nothing happens.
    pub fn next_due(&self) -> Option<Time> {
        let dues = self.all.iter().flat_map(|watcher| [watcher.next_sample, watcher.tell_by]);
        dues.flatten().min()
    }

    /// Offers what the device has recorded by `now` to the watchers.
    pub fn handle_events(&mut self, device: &mut Device, now: Time) {
        let overrun = self.overrun.take_if(|(at, _)| *at <= now);
        if self.all.is_empty() {
            return;
        }
        self.forget_closed(device);
        while let Some(event) = device.poll_event() {
            self.all.iter_mut().for_each(|watcher| watcher.offer(&event));
        }
        let lost = device.take_lost_event_count();
        for watcher in &mut self.all {
            if lost > 0 {
                watcher.pending.push(Item::Lost(lost));
            }
            if let Some((at, lag)) = overrun.filter(|_| watcher.filter.overruns) {
                watcher.pending.push(Item::Overrun { at, lag });
            }
            watcher.tell_events(now);
        }
    }

    /// Takes the samples that are due at `now`; everything due by then must have been polled.
    pub fn sample(&mut self, device: &mut Device, now: Time) {
        self.handle_events(device, now);
        for watcher in &mut self.all {
            watcher.sample(device, now);
        }
    }

    /// At `at` the model was `lag` behind the clock. The events until then are sent first.
    pub fn handle_overrun(&mut self, at: Time, lag: Span) {
        self.overrun = Some((at, lag));
    }

    /// Tells what waits for more samples, whatever their number.
    pub fn tell_all(&mut self) {
        for watcher in &mut self.all {
            watcher.end_columns();
            watcher.hand_over();
        }
    }

    /// The watchers' feeds.
    pub fn feeds(&self) -> impl Iterator<Item = &Arc<Feed>> {
        self.all.iter().map(|watcher| &watcher.feed)
    }

    fn forget_closed(&mut self, device: &mut Device) {
        let before = self.all.len();
        self.all.retain(|watcher| !watcher.feed.is_closed());
        if self.all.len() < before {
            device.watch(self.union());
        }
    }

    /// The events that the device must record for all of them.
    fn union(&self) -> Watching {
        let mut union = Watching::default();
        for Watcher { filter, .. } in &self.all {
            union.drops |= filter.drops.is_some();
            union.marks |= filter.marks;
            union.head_size = union.head_size.max(filter.head_size);
            union.traffic.queues.extend(filter.queues_in_order());
            union.traffic.crossings |= filter.crossings;
            union.traffic.packets |= filter.packets;
            union.traffic.arbitrations |= filter.arbitrations;
        }
        union
    }
}

impl Watcher {
    fn offer(&mut self, event: &Event) {
        let filter = &self.filter;
        let wanted = match event {
            Event::Dropped(drop) => {
                let output = drop.queue.is_some_and(|(port, _)| filter.wants_port(port));
                let reasons = filter.drops.as_ref();
                reasons.is_some_and(|them| them.is_empty() || them.contains(&drop.reason))
                    && (output || filter.wants_port(drop.input))
            }
            Event::Marked { port, .. } => filter.marks && filter.wants_port(*port),
            Event::Port { port, .. } => filter.links && filter.wants_port(*port),
            Event::Arbitration(_) => filter.arbitrations,
            Event::Packet(step) => filter.packets && wants_packet(filter, step),
            Event::Step(step) => return self.offer_step(step),
        };
        if wanted {
            self.pending.push(Item::Event(self.cut(event.clone())));
        }
    }

    /// A step in the traffic manager, which may be wanted in more than one form.
    fn offer_step(&mut self, step: &Step) {
        let filter = &self.filter;
        let touches = filter.wants_port(step.input) || filter.wants_port(step.output);
        if filter.packets && touches {
            self.pending.push(Item::Event(Event::Step(*step)));
        }
        if let StepKind::Crossing { until } = step.kind
            && filter.crossings
            && touches
        {
            self.pending.push(Item::Crossing { step: *step, until });
        }
        if let Some(depth) = step.depth() {
            if filter.queues.contains(&(step.output, step.class)) {
                self.pending.push(Item::Queue(*step));
            }
            self.compare(step, depth);
        }
    }

    /// With no more of the packet than this watcher asked for.
    fn cut(&self, mut event: Event) -> Event {
        if let Some(head) = event.head_mut() {
            head.truncate(self.filter.head_size);
        }
        event
    }

    /// With what waits in the step's queue now.
    fn compare(&mut self, step: &Step, depth: Depth) {
        let thresholds = self.filter.thresholds.iter().zip(&mut self.above).zip(0..);
        for ((threshold, above), index) in thresholds {
            if threshold.queue != (step.output, step.class) {
                continue;
            }
            let is_above = threshold.level.is_reached(depth);
            if is_above != *above {
                *above = is_above;
                let at = step.at;
                self.pending.push(Item::Threshold { at, index, above: is_above, depth });
            }
        }
    }

    fn sample(&mut self, device: &Device, now: Time) {
        let (Some(due), Some(interval)) = (self.next_sample, self.filter.interval) else { return };
        if due > now {
            return;
        }
        let missed = std::mem::take(&mut self.missed_samples);
        let ports = &self.filter.ports;
        if self.filter.together > 0 {
            if !self.columns.fits(device, ports) {
                self.end_columns();
            }
            self.columns.miss(missed);
            self.columns.take(device, now, &self.filter.ports);
            let len = self.columns.len();
            let is_large = len.is_multiple_of(64) && self.columns.size_bytes() > COLUMNS_BYTES_MAX;
            if len >= self.filter.together || is_large {
                self.end_columns();
            }
        } else {
            let mut snapshot = Box::new(Snapshot::of(device, now, ports, Detail::Sample));
            if self.filter.flows {
                let is_wanted = |port| self.filter.wants_port(port);
                snapshot.flows = device.flow_shares(is_wanted, self.filter.head_size);
            }
            self.pending.push(Item::Sample { snapshot, missed });
        }
        self.next_sample = Some(due + interval);
        self.hand_over();
    }

    fn end_columns(&mut self) {
        if !self.columns.is_empty() {
            self.pending.push(Item::Columns(Box::new(std::mem::take(&mut self.columns))));
        }
    }

    /// Gives up samples that are too late, at the real time `now`.
    fn skip_late_samples(&mut self, now: Time) {
        let (Some(due), Some(interval)) = (self.next_sample, self.filter.interval) else { return };
        let late = now.since(due).ps() / interval.ps();
        if late > LATE_SAMPLE_COUNT_MAX {
            self.missed_samples += late;
            self.next_sample = Some(due + interval * late);
        }
    }

    /// Tells what has happened by `now`, or lets it wait for the next sample.
    fn tell_events(&mut self, now: Time) {
        if self.filter.interval.is_none() {
            return self.hand_over();
        }
        if !self.pending.is_empty() {
            self.feed.keep_all(&mut self.pending);
            self.tell_by.get_or_insert(now + WAIT_SPAN_MAX);
        }
        if self.tell_by.take_if(|due| *due <= now).is_some() {
            self.feed.wake();
        }
    }

    fn hand_over(&mut self) {
        if !self.pending.is_empty() {
            self.feed.push_all(&mut self.pending);
            self.tell_by = None;
        }
    }
}

impl Watchers {
    /// The clock says `now`, before anything that was due by then is done.
    pub fn skip_late_samples(&mut self, now: Time) {
        self.all.iter_mut().for_each(|watcher| watcher.skip_late_samples(now));
    }
}

/// Every port and queue that a filter names must be there.
fn check(device: &Device, filter: &Filter) -> Result<(), Refusal> {
    for port in &filter.ports {
        if device.traffic().port(*port).is_none() {
            return Err(Refusal::not_found(format!("the switch has no port {port}")));
        }
    }
    for (port, class) in filter.queues_in_order() {
        if device.traffic().queue(port, class).is_none() {
            return Err(Refusal::not_found(format!(
                "the switch has no queue {class} at port {port}"
            )));
        }
    }
    Ok(())
}

/// Whether a step is of a packet that came in by a port of the filter or is for one.
fn wants_packet(filter: &Filter, step: &PacketStep) -> bool {
    let output = match step.kind {
        PacketStepKind::Copied { output, .. }
        | PacketStepKind::Recirculated { output, .. }
        | PacketStepKind::Transmitted { output, .. } => Some(output),
        PacketStepKind::Dropped { queue, .. } => queue.map(|(port, _)| port),
        PacketStepKind::Received { .. } | PacketStepKind::Replicated { .. } => None,
    };
    filter.wants_port(step.input) || output.is_some_and(|port| filter.wants_port(port))
}

/// The packets that are in the switch when a watch of packets begins.
fn inside(device: &Device, now: Time, filter: &Filter) -> Result<Vec<Item>, Refusal> {
    if !filter.packets {
        return Ok(Vec::new());
    }
    let touches = |input, output| filter.wants_port(input) || filter.wants_port(output);
    let wanted = device.traffic().inside().filter(|packet| touches(packet.input, packet.output));
    let count = wanted.count();
    if count > INSIDE_COUNT_MAX {
        return Err(Refusal::exhausted(format!(
            "{count} packets are inside, more than the {INSIDE_COUNT_MAX} that can be told of when \
             a watch of packets begins; watch fewer ports, or later"
        )));
    }
    let inside = device.inside(filter.head_size);
    let wanted = inside.filter(|packet| touches(packet.input, packet.queue.0));
    Ok(wanted.map(|packet| Item::Inside { at: now, packet: Box::new(packet) }).collect())
}

/// The first multiple of `interval` after `now`.
fn first_multiple(now: Time, interval: Span) -> Time {
    let passed = now.since(Time::ZERO).ps() / interval.ps();
    Time::ZERO + interval * (passed + 1)
}
