//! P4Runtime's byte strings (P4Runtime specification, "Bytestrings"): big-endian, the shortest
//! form that holds the value, and `\x00` for zero. Longer forms are accepted as long as the value
//! fits its type.

use std::fmt;

use crate::Int;

/// A byte string that is no value of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// The empty string is not a number.
    Empty,
    /// The value needs more bits than the type has.
    TooWide {
        /// Bits of the value.
        value_bits: usize,
        /// Bits of the type.
        width_bits: usize,
    },
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueError::Empty => {
                write!(f, "the byte string is empty; zero is written as one zero byte")
            }
            ValueError::TooWide { value_bits, width_bits } => {
                write!(f, "the value needs {value_bits} bits, its type is bit<{width_bits}>")
            }
        }
    }
}

impl std::error::Error for ValueError {}

/// The shortest big-endian form of a `bit<N>` value.
pub fn canonical(value: &Int) -> Vec<u8> {
    let mut bytes = vec![0; crate::byte_count(value.bit_length()).max(1)];
    value.write_be_bytes(&mut bytes);
    bytes
}

/// The `bit<width_bits>` value that `bytes` writes, in the canonical or any longer form.
pub fn from_canonical(bytes: &[u8], width_bits: usize) -> Result<Int, ValueError> {
    if bytes.is_empty() {
        return Err(ValueError::Empty);
    }
    let value = Int::from_be_bytes(bytes);
    match value.bit_length() {
        value_bits if value_bits > width_bits => {
            Err(ValueError::TooWide { value_bits, width_bits })
        }
        _ => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_shortest_form() {
        assert_eq!(canonical(&Int::zero()), [0]);
        assert_eq!(canonical(&Int::from(255)), [255]);
        assert_eq!(canonical(&Int::from(256)), [1, 0]);
    }

    #[test]
    fn longer_forms_are_accepted_while_the_value_fits() {
        assert_eq!(from_canonical(&[0, 0, 5], 3), Ok(Int::from(5)));
        assert_eq!(
            from_canonical(&[8], 3),
            Err(ValueError::TooWide { value_bits: 4, width_bits: 3 })
        );
        assert_eq!(from_canonical(&[], 3), Err(ValueError::Empty));
    }
}
