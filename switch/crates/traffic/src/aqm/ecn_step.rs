//! A step: mark while the queue is at the threshold, as switches do for DCTCP.

use chance::Chance;
use units::Time;

use super::{AqmVerdict, Asking, Method, MethodConfig, Parameter};
use crate::limit::Limit;

/// The parameters of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EcnStepConfig {
    /// A queue that would be full by this limit marks.
    pub threshold: Limit,
}

impl MethodConfig for EcnStepConfig {
    fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)> {
        vec![("threshold", Parameter::Limit(&mut self.threshold))]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match self.threshold {
            Limit::NONE => Err(("a step without a threshold", "give packets, bytes or both")),
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct EcnStep {
    threshold: Limit,
}

impl Method for EcnStep {
    type Config = EcnStepConfig;

    fn new(config: &EcnStepConfig, _now: Time, _chance: Chance) -> EcnStep {
        EcnStep { threshold: config.threshold }
    }

    fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
        let Asking { depth, waiting, .. } = asking;
        let below = self.threshold.has_room(depth.packets, depth.bytes, waiting.length);
        if !below && waiting.ecn.is_capable() { AqmVerdict::Mark } else { AqmVerdict::Pass }
    }
}
