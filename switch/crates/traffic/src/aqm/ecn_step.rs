//! A step: mark while the queue is at the threshold, as switches do for DCTCP.

use super::{AqmVerdict, Asking};
use crate::config::Limit;

#[derive(Clone, Debug)]
pub(crate) struct EcnStep {
    pub threshold: Limit,
}

impl EcnStep {
    pub fn handle_arrival(&self, asking: &Asking) -> AqmVerdict {
        let Asking { depth, waiting, .. } = asking;
        let below = self.threshold.has_room(depth.packets, depth.bytes, waiting.length);
        if !below && waiting.ecn_capable { AqmVerdict::Mark } else { AqmVerdict::Pass }
    }
}
