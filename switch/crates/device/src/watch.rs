//! Events of single packets for a watcher.
//!
//! Counters say how often something happened; a [`Event`] says when, to which packet. Nobody
//! watches as a rule, and then nothing is recorded. Events wait in a list of bounded length, in the
//! order in which they happened, until [`Device::poll_event`] takes them; what finds the list full
//! is counted as lost.
//!
//! A watcher of packets gets all their events, from the receive line to the transmit line: those in
//! queues from the traffic manager ([`Step`]), those before and behind from the device
//! ([`PacketStep`]). [`Device::inside`] lists packets that came earlier.

use std::collections::VecDeque;

use pipeline::InstanceType;
use traffic::{Arbitration, Step};
use units::{Bytes, ClassId, DropReason, PortId, Time};

use crate::device::Device;
use crate::fate::Queued;

/// Events that may wait to be polled.
const EVENT_COUNT_MAX: usize = 1 << 16;

/// The selection of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Each packet that is dropped, for whatever reason.
    pub drops: bool,
    /// Each packet that active queue management has marked, when it departs.
    pub marks: bool,
    /// How many bytes of packets that are dropped or marked, that come in or come into being.
    pub head_size: usize,
    /// Single queues, what crosses from inputs to outputs, the arbiter; or every packet, and then
    /// before and behind the traffic manager, too.
    pub traffic: traffic::Watching,
}

/// Something that happened to a packet or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet ended in the switch.
    Dropped(Drop),
    /// A packet that active queue management has marked departs.
    Marked {
        at: Time,
        port: PortId,
        class: ClassId,
        /// Its length in the queue.
        length: Bytes,
        /// Its first bytes, as they were received.
        head: Vec<u8>,
    },
    /// A port went up or down.
    Port {
        at: Time,
        port: PortId,
        /// Which of both.
        up: bool,
    },
    /// The arbiter of the crossbar matched inputs with outputs, or tried.
    Arbitration(Box<Arbitration>),
    /// A step of a packet before or behind the traffic manager.
    Packet(PacketStep),
    /// A step of a packet in the traffic manager.
    Step(Step),
}

/// Something that happened to a packet outside of the traffic manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketStep {
    /// When.
    pub at: Time,
    /// The number of the packet. No two packets of a device have the same.
    pub number: u64,
    /// Where the packet, or the one it is a copy of, came in.
    pub input: PortId,
    /// The event.
    pub kind: PacketStepKind,
}

/// An event of a packet outside the traffic manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketStepKind {
    /// It came into being as a copy of another.
    Copied {
        /// The number of the original.
        from: u64,
        /// Clone or replica.
        kind: InstanceType,
        /// Where it is to leave.
        output: PortId,
        /// Its length.
        length: Bytes,
        /// The first bytes of the original, as they were received.
        head: Vec<u8>,
    },
    /// It ended outside the traffic manager, which reports its own drops.
    Dropped {
        /// Why.
        reason: DropReason,
        /// The queue it was for or came from, if that was decided.
        queue: Option<(PortId, ClassId)>,
    },
    /// It came out of the receive line of its input.
    Received {
        /// Its length.
        length: Bytes,
        /// Its first bytes.
        head: Vec<u8>,
    },
    /// It goes through ingress again, as it would have left.
    Recirculated {
        /// The port it would have left by.
        output: PortId,
        /// Its length now.
        length: Bytes,
        /// Its first bytes now.
        head: Vec<u8>,
    },
    /// Its copies go on instead of it.
    Replicated {
        /// The multicast group.
        group: u32,
    },
    /// Its first bit goes onto the line.
    Transmitted {
        /// Of this port.
        output: PortId,
        /// Its length on the line.
        length: Bytes,
        /// When the line is free again.
        until: Time,
    },
}

/// A packet that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The packet's number.
    pub number: u64,
    /// Where the packet, or the one it is a copy of, came in.
    pub input: PortId,
    /// The queue it is in or, while it waits at its input, for.
    pub queue: (PortId, ClassId),
    /// Whether it waits at its input.
    pub is_filed: bool,
    /// Since when it waits there.
    pub since: Time,
    /// Its length.
    pub length: Bytes,
    /// Its first bytes, as they were received.
    pub head: Vec<u8>,
}

