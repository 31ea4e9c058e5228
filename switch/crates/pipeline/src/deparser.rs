//! Putting headers back onto the wire.

use crate::layout::Layout;
use crate::packet::Packet;
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
    base: u32,
    /// Bytes on the wire, where no variable field decides.
    length: Option<u32>,
}

impl Emission {
    pub fn new(layout: &Layout, header: u32) -> Emission {
        let found = &layout.headers[header as usize];
        let kind = &layout.kinds[found.kind];
        let length = kind.variable.is_none().then(|| kind.fixed_length() as u32);
        Emission { header, valid: found.valid, base: found.base, length }
    }

    /// Bytes the header adds to the frame: none while it is not valid.
    #[inline(always)]
    fn length(self, layout: &Layout, area: &[u8]) -> usize {
        match (area[self.valid as usize], self.length) {
            (0, _) => 0,
            (_, Some(length)) => length as usize,
            (_, None) => layout.length(area, &layout.headers[self.header as usize]),
        }
    }
}

/// Writes the valid headers of `order` in front of the payload.
pub(crate) fn deparse(layout: &Layout, order: &[Emission], packet: &mut Packet) {
    let total: usize = order.iter().map(|emission| emission.length(layout, &packet.area)).sum();
    packet.prepend(total);
    let Packet { area, frame, at, .. } = packet;
    let mut room = &mut frame[*at..*at + total];
    let mut push = |part: &[u8]| {
        let (start, rest) = std::mem::take(&mut room).split_at_mut(part.len());
        start.copy_from_slice(part);
        room = rest;
    };
    for emission in order {
        let base = emission.base as usize;
        match (area[emission.valid as usize], emission.length) {
            (0, _) => {}
            (_, Some(length)) => push(&area[base..base + length as usize]),
            (_, None) => emit(layout, area, emission.header, &mut push),
        }
    }
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
