//! Watching packets step by step: all of them, or those in chosen queues and in the crossbar; and
//! what the crossbar's arbiter does.
//!
//! There is usually no watcher; a packet then pays one test of a pointer. A watcher gets a [`Step`]
//! for each event of a packet, exact to the picosecond and in order, so that a replay knows the
//! content and order of every queue. Events wait in a list of bounded length; those that find it
//! full are counted as lost, so a reader always knows whether it has seen everything.
//!
//! A packet that is handed in takes the way
//!
//! ```text
//!   [Filed -> Crossing ->] Queued -> Departed
//! ```
//!
//! the first two with an input stage only, and any of them but the last may be followed by
//! `Dropped` instead. Where the input stage is changed a packet may be filed again, or queued
//! without crossing.

use std::collections::{BTreeSet, VecDeque};

use units::{Bytes, CLASS_COUNT_MAX, ClassId, DropReason, PortId, Time};

use crate::arbitration::Arbitration;
use crate::fate::{Depth, Waiting};

/// Events that may wait to be polled: a burst of some milliseconds.
const EVENT_COUNT_MAX: usize = 1 << 16;

/// The selection of events to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Output queues, each with every packet that enters and leaves it.
    pub queues: BTreeSet<(PortId, ClassId)>,
    /// Every packet that crosses from an input to an output.
    pub crossings: bool,
    /// Every step of every packet.
    pub packets: bool,
    /// The work of the crossbar's arbiter, round by round.
    pub arbitrations: bool,
}

/// An event for the watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The crossbar was arbitrated, with at least one request; the matched packets cross next.
    Arbitration(Box<Arbitration>),
    /// Something happened to a packet.
    Step(Step),
}

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Time,
    /// The packet's number: that of its [`Arrival`](crate::Arrival).
    pub number: u64,
    /// Where it came in.
    pub input: PortId,
    /// Where it is to leave.
    pub output: PortId,
    /// In which class.
    pub class: ClassId,
    /// Its length.
    pub length: Bytes,
    /// The event.
    pub kind: StepKind,
}

/// An event of a packet. The packet leaves its queue with its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The arbiter matched its input with its output, and it crosses.
    Crossing {
        /// When both sides of the crossbar are free again.
        until: Time,
    },
    /// It left its output queue for the line.
    Departed {
        /// The depth of the queue now.
        depth: Depth,
        /// Whether active queue management has marked it.
        marked: bool,
    },
    /// It was dropped.
    Dropped {
        /// Why.
        reason: DropReason,
        /// The depth now of its former output queue; none if it was in none.
        depth: Option<Depth>,
    },
    /// It waits at its input, behind all others there: in the only queue, or in that of its output
    /// and class.
    Filed,
    /// It waits in its output queue, behind all others there.
    Queued {
        /// The depth of the queue now.
        depth: Depth,
    },
}

impl Step {
    /// The depth of the output queue that the step has changed, if it has changed one.
    pub fn depth(&self) -> Option<Depth> {
        match self.kind {
            StepKind::Departed { depth, .. } | StepKind::Queued { depth } => Some(depth),
            StepKind::Dropped { depth, .. } => depth,
            StepKind::Crossing { .. } | StepKind::Filed => None,
        }
    }
}

/// The watcher and its events.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// For each port number a bit for each class that is watched.
    classes_of: Vec<u8>,
    crossings: bool,
    packets: bool,
    arbitrations: bool,
    events: VecDeque<Event>,
    lost: u64,
}

// One bit for each class of a port.
const _: () = assert!(CLASS_COUNT_MAX <= u8::BITS as usize);

impl Watch {
    /// Watches something else from now on; steps that wait are kept.
    pub fn set(&mut self, watching: &Watching) {
        self.classes_of.clear();
        for (port, class) in &watching.queues {
            if self.classes_of.len() <= port.index() {
                self.classes_of.resize(port.index() + 1, 0);
            }
            // A class beyond the last is that of no queue.
            self.classes_of[port.index()] |= 1u8.checked_shl(class.0.into()).unwrap_or(0);
        }
        self.crossings = watching.crossings;
        self.packets = watching.packets;
        self.arbitrations = watching.arbitrations;
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub fn wants_arbitrations(&self) -> bool {
        self.arbitrations
    }

    pub fn note_arbitration(&mut self, arbitration: Arbitration) {
        self.keep(Event::Arbitration(Box::new(arbitration)));
    }

    /// How many events were lost since the last call.
    pub fn take_lost_count(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    pub fn note(&mut self, at: Time, waiting: &Waiting, kind: StepKind) {
        let Waiting { number, input, output, class, length, .. } = *waiting;
        let step = Step { at, number, input, output, class, length, kind };
        if self.wants(&step) {
            self.keep(Event::Step(step));
        }
    }

    fn keep(&mut self, event: Event) {
        if self.events.len() < EVENT_COUNT_MAX {
            self.events.push_back(event);
        } else {
            self.lost += 1;
        }
    }

    fn wants(&self, step: &Step) -> bool {
        let classes = || self.classes_of.get(step.output.index()).copied().unwrap_or(0);
        match step.kind {
            _ if self.packets => true,
            StepKind::Crossing { .. } => self.crossings,
            _ => step.depth().is_some() && classes() >> step.class.0 & 1 == 1,
        }
    }
}
