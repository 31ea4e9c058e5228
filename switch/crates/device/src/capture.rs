//! Every packet that comes in, leaves or ends, with its bytes, for a capture.
//!
//! Without a capture a packet costs one comparison at each of these points. Records wait for
//! [`Device::poll_capture`], which is to be called after every input and every output: the list is
//! not bounded.

use std::collections::VecDeque;

use units::{ClassId, DropReason, PortId, Time};

use crate::device::Device;

/// A packet at one of the edges of the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When, in the time of the model.
    pub at: Time,
    /// Where it, or the packet it is a copy of, came in.
    pub input: PortId,
    pub fate: Fate,
    /// As it came in, unless it was transmitted.
    pub bytes: Vec<u8>,
}

/// An event of a packet at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ended in the switch.
    Dropped {
        reason: DropReason,
        /// The queue it was for or came from, if that was decided.
        queue: Option<(PortId, ClassId)>,
    },
    Received,
    /// It left by this port, out of this queue.
    Transmitted {
        port: PortId,
        class: ClassId,
    },
}

/// The records that have not been polled.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    on: bool,
    packets: VecDeque<Captured>,
}

impl Recorder {
    #[inline]
    pub fn note(&mut self, at: Time, input: PortId, fate: Fate, bytes: &[u8]) {
        if self.on {
            self.packets.push_back(Captured { at, input, fate, bytes: bytes.to_vec() });
        }
    }
}

impl Device {
    /// Records packets from now on, or no longer.
    pub fn capture(&mut self, on: bool) {
        self.recorder.on = on;
    }

    /// The next recorded packet, in the order in which things happened.
    pub fn poll_capture(&mut self) -> Option<Captured> {
        self.recorder.packets.pop_front()
    }
}
