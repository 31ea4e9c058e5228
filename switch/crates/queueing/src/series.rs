//! Means with confidence intervals, by the method of batch means.
//!
//! Waits of neighbouring packets resemble each other, so the spread of single observations says
//! too little. The run is cut into ten batches by time; the spread of their means says it
//! honestly, as long as a batch is much longer than the queue's memory, about 1 / (1 - load)^2
//! services.

/// Into how many batches a run is cut.
const BATCH_COUNT: usize = 10;

/// Observations of one run, in batches.
#[derive(Clone, Debug, Default)]
pub struct Series {
    sums: [f64; BATCH_COUNT],
    counts: [u64; BATCH_COUNT],
}

/// A mean and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean over all observations; zero if there were none.
    pub mean: f64,
    /// Two standard errors of the mean, from the spread of the batches.
    pub plus_minus: f64,
    /// How many observations there were.
    pub count: u64,
}

impl Series {
    /// Adds `value`, observed when `done` of `whole` of the run was over.
    pub fn record(&mut self, value: f64, done: u64, whole: u64) {
        let batch = (u128::from(done) * BATCH_COUNT as u128 / u128::from(whole.max(1))) as usize;
        let batch = batch.min(BATCH_COUNT - 1);
        self.sums[batch] += value;
        self.counts[batch] += 1;
    }

    /// The mean and its uncertainty.
    pub fn estimate(&self) -> Estimate {
        let count: u64 = self.counts.iter().sum();
        if count == 0 {
            return Estimate { mean: 0.0, plus_minus: 0.0, count };
        }
        let mean = self.sums.iter().sum::<f64>() / count as f64;
        let means: Vec<f64> = (self.sums.iter().zip(&self.counts))
            .filter(|(_, count)| **count > 0)
            .map(|(sum, count)| sum / *count as f64)
            .collect();
        let batches = means.len() as f64;
        if means.len() < 2 {
            return Estimate { mean, plus_minus: f64::INFINITY, count };
        }
        let variance =
            means.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (batches - 1.0);
        Estimate { mean, plus_minus: 2.0 * (variance / batches).sqrt(), count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_the_mean_and_two_standard_errors_of_the_batches() {
        let mut series = Series::default();
        // Ten batches with means 0, 2, 0, 2, ...: mean 1, deviation sqrt(10 / 9), two standard
        // errors 2 x sqrt(10 / 9 / 10) = 0.667.
        for done in 0..1000 {
            let value = if done / 100 % 2 == 0 { 0.0 } else { 2.0 };
            series.record(value, done, 1000);
        }
        let estimate = series.estimate();
        assert_eq!(estimate.mean, 1.0);
        assert!((estimate.plus_minus - 2.0 / 3.0).abs() < 1e-9, "{estimate:?}");
    }
}
