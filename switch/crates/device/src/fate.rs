//! What leaves a device, and why a packet did not.

use bits::Int;
use frames::Frame;
use pipeline::Packet;
use units::{PortId, Time};

use crate::budget::Purse;
use crate::trace::Identity;

/// Why a packet ended inside the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The packet and its copies had used up their steps, so this copy of it was not sent.
    Copies,
    /// The packets in the switch take as much memory as they may.
    Memory,
    /// No program is loaded.
    NoProgram,
    /// The port it came in by, or was to leave by, is down.
    PortDown,
    /// The program decided it, or the frame was too long for it.
    Program(pipeline::DropReason),
    /// The traffic manager decided it.
    Traffic(traffic::DropReason),
}

impl DropReason {
    /// The reason as it is written in reports: `queue_limit`.
    pub const fn name(self) -> &'static str {
        use pipeline::DropReason as Program;
        match self {
            DropReason::Copies => "too_many_copies",
            DropReason::Memory => "packet_memory",
            DropReason::NoProgram => "no_program",
            DropReason::PortDown => "port_down",
            DropReason::Program(Program::Assertion) => "assertion",
            DropReason::Program(Program::Egress) => "egress_program",
            DropReason::Program(Program::Ingress) => "ingress_program",
            DropReason::Program(Program::NoReplica) => "no_replica",
            DropReason::Program(Program::Passes) => "too_many_passes",
            DropReason::Program(Program::TooLong) => "too_long",
            DropReason::Traffic(reason) => reason.name(),
        }
    }
}

/// What a device has to say, in the order in which it happened.
#[derive(Debug)]
pub enum Output {
    /// The program sends a message of this digest list to the controller.
    Digest {
        /// When.
        at: Time,
        /// The list's number in the loaded program.
        list: u32,
        /// Its values.
        values: Vec<Int>,
    },
    /// The first bit of a frame goes onto the line of a port at exactly this instant; with an
    /// emulated line, comes out of that line. Give the frame back with
    /// [`Device::recycle`](crate::Device::recycle).
    Transmit {
        /// When.
        at: Time,
        /// Where.
        port: PortId,
        /// What.
        frame: Frame,
    },
}

/// A packet in the switch, with what the device must remember of it.
#[derive(Debug)]
pub struct Queued {
    pub(crate) packet: Packet,
    /// Which loaded program parsed it: that one must run egress on it.
    pub(crate) generation: u32,
    /// What it and its copies may still cause.
    pub(crate) purse: Purse,
    pub(crate) identity: Identity,
    /// It tells of a drop, so its own drop is not told of.
    pub(crate) from_mirror: bool,
}

impl units::HasLength for Queued {
    fn length(&self) -> units::Bytes {
        self.packet.length()
    }
}
