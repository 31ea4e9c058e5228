//! Following packets through a running switch: which ones, and what is reported of them.
//!
//! # Using it
//!
//! 1. [`Device::trace`](crate::Device::trace) says which frames to follow from now on; an empty
//!    list ends it.
//! 2. Drive the device as always.
//! 3. Whenever it suits, take what has been recorded with
//!    [`Device::poll_trace`](crate::Device::poll_trace).
//!
//! Every packet has a number, which it keeps through queues, resubmission and recirculation; a copy
//! of it (multicast, clone) has a number of its own. A frame that a filter takes is followed with
//! its copies: the records of each begin with [`TraceEvent::Copied`], which names the original. The last record of a number is `Transmitted`,
//! `Dropped` or `Replicated`.
//!
//! While nothing is traced a frame costs one comparison on arrival and one on each way through the
//! program; the program itself then runs in its unobserved form, without any hook in it.
//! Records are bounded: those beyond [`RECORDS_MAX`] that have not been taken are dropped and
//! counted ([`Device::trace_lost`](crate::Device::trace_lost)).

use std::collections::VecDeque;

use pipeline::{Event, InstanceType, Observe, Queueing, Queues};
use units::{ClassId, DropReason, PortId, Time};

/// How many records wait to be taken.
pub const RECORDS_MAX: usize = 1 << 16;

/// Bytes that a frame must have at an offset, in the bits of a mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Where in the frame.
    pub offset: usize,
    /// The bytes; bits outside the mask do not count.
    pub value: Vec<u8>,
    /// Which bits count: as many bytes as the value, or none for all bits.
    pub mask: Vec<u8>,
}

/// Which frames to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFilter {
    /// Those that come in by this port; by any if `None`.
    pub port: Option<PortId>,
    /// Those that have all these bytes.
    pub patterns: Vec<Pattern>,
    /// Traces one of every `one_in` of these, beginning with the first: 1 is each of them. 0 counts
    /// as 1.
    pub one_in: u64,
    /// The highest number of traced frames.
    pub frames_max: u64,
    /// Whether the primitives of actions are recorded, too.
    pub tells_primitives: bool,
}

impl Default for TraceFilter {
    /// Every frame.
    fn default() -> TraceFilter {
        TraceFilter {
            port: None,
            patterns: Vec::new(),
            one_in: 1,
            frames_max: u64::MAX,
            tells_primitives: false,
        }
    }
}

/// A step in the life of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// The number of the packet: no two packets of a device have the same.
    pub packet: u64,
    /// When, in the time of the modelled router.
    pub at: Time,
    pub event: TraceEvent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A copy of another traced packet came into being.
    Copied {
        /// The number of the original.
        from: u64,
        /// Clone or replica.
        kind: InstanceType,
    },
    /// It left its queue.
    Departed {
        /// The port of the queue.
        port: PortId,
        /// The queueing metadata for the program.
        queueing: Queueing,
    },
    /// It sent a digest of this list to the controller.
    Digest {
        /// The list's number in the loaded program.
        list: u32,
    },
    /// It ended inside the switch.
    Dropped(DropReason),
    /// A step of the program.
    Program(Event),
    /// It was handed to the traffic manager.
    Queued {
        port: PortId,
        class: ClassId,
    },
    Received {
        /// Which filter took it.
        filter: usize,
        port: PortId,
        frame: Vec<u8>,
    },
    /// It goes through ingress again, as it would have left.
    Recirculated,
    /// Its copies go on instead of it.
    Replicated {
        group: u32,
    },
    /// It goes through ingress again, as it was received.
    Resubmitted,
    Transmitted {
        port: PortId,
        frame: Vec<u8>,
    },
}

/// Which packet it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// Its number, which no other packet of the device has.
    pub number: u64,
    /// Whether its steps are recorded.
    pub is_followed: bool,
}

/// A filter and what it has taken.
struct Armed {
    filter: TraceFilter,
    /// Frames that fit.
    fitting: u64,
    /// Frames that are followed.
    taken: u64,
}

/// Everything about tracing; part of the device.
#[derive(Default)]
pub(crate) struct Tracer {
    armed: Vec<Armed>,
    tells_primitives: bool,
    records: VecDeque<TraceRecord>,
    lost: u64,
}

/// One packet on one of its ways through the program.
pub(crate) struct Watched<'a> {
    tracer: &'a mut Tracer,
    packet: u64,
    at: Time,
    queues: Option<&'a dyn Queues>,
}

impl<'a> Watched<'a> {
    /// The program can read these queues.
    pub fn with(self, queues: &'a dyn Queues) -> Watched<'a> {
        Watched { queues: Some(queues), ..self }
    }
}

impl Observe for Watched<'_> {
    const ENABLED: bool = true;
    fn event(&mut self, event: impl FnOnce() -> Event) {
        self.tracer.record(self.packet, self.at, TraceEvent::Program(event()));
    }
    fn primitive(&mut self, event: impl FnOnce() -> Event) {
        if self.tracer.tells_primitives {
            self.event(event);
        }
    }
    fn queues(&self) -> Option<&dyn Queues> {
        self.queues
    }
}

