//! Active queue management: who is dropped or marked before a queue is full.
//!
//! One file a method, with all there is to it: its parameters and their defaults (those of the RFC
//! or the paper), what is refused, and what it does. To add one, write such a file and name it in
//! `methods!` below; docs/contributing.md walks through it.

mod codel;
mod dualpi2;
mod ecn_step;
mod pi;
mod pie;
mod red;
mod updates;

use units::{Bytes, ClassId, Rate, Ratio, Span, Time};

use crate::error::ConfigError;
use crate::fate::{Depth, Waiting};
use crate::limit::Limit;
use chance::{Chance, Probability};
use wire::Ecn;

use configs::*;
pub(crate) use states::*;

pub(crate) use crate::outside::AqmVerdict;

/// The parts of a configuration.
pub mod configs {
    pub use super::codel::CodelConfig;
    pub use super::dualpi2::DualPi2Config;
    pub use super::ecn_step::EcnStepConfig;
    pub use super::pie::PieConfig;
    pub use super::red::{RedConfig, RedProfile, RedUnit};
    pub use super::{AqmConfig, Parameter};
}

/// The state of the methods that have one, for display.
pub mod states {
    pub use super::AqmState;
    pub use super::codel::CodelState;
    pub use super::dualpi2::DualPi2State;
    pub use super::pie::PieState;
    pub use super::red::RedState;
}

/// The facts about a packet that is about to be enqueued.
pub(crate) struct Asking<'a> {
    pub now: Time,
    pub waiting: &'a Waiting,
    /// The queue's depth without the packet.
    pub depth: Depth,
    /// The speed of the port's line.
    pub line_rate: Option<Rate>,
}

/// The facts about a packet that is about to depart.
pub(crate) struct Leaving {
    pub at: Time,
    pub waited: Span,
    /// The queue's depth without the packet.
    pub left: Depth,
    pub ecn: Ecn,
    /// Whether it leaves the L4S queue of a pair.
    pub is_l4s: bool,
    /// Since when the first packet of the other queue of a pair waits.
    pub other_since: Option<Time>,
}

/// A method at work in one queue.
trait Method {
    type Config;

    /// `now` is when it begins to watch.
    fn new(config: &Self::Config, now: Time, chance: Chance) -> Self;

    /// The method's state, if it keeps any.
    fn state(&self) -> Option<AqmState> {
        None
    }

    /// A packet that fits asks to be let in.
    fn handle_arrival(&mut self, _asking: &Asking) -> AqmVerdict {
        AqmVerdict::Pass
    }

    /// A packet is about to depart.
    fn handle_departure(&mut self, _leaving: &Leaving) -> AqmVerdict {
        AqmVerdict::Pass
    }
}

/// The parameters of a method.
trait MethodConfig: Default {
    /// Every parameter by its name in topology files and, with the unit behind it, in the proto
    /// file.
    fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)>;

    /// Refuses values that cannot work: the value found, and an acceptable one.
    fn check(&self) -> Result<(), (&'static str, &'static str)>;

    /// The class of a second queue that the method manages together with its own. Packets of either
    /// class wait there if they are ECT(1) or CE, and in the method's own queue if not (RFC 9331).
    fn l4s_class(&self) -> Option<ClassId> {
        None
    }
}

/// A parameter, read and written by name.
#[derive(Debug)]
pub enum Parameter<'a> {
    /// A length.
    Bytes(&'a mut Bytes),
    /// A class of the port.
    Class(&'a mut ClassId),
    /// A number.
    Count(&'a mut u64),
    /// Yes or no.
    Flag(&'a mut bool),
    /// So much in a queue.
    Limit(&'a mut Limit),
    /// A gain or a factor.
    Ratio(&'a mut Ratio),
    /// A probability.
    Share(&'a mut Probability),
    /// A length of time.
    Span(&'a mut Span),
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:literal $kind:ident($method:ty) $config:ty $(, $state:ty)?;)*) => {
        /// A queue's active queue management. Wherever `ecn` is set, a packet that is ECN-capable is
        /// marked where another would be dropped.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum AqmConfig {
            $($(#[$doc])* $kind($config),)*
        }

        impl AqmConfig {
            /// Every method by its name in the proto file and in topology files.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The method of this name with its default parameters.
            pub fn named(name: &str) -> Option<AqmConfig> {
                match name {
                    $($name => Some(AqmConfig::$kind(<$config>::default())),)*
                    _ => None,
                }
            }

            /// Every parameter by its name in topology files.
            pub fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)> {
                match self {
                    $(AqmConfig::$kind(config) => config.parameters(),)*
                }
            }

            /// The class of a second queue that is managed together with this one.
            pub fn l4s_class(&self) -> Option<ClassId> {
                match self {
                    $(AqmConfig::$kind(config) => config.l4s_class(),)*
                }
            }

            pub(crate) fn check(&self, place: &str) -> Result<(), ConfigError> {
                let outcome = match self {
                    $(AqmConfig::$kind(config) => config.check(),)*
                };
                outcome.map_err(|(found, advice)| {
                    ConfigError::new(format!("{place}, AQM"), found, advice)
                })
            }
        }

        /// A method's state; a method that remembers nothing has none.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AqmState {
            $($(#[doc = concat!("Of `", $name, "`.")] $kind($state),)?)*
        }

        /// A queue's management at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Aqm {
            $($kind($method),)*
        }

        impl Aqm {
            /// `now` is when it begins to watch; `chance` its dice.
            pub fn new(config: &AqmConfig, now: Time, chance: Chance) -> Aqm {
                match config {
                    $(AqmConfig::$kind(config) => {
                        Aqm::$kind(<$method as Method>::new(config, now, chance))
                    })*
                }
            }

            /// The method's state.
            pub fn state(&self) -> Option<AqmState> {
                match self {
                    $(Aqm::$kind(method) => method.state(),)*
                }
            }

            /// A packet that fits asks to be let in.
            pub fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
                match self {
                    $(Aqm::$kind(method) => method.handle_arrival(asking),)*
                }
            }

            /// A packet is about to depart.
            pub fn handle_departure(&mut self, leaving: &Leaving) -> AqmVerdict {
                match self {
                    $(Aqm::$kind(method) => method.handle_departure(leaving),)*
                }
            }
        }
    };
}

methods! {
    /// Controlled delay (RFC 8289): drops at the head while packets wait too long.
    "codel" Codel(codel::Codel) CodelConfig, CodelState;
    /// Dual queue coupled (RFC 9332): manages an L4S queue together with its own, drops and marks so
    /// that both kinds of senders get about the same rate.
    "dualpi2" Dualpi2(dualpi2::DualPi2) DualPi2Config, DualPi2State;
    /// Marks ECN-capable arrivals while the queue is at or above a threshold, as DCTCP wants it;
    /// drops no packet.
    "ecn_step" EcnStep(ecn_step::EcnStep) EcnStepConfig;
    /// Proportional integral controller enhanced (RFC 8033): drops arrivals with a probability
    /// that follows the delay.
    "pie" Pie(pie::Pie) PieConfig, PieState;
    /// Random early detection (Floyd and Jacobson 1993); with several profiles, WRED.
    "red" Red(red::Red) RedConfig, RedState;
}

/// Mark what can be marked if `ecn` allows it, drop the rest.
fn mark_or_drop(ecn: bool, packet: Ecn) -> AqmVerdict {
    if ecn && packet.is_capable() { AqmVerdict::Mark } else { AqmVerdict::Drop }
}
