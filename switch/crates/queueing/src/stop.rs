//! Why an experiment came to no outcome.

use std::fmt;

use traffic::ConfigError;
use traffic::outside::Fault;

/// Why an experiment came to no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The router cannot be configured like that.
    Config(ConfigError),
    /// A decider from outside did something that is not allowed, or failed.
    Fault(Fault),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Config(error) => error.fmt(f),
            Stop::Fault(fault) => fault.fmt(f),
        }
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Stop {
        Stop::Config(error)
    }
}
