//! A histogram of spans, exact to one part in eight, in constant memory and constant time.

use units::Span;

/// Each power of two is split into this many equal buckets.
const STEPS: u64 = 8;
/// log2 of [`STEPS`].
const STEP_BITS: u32 = 3;
/// Enough buckets for every 64-bit number of picoseconds.
const BUCKET_COUNT: usize = ((64 - STEP_BITS as usize) + 1) * STEPS as usize;

/// How often spans of which length occurred. Bucket edges grow by an eighth of a power of two, so
/// a percentile read from it is at most 12.5 % above the true one; mean and maximum are exact.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Box<[u64; BUCKET_COUNT]>,
    count: u64,
    sum_ps: u128,
    max: Span,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: Box::new([0; BUCKET_COUNT]), count: 0, sum_ps: 0, max: Span::ZERO }
    }
}

impl Histogram {
    /// Counts one span.
    pub fn record(&mut self, span: Span) {
        self.buckets[bucket_of(span.ps())] += 1;
        self.count += 1;
        self.sum_ps += u128::from(span.ps());
        self.max = self.max.max(span);
    }

    /// How many spans were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their exact mean, rounded down; zero if there were none.
    pub fn mean(&self) -> Span {
        match self.count {
            0 => Span::ZERO,
            count => Span::from_ps((self.sum_ps / u128::from(count)) as u64),
        }
    }

    /// Their exact sum in picoseconds.
    pub fn sum_ps(&self) -> u128 {
        self.sum_ps
    }

    /// The longest.
    pub fn max(&self) -> Span {
        self.max
    }

    /// A span that at least `permille` thousandths of the recorded spans do not exceed: the upper
    /// edge of its bucket, and never more than the maximum.
    pub fn percentile(&self, permille: u16) -> Span {
        let wanted = (u128::from(self.count) * u128::from(permille)).div_ceil(1000) as u64;
        let mut seen = 0;
        for (index, in_bucket) in self.buckets.iter().enumerate() {
            seen += in_bucket;
            if seen >= wanted && seen > 0 {
                return Span::from_ps(upper_edge_of(index)).min(self.max);
            }
        }
        self.max
    }

    /// The buckets that are not empty: their inclusive upper edge and how many spans they hold.
    pub fn buckets(&self) -> impl Iterator<Item = (Span, u64)> + '_ {
        self.buckets
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| (Span::from_ps(upper_edge_of(index)), *count))
    }

    /// Adds another histogram's spans to this one's.
    pub fn merge(&mut self, other: &Histogram) {
        for (sum, count) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *sum += count;
        }
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.max = self.max.max(other.max);
    }
}

/// Values below [`STEPS`] have a bucket each; above, the exponent and the three bits after the
/// leading one name the bucket.
fn bucket_of(value: u64) -> usize {
    if value < STEPS {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    let step = (value >> (exponent - STEP_BITS)) - STEPS;
    (u64::from(exponent - STEP_BITS + 1) * STEPS + step) as usize
}

/// The largest value that falls into the bucket.
fn upper_edge_of(index: usize) -> u64 {
    let index = index as u64;
    if index < STEPS {
        return index;
    }
    let shift = (index / STEPS - 1) as u32;
    let first_of_next = u128::from(index % STEPS + STEPS + 1) << shift;
    (first_of_next - 1).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_of_one_to_a_thousand_are_within_an_eighth() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|ns| histogram.record(Span::from_ns(ns)));
        assert_eq!(histogram.mean(), Span::from_ps(500_500));
        assert_eq!(histogram.max(), Span::from_ns(1000));
        for permille in [10, 500, 900, 990, 1000] {
            let exact = u64::from(permille) * 1000;
            let told = histogram.percentile(permille).ps();
            assert!((exact..=exact + exact / 8).contains(&told), "{permille}: {told}");
        }
    }

    proptest! {
        #[test]
        fn every_value_lies_in_its_bucket_and_above_the_one_before(value: u64) {
            let bucket = bucket_of(value);
            prop_assert!(value <= upper_edge_of(bucket));
            prop_assert!(bucket == 0 || value > upper_edge_of(bucket - 1));
        }
    }
}
