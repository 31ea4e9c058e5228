//! Parallel iterative matching (Anderson, Owicki, Saxe and Thacker 1993).
//!
//! Each output grants to a random asking input, each input accepts a random grant. One iteration
//! matches 1 - 1/e = 63 % of a saturated crossbar; each further one resolves three quarters of
//! what is left on average.

use super::{Arbitrate, Beginning, LaneSet, Matching, Requests, Unmatched};
use chance::Chance;

pub(super) struct Pim {
    iterations: u8,
    chance: Chance,
    /// For each input the outputs that grant to it; empty between iterations.
    grants: Vec<LaneSet>,
}

impl Arbitrate for Pim {
    fn new(&Beginning { lane_count, iterations, seed }: &Beginning) -> Pim {
        let chance = Chance::new(seed, "arbiter/pim");
        Pim { iterations, chance, grants: vec![LaneSet::default(); lane_count] }
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        let mut left = Unmatched::new(requests);
        for _ in 0..self.iterations {
            let mut granted = LaneSet::default();
            matching.begin_round();
            for output in left.outputs.iter() {
                let asking = left.asking(requests, output);
                if !asking.is_empty() {
                    let input = asking.any(&mut self.chance);
                    self.grants[input].insert(output);
                    matching.grant(input, output);
                    granted.insert(input);
                }
            }
            if granted.is_empty() {
                return;
            }
            for input in granted.iter() {
                let grants = std::mem::take(&mut self.grants[input]);
                let output = grants.any(&mut self.chance);
                left.pair(input, output, matching);
            }
        }
    }
}

impl LaneSet {
    /// One member of a set that is not empty, each equally likely.
    #[inline]
    pub(super) fn any(self, chance: &mut Chance) -> usize {
        self.nth(chance.below(self.count() as u64) as usize)
    }
}
