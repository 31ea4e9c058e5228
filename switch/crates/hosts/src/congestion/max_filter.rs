//! The maximum of the last rounds, from three numbers (Nichols' windowed filter).

/// A value and the round in which it was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    round: u64,
    value: u64,
}

/// The best, second and third best of a window, each later than the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    best: [Sample; 3],
}

impl MaxFilter {
    pub fn get(&self) -> u64 {
        self.best[0].value
    }

    /// `value` was seen in `round`; what is older than `window` rounds is forgotten.
    pub fn update(&mut self, window: u64, round: u64, value: u64) {
        let new = Sample { round, value };
        if value >= self.best[0].value || round - self.best[2].round > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.age(window, new);
    }

    /// The best is too old, or the others are too close to it to follow it in time.
    fn age(&mut self, window: u64, new: Sample) {
        let since = |sample: Sample| new.round - sample.round;
        if since(self.best[0]) > window {
            self.best = [self.best[1], self.best[2], new];
            if since(self.best[0]) > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].round == self.best[0].round && since(self.best[0]) > window / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].round == self.best[1].round && since(self.best[0]) > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_maximum_is_forgotten_after_its_window() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, 100);
        (1..=10).for_each(|round| filter.update(10, round, 50));
        assert_eq!(filter.get(), 100);
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
    }

    proptest! {
        /// Never more than the true maximum of the window, never less than the newest value.
        #[test]
        fn it_lies_between_the_newest_and_the_true_maximum(values in prop::collection::vec(0..1000u64, 1..100)) {
            let mut filter = MaxFilter::default();
            for (round, value) in values.iter().enumerate() {
                filter.update(10, round as u64, *value);
                let window = &values[round.saturating_sub(10)..=round];
                prop_assert!(filter.get() >= *value);
                prop_assert!(filter.get() <= window.iter().copied().max().unwrap_or(0));
            }
        }
    }
}
