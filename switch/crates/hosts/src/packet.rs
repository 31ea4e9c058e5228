//! A packet on its way out: headers as bytes, payload as a promise.
//!
//! While it waits it takes 170 bytes whatever its length; the payload is written, and the checksum
//! finished, when its turn on the line comes.

use frames::{Frame, Seal};
use wire::Sum;

use crate::payload;

/// Ethernet, IPv6 and TCP with all options.
const HEAD_BYTES_MAX: usize = 14 + 40 + 60;

/// The part behind the headers.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Nothing.
    Empty,
    /// These bytes.
    Bytes(Box<[u8]>),
    /// A piece of a stream: see `payload.rs`.
    Stream { key: u64, offset: u64, length: u32 },
}

impl Body {
    pub fn length(&self) -> usize {
        match self {
            Body::Empty => 0,
            Body::Bytes(bytes) => bytes.len(),
            Body::Stream { length, .. } => *length as usize,
        }
    }
}

/// Headers, the largest there are.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    bytes: [u8; HEAD_BYTES_MAX],
    length: u8,
}

impl Head {
    /// All zeros.
    pub fn of_length(length: usize) -> Head {
        Head { bytes: [0; HEAD_BYTES_MAX], length: length as u8 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.length)]
    }
}

/// See the top of the file.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub head: Head,
    pub body: Body,
    /// Where the checksum of the transport header stands, and the sum of everything but the body;
    /// none if it is complete.
    pub checksum: Option<(u8, Sum)>,
    /// The segment's connection: place and generation.
    pub connection: Option<(usize, u32)>,
}

impl Packet {
    pub fn length(&self) -> usize {
        self.head.bytes().len() + self.body.length()
    }

    /// Writes the packet over the contents of `frame`. For a piece of a stream the frame carries a
    /// note, so that the receiver of these very bytes need not read them: see `payload.rs`.
    pub fn build(&self, frame: &mut Frame) {
        let head = self.head.bytes();
        let (front, rest) = frame.blank(self.length()).split_at_mut(head.len());
        front.copy_from_slice(head);
        let mut seal = None;
        let body = match &self.body {
            Body::Empty => Sum::ZERO,
            Body::Bytes(bytes) => {
                rest.copy_from_slice(bytes);
                Sum::of(bytes)
            }
            Body::Stream { key, offset, length } => {
                let sum = payload::write(*key, *offset, rest);
                let value = payload::note(*key, *offset, sum);
                seal = Some(Seal { length_bytes: *length, value });
                sum
            }
        };
        if let Some((at, sum)) = self.checksum {
            let checksum = sum.join(body).checksum();
            // A UDP checksum of zero would mean that there is none (RFC 768); the two are equal.
            let checksum = if checksum == 0 { 0xffff } else { checksum };
            front[usize::from(at)..usize::from(at) + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        frame.set_seal(seal);
    }
}
