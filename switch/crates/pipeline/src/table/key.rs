//! Keys: from a packet's fields, and from what the control plane writes, to limbs of 64 bits.
//!
//! Exact, ternary and range parts of up to 64 bits share limbs where they fit; longer parts take
//! limbs of their own, the least significant first. The prefix part of an LPM table comes last and
//! is aligned to the most significant bit, most significant limb first, so that the trie can take
//! bits from the front.

use bits::Int;
use bmv2::MatchType;

use super::ternary::Range;
use super::{KeyMatch, TableError};
use crate::place::{Cell, Gather, Place};

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct KeyPart {
    pub name: String,
    pub match_type: MatchType,
    pub width: u32,
    pub place: Place,
    /// A fixed mask, or all ones.
    pub mask: Int,
    /// The first limb.
    pub limb: usize,
    /// Position in the limb, for parts that share one.
    pub shift: u8,
    /// The prefix part of an LPM table.
    pub is_prefix: bool,
}

/// All keys of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyShape {
    pub parts: Vec<KeyPart>,
    /// Limbs of a key; at least one.
    pub limbs: usize,
    /// Limbs of the prefix part, if the table has one and is not ternary.
    pub prefix_limbs: Option<usize>,
    pub is_ternary: bool,
    pub range_count: usize,
    /// The parts in their short form, if all of them have one; else empty.
    cells: Box<[CellPart]>,
    /// Whether a key is one limb of cells: [`Self::build_one`] builds it without memory.
    pub is_one_limb: bool,
}

/// A part of up to 64 bits in one window: its cell, already masked, and the limb it goes to.
#[derive(Clone, Copy, Debug)]
struct CellPart {
    cell: Gather,
    limb: u32,
}

/// A key of an entry.
#[derive(Clone, Debug)]
pub(super) struct EncodedKey {
    pub value: Vec<u64>,
    pub mask: Vec<u64>,
    pub ranges: Vec<Range>,
    pub prefix_length: u32,
}

impl KeyShape {
    /// Lays out the parts, whose limbs are not set yet.
    pub fn new(mut parts: Vec<KeyPart>, is_ternary: bool) -> KeyShape {
        let mut limb = 0;
        // The limb being shared and the bits of it in use.
        let mut shared: Option<(usize, u32)> = None;
        let mut range_count = 0;
        for part in &mut parts {
            part.is_prefix = part.match_type == MatchType::Lpm && !is_ternary;
            range_count += usize::from(part.match_type == MatchType::Range);
            if part.is_prefix {
                continue;
            }
            match shared {
                Some((at, used)) if used + part.width <= 64 => {
                    (part.limb, part.shift) = (at, used as u8);
                    shared = Some((at, used + part.width));
                }
                _ => {
                    (part.limb, part.shift) = (limb, 0);
                    limb += part.width.div_ceil(64).max(1) as usize;
                    if part.width < 64 {
                        shared = Some((part.limb, part.width));
                    }
                }
            }
        }
        let mut prefix_limbs = None;
        if let Some(part) = parts.iter_mut().find(|part| part.is_prefix) {
            part.limb = limb;
            let count = part.width.div_ceil(64).max(1) as usize;
            limb += count;
            prefix_limbs = Some(count);
        }
        let cells: Option<Vec<CellPart>> = parts.iter().map(KeyPart::cell).collect();
        let limbs = limb.max(1);
        let is_one_limb = limbs == 1 && cells.is_some();
        let cells = cells.unwrap_or_default().into();
        KeyShape { parts, limbs, prefix_limbs, is_ternary, range_count, cells, is_one_limb }
    }

    /// Builds a packet's key of one limb.
    #[inline(always)]
    pub fn build_one(&self, area: &[u8]) -> u64 {
        match &*self.cells {
            [part] => part.cell.load(area),
            parts => parts.iter().fold(0, |key, part| key | part.cell.load(area)),
        }
    }

    /// The parts of a key of one limb, to be combined by `or`.
    pub fn one_limb(&self) -> Option<impl Iterator<Item = Gather>> {
        self.is_one_limb.then(|| self.cells.iter().map(|part| part.cell))
    }

    /// Builds a packet's key.
    #[inline]
    pub fn build(&self, area: &[u8], key: &mut [u64]) {
        key.fill(0);
        if self.cells.is_empty() {
            return self.build_wide(area, key);
        }
        for part in &self.cells {
            key[part.limb as usize] |= part.cell.load(area);
        }
    }

    fn build_wide(&self, area: &[u8], key: &mut [u64]) {
        for part in &self.parts {
            match part.place {
                Place::Cell(cell) => {
                    let value = cell.load(area) & part.mask.low_u64();
                    key[part.limb] |= value << part.cell_shift(cell);
                }
                Place::Bits(bits) => {
                    let limbs = part.width.div_ceil(64);
                    if part.is_prefix {
                        part.put_prefix(&bits.load(area), key);
                        continue;
                    }
                    for limb in 0..limbs {
                        let mask = part.mask.limb(limb as usize);
                        key[part.limb + limb as usize] = bits.load_limb(area, limb) & mask;
                    }
                }
                Place::Variable(_) => part.put(&part.place.load(area), key),
            }
        }
    }

