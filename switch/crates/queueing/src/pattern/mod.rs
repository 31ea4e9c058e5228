//! Where packets go: how an input's traffic is spread over the outputs, one pattern per file.
//!
//! A pattern gives each (input, output) pair a whole-number weight; an input draws its outputs in
//! proportion to its row. All patterns but the hotspot load every output like every input.

mod diagonal;
mod hotspot;
mod log_diagonal;
mod permutation;
mod unbalanced;
mod uniform;

use std::fmt;
use std::str::FromStr;

use traffic::Chance;

/// A traffic matrix by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Two thirds to the own output, one third to the next.
    Diagonal,
    /// `percent` of each input's traffic to output 0, the rest evenly.
    Hotspot {
        /// The hot output's share of each input, 0 to 100.
        percent: u8,
    },
    /// Half to the own output, a quarter to the next, an eighth to the one after it, ...
    LogDiagonal,
    /// Everything from input i to output i + 1: no two inputs compete.
    Permutation,
    /// `permille` thousandths to the own output, the rest evenly over all.
    Unbalanced {
        /// The own output's extra share, 0 to 1000.
        permille: u16,
    },
    /// Evenly over all outputs.
    Uniform,
}

/// A pattern ready to draw from: cumulated weights, row by row.
#[derive(Clone, Debug)]
pub struct PatternInAction {
    port_count: usize,
    cumulated: Vec<u64>,
}

impl Pattern {
    /// The pattern for a router of `port_count` ports.
    pub fn start(self, port_count: usize) -> PatternInAction {
        let mut cumulated = Vec::with_capacity(port_count * port_count);
        for input in 0..port_count {
            let mut sum = 0;
            for output in 0..port_count {
                sum += self.weight(port_count, input, output);
                cumulated.push(sum);
            }
        }
        PatternInAction { port_count, cumulated }
    }

    fn weight(self, port_count: usize, input: usize, output: usize) -> u64 {
        // How far the output is from the input, counted upwards and around.
        let ahead = (output + port_count - input) % port_count;
        match self {
            Pattern::Diagonal => diagonal::weight(port_count, ahead),
            Pattern::Hotspot { percent } => hotspot::weight(port_count, percent, output),
            Pattern::LogDiagonal => log_diagonal::weight(port_count, ahead),
            Pattern::Permutation => permutation::weight(port_count, ahead),
            Pattern::Unbalanced { permille } => unbalanced::weight(port_count, permille, ahead),
            Pattern::Uniform => uniform::weight(),
        }
    }
}

impl PatternInAction {
    /// The output of one more packet from `input`.
    #[inline]
    pub fn draw(&self, input: usize, chance: &mut Chance) -> usize {
        let row = &self.cumulated[input * self.port_count..(input + 1) * self.port_count];
        let drawn = chance.below(row[self.port_count - 1]);
        row.partition_point(|sum| *sum <= drawn)
    }
}

/// Prints what [`Pattern::from_str`] reads.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Diagonal => write!(f, "diagonal"),
            Pattern::Hotspot { percent } => write!(f, "hotspot:{percent}"),
            Pattern::LogDiagonal => write!(f, "logdiagonal"),
            Pattern::Permutation => write!(f, "permutation"),
            Pattern::Unbalanced { permille } => {
                write!(f, "unbalanced:{}", f64::from(*permille) / 1e3)
            }
            Pattern::Uniform => write!(f, "uniform"),
        }
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        let unknown = || {
            format!(
                "`{text}` is no pattern; use uniform, diagonal, logdiagonal, unbalanced:W with W \
                 from 0 to 1, hotspot:PERCENT or permutation"
            )
        };
        match text.split_once(':') {
            None => match text {
                "diagonal" => Ok(Pattern::Diagonal),
                "logdiagonal" => Ok(Pattern::LogDiagonal),
                "permutation" => Ok(Pattern::Permutation),
                "uniform" => Ok(Pattern::Uniform),
                _ => Err(unknown()),
            },
            Some(("hotspot", percent)) => {
                let percent = percent.parse().ok().filter(|percent| *percent <= 100);
                Ok(Pattern::Hotspot { percent: percent.ok_or_else(unknown)? })
            }
            Some(("unbalanced", share)) => {
                let share: f64 = share.parse().map_err(|_| unknown())?;
                if !(0.0..=1.0).contains(&share) {
                    return Err(unknown());
                }
                Ok(Pattern::Unbalanced { permille: (share * 1000.0).round() as u16 })
            }
            Some(_) => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_but_the_hotspot_loads_all_outputs_alike() {
        let patterns = [
            Pattern::Diagonal,
            Pattern::LogDiagonal,
            Pattern::Permutation,
            Pattern::Unbalanced { permille: 500 },
            Pattern::Uniform,
        ];
        for pattern in patterns {
            let column = |output| (0..8).map(|input| pattern.weight(8, input, output)).sum::<u64>();
            assert!((1..8).all(|output| column(output) == column(0)), "{pattern}");
            assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
    }

    #[test]
    fn outputs_are_drawn_in_proportion_to_their_weights() {
        let diagonal = Pattern::Diagonal.start(4);
        let mut chance = Chance::new(1, "pattern");
        let mut seen = [0u32; 4];
        (0..30_000).for_each(|_| seen[diagonal.draw(3, &mut chance)] += 1);
        // Input 3 sends 20000 to output 3 and 10000 to output 0; standard deviation 82.
        assert_eq!((seen[1], seen[2]), (0, 0));
        assert!(seen[3].abs_diff(20_000) < 330, "{seen:?}");
    }
}
