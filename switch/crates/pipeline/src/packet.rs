//! A packet: the bytes of a frame, the headers parsed out of them, and what the program asked for.

use std::hint::black_box;
use std::ops::{Deref, DerefMut};

use frames::{Frame, HEADROOM};
use units::{Bytes, Distance, DropReason, HasLength, PortId};

use crate::fate::{CloneRequest, InstanceType};

/// Longest frame that is accepted: a super-packet with room to spare.
pub const FRAME_LENGTH_MAX: usize = 1 << 17;

/// The program's requests for the packet besides its way; cleared before each control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    /// The last clone call.
    pub clone: Option<CloneRequest>,
    /// List of the last digest call; 0 is none.
    pub digest: u32,
    /// Field list of the last resubmit call; 0 is none.
    pub resubmit: u32,
    /// Field list of the last recirculate call; 0 is none.
    pub recirculate: u32,
    /// Why the program was stopped half-way, if it was.
    pub stopped: Option<DropReason>,
}

/// A packet inside the switch. Made and used by one [`crate::Pipeline`] only.
///
/// ```text
///   frame:  [ room | received bytes ......................... ]
///                  ^start      ^at: the payload, after parsing
///           [ room | emitted headers, payload ............... ]
///                       ^at: the frame to send, after deparsing
/// ```
///
/// Parsing leaves the received bytes as they are, so a clone or a resubmission starts from them.
/// A packet is moved from queue to queue, so what is moved is a pointer.
#[derive(Clone, Debug)]
pub struct Packet(Box<Body>);

/// The target of a [`Packet`]'s pointer.
#[derive(Clone, Debug)]
pub struct Body {
    /// Headers and metadata; see `place`.
    pub(crate) area: Box<[u8]>,
    /// Its seal is that of the received frame; after deparsing, that of the frame to send. A packet
    /// that waits to be used again has one, too, without meaning.
    pub(crate) frame: Frame,
    pub(crate) start: usize,
    pub(crate) at: usize,
    /// Received length plus headers added less headers removed: what `packet_length` will be.
    pub(crate) length_register: u32,
    /// Length on arrival, or on recirculation: what counters and meters count.
    pub(crate) ingress_length: u32,
    /// The frame is cut to this when it leaves.
    pub(crate) truncated_to: usize,
    pub(crate) requests: Requests,
    pub(crate) ingress_port: PortId,
    pub(crate) egress_port: PortId,
    /// How it came to where it is, and which replica it is.
    pub(crate) kind: InstanceType,
    pub(crate) rid: u16,
    /// Its place in a queue that is ordered by rank.
    pub(crate) rank: u32,
}

impl Deref for Packet {
    type Target = Body;
    #[inline(always)]
    fn deref(&self) -> &Body {
        &self.0
    }
}

impl DerefMut for Packet {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.0
    }
}

impl Body {
    /// Where the packet ends: with the frame, or where it is cut.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.frame.memory().len().min(self.at.saturating_add(self.truncated_to))
    }

    /// The bytes from this far behind the parser's position on: the payload, for checksums.
    #[inline(always)]
    pub(crate) fn behind(&self, parsed: usize) -> &[u8] {
        &self.frame.memory()[self.at + parsed..self.end()]
    }
}

impl Packet {
    pub(crate) fn new(area_size: usize) -> Packet {
        Packet(Box::new(Body {
            area: vec![0; area_size].into(),
            frame: Frame::default(),
            start: HEADROOM,
            at: HEADROOM,
            length_register: 0,
            ingress_length: 0,
            truncated_to: usize::MAX,
            requests: Requests::default(),
            ingress_port: PortId(0),
            egress_port: PortId(0),
            kind: InstanceType::Normal,
            rid: 0,
            rank: 0,
        }))
    }

    /// Starts over with a received frame; the area is the caller's to clear. Returns the frame that
    /// the packet had before.
    pub(crate) fn receive(&mut self, port: PortId, frame: Frame) -> Frame {
        let length = frame.bytes().len() as u32;
        let before = std::mem::replace(&mut self.frame, frame);
        self.begin(port, length);
        before
    }

    /// Starts over with the bytes that another packet was received as.
    pub(crate) fn receive_again(&mut self, other: &Packet) {
        let received = other.received();
        self.frame.fill([received, &[]]);
        self.frame.set_seal(other.frame.seal());
        self.begin(other.ingress_port, received.len() as u32);
    }

    fn begin(&mut self, port: PortId, length: u32) {
        let start = self.frame.start();
        (self.start, self.at) = (start, start);
        self.length_register = length;
        self.ingress_length = length;
        self.truncated_to = usize::MAX;
        self.requests = Requests::default();
        (self.ingress_port, self.egress_port) = (port, PortId(0));
        (self.kind, self.rid) = (InstanceType::Normal, 0);
        self.rank = 0;
    }

