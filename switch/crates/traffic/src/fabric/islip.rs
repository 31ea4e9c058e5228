//! iSLIP (McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999).
//!
//! Each output grants to the first asking input from its pointer on, each input accepts the first
//! granting output from its pointer on. Pointers move one past the partner, but only when the
//! grant was accepted in the first iteration. That small condition lets the pointers drift apart
//! under load, until the crossbar works like a time-division switch: 100 % of uniform traffic with
//! a single iteration.

use super::{Arbitrate, Beginning, LaneSet, Matching, Requests, Unmatched, one_past};

pub(super) struct Islip {
    iterations: u8,
    grant_pointers: Vec<usize>,
    accept_pointers: Vec<usize>,
    /// For each input the outputs that grant to it; empty between iterations.
    grants: Vec<LaneSet>,
}

impl Arbitrate for Islip {
    fn new(&Beginning { lane_count, iterations, .. }: &Beginning) -> Islip {
        Islip {
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
        for iteration in 0..self.iterations {
            let mut granted = LaneSet::default();
            matching.begin_round();
            for output in left.outputs.iter() {
                let asking = left.asking(requests, output);
                if let Some(input) = asking.first_from(self.grant_pointers[output]) {
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
                let Some(output) = grants.first_from(self.accept_pointers[input]) else { continue };
                left.pair(input, output, matching);
                if iteration == 0 {
                    self.grant_pointers[output] = one_past(input, lane_count);
                    self.accept_pointers[input] = one_past(output, lane_count);
                }
            }
        }
    }
}
