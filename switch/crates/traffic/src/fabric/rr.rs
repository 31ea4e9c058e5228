//! Round-robin matching (RRM): the step before iSLIP, kept because its failure is instructive.
//!
//! An output's pointer moves one past the input it granted to whether or not that was accepted.
//! Under heavy load all pointers then move in step, grant to the same input, and most grants are
//! wasted: a 16 x 16 crossbar is stable at load .60 and collapses at .70.

use super::{Arbitrate, Beginning, LaneSet, Matching, Requests, Unmatched, one_past};

pub(super) struct RoundRobin {
    iterations: u8,
    grant_pointers: Vec<usize>,
    accept_pointers: Vec<usize>,
    /// For each input the outputs that grant to it; empty between iterations.
    grants: Vec<LaneSet>,
}

impl Arbitrate for RoundRobin {
    fn new(&Beginning { lane_count, iterations, .. }: &Beginning) -> RoundRobin {
        RoundRobin {
            iterations,
            grant_pointers: vec![0; lane_count],
            accept_pointers: vec![0; lane_count],
            grants: vec![LaneSet::default(); lane_count],
        }
    }

    fn pointers(&self) -> Option<(&[usize], &[usize])> {
        Some((&self.grant_pointers, &self.accept_pointers))
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        let lane_count = self.grants.len();
        let mut left = Unmatched::new(requests);
        for _ in 0..self.iterations {
            let mut granted = LaneSet::default();
            matching.begin_round();
            for output in left.outputs.iter() {
                let asking = left.asking(requests, output);
                if let Some(input) = asking.first_from(self.grant_pointers[output]) {
                    self.grants[input].insert(output);
                    matching.grant(input, output);
                    granted.insert(input);
                    self.grant_pointers[output] = one_past(input, lane_count);
                }
            }
            if granted.is_empty() {
                return;
            }
            for input in granted.iter() {
                let grants = std::mem::take(&mut self.grants[input]);
                let Some(output) = grants.first_from(self.accept_pointers[input]) else { continue };
                left.pair(input, output, matching);
                self.accept_pointers[input] = one_past(output, lane_count);
            }
        }
    }
}
