//! Keys: what controllers write, and what a packet has, as limbs of 64 bits.
//!
//! Exact, ternary and range parts of up to 64 bits share limbs where they fit; longer parts take
//! limbs of their own, the least significant first. The prefix part of an LPM table comes last and
//! is aligned to the most significant bit, most significant limb first, so that the trie can take
//! bits from the front.

use bits::Int;
use bmv2::MatchType;

use crate::entry::KeyMatch;
use crate::error::TableError;
use crate::ternary::Range;

/// One key of a table, and where its bits lie among the limbs.
#[derive(Clone, Debug)]
pub struct KeyPart {
    /// The key's name in the program.
    pub name: String,
    /// How entries match it.
    pub match_type: MatchType,
    /// Its width in bits.
    pub width: u32,
    /// A fixed mask, or all ones.
    pub mask: Int,
    limb: usize,
    /// Position in the limb, for parts that share one.
    shift: u8,
    is_prefix: bool,
}

/// All keys of a table.
#[derive(Clone, Debug, Default)]
pub struct KeyShape {
    parts: Vec<KeyPart>,
    limbs: usize,
    /// Limbs of the prefix part, if the table has one and is not ternary.
    pub(crate) prefix_limbs: Option<usize>,
    is_ternary: bool,
    pub(crate) range_count: usize,
}

/// A key of an entry.
#[derive(Clone, Debug)]
pub(crate) struct EncodedKey {
    pub value: Vec<u64>,
    pub mask: Vec<u64>,
    pub ranges: Vec<Range>,
    pub prefix_length: u32,
}

impl KeyShape {
    /// Gives each part its place among the limbs.
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
        KeyShape { parts, limbs: limb.max(1), prefix_limbs, is_ternary, range_count }
    }

    /// The parts, in the order of the program.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Limbs of a key; at least one.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// Whether entries have masks or ranges, and so priorities.
    pub fn is_ternary(&self) -> bool {
        self.is_ternary
    }

    /// Checks and encodes an entry's key.
    pub(crate) fn encode(&self, table: &str, key: &[KeyMatch]) -> Result<EncodedKey, TableError> {
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
    /// A part that has no place among the limbs yet.
    pub fn new(name: String, match_type: MatchType, width: u32, mask: Int) -> KeyPart {
        KeyPart { name, match_type, width, mask, limb: 0, shift: 0, is_prefix: false }
    }

    /// The first of its limbs.
    pub fn limb(&self) -> usize {
        self.limb
    }

    /// Where the lowest bit of a part of up to 64 bits lies in its limb.
    pub fn position(&self) -> u8 {
        if self.is_prefix { 64 - self.width as u8 } else { self.shift }
    }

    /// Whether its limbs come in the order of the trie, the most significant first.
    pub fn is_prefix(&self) -> bool {
        self.is_prefix
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
    pub fn put(&self, value: &Int, key: &mut [u64]) {
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
