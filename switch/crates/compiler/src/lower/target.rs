//! Where a value can be written to.

use bmv2::Expression;

use super::number::Range;
use super::value::Value;

/// A place, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Nowhere: the argument `_`.
    Nowhere,
    /// Bits of a number.
    Slice {
        base: Expression,
        range: Range,
        /// Most significant bit.
        high: u32,
        /// Least significant bit.
        low: u32,
    },
    /// Bits of a number from a computed position.
    SliceFrom {
        base: Expression,
        range: Range,
        /// Least significant bit.
        low: (Expression, Range),
        width: u32,
    },
    Whole(Value),
}
