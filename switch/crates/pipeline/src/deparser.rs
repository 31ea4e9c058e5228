//! Putting headers back onto the wire.

use crate::action::{Names, Routine, load_routine};
use crate::error::LoadError;
use crate::layout::Layout;
use crate::native::{Header, Native};
use crate::packet::{Body, Packet};
use crate::place::Place;

/// Hands the bytes of a header to `push`, in the order of the wire.
pub(crate) fn emit(layout: &Layout, area: &[u8], header: u32, mut push: impl FnMut(&[u8])) {
    let header = &layout.headers[header as usize];
    let kind = &layout.kinds[header.kind];
    let base = header.base as usize;
    match kind.variable {
        // Packed as on the wire: this is the common case, and one copy.
        None => push(&area[base..base + kind.fixed_length()]),
        Some(variable)
            if kind.bits_before.is_multiple_of(8) && kind.bits_after.is_multiple_of(8) =>
        {
            let before = base + kind.bits_before as usize / 8;
            push(&area[base..before]);
            push(variable.at(header.base).bytes(area));
            push(&area[before..before + kind.bits_after as usize / 8]);
        }
        Some(variable) => {
            emit_unaligned(layout, area, header, variable.at(header.base).bytes(area), push)
        }
    }
}

/// A variable field that starts inside a byte: its bits go between those before and after it.
fn emit_unaligned(
    layout: &Layout,
    area: &[u8],
    header: &crate::layout::Header,
    variable: &[u8],
    mut push: impl FnMut(&[u8]),
) {
    let kind = &layout.kinds[header.kind];
    let fixed = |first: u32, count: u32| {
        (first..first + count)
            .map(move |bit| area[header.base as usize + bit as usize / 8] >> (7 - bit % 8) & 1)
    };
    let middle = variable.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1));
    let bits =
        fixed(0, kind.bits_before).chain(middle).chain(fixed(kind.bits_before, kind.bits_after));
    let (mut byte, mut count) = (0u8, 0);
    for bit in bits {
        (byte, count) = (byte << 1 | bit, count + 1);
        if count == 8 {
            push(&[byte]);
            (byte, count) = (0, 0);
        }
    }
}

/// A header to emit, its shape at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emission {
    pub header: u32,
    valid: u32,
    /// First and last byte in the area, where no variable field decides.
    bytes: Option<(u32, u32)>,
}

/// What a deparser emits, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emissions {
    pub order: Vec<Emission>,
    /// The validity of those whose length varies.
    varying: Box<[u32]>,
    /// The most bytes they can take together.
    room: usize,
}

impl Emission {
    pub fn new(layout: &Layout, header: u32) -> Emission {
        let found = &layout.headers[header as usize];
        let kind = &layout.kinds[found.kind];
        let fixed = kind.variable.is_none();
        let bytes = fixed.then(|| (found.base, found.base + kind.fixed_length() as u32));
        Emission { header, valid: found.valid, bytes }
    }

    /// The header, if its length is fixed.
    pub fn plain(&self) -> Option<Header> {
        let (base, end) = self.bytes?;
        Some(Header { valid: self.valid, base, length_bytes: end - base })
    }
}

impl Emissions {
    pub fn new(layout: &Layout, order: Vec<Emission>) -> Emissions {
        let kind =
            |emission: &Emission| &layout.kinds[layout.headers[emission.header as usize].kind];
        let room = order.iter().map(|emission| kind(emission).size as usize).sum();
        let varying = order.iter().filter(|emission| emission.bytes.is_none());
        Emissions { varying: varying.map(|emission| emission.valid).collect(), order, room }
    }

    /// Writes the valid headers in front of the payload, the last of them first.
    ///
    /// Headers that follow each other in the area as they do on the wire, which is how they are
    /// laid out, go there in one copy.
    pub fn deparse(&self, layout: &Layout, native: Option<&dyn Native>, packet: &mut Packet) {
        packet.make_room(self.room);
        let Body { area, frame, at, .. } = &mut **packet;
        let frame = frame.memory_mut();
        if let Some(native) = native
            && self.varying.iter().all(|valid| area[*valid as usize] == 0)
        {
            *at = native.deparse(area, frame, *at);
            return;
        }
        // The run of bytes to be copied next.
        let (mut start, mut end) = (0, 0);
        for emission in self.order.iter().rev() {
            match (area[emission.valid as usize], emission.bytes) {
                (0, _) => {}
                (_, Some((first, last))) => {
                    let (first, last) = (first as usize, last as usize);
                    if last != start {
                        if start != end {
                            push(frame, at, &area[start..end]);
                        }
                        end = last;
                    }
                    start = first;
                }
                (_, None) => {
                    push(frame, at, &area[start..end]);
                    (start, end) = (0, 0);
                    push_variable(layout, area, emission.header, frame, at);
                }
            }
        }
        push(frame, at, &area[start..end]);
    }
}

