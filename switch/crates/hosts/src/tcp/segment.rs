//! Segments: as they come from the wire and as they go to it.

use wire::Ecn;
use wire::tcp::Flags;
use wire::tcp_options::Settings as Options;

/// A segment that arrived, its checksum verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub seq: u32,
    pub ack: u32,
    pub flags: Flags,
    /// As on the wire, unscaled.
    pub window: u16,
    pub options: Options,
    pub payload: &'a [u8],
    pub ecn: Ecn,
}

/// A segment to be sent. Its payload is described, not held: see `payload.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub seq: u32,
    pub ack: u32,
    pub flags: Flags,
    pub window: u16,
    pub options: Options,
    /// Where in the stream its payload begins, and how long it is.
    pub offset: u64,
    pub length: u32,
    pub ecn: Ecn,
}
