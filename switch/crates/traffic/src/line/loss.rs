//! The dice that decide which frames get lost.

use super::config::Loss;
use chance::Chance;

/// A loss process in action.
#[derive(Clone, Debug)]
pub(super) struct LossProcess {
    chance: Chance,
    /// Whether a bursty line is in a bad spell.
    bad: bool,
}

impl LossProcess {
    pub fn new(chance: Chance) -> LossProcess {
        LossProcess { chance, bad: false }
    }

    /// Whether the next frame gets lost.
    pub fn strikes(&mut self, loss: &Loss) -> bool {
        match *loss {
            Loss::Never => false,
            Loss::Independent(share) => self.chance.occurs(share),
            Loss::Bursty { turns_bad, turns_good, while_good, while_bad } => {
                let turns = if self.bad { turns_good } else { turns_bad };
                if self.chance.occurs(turns) {
                    self.bad = !self.bad;
                }
                self.chance.occurs(if self.bad { while_bad } else { while_good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chance::Probability;

    #[test]
    fn bursty_loss_has_its_mean_and_its_burst_length() {
        // Bad spells of 10 frames on average (turns good 1 in 10) come 1 in 90: the line is bad
        // (1/90) / (1/90 + 1/10) = 10 % of the time and then loses everything.
        let part = |under| Probability::ratio(1, under).expect("not zero");
        let loss = Loss::Bursty {
            turns_bad: part(90),
            turns_good: part(10),
            while_good: Probability::NEVER,
            while_bad: Probability::ALWAYS,
        };
        let mut process = LossProcess::new(Chance::new(1, "loss"));
        let lost: Vec<bool> = (0..1_000_000).map(|_| process.strikes(&loss)).collect();
        let count = lost.iter().filter(|lost| **lost).count();
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        // About 10000 bursts of 10 +- 9.5: the share has a standard deviation of about 0.14 %.
        assert!(count.abs_diff(100_000) < 5_000, "{count} lost");
        let mean_burst = count as f64 / bursts as f64;
        assert!((mean_burst - 10.0).abs() < 0.4, "bursts of {mean_burst}");
    }
}
