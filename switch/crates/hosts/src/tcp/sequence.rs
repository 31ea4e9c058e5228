//! Sequence numbers (RFC 9293 section 3.4) without their wrap.
//!
//! On the wire they have 32 bits and begin anywhere. Inside, the SYN is number 0, the first byte of
//! the stream number 1, and 64 bits never wrap, so that "before" is `<`.

/// The number of `wire`, which lies within 2^31 of the number `near`, in the sequence that began
/// with `initial`. A number before the SYN counts as the SYN.
pub(crate) fn expand(wire: u32, initial: u32, near: u64) -> u64 {
    let ahead = wire.wrapping_sub(wire_number(near, initial)) as i32;
    near.saturating_add_signed(i64::from(ahead))
}

/// The form of `number` on the wire.
pub(crate) fn wire_number(number: u64, initial: u32) -> u32 {
    initial.wrapping_add(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_wire_across_many_wraps() {
        for initial in [0, 1, u32::MAX, 0x8000_0000] {
            for near in [1u64 << 31, 1 << 32, 5 << 32, (5 << 32) - 1] {
                for ahead in [-1_000_000_000i64, -1, 0, 1, 1_000_000_000] {
                    let number = near.saturating_add_signed(ahead);
                    assert_eq!(expand(wire_number(number, initial), initial, near), number);
                }
            }
        }
    }

    #[test]
    fn what_lies_before_the_syn_counts_as_the_syn() {
        assert_eq!(expand(wire_number(0, 7).wrapping_sub(5), 7, 2), 0);
    }
}