/// The end of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drop {
    pub at: Time,
    pub reason: DropReason,
    /// Where the packet, or the one it is a copy of, came in.
    pub input: PortId,
    /// The queue it was for or came from, if that was decided.
    pub queue: Option<(PortId, ClassId)>,
    pub length: Bytes,
    /// Its first bytes, as they were received.
    pub head: Vec<u8>,
}

impl Event {
    pub fn at(&self) -> Time {
        match self {
            Event::Dropped(drop) => drop.at,
            Event::Marked { at, .. } | Event::Port { at, .. } => *at,
            Event::Arbitration(arbitration) => arbitration.at,
            Event::Packet(step) => step.at,
            Event::Step(step) => step.at,
        }
    }
}

impl Event {
    /// The bytes of a packet that it tells.
    pub fn head_mut(&mut self) -> Option<&mut Vec<u8>> {
        match self {
            Event::Dropped(drop) => Some(&mut drop.head),
            Event::Marked { head, .. } => Some(head),
            Event::Packet(step) => match &mut step.kind {
                PacketStepKind::Copied { head, .. }
                | PacketStepKind::Received { head, .. }
                | PacketStepKind::Recirculated { head, .. } => Some(head),
                PacketStepKind::Dropped { .. }
                | PacketStepKind::Replicated { .. }
                | PacketStepKind::Transmitted { .. } => None,
            },
            Event::Arbitration(_) | Event::Port { .. } | Event::Step(_) => None,
        }
    }

    /// How many bytes of a packet it tells.
    pub fn head_size(&self) -> usize {
        match self {
            Event::Dropped(Drop { head, .. })
            | Event::Marked { head, .. }
            | Event::Packet(PacketStep {
                kind:
                    PacketStepKind::Copied { head, .. }
                    | PacketStepKind::Received { head, .. }
                    | PacketStepKind::Recirculated { head, .. },
                ..
            }) => head.len(),
            Event::Arbitration(_) | Event::Packet(_) | Event::Port { .. } | Event::Step(_) => 0,
        }
    }
}

/// The selection of events, and the events not polled yet.
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

    /// Whether every packet is watched.
    #[inline]
    pub fn follows_packets(&self) -> bool {
        self.watching.traffic.packets
    }

    pub fn note_packet(&mut self, at: Time, number: u64, input: PortId, kind: PacketStepKind) {
        self.note(Event::Packet(PacketStep { at, number, input, kind }));
    }

    /// The part of a frame that is reported.
    pub fn head_of(&self, frame: &[u8]) -> Vec<u8> {
        frame[..frame.len().min(self.watching.head_size)].to_vec()
    }
}

impl Device {
    /// Reports these events from now on, instead of the former ones.
    pub fn watch(&mut self, watching: Watching) {
        self.traffic.watch(&watching.traffic);
        self.log.watching = watching;
    }

    /// The packets that wait in the traffic manager, queue by queue, in the order in which they
    /// will leave it, with their first `head_size` bytes.
    pub fn inside(&self, head_size: usize) -> impl Iterator<Item = Inside> + '_ {
        self.traffic.inside().map(move |inside| {
            let frame = inside.packet.packet.received();
            Inside {
                number: inside.number,
                input: inside.input,
                queue: (inside.output, inside.class),
                is_filed: inside.is_filed,
                since: inside.since,
                length: inside.length,
                head: frame[..frame.len().min(head_size)].to_vec(),
            }
        })
    }

    /// The next event, in the order in which they happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.log.events.pop_front()
    }

    /// Takes over what the traffic manager has just told, before anything else is noted.
    #[inline]
    pub(crate) fn take_steps(&mut self) {
        if self.traffic.is_watched() {
            while let Some(event) = self.traffic.poll_event() {
                self.log.note(match event {
                    traffic::Event::Arbitration(arbitration) => Event::Arbitration(arbitration),
                    traffic::Event::Step(step) => Event::Step(step),
                });
            }
        }
    }

    /// The number of events lost since the last call, because they were not polled.
    pub fn take_lost_event_count(&mut self) -> u64 {
        std::mem::take(&mut self.log.lost) + self.traffic.take_lost_event_count()
    }
}
