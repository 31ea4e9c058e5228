//! Numbers as text: decimal for people, hexadecimal as BMv2 JSON writes it.

use std::fmt;
use std::str::FromStr;

use crate::Int;

/// Text that is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseIntError {
    text: String,
    radix: u32,
}

impl fmt::Display for ParseIntError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a number in base {}", self.text, self.radix)
    }
}

impl std::error::Error for ParseIntError {}

impl Int {
    /// Reads digits of base `radix` (2 to 36), with an optional `-` in front and `_` between.
    pub fn from_digits(text: &str, radix: u32) -> Result<Int, ParseIntError> {
        let error = || ParseIntError { text: text.to_owned(), radix };
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let digits = digits.chars().filter(|character| *character != '_');
        let digits: Option<Vec<u8>> =
            digits.map(|character| character.to_digit(radix).map(|digit| digit as u8)).collect();
        let digits = digits.filter(|digits| !digits.is_empty()).ok_or_else(error)?;
        let number = match radix {
            2 | 4 | 8 | 16 | 32 => by_bits(&digits, radix.ilog2() as usize),
            _ => by_chunks(&digits, u64::from(radix)),
        };
        Ok(if negative { -&number } else { number })
    }

    /// Reads a `hexstr` of BMv2 JSON: `0x0a`, `0a`, `-0x0a`.
    pub fn from_hex(text: &str) -> Result<Int, ParseIntError> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", text),
        };
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        let error = || ParseIntError { text: text.to_owned(), radix: 16 };
        if digits.starts_with('-') {
            return Err(error());
        }
        Int::from_digits(&format!("{sign}{digits}"), 16).map_err(|_| error())
    }

    /// A `hexstr` of BMv2 JSON: at least `width_bytes` bytes, with `0x` and the sign in front.
    pub fn to_hex(&self, width_bytes: usize) -> String {
        // The sign and the prefix count as part of the width.
        let width = 2 * width_bytes.max(1) + "0x".len() + usize::from(self.is_negative());
        format!("{self:#0width$x}")
    }
}

/// The number whose digits, most significant first, are this many bits each: one step a digit.
fn by_bits(digits: &[u8], digit_bits: usize) -> Int {
    let mut limbs = vec![0u64; (digits.len() * digit_bits).div_ceil(64).max(1)];
    for (index, digit) in digits.iter().rev().enumerate() {
        let (limb, bit) = (index * digit_bits / 64, index * digit_bits % 64);
        limbs[limb] |= u64::from(*digit) << bit;
        // A digit of three or five bits may lie across two limbs.
        if bit + digit_bits > 64 && u64::from(*digit) >> (64 - bit) != 0 {
            limbs[limb + 1] |= u64::from(*digit) >> (64 - bit);
        }
    }
    Int::from_unsigned_limbs(&limbs)
}

/// The number whose digits, most significant first, are of any base: each multiplication folds in as
/// many digits as a limb holds.
fn by_chunks(digits: &[u8], base: u64) -> Int {
    let (mut number, mut chunk, mut scale) = (Int::zero(), 0u64, 1u64);
    for digit in digits {
        (chunk, scale) = (chunk * base + u64::from(*digit), scale * base);
        if scale > u64::MAX / base / base {
            number = &(&number * &Int::from(scale)) + &Int::from(chunk);
            (chunk, scale) = (0, 1);
        }
    }
    &(&number * &Int::from(scale)) + &Int::from(chunk)
}

