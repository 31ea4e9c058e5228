//! Wrapped wavefront arbitration (Tamir and Chi, "Symmetric crossbar arbiters", 1993).
//!
//! The N x N requests are visited diagonal by diagonal. The cells of one wrapped diagonal share no
//! input and no output, so hardware decides each diagonal in one step, and after N steps the
//! matching is maximal:
//!
//! ```text
//!            output 0 1 2 3        the number is the step in which
//!   input 0         0 1 2 3        the cell is visited, for offset 0
//!   input 1         1 2 3 0
//!   input 2         2 3 0 1
//!   input 3         3 0 1 2
//! ```
//!
//! The diagonal visited first rotates by one each time, or its cells would always win.

use super::{Arbitrate, Beginning, Matching, Requests, Unmatched};

#[derive(Default)]
pub(super) struct Wavefront {
    offset: usize,
}

impl Arbitrate for Wavefront {
    fn new(_beginning: &Beginning) -> Wavefront {
        Wavefront::default()
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        let lane_count = requests.inputs_of.len();
        let mut left = Unmatched::new(requests);
        for step in 0..lane_count {
            matching.begin_round();
            let diagonal = (self.offset + step) % lane_count;
            for input in left.inputs.iter() {
                let output = (diagonal + lane_count - input) % lane_count;
                if left.outputs.contains(output) && requests.inputs_of[output].contains(input) {
                    left.pair(input, output, matching);
                }
            }
            if left.outputs.is_empty() {
                break;
            }
        }
        self.offset = (self.offset + 1) % lane_count;
    }
}
