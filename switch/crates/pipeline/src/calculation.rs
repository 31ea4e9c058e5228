//! The input of a hash or checksum: bits of fields, headers and constants, one after the other,
//! then perhaps the payload. Fields of headers that are not valid are left out.

use std::collections::BTreeMap;

use bits::Int;
use bmv2::{Calculation, CalculationInput};
use wire::Sum;
use wire::checksum::fold;

use crate::error::LoadError;
use crate::expression::is_valid;
use crate::hash::Hash;
use crate::layout::Layout;
use crate::packing::emit;
use crate::place::{Masked, Place};

#[derive(Clone, Debug)]
enum Input {
    /// Whole bytes of the area while a header is valid: neighbouring fields of a header, joined.
    Bytes {
        header: u32,
        start: usize,
        end: usize,
    },
    Constant {
        value: Int,
        width: usize,
    },
    /// A field while its header is valid.
    Field {
        header: u32,
        place: Place,
    },
    Header(u32),
}

/// The components of a calculation.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    inputs: Vec<Input>,
    with_payload: bool,
    /// The input of an internet checksum as windows of eight bytes, if that is all it is.
    words: Option<Words>,
}

/// Whole 16-bit words of headers, and perhaps the payload.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    headers: Box<[HeaderWords]>,
    with_payload: bool,
}

/// Words of a header: those that the masks let through.
#[derive(Clone, Debug)]
struct HeaderWords {
    /// The byte that says whether the header is valid.
    valid: u32,
    windows: Box<[Masked]>,
}

#[derive(Clone, Debug)]
pub(crate) struct NamedCalculation {
    pub name: String,
    pub recipe: Recipe,
    /// Index of the hash in the mutable state.
    pub hash: usize,
}

/// Gathers bits into bytes.
struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// Bits of the last byte in use; 0 is a whole byte.
    used: u32,
}

impl Recipe {
    pub fn new(layout: &Layout, inputs: &[CalculationInput]) -> Result<Recipe, LoadError> {
        let mut recipe = Recipe { inputs: Vec::new(), with_payload: false, words: None };
        for (index, input) in inputs.iter().enumerate() {
            let under = |error: LoadError| error.under(&format!("/input/{index}"));
            let input = match input {
                CalculationInput::Constant { value, width_bits } => {
                    Input::Constant { value: value.clone(), width: *width_bits as usize }
                }
                CalculationInput::Field(field) => {
                    let field = layout.field(field).map_err(under)?;
                    Input::Field { header: field.header, place: field.place }
                }
                CalculationInput::Header(name) => {
                    Input::Header(layout.header(name).map_err(under)?)
                }
                CalculationInput::Payload => {
                    recipe.with_payload = true;
                    continue;
                }
            };
            recipe.inputs.push(input);
        }
        recipe.join();
        Ok(recipe)
    }

    /// Joins neighbouring fields to runs of whole bytes.
    ///
    /// The fields of a checksum mostly follow each other as they do on the wire; packed as on the
    /// wire they need not be taken apart at all. Fields that do not join stay as they are, and so
    /// do all fields if the run would not start on a byte of the input.
    fn join(&mut self) {
        let mut joined: Vec<Input> = Vec::new();
        // Bits of input until now, and the run being built: header, first bit, end bit, its fields.
        let mut at = 0usize;
        let mut run: Option<(u32, usize, usize, Vec<Input>)> = None;
        let close = |run: &mut Option<(u32, usize, usize, Vec<Input>)>, out: &mut Vec<Input>| {
            let Some((header, first, end, fields)) = run.take() else { return };
            if first.is_multiple_of(8) && end.is_multiple_of(8) {
                out.push(Input::Bytes { header, start: first / 8, end: end / 8 });
            } else {
                out.extend(fields);
            }
        };
        for input in std::mem::take(&mut self.inputs) {
            let Input::Field { header, place } = &input else {
                close(&mut run, &mut joined);
                at += if let Input::Constant { width, .. } = &input { *width } else { 0 };
                joined.push(input);
                continue;
            };
            let Some((first, width)) = place.bit_range() else {
                close(&mut run, &mut joined);
                joined.push(input);
                continue;
            };
            match &mut run {
                Some((of, _, end, fields)) if of == header && *end == first => {
                    *end += width;
                    fields.push(input);
                }
                _ => {
                    close(&mut run, &mut joined);
                    let starts_on_byte = at.is_multiple_of(8);
                    match starts_on_byte {
                        true => run = Some((*header, first, first + width, vec![input])),
                        false => joined.push(input),
                    }
                }
            }
            at += width;
        }
        close(&mut run, &mut joined);
        self.inputs = joined;
    }

