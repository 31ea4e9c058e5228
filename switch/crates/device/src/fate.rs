//! The outputs of a device, and the packets that wait in it.

use bits::Int;
use frames::Frame;
use pipeline::Packet;
use units::{PortId, Time};

use crate::budget::Budget;
use crate::trace::Identity;

/// A device's events, in order.
#[derive(Debug)]
pub enum Output {
    /// The program sends a message of this digest list to the controller.
    Digest {
        at: Time,
        /// The list's number in the loaded program.
        list: u32,
        values: Vec<Int>,
    },
    /// The first bit of a frame goes onto the line of a port at exactly this instant; with an
    /// emulated line, comes out of that line. Give the frame back with
    /// [`Device::recycle`](crate::Device::recycle).
    Transmit { at: Time, port: PortId, frame: Frame },
}

/// A packet in the switch, with the device's notes on it.
#[derive(Debug)]
pub struct Queued {
    pub(crate) packet: Packet,
    /// Which loaded program parsed it: that one must run egress on it.
    pub(crate) generation: u32,
    /// The steps that it and its copies may still take.
    pub(crate) budget: Budget,
    pub(crate) identity: Identity,
    /// It reports a drop, so its own drop is not reported.
    pub(crate) from_mirror: bool,
}

impl units::HasLength for Queued {
    fn length(&self) -> units::Bytes {
        self.packet.length()
    }
}