/// Puts bytes in front of what starts `at`.
#[inline(always)]
fn push(frame: &mut [u8], at: &mut usize, part: &[u8]) {
    frame[*at - part.len()..*at].copy_from_slice(part);
    *at -= part.len();
}

/// The same for a header with a variable field.
#[inline(never)]
fn push_variable(layout: &Layout, area: &[u8], header: u32, frame: &mut [u8], at: &mut usize) {
    let length = layout.length(area, &layout.headers[header as usize]);
    *at -= length;
    let mut room = &mut frame[*at..*at + length];
    emit(layout, area, header, |part| {
        let (start, rest) = std::mem::take(&mut room).split_at_mut(part.len());
        start.copy_from_slice(part);
        room = rest;
    });
}

/// Fills a header from the wire; `variable_bits` is the length of its variable field.
/// The caller has checked that `bytes` holds the whole header.
pub(crate) fn extract(
    layout: &Layout,
    area: &mut [u8],
    header: u32,
    bytes: &[u8],
    variable_bits: usize,
) {
    let header = &layout.headers[header as usize];
    let kind = &layout.kinds[header.kind];
    let base = header.base as usize;
    let Some(variable) = kind.variable else {
        let length = kind.fixed_length();
        area[base..base + length].copy_from_slice(&bytes[..length]);
        return;
    };
    let variable = variable.at(header.base);
    variable.length.store(area, variable_bits as u64);
    let start = variable.offset as usize;
    let (before, after) = (kind.bits_before, kind.bits_after);
    let variable_bytes = variable_bits / 8;
    if before.is_multiple_of(8) && after.is_multiple_of(8) {
        let (head, rest) = bytes.split_at(before as usize / 8);
        area[base..base + head.len()].copy_from_slice(head);
        area[start..start + variable_bytes].copy_from_slice(&rest[..variable_bytes]);
        let tail = &rest[variable_bytes..variable_bytes + after as usize / 8];
        let at = base + head.len();
        area[at..at + tail.len()].copy_from_slice(tail);
        return;
    }
    // Bit by bit, through places.
    let bit = |index: usize| u64::from(bytes[index / 8] >> (7 - index % 8) & 1);
    let mut copy = |to: Place, from: usize, count: usize| {
        let value = (from..from + count).fold(bits::Int::zero(), |value, index| {
            &value.shift_left(1) + &bits::Int::from(bit(index))
        });
        to.store(area, &value);
    };
    let middle = before as usize;
    copy(Place::packed(header.base, 0, before), 0, middle);
    for index in 0..variable_bytes {
        copy(Place::packed(variable.offset + index as u32, 0, 8), middle + 8 * index, 8);
    }
    copy(Place::packed(header.base, before, after), middle + variable_bits, after as usize);
}

/// What the program's deparser emits, and what it does before.
pub(crate) fn load_deparser(
    names: &Names<'_>,
    source: &bmv2::Program,
) -> Result<(Emissions, Option<Routine>), LoadError> {
    let Some(deparser) = source.deparsers.first() else { return Ok((Emissions::default(), None)) };
    let order = deparser.order.iter().enumerate().map(|(index, name)| {
        let header = names.layout.header(name).map(|header| Emission::new(names.layout, header));
        header.map_err(|error| error.under(&format!("/deparsers/0/order/{index}")))
    });
    let order = Emissions::new(names.layout, order.collect::<Result<_, _>>()?);
    if deparser.primitives.is_empty() {
        return Ok((order, None));
    }
    let routine = load_routine(names, &deparser.primitives);
    Ok((order, Some(routine.map_err(|error| error.under("/deparsers/0"))?)))
}