    /// Checks and encodes an entry's key.
    pub(super) fn encode(&self, table: &str, key: &[KeyMatch]) -> Result<EncodedKey, TableError> {
        let refuse = |message: String| TableError::Key { table: table.to_owned(), message };
        if key.len() != self.parts.len() {
            let (expected, found) = (self.parts.len(), key.len());
            return Err(refuse(format!("it has {expected} keys, the entry has {found}")));
        }
        let mut encoded = EncodedKey {
            value: vec![0; self.limbs],
            mask: vec![0; self.limbs],
            ranges: Vec::new(),
            prefix_length: 0,
        };
        for (part, matched) in self.parts.iter().zip(key) {
            part.encode(matched, self.is_ternary, &mut encoded)
                .map_err(|message| refuse(format!("key {}: {message}", part.name)))?;
        }
        for (value, mask) in encoded.value.iter_mut().zip(&encoded.mask) {
            *value &= mask;
        }
        Ok(encoded)
    }
}

impl KeyPart {
    /// The short form, if the part has one.
    fn cell(&self) -> Option<CellPart> {
        let Place::Cell(cell) = self.place else { return None };
        let masked = Cell { mask: cell.mask & self.mask.low_u64() << cell.shift, ..cell };
        let gathered = Gather::new(masked, self.cell_shift(cell));
        Some(CellPart { cell: gathered, limb: self.limb as u32 })
    }

    /// How far a cell moves in its limb.
    fn cell_shift(&self, cell: Cell) -> u8 {
        if self.is_prefix { 64 - cell.width } else { self.shift }
    }

    /// Adds what an entry asks of this key.
    fn encode(
        &self,
        matched: &KeyMatch,
        is_ternary: bool,
        key: &mut EncodedKey,
    ) -> Result<(), String> {
        let width = self.width as usize;
        let all = &Int::one().shift_left(width) - &Int::one();
        let fits = |value: &Int| match value.is_negative() || value.bit_length() > width {
            true => Err(format!("{value} does not fit bit<{width}>")),
            false => Ok(()),
        };
        let (value, mask) = match (matched, self.match_type) {
            (KeyMatch::Exact(value), MatchType::Exact | MatchType::Valid) => (value.clone(), all),
            // An optional key is a ternary one whose mask is all or nothing.
            (KeyMatch::Exact(value), MatchType::Ternary) => (value.clone(), all),
            (KeyMatch::Any, MatchType::Ternary | MatchType::Lpm) => (Int::zero(), Int::zero()),
            (KeyMatch::Lpm { value, length_bits }, MatchType::Lpm) => {
                if *length_bits > self.width {
                    return Err(format!("a prefix has at most {width} bits, not {length_bits}"));
                }
                if self.is_prefix {
                    key.prefix_length = *length_bits;
                }
                let free = width - *length_bits as usize;
                (value.clone(), all.shift_right(free).shift_left(free))
            }
            (KeyMatch::Ternary { value, mask }, MatchType::Ternary) => {
                (value.clone(), mask.clone())
            }
            (KeyMatch::Range { low, high }, MatchType::Range) => {
                return self.encode_range(low, high, key);
            }
            (KeyMatch::Any, MatchType::Range) => {
                return self.encode_range(&Int::zero(), &all, key);
            }
            (_, expected) => {
                return Err(format!("it is matched {expected:?}, the entry says {matched:?}"));
            }
        };
        fits(&value)?;
        fits(&mask)?;
        debug_assert!(
            is_ternary || self.is_prefix || mask == (&Int::one().shift_left(width) - &Int::one())
        );
        self.put(&value, &mut key.value);
        self.put(&mask, &mut key.mask);
        Ok(())
    }

    /// A range, and the mask of the bits its ends share.
    fn encode_range(&self, low: &Int, high: &Int, key: &mut EncodedKey) -> Result<(), String> {
        let width = self.width as usize;
        let [low, high] = [low, high].map(|end| end.to_u64().filter(|_| end.bit_length() <= width));
        let (Some(low), Some(high)) = (low, high) else {
            return Err(format!("an end of the range does not fit bit<{width}>"));
        };
        if low > high {
            return Err(format!("the range is empty: {low} is above {high}"));
        }
        let all = bits::mask64(width);
        let shared = all & !bits::mask64(64 - (low ^ high).leading_zeros() as usize);
        key.value[self.limb] |= (low & shared) << self.shift;
        key.mask[self.limb] |= shared << self.shift;
        let (limb, shift) = (self.limb as u32, self.shift);
        key.ranges.push(Range { limb, shift, mask: all, low, high });
        Ok(())
    }

    /// Puts a value of this part into a key of zeros.
    fn put(&self, value: &Int, key: &mut [u64]) {
        if self.is_prefix {
            return self.put_prefix(value, key);
        }
        if self.width <= 64 {
            key[self.limb] |= (value.low_u64() & bits::mask64(self.width as usize)) << self.shift;
            return;
        }
        for limb in 0..self.width.div_ceil(64) as usize {
            key[self.limb + limb] |= value.limb(limb);
        }
    }

    /// The same for the prefix part: aligned to the most significant bit.
    fn put_prefix(&self, value: &Int, key: &mut [u64]) {
        let limbs = self.width.div_ceil(64) as usize;
        let aligned = value.shift_left(limbs * 64 - self.width as usize);
        for limb in 0..limbs {
            key[self.limb + limb] |= aligned.limb(limbs - 1 - limb);
        }
    }
}
