//! Watching chosen queues and the crossbar packet by packet.
//!
//! Nobody watches as a rule; a packet then pays one test of a pointer. Who does gets a [`Step`] for
//! every change of a watched queue's depth, exact to the picosecond, and one for every packet that
//! begins to cross the crossbar. Steps wait in a list of bounded length; what finds it full is
//! counted as lost, so a reader always knows whether it has seen everything.

use std::collections::{BTreeSet, VecDeque};

use units::{Bytes, CLASS_COUNT_MAX, ClassId, PortId, Time};

use crate::fate::Depth;

/// Steps that may wait to be polled: a burst of some milliseconds.
const STEP_COUNT_MAX: usize = 1 << 16;

/// What is to be watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Output queues, each with every packet that enters and leaves it.
    pub queues: BTreeSet<(PortId, ClassId)>,
    /// Every packet that crosses from an input to an output.
    pub crossings: bool,
}

/// Something that happened to a packet in a place that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A packet entered or left a queue.
    Queue(QueueStep),
    /// The arbiter matched an input with an output and a packet begins to cross.
    Crossing {
        /// When.
        at: Time,
        /// From this input.
        input: PortId,
        /// To this output.
        output: PortId,
        /// In this class.
        class: ClassId,
        /// The packet's length.
        length: Bytes,
        /// When both sides of the crossbar are free again.
        until: Time,
    },
}

/// A change of a queue's depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueStep {
    /// When.
    pub at: Time,
    /// The queue's port.
    pub port: PortId,
    /// The queue's class.
    pub class: ClassId,
    /// What changed it.
    pub change: QueueChange,
    /// The packet's length.
    pub length: Bytes,
    /// What waits now.
    pub depth: Depth,
}

/// What changed a queue's depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueChange {
    /// A packet entered.
    Enqueued,
    /// A packet left for the line.
    Departed,
    /// A packet that had waited was dropped: by AQM, or because its queue was removed.
    Dropped,
}

impl Step {
    /// When it happened.
    pub fn at(&self) -> Time {
        match self {
            Step::Queue(step) => step.at,
            Step::Crossing { at, .. } => *at,
        }
    }
}

/// Who watches.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// For each port number a bit for each class that is watched.
    classes_of: Vec<u8>,
    crossings: bool,
    steps: VecDeque<Step>,
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
    }

    pub fn poll_step(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    pub fn first_at(&self) -> Option<Time> {
        self.steps.front().map(Step::at)
    }

    /// How many steps were lost since the last call.
    pub fn take_lost_count(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    pub fn note_queue(&mut self, step: QueueStep) {
        let classes = self.classes_of.get(step.port.index()).copied().unwrap_or(0);
        if classes >> step.class.0 & 1 == 1 {
            self.note(Step::Queue(step));
        }
    }

    pub fn note_crossing(&mut self, step: Step) {
        if self.crossings {
            self.note(step);
        }
    }

    fn note(&mut self, step: Step) {
        if self.steps.len() < STEP_COUNT_MAX {
            self.steps.push_back(step);
        } else {
            self.lost += 1;
        }
    }
}
