//! How long packets are.

use traffic::Chance;
use units::{Bytes, Span};

/// A distribution of packet lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Exponential with this mean, rounded up to whole bytes: the first M of M/M/1's service.
    Exponential(Bytes),
    /// All the same.
    Fixed(Bytes),
    /// Some of each: `(length, weight)`; at least one with a weight above zero.
    Mix(Vec<(Bytes, u32)>),
}

impl Lengths {
    /// The "Internet mix": 64, 594 and 1518 bytes in the proportion 7 : 4 : 1.
    pub fn imix() -> Lengths {
        Lengths::Mix(vec![(Bytes(64), 7), (Bytes(594), 4), (Bytes(1518), 1)])
    }

    /// One length.
    pub fn draw(&self, chance: &mut Chance) -> Bytes {
        match self {
            // The exponential is drawn on a scale of 2^20 to the byte and rounded up.
            Lengths::Exponential(mean) => {
                let scaled = chance.exponential(Span::from_ps(mean.count() << 20)).ps();
                Bytes(scaled.div_ceil(1 << 20).max(1))
            }
            Lengths::Fixed(length) => *length,
            Lengths::Mix(parts) => {
                let total: u64 = parts.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut left = chance.below(total);
                for (length, weight) in parts {
                    match left.checked_sub(u64::from(*weight)) {
                        Some(rest) => left = rest,
                        None => return *length,
                    }
                }
                unreachable!("the weights sum up to the bound of the draw")
            }
        }
    }

    /// The mean length in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Lengths::Exponential(mean) | Lengths::Fixed(mean) => mean.count() as f64,
            Lengths::Mix(parts) => {
                let total: f64 = parts.iter().map(|(_, weight)| f64::from(*weight)).sum();
                let bytes =
                    |(length, weight): &(Bytes, u32)| length.count() as f64 * f64::from(*weight);
                parts.iter().map(bytes).sum::<f64>() / total
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_lengths_have_the_mean_they_promise() {
        // IMIX: (7 x 64 + 4 x 594 + 1518) / 12 = 361.83 bytes.
        assert!((Lengths::imix().mean() - 361.833).abs() < 0.001);
        for lengths in [Lengths::imix(), Lengths::Exponential(Bytes(1000))] {
            let mut chance = Chance::new(1, "lengths");
            let sum: u64 = (0..200_000).map(|_| lengths.draw(&mut chance).count()).sum();
            let mean = sum as f64 / 200_000.0;
            // The standard error is below 1000 / sqrt(200000) = 2.2 bytes, and rounding adds 0.5.
            assert!((mean - lengths.mean()).abs() < 9.0, "{lengths:?}: {mean}");
        }
    }
}