    /// Becomes a copy of another packet, headers included.
    pub(crate) fn copy_from(&mut self, other: &Packet) {
        self.area.copy_from_slice(&other.area);
        self.frame.copy_from(&other.frame);
        (self.start, self.at) = (other.start, other.at);
        self.length_register = other.length_register;
        self.ingress_length = other.ingress_length;
        self.truncated_to = other.truncated_to;
        self.requests = Requests::default();
        (self.ingress_port, self.egress_port) = (other.ingress_port, other.egress_port);
        (self.kind, self.rid) = (other.kind, other.rid);
        self.rank = other.rank;
    }

    /// A deparsed packet is now what was received, in front of a parser.
    pub(crate) fn start_at_headers(&mut self) {
        self.cut_frame();
        let length = self.bytes().len();
        self.start = self.at;
        self.truncated_to = usize::MAX;
        self.rank = 0;
        (self.length_register, self.ingress_length) = (length as u32, length as u32);
    }

    /// Cuts the frame to a length when it leaves; 0 leaves it whole. The smallest cut counts.
    pub fn cut(&mut self, length_bytes: u32) {
        if length_bytes != 0 {
            self.truncated_to = self.truncated_to.min(length_bytes as usize);
        }
    }

    /// Takes the frame to send out of a deparsed packet, and leaves it another one's memory.
    pub(crate) fn take_frame(&mut self, other: Frame) -> Frame {
        self.cut_frame();
        let at = self.at;
        self.frame.start_at(at);
        std::mem::replace(&mut self.frame, other)
    }

    /// Takes off a deparsed frame what is beyond its end.
    pub(crate) fn cut_frame(&mut self) {
        let end = self.end();
        if end < self.frame.memory().len() {
            self.frame.set_seal(None);
            self.frame.memory_mut().truncate(end);
        }
    }

    /// The bytes in front of the parser's position are about to be written anew: breaks a seal that
    /// covers some of them.
    #[inline]
    pub(crate) fn keep_seal_of_payload(&mut self) {
        let payload = self.frame.memory().len().saturating_sub(self.at);
        self.frame.keep_seal_of(payload);
    }

    /// The bytes from the parser's position on; after deparsing, the frame to send.
    pub fn bytes(&self) -> &[u8] {
        self.behind(0)
    }

    /// The frame as received.
    pub fn received(&self) -> &[u8] {
        &self.frame.memory()[self.start..]
    }

    /// The port the packet came in by.
    pub fn ingress_port(&self) -> PortId {
        self.ingress_port
    }

    /// The rank that ingress gave it; 0 if it gave none.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The port the packet is on its way to.
    pub fn egress_port(&self) -> PortId {
        self.egress_port
    }

    /// Puts bytes in front of those that the parser sees next.
    pub(crate) fn put_in_front(&mut self, bytes: &[u8]) {
        self.put_zeros_in_front(bytes.len());
        let at = self.at;
        self.frame.memory_mut()[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The same with zeros.
    pub(crate) fn put_zeros_in_front(&mut self, length: usize) {
        let behind_start = self.received().len();
        self.keep_seal_of_payload();
        self.make_room(length);
        self.at -= length;
        let at = self.at;
        let memory = self.frame.memory_mut();
        memory[at..at + length].fill(0);
        self.start = memory.len() - behind_start;
    }

    /// Makes what was put in front of a frame of `received_bytes` at least `length` bytes long, with
    /// zeros at its end.
    pub(crate) fn fill_up_front(&mut self, received_bytes: usize, length: usize) {
        self.start = self.frame.memory().len() - received_bytes;
        let front = self.start - self.at;
        let Some(missing) = length.checked_sub(front) else { return };
        self.put_zeros_in_front(missing);
        let at = self.at;
        let memory = self.frame.memory_mut();
        memory.copy_within(at + missing..at + missing + front, at);
        memory[at + front..at + missing + front].fill(0);
    }

    /// Makes sure that `length` bytes fit in front of the payload.
    #[inline]
    pub(crate) fn make_room(&mut self, length: usize) {
        if self.at < length {
            let grow = length - self.at + HEADROOM;
            let (at, end) = (self.at, self.frame.memory().len());
            let memory = self.frame.memory_mut();
            memory.resize(end + grow, 0);
            memory.copy_within(at..end, at + grow);
            self.at += grow;
        }
    }
}

impl HasLength for Packet {
    /// Received length plus headers added less headers removed: what the packet occupies in a
    /// queue, and `packet_length` in egress.
    fn length(&self) -> Bytes {
        Bytes(u64::from(self.length_register).min(self.truncated_to as u64))
    }

    /// Reads what the packet points at, for nothing: see [`Frame`].
    #[inline(always)]
    fn approach(&self, distance: Distance) {
        if distance == Distance::Near {
            black_box(self.area.first().copied());
        }
        self.frame.approach(distance);
    }
}
