//! TCP's options: maximum segment size (RFC 9293), window scale and timestamps (RFC 7323), selective
//! acknowledgements (RFC 2018).
//!
//! ```text
//!   kind 0: end    kind 1: no operation    others: kind, length with both, data
//! ```
//!
//! [`Options`] reads them one after the other; [`Settings`] is all of them as one value.

use std::fmt;

use crate::field::Value;
use crate::seq_number::SeqNumber;

pub const SIZE_BYTES_MAX: usize = 40;
pub const SACK_BLOCK_COUNT_MAX: usize = 4;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAX_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

const SACK_BLOCK_SIZE_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    NoOperation,
    MaxSegmentSize(u16),
    WindowScale(u8),
    SackPermitted,
    Sack(SackBlocks),
    Timestamps(Timestamps),
    Unknown { kind: u8, data: &'a [u8] },
}

/// The sender's clock, and the last it has heard of the receiver's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    pub value: u32,
    pub echo_reply: u32,
}

/// Bytes that have arrived out of order: from `left` on, up to but without `right`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    pub left: SeqNumber,
    pub right: SeqNumber,
}

/// Up to four blocks, the one that changed last in front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [SackBlock; SACK_BLOCK_COUNT_MAX],
    count: u8,
}

impl SackBlocks {
    /// Adds a block behind the others; false if there is no room for it.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let free = self.blocks.get_mut(usize::from(self.count));
        let fits = free.map(|free| *free = block).is_some();
        self.count += u8::from(fits);
        fits
    }

    /// The first `count` only.
    #[must_use]
    pub fn truncated(mut self, count: usize) -> SackBlocks {
        for block in self.blocks.iter_mut().skip(count) {
            *block = SackBlock::default();
        }
        self.count = self.count.min(count as u8);
        self
    }

    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }

    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<SackBlock> for SackBlocks {
    /// As many as there is room for.
    fn from_iter<I: IntoIterator<Item = SackBlock>>(blocks: I) -> SackBlocks {
        let mut some = SackBlocks::default();
        for block in blocks {
            if !some.push(block) {
                break;
            }
        }
        some
    }
}

/// The options of a segment, one after the other; ends at the end-of-list option, and at one whose
/// length is not possible, as Linux does.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a>(&'a [u8]);

impl<'a> Options<'a> {
    /// The options, between the header's fixed part and the payload.
    pub const fn new(bytes: &'a [u8]) -> Options<'a> {
        Options(bytes)
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        let kind = *self.0.first()?;
        match kind {
            END => return None,
            NO_OPERATION => {
                self.0 = &self.0[1..];
                return Some(TcpOption::NoOperation);
            }
            _ => {}
        }
        let size = usize::from(*self.0.get(1)?);
        let data = self.0.get(..size)?.get(2..)?;
        self.0 = &self.0[size..];
        Some(match (kind, data) {
            (MAX_SEGMENT_SIZE, [_, _]) => TcpOption::MaxSegmentSize(Value::read(data)),
            (WINDOW_SCALE, [shift]) => TcpOption::WindowScale(*shift),
            (SACK_PERMITTED, []) => TcpOption::SackPermitted,
            (SACK, [_, ..]) if data.len().is_multiple_of(SACK_BLOCK_SIZE_BYTES) => {
                TcpOption::Sack(data.chunks_exact(SACK_BLOCK_SIZE_BYTES).map(sack_block).collect())
            }
            (TIMESTAMPS, [_, _, _, _, _, _, _, _]) => TcpOption::Timestamps(Timestamps {
                value: Value::read(&data[..4]),
                echo_reply: Value::read(&data[4..]),
            }),
            _ => TcpOption::Unknown { kind, data },
        })
    }
}

fn sack_block(bytes: &[u8]) -> SackBlock {
    SackBlock { left: Value::read(&bytes[..4]), right: Value::read(&bytes[4..]) }
}

/// All options of a segment that mean something to a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub max_segment_size: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    pub sack: SackBlocks,
    pub timestamps: Option<Timestamps>,
}

/// Options that take more than [`SIZE_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionsError {
    pub size_bytes: usize,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size_bytes;
        write!(f, "{size} bytes of TCP options; a header has room for {SIZE_BYTES_MAX}")
    }
}

impl std::error::Error for OptionsError {}

impl Settings {
    /// The last of each kind counts; what is unknown is left out.
    pub fn of(options: Options<'_>) -> Settings {
        let mut settings = Settings::default();
        for option in options {
            match option {
                TcpOption::MaxSegmentSize(size) => settings.max_segment_size = Some(size),
                TcpOption::WindowScale(shift) => settings.window_scale = Some(shift),
                TcpOption::SackPermitted => settings.sack_permitted = true,
                TcpOption::Sack(blocks) => settings.sack = blocks,
                TcpOption::Timestamps(timestamps) => settings.timestamps = Some(timestamps),
                TcpOption::NoOperation | TcpOption::Unknown { .. } => {}
            }
        }
        settings
    }

    /// The size of the options, whole words of four bytes, or why they do not fit into a header.
    pub fn size(&self) -> Result<usize, OptionsError> {
        let size_bytes = self.padded_size();
        if size_bytes > SIZE_BYTES_MAX { Err(OptionsError { size_bytes }) } else { Ok(size_bytes) }
    }

    /// Every option is padded to whole words. "SACK permitted" goes into the padding of the
    /// timestamps where both are there, as Linux writes it, so that a SYN of Linux and of ours are
    /// equally long.
    fn padded_size(&self) -> usize {
        let blocks = self.sack.as_slice().len();
        let word = |present: bool| if present { 4 } else { 0 };
        word(self.max_segment_size.is_some())
            + word(self.window_scale.is_some())
            + word(self.sack_permitted && self.timestamps.is_none())
            + if self.timestamps.is_some() { 12 } else { 0 }
            + if blocks > 0 { 4 + blocks * SACK_BLOCK_SIZE_BYTES } else { 0 }
    }

    /// Writes all options; `bytes` are as many as [`Settings::size`] says.
    pub fn emit(&self, bytes: &mut [u8]) {
        let mut rest = bytes;
        let mut put = |part: &[u8]| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(part.len());
            head.copy_from_slice(part);
            rest = tail;
        };
        if let Some(size) = self.max_segment_size {
            let [high, low] = size.to_be_bytes();
            put(&[MAX_SEGMENT_SIZE, 4, high, low]);
        }
        match (self.sack_permitted, self.timestamps.is_some()) {
            (true, true) => put(&[SACK_PERMITTED, 2]),
            (true, false) => put(&[NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]),
            (false, true) => put(&[NO_OPERATION, NO_OPERATION]),
            (false, false) => {}
        }
        if let Some(Timestamps { value, echo_reply }) = self.timestamps {
            put(&[TIMESTAMPS, 10]);
            put(&value.to_be_bytes());
            put(&echo_reply.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            put(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            let size = (2 + blocks.len() * SACK_BLOCK_SIZE_BYTES) as u8;
            put(&[NO_OPERATION, NO_OPERATION, SACK, size]);
            for block in blocks {
                put(&block.left.0.to_be_bytes());
                put(&block.right.0.to_be_bytes());
            }
        }
    }
}