    /// The input as words, if it is an internet checksum's and nothing but whole words of headers.
    pub fn words(&self) -> Option<&Words> {
        self.words.as_ref()
    }

    /// The windows of an internet checksum, if the input is whole words of headers.
    ///
    /// Runs of one header that start an even number of bytes apart share windows: the gap between
    /// them, which is the checksum itself, is masked.
    fn to_words(&self, layout: &Layout) -> Option<Words> {
        let mut windows = BTreeMap::<(u32, u32), u64>::new();
        let mut first: BTreeMap<(u32, usize), usize> = BTreeMap::new();
        for input in &self.inputs {
            let Input::Bytes { header, start, end } = input else { return None };
            // An odd run would shift the words of the next.
            if !(end - start).is_multiple_of(2) {
                return None;
            }
            let valid = layout.headers[*header as usize].valid;
            let origin = *first.entry((valid, start % 2)).or_insert(*start);
            let origin = if origin <= *start { origin } else { *start };
            for byte in *start..*end {
                let offset = (origin + (byte - origin) / 8 * 8) as u32;
                let bit = 0xffu64 << (56 - 8 * (byte as u32 - offset));
                let mask = windows.entry((valid, offset)).or_default();
                // A byte that is summed twice needs its bits twice.
                if *mask & bit != 0 {
                    return None;
                }
                *mask |= bit;
            }
        }
        let mut headers = BTreeMap::<u32, Vec<Masked>>::new();
        for ((valid, offset), mask) in windows {
            headers.entry(valid).or_default().push(Masked { offset, mask });
        }
        let headers = headers.into_iter();
        let headers =
            headers.map(|(valid, windows)| HeaderWords { valid, windows: windows.into() });
        Some(Words { headers: headers.collect(), with_payload: self.with_payload })
    }

    /// Fields of a selector.
    pub fn of_fields(layout: &Layout, fields: &[bmv2::FieldRef]) -> Result<Recipe, LoadError> {
        let inputs: Vec<CalculationInput> =
            fields.iter().cloned().map(CalculationInput::Field).collect();
        Recipe::new(layout, &inputs)
    }

    /// Gathers the input into `bytes`.
    pub fn gather(&self, layout: &Layout, area: &[u8], payload: &[u8], bytes: &mut Vec<u8>) {
        bytes.clear();
        let mut writer = BitWriter { bytes, used: 0 };
        for input in &self.inputs {
            match input {
                Input::Bytes { header, start, end } => {
                    if is_valid(layout, area, *header) {
                        writer.push_bytes(&area[*start..*end]);
                    }
                }
                Input::Constant { value, width } => writer.push_wide(value, *width),
                Input::Field { header, place } if is_valid(layout, area, *header) => {
                    writer.push_field(area, *place);
                }
                Input::Header(header) if is_valid(layout, area, *header) => {
                    emit(layout, area, *header, |part| writer.push_bytes(part));
                }
                Input::Field { .. } | Input::Header(_) => {}
            }
        }
        if self.with_payload {
            bytes.extend_from_slice(payload);
        }
    }
}

impl Words {
    /// The words of each header by its validity byte, if they are all there is to sum.
    pub fn of_headers(&self) -> Option<Vec<(u32, Vec<Masked>)>> {
        let headers = self.headers.iter();
        let headers = headers.map(|header| (header.valid, header.windows.to_vec()));
        (!self.with_payload).then(|| headers.collect())
    }

    /// The internet checksum, straight from the header bytes.
    ///
    /// 2^64 and 2^16 are 1 modulo 2^16 - 1, so a sum of windows whose carry comes in again at the
    /// low end folds to the same value as one of words; what a mask takes out adds 0.
    #[inline(always)]
    pub fn checksum16<'a>(&self, area: &[u8], payload: impl FnOnce() -> &'a [u8]) -> u16 {
        let mut sum = 0u64;
        let mut add = |value: u64| {
            let (low, carry) = sum.overflowing_add(value);
            sum = low + u64::from(carry);
        };
        for header in &self.headers {
            if area[header.valid as usize] != 0 {
                header.windows.iter().for_each(|window| add(window.load(area)));
            }
        }
        if self.with_payload {
            add(Sum::of(payload()).word().into());
        }
        fold(sum).checksum()
    }
}

