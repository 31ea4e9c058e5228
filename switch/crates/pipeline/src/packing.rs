//! Headers from the bytes of the wire, and back to them. A header lies in a packet's area as it does on
//! the wire, but for a field of varying length, which has room of its own.

use bits::Int;

use crate::layout::{Header, Layout};
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
    header: &Header,
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
        let value = (from..from + count)
            .fold(Int::zero(), |value, index| &value.shift_left(1) + &Int::from(bit(index)));
        to.store(area, &value);
    };
    let middle = before as usize;
    copy(Place::packed(header.base, 0, before), 0, middle);
    for index in 0..variable_bytes {
        copy(Place::packed(variable.offset + index as u32, 0, 8), middle + 8 * index, 8);
    }
    copy(Place::packed(header.base, before, after), middle + variable_bits, after as usize);
}
