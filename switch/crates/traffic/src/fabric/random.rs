//! Random selection: the free outputs in random order, each taking a random input that asks.
//!
//! In front of FIFO input queues this is the model of Karol, Hluchyj and Morgan (1987), in which a
//! large switch saturates at 2 - sqrt(2) = 58.6 %: every input requests one output only, and each
//! output picks any of its requests, whatever their history.

use super::{Arbitrate, Beginning, Matching, Requests, Unmatched};
use chance::Chance;

pub(super) struct Random {
    chance: Chance,
}

impl Arbitrate for Random {
    fn new(beginning: &Beginning) -> Random {
        Random { chance: Chance::new(beginning.seed, "arbiter/random") }
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        let mut left = Unmatched::new(requests);
        while !left.outputs.is_empty() {
            let output = left.outputs.any(&mut self.chance);
            let asking = left.asking(requests, output);
            if !asking.is_empty() {
                matching.begin_round();
                left.pair(asking.any(&mut self.chance), output, matching);
            }
        }
    }
}