impl Pattern {
    fn fits(&self, frame: &[u8]) -> bool {
        let end = self.offset.saturating_add(self.value.len());
        let Some(bytes) = frame.get(self.offset..end) else { return false };
        let masks = self.mask.iter().copied().chain(std::iter::repeat(0xff));
        let pairs = bytes.iter().zip(&self.value).zip(masks);
        pairs.into_iter().all(|((byte, value), mask)| byte & mask == value & mask)
    }
}

impl Armed {
    /// Whether this frame is to be followed.
    fn takes(&mut self, port: PortId, frame: &[u8]) -> bool {
        let filter = &self.filter;
        let fits = filter.port.is_none_or(|wanted| wanted == port)
            && filter.patterns.iter().all(|pattern| pattern.fits(frame));
        if !fits || self.taken == filter.frames_max {
            return false;
        }
        let chosen = self.fitting.is_multiple_of(filter.one_in.max(1));
        self.fitting += 1;
        self.taken += u64::from(chosen);
        chosen
    }
}

impl Tracer {
    pub fn arm(&mut self, filters: Vec<TraceFilter>) {
        self.tells_primitives = filters.iter().any(|filter| filter.tells_primitives);
        let armed = filters.into_iter().map(|filter| Armed { filter, fitting: 0, taken: 0 });
        self.armed = armed.collect();
    }

    pub fn is_armed(&self) -> bool {
        !self.armed.is_empty()
    }

    /// Frame `number` came in: whether it is followed. The first filter that takes it counts it.
    #[inline]
    pub fn receive(&mut self, now: Time, number: u64, port: PortId, frame: &[u8]) -> bool {
        !self.armed.is_empty() && self.consider(now, number, port, frame)
    }

    #[cold]
    fn consider(&mut self, now: Time, number: u64, port: PortId, frame: &[u8]) -> bool {
        let Some(filter) = self.armed.iter_mut().position(|armed| armed.takes(port, frame)) else {
            return false;
        };
        self.record(number, now, TraceEvent::Received { filter, port, frame: frame.to_vec() });
        true
    }

    /// The observer of a packet's run through the program at `at`.
    pub fn watch(&mut self, packet: u64, at: Time) -> Watched<'_> {
        Watched { tracer: self, packet, at, queues: None }
    }

    /// Records a step of a packet, if it is followed.
    #[inline]
    pub fn note(&mut self, packet: Identity, at: Time, event: impl FnOnce() -> TraceEvent) {
        if packet.is_followed {
            self.record(packet.number, at, event());
        }
    }

    pub fn poll(&mut self) -> Option<TraceRecord> {
        self.records.pop_front()
    }

    pub fn lost(&self) -> u64 {
        self.lost
    }

    #[cold]
    fn record(&mut self, packet: u64, at: Time, event: TraceEvent) {
        if self.records.len() == RECORDS_MAX {
            self.lost += 1;
            return;
        }
        self.records.push_back(TraceRecord { packet, at, event });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(filter: TraceFilter, frames: &[&[u8]]) -> Vec<usize> {
        let mut tracer = Tracer::default();
        tracer.arm(vec![filter]);
        let takes = |index: &usize| tracer.receive(Time::ZERO, 0, PortId(1), frames[*index]);
        (0..frames.len()).filter(takes).collect()
    }

    #[test]
    fn a_pattern_compares_the_bits_of_its_mask() {
        let pattern = |value, mask| Pattern { offset: 1, value, mask };
        assert!(pattern(vec![0x45], vec![0xf0]).fits(&[0, 0x4f]));
        assert!(!pattern(vec![0x45], vec![]).fits(&[0, 0x4f]));
        assert!(!pattern(vec![0x45], vec![0]).fits(&[0]), "the frame ends before the byte");
    }

    #[test]
    fn a_filter_samples_what_fits_and_ends_when_it_has_enough() {
        let pattern = Pattern { offset: 0, value: vec![7], mask: vec![] };
        let filter = TraceFilter {
            patterns: vec![pattern],
            one_in: 2,
            frames_max: 2,
            ..TraceFilter::default()
        };
        // The sevens are frames 0, 2, 3, 4 and 5: every second of them is 0, 3 and 5, two suffice.
        let frames: [&[u8]; 6] = [&[7], &[8], &[7], &[7], &[7], &[7]];
        assert_eq!(taken(filter, &frames), [0, 3]);
        let elsewhere = TraceFilter { port: Some(PortId(2)), ..TraceFilter::default() };
        assert!(taken(elsewhere, &frames).is_empty());
    }

    #[test]
    fn records_that_nobody_takes_are_counted_and_not_kept() {
        let mut tracer = Tracer::default();
        let packet = Identity { number: 1, is_followed: true };
        for _ in 0..RECORDS_MAX + 3 {
            tracer.note(packet, Time::ZERO, || TraceEvent::Resubmitted);
        }
        assert_eq!((tracer.records.len(), tracer.lost()), (RECORDS_MAX, 3));
    }
}