impl fmt::LowerHex for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = if self.is_negative() { -self } else { self.clone() };
        let mut digits = String::new();
        for index in (0..magnitude.bit_length().div_ceil(64).max(1)).rev() {
            digits.push_str(&format!("{:016x}", magnitude.limb(index)));
        }
        let shortest = digits.trim_start_matches('0');
        let digits = if shortest.is_empty() { "0" } else { shortest };
        f.pad_integral(!self.is_negative(), "0x", digits)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The largest power of ten in a `u64`.
        const CHUNK: u64 = 10_000_000_000_000_000_000;
        let mut rest = if self.is_negative() { -self } else { self.clone() };
        let mut chunks = Vec::new();
        while rest.to_u64().is_none_or(|value| value >= CHUNK) {
            let (quotient, remainder) =
                rest.divide(&Int::from(CHUNK)).expect("the chunk is not zero");
            chunks.push(remainder.low_u64());
            rest = quotient;
        }
        let mut digits = rest.low_u64().to_string();
        for chunk in chunks.iter().rev() {
            digits.push_str(&format!("{chunk:019}"));
        }
        f.pad_integral(!self.is_negative(), "", &digits)
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Int {
    type Err = ParseIntError;

    /// Decimal, or with the prefixes `0x`, `0o`, `0b` of P4.
    fn from_str(text: &str) -> Result<Int, ParseIntError> {
        let lower = text.get(..2).map(str::to_ascii_lowercase);
        match lower.as_deref() {
            Some("0x") => Int::from_digits(&text[2..], 16),
            Some("0o") => Int::from_digits(&text[2..], 8),
            Some("0b") => Int::from_digits(&text[2..], 2),
            _ => Int::from_digits(text, 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::int::steps;

    proptest! {
        #[test]
        fn decimal_text_survives_a_round_trip(value: i128) {
            prop_assert_eq!(Int::from(value).to_string(), value.to_string());
            prop_assert_eq!(value.to_string().parse::<Int>().unwrap(), Int::from(value));
        }

        #[test]
        fn hexadecimal_text_survives_a_round_trip(value: i128, width in 0usize..40) {
            let number = Int::from(value);
            prop_assert_eq!(Int::from_hex(&number.to_hex(width)).unwrap(), number);
        }
    }

    #[test]
    fn the_forms_of_bmv2_are_read_and_written() {
        assert_eq!(Int::from_hex("0x0a").unwrap(), Int::from(10));
        assert_eq!(Int::from_hex("-0x0a").unwrap(), Int::from(-10));
        assert_eq!(Int::from_hex("ff").unwrap(), Int::from(255));
        assert_eq!(Int::from(10).to_hex(2), "0x000a");
        assert_eq!(Int::from(-1).to_hex(1), "-0x01");
        assert_eq!(Int::from(4096).to_hex(1), "0x1000");
    }

    #[test]
    fn numbers_of_any_length_are_printed() {
        // 2^128 = 340282366920938463463374607431768211456.
        let number = Int::one().shift_left(128);
        assert_eq!(number.to_string(), "340282366920938463463374607431768211456");
        assert_eq!("340282366920938463463374607431768211456".parse::<Int>().unwrap(), number);
    }

    #[test]
    fn the_longest_number_that_a_program_can_shift_to_is_printed_at_once() {
        // 65,536 * log10(2) = 19,728.3. A step for each bit of each part would take minutes.
        assert_eq!(Int::one().shift_left(65_536).to_string().len(), 19_729);
        assert_eq!(format!("{:#x} {:x}", Int::from(10), Int::from(-255)), "0xa -ff");
    }

    #[test]
    fn reading_hexadecimal_digits_multiplies_nothing() {
        let text = "9".repeat(50_000);
        let (number, steps) = steps::of(|| Int::from_hex(&text).unwrap());
        assert_eq!((number.to_hex(1), steps), (format!("0x{text}"), 0));
        // 18 digits a multiplication: 2,778 of them, of at most 2,597 limbs.
        let (number, steps) = steps::of(|| text.parse::<Int>().unwrap());
        assert_eq!(number.bit_length(), 166_097);
        assert!(steps < 2_778 * 2_597, "{steps}");
    }

    #[test]
    fn digits_of_every_width_are_read_across_limbs() {
        let number = &Int::one().shift_left(200) + &Int::from(0o1234567u32);
        let octal = format!("4{}1234567", "0".repeat(59));
        assert_eq!(format!("0o{octal}").parse::<Int>().unwrap(), number);
        let binary = format!("1{}{:021b}", "0".repeat(179), 0o1234567u32);
        assert_eq!(format!("0b{binary}").parse::<Int>().unwrap(), number);
        assert_eq!(Int::from_digits(&binary, 2), Int::from_digits(&octal, 8));
        assert_eq!(Int::from_digits("-zz", 36).unwrap(), Int::from(-1295));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", "0x", "12g", "--1", "0x-1", "__"] {
            assert!(Int::from_hex(text).is_err() || text.parse::<Int>().is_err(), "{text}");
        }
        assert!(Int::from_hex("0x-1").is_err());
        assert!(Int::from_hex("").is_err());
    }
}
