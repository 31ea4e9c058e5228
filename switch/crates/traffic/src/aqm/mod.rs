//! Active queue management in action: asked for every arrival that fits, and for every packet
//! about to depart. One file per method.

mod codel;
mod ecn_step;
mod pie;
mod red;

use units::{Rate, Span, Time};

use crate::config::AqmConfig;
use crate::fate::{Depth, Waiting};
use chance::Chance;

use codel::Codel;
use ecn_step::EcnStep;
use pie::Pie;
use red::Red;

/// What becomes of the packet.
#[must_use = "the packet must be treated accordingly"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AqmVerdict {
    Drop,
    Mark,
    Pass,
}

#[derive(Clone, Debug)]
pub(crate) enum Aqm {
    Codel(Codel),
    EcnStep(EcnStep),
    Pie(Pie),
    Red(Red),
}

/// What is known of a packet that asks to be let in.
pub(crate) struct Asking<'a> {
    pub now: Time,
    pub waiting: &'a Waiting,
    /// What is in the queue, without the packet.
    pub depth: Depth,
    /// The speed of the port's line.
    pub line_rate: Option<Rate>,
}

impl Aqm {
    /// `now` is when it begins to watch; `chance` its dice.
    pub fn new(config: &AqmConfig, now: Time, chance: Chance) -> Aqm {
        match config.clone() {
            AqmConfig::Codel(config) => Aqm::Codel(Codel::new(config)),
            AqmConfig::EcnStep { threshold } => Aqm::EcnStep(EcnStep { threshold }),
            AqmConfig::Pie(config) => Aqm::Pie(Pie::new(config, now, chance)),
            AqmConfig::Red(config) => Aqm::Red(Red::new(config, now, chance)),
        }
    }

    /// A packet that fits asks to be let in.
    pub fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
        match self {
            Aqm::Codel(_) => AqmVerdict::Pass,
            Aqm::EcnStep(step) => step.handle_arrival(asking),
            Aqm::Pie(pie) => pie.handle_arrival(asking),
            Aqm::Red(red) => red.handle_arrival(asking),
        }
    }

    /// A packet that waited for `waited` is about to depart at `at` and leaves `left` behind.
    pub fn handle_departure(
        &mut self,
        at: Time,
        waited: Span,
        left: Depth,
        ecn_capable: bool,
    ) -> AqmVerdict {
        match self {
            Aqm::Codel(codel) => codel.handle_departure(at, waited, left, ecn_capable),
            Aqm::EcnStep(_) => AqmVerdict::Pass,
            Aqm::Pie(pie) => {
                pie.handle_departure(at, waited, left);
                AqmVerdict::Pass
            }
            Aqm::Red(red) => {
                red.handle_departure(at, left);
                AqmVerdict::Pass
            }
        }
    }
}

/// Mark what can be marked if `ecn` allows it, drop the rest.
fn mark_or_drop(ecn: bool, ecn_capable: bool) -> AqmVerdict {
    if ecn && ecn_capable { AqmVerdict::Mark } else { AqmVerdict::Drop }
}
