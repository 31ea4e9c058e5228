//! What a device tells of single packets, if somebody watches.
//!
//! Counters say how often something happened; a [`Event`] says when, to which packet. Nobody
//! watches as a rule, and then nothing is recorded. Events wait in a list of bounded length until
//! [`Device::poll_event`] takes them; what finds the list full is counted as lost.

use std::collections::VecDeque;

use traffic::Step;
use units::{Bytes, ClassId, PortId, Time};

use crate::device::Device;
use crate::fate::{DropReason, Queued};

/// Events that may wait to be polled.
const EVENT_COUNT_MAX: usize = 1 << 14;

/// What is to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Each packet that is dropped, for whatever reason.
    pub drops: bool,
    /// Each packet that active queue management has marked, when it departs.
    pub marks: bool,
    /// How many bytes of each such packet.
    pub head_size: usize,
    /// Single queues, and what crosses from inputs to outputs.
    pub traffic: traffic::Watching,
}

/// Something that happened to a packet or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet ended in the switch.
    Dropped(Drop),
    /// A packet that active queue management has marked departs.
    Marked {
        /// When it departs.
        at: Time,
        /// By this port.
        port: PortId,
        /// From this queue.
        class: ClassId,
        /// Its length in the queue.
        length: Bytes,
        /// Its first bytes, as they were received.
        head: Vec<u8>,
    },
    /// A port went up or down.
    Port {
        /// When.
        at: Time,
        /// The port.
        port: PortId,
        /// Which of both.
        up: bool,
    },
    /// A step in a watched queue or through the crossbar.
    Step(Step),
}

/// The end of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    /// When.
    pub at: Time,
    /// Why.
    pub reason: DropReason,
    /// Where the packet, or the one it is a copy of, came in.
    pub input: PortId,
    /// The queue it was for or came from, if that was decided.
    pub queue: Option<(PortId, ClassId)>,
    /// Its length.
    pub length: Bytes,
    /// Its first bytes, as they were received.
    pub head: Vec<u8>,
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> Time {
        match self {
            Event::Dropped(drop) => drop.at,
            Event::Marked { at, .. } | Event::Port { at, .. } => *at,
            Event::Step(step) => step.at(),
        }
    }
}

/// What is watched, and what has not been polled yet.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    pub watching: Watching,
    events: VecDeque<Event>,
    lost: u64,
}

impl EventLog {
    pub fn note(&mut self, event: Event) {
        if self.events.len() < EVENT_COUNT_MAX {
            self.events.push_back(event);
        } else {
            self.lost += 1;
        }
    }

    pub fn note_mark(&mut self, at: Time, queued: &Queued, (port, class): (PortId, ClassId)) {
        if self.watching.marks {
            let length = units::HasLength::length(queued);
            let head = self.head_of(queued.packet.received());
            self.note(Event::Marked { at, port, class, length, head });
        }
    }

    /// The part of a frame that is told.
    pub fn head_of(&self, frame: &[u8]) -> Vec<u8> {
        frame[..frame.len().min(self.watching.head_size)].to_vec()
    }
}

impl Device {
    /// Tells of this from now on, instead of what was asked for before.
    pub fn watch(&mut self, watching: Watching) {
        self.traffic.watch(&watching.traffic);
        self.log.watching = watching;
    }

    /// The next event, in the order of time; at one instant steps in queues come first.
    pub fn poll_event(&mut self) -> Option<Event> {
        let step_at = self.traffic.first_step_at();
        let event_at = self.log.events.front().map(Event::at);
        match (step_at, event_at) {
            (Some(step), Some(event)) if event < step => self.log.events.pop_front(),
            (Some(_), _) => self.traffic.poll_step().map(Event::Step),
            (None, _) => self.log.events.pop_front(),
        }
    }

    /// How many events were lost since the last call, because nobody polled them.
    pub fn take_lost_event_count(&mut self) -> u64 {
        std::mem::take(&mut self.log.lost) + self.traffic.take_lost_step_count()
    }
}
