//! Random numbers that are the same on every machine, run after run.
//!
//! Each consumer (one queue's RED, one line's loss) has a generator of its own, seeded by the run's
//! seed and the consumer's name. So switching one feature on never changes the dice of another.

use units::Span;

/// One consumer's dice: xoshiro256** by Blackman and Vigna, seeded through SplitMix64.
#[derive(Clone, Debug)]
pub struct Chance {
    state: [u64; 4],
}

/// A probability in 2^-32ths, from 0 (never) to 2^32 (always). No floating point: two machines
/// must agree to the last digit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub const NEVER: Probability = Probability(0);
    /// Always.
    pub const ALWAYS: Probability = Probability(1 << 32);

    /// `over / under`, at most 1; nothing if `under` is zero.
    pub const fn ratio(over: u64, under: u64) -> Option<Probability> {
        if under == 0 {
            return None;
        }
        let parts = ((over as u128) << 32) / under as u128;
        Some(if parts > 1 << 32 { Probability::ALWAYS } else { Probability(parts as u64) })
    }

    /// `parts` millionths, at most 1.
    pub const fn ppm(parts: u64) -> Probability {
        match Probability::ratio(parts, 1_000_000) {
            Some(probability) => probability,
            None => Probability::NEVER,
        }
    }

    /// In 2^-32ths.
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// From 2^-32ths; more than 2^32 counts as always.
    pub const fn from_raw(raw: u64) -> Probability {
        if raw > 1 << 32 { Probability::ALWAYS } else { Probability(raw) }
    }

    /// For a person to read. Never feeds back into the model.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / (1u64 << 32) as f64
    }
}

impl Chance {
    /// The dice of the consumer called `name` in the run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Chance {
        // FNV-1a turns the name into a number; SplitMix64 spreads it over the state.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut mix = seed ^ hash.rotate_left(17);
        let state = std::array::from_fn(|_| {
            mix = mix.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = mix;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        Chance { state }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A whole number below `bound`, each equally likely (Lemire's method without its rejection:
    /// the bias is below `bound` / 2^64). `bound` must not be zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// True with the given probability.
    pub fn occurs(&mut self, probability: Probability) -> bool {
        self.bits() >> 32 < probability.0
    }

    /// Evenly distributed over zero to `max`, both included.
    pub fn span_up_to(&mut self, max: Span) -> Span {
        match max.ps().checked_add(1) {
            Some(bound) => Span::from_ps(self.below(bound)),
            None => Span::from_ps(self.bits()),
        }
    }

    /// Exponentially distributed with this mean, by von Neumann's comparison of uniform numbers:
    /// exact, and without a logarithm whose last digit depends on the machine.
    ///
    /// A run of uniforms u1 > u2 > ... that ends after an odd number of terms accepts u1; the
    /// number of runs rejected before is the integer part. P(accept) = 1 - 1/e each time.
    pub fn exponential(&mut self, mean: Span) -> Span {
        let mut whole = 0u128;
        loop {
            let first = self.bits();
            let mut last = first;
            let mut length = 1u32;
            loop {
                let next = self.bits();
                if next >= last {
                    break;
                }
                last = next;
                length += 1;
            }
            if length % 2 == 1 {
                let mean_ps = u128::from(mean.ps());
                let ps = whole * mean_ps + ((u128::from(first) * mean_ps) >> 64);
                return Span::from_ps(ps.min(u128::from(u64::MAX)) as u64);
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_name_give_the_same_dice_and_others_do_not() {
        let throw = |seed, name| Chance::new(seed, name).bits();
        assert_eq!(throw(1, "red/1/0"), throw(1, "red/1/0"));
        assert_ne!(throw(1, "red/1/0"), throw(2, "red/1/0"));
        assert_ne!(throw(1, "red/1/0"), throw(1, "red/0/1"));
    }

    #[test]
    fn probabilities_and_bounds_come_out_as_asked() {
        let mut chance = Chance::new(7, "test");
        let hits = (0..100_000).filter(|_| chance.occurs(Probability::ppm(250_000))).count();
        // A quarter of 100000, four standard deviations of sqrt(100000 / 4 * 3 / 4) = 137.
        assert!(hits.abs_diff(25_000) < 550, "{hits}");
        let mut seen = [0u32; 5];
        (0..50_000).for_each(|_| seen[chance.below(5) as usize] += 1);
        assert!(seen.iter().all(|count| count.abs_diff(10_000) < 400), "{seen:?}");
        assert!((0..1000).all(|_| !chance.occurs(Probability::NEVER)));
        assert!((0..1000).all(|_| chance.occurs(Probability::ALWAYS)));
    }

    #[test]
    fn exponential_spans_have_their_mean_and_their_tail() {
        let mut chance = Chance::new(7, "exponential");
        let (mut sum, mut beyond_two) = (0u128, 0u32);
        for _ in 0..100_000 {
            let span = chance.exponential(Span::from_us(1));
            sum += u128::from(span.ps());
            beyond_two += u32::from(span > Span::from_us(2));
        }
        // Mean 1 us, standard error 1 us / sqrt(100000) = 3.2 ns; four of them.
        let mean_ps = (sum / 100_000) as u64;
        assert!(mean_ps.abs_diff(1_000_000) < 12_700, "{mean_ps}");
        // P(X > 2) = e^-2 = 0.13534: 13534 of 100000, standard deviation 108.
        assert!(beyond_two.abs_diff(13_534) < 440, "{beyond_two}");
    }
}
