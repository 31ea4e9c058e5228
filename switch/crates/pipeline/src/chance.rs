//! The pipeline's random numbers: a seed in, the same sequence out.

/// SplitMix64 (G. Steele, D. Lea, C. Flood, 2014): 64 bits of state, passes BigCrush.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance { state: seed }
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number from `low` to `high`, both included; `low` where the range is empty.
    ///
    /// The high half of a product maps 64 bits to the range; the bias is below 2^-64 a value.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let Some(span) = high.checked_sub(low) else { return low };
        let draw = u128::from(self.next());
        low + ((draw * (u128::from(span) + 1)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range_and_repeat_with_their_seed() {
        let draws = |seed| {
            let mut chance = Chance::new(seed);
            (0..1000).map(|_| chance.between(3, 6)).collect::<Vec<u64>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        assert!((3..=6).all(|value| draws(1).contains(&value)));
        assert!(draws(1).iter().all(|value| (3..=6).contains(value)));
        assert_eq!(Chance::new(0).between(0, u64::MAX), Chance::new(0).next());
    }
}
