//! Every frame that passes a port, with its bytes, for a capture.
//!
//! Without a capture a frame costs one comparison at each end. Records wait for
//! [`World::poll_capture`], and are not bounded.

use device::Frame;
use units::Time;

use crate::cable::End;
use crate::host::Host;
use crate::world::World;

/// A frame that passed a port, as `tcpdump` at that interface sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When.
    pub at: Time,
    /// Where.
    pub end: End,
    /// Which way.
    pub direction: Direction,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Which way a frame passes a port, seen from the node that the port belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It came from the cable.
    Received,
    /// It left.
    Sent,
}

impl<H: Host> World<H> {
    /// Records what passes at `end` from now on, or no longer.
    pub fn capture(&mut self, end: End, on: bool) {
        self.port_mut(end).captured = on;
    }

    /// The next frame that was recorded, in the order in which things happened.
    pub fn poll_capture(&mut self) -> Option<Captured> {
        self.captured.pop_front()
    }

    pub(crate) fn record(&mut self, end: End, direction: Direction, frame: &Frame) {
        let (at, bytes) = (self.now, frame.bytes().to_vec());
        self.captured.push_back(Captured { at, end, direction, bytes });
    }
}