impl NamedCalculation {
    pub fn new(layout: &Layout, calculation: &Calculation, hash: usize) -> Result<Self, LoadError> {
        let mut recipe = Recipe::new(layout, &calculation.input)?;
        if matches!(calculation.algorithm.as_str(), "csum16" | "cksum16") {
            recipe.words = recipe.to_words(layout);
        }
        Ok(NamedCalculation { name: calculation.name.clone(), recipe, hash })
    }
}

/// The hash of an algorithm's name, or a complaint.
pub(crate) fn hash_named(name: &str) -> Result<Hash, LoadError> {
    Hash::named(name).ok_or_else(|| {
        let known = "crc16, crc32, csum16, identity, xor16, round_robin, crc32_custom";
        LoadError::new("/algo", format!("there is no hash \"{name}\"; known: {known}, ..."))
    })
}

impl BitWriter<'_> {
    fn push_field(&mut self, area: &[u8], place: Place) {
        match place {
            Place::Cell(cell) => self.push(cell.load(area), cell.width.into()),
            Place::Bits(bits) if self.used == 0 && bits.bit == 0 && bits.width % 8 == 0 => {
                let start = bits.offset as usize;
                self.bytes.extend_from_slice(&area[start..start + bits.width as usize / 8]);
            }
            Place::Bits(bits) => self.push_wide(&bits.load(area), bits.width as usize),
            Place::Variable(variable) => self.push_bytes(variable.bytes(area)),
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if self.used == 0 {
            self.bytes.extend_from_slice(bytes);
        } else {
            bytes.iter().for_each(|byte| self.push(u64::from(*byte), 8));
        }
    }

    fn push_wide(&mut self, value: &Int, width: usize) {
        let limbs = width.div_ceil(64);
        for limb in (0..limbs).rev() {
            let bits = if limb == limbs - 1 { width - limb * 64 } else { 64 };
            self.push(value.limb(limb) & bits::mask64(bits), bits as u32);
        }
    }

    /// Appends the low `width` bits of `value`, most significant first.
    fn push(&mut self, value: u64, width: u32) {
        if self.used == 0 && width.is_multiple_of(8) {
            let bytes = value.to_be_bytes();
            return self.bytes.extend_from_slice(&bytes[8 - width as usize / 8..]);
        }
        let mut left = width;
        while left > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let room = 8 - self.used;
            let taken = room.min(left);
            let part = (value >> (left - taken)) as u8 & (0xffu16 >> (8 - taken)) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << (room - taken);
            }
            (self.used, left) = ((self.used + taken) % 8, left - taken);
        }
    }
}

/// Calculations, and the hashes they use.
pub(crate) fn load_calculations(
    layout: &Layout,
    source: &bmv2::Program,
) -> Result<(Vec<NamedCalculation>, Vec<Hash>), LoadError> {
    let (mut calculations, mut hashes) = (Vec::new(), Vec::new());
    for (index, calculation) in source.calculations.iter().enumerate() {
        let path = format!("/calculations/{index}");
        let hash = hash_named(&calculation.algorithm).map_err(|error| error.under(&path))?;
        hashes.push(hash);
        let named = NamedCalculation::new(layout, calculation, hashes.len() - 1);
        calculations.push(named.map_err(|error| error.under(&path))?);
    }
    Ok((calculations, hashes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_packed_without_gaps() {
        let mut bytes = Vec::new();
        let mut writer = BitWriter { bytes: &mut bytes, used: 0 };
        // 3 bits 101, 8 bits 0xff, 1 bit 0, then 12 bits 0xabc: 1011 1111 | 1110 1010 | 1011 1100.
        writer.push(0b101, 3);
        writer.push(0xff, 8);
        writer.push(0, 1);
        writer.push_wide(&Int::from(0xabc), 12);
        assert_eq!(bytes, [0b1011_1111, 0b1110_1010, 0b1011_1100]);
    }
}
