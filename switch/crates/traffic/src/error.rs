//! Why a configuration is refused.

use std::fmt;

/// A configuration that cannot be applied: where, what was found, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The part of the configuration, such as `port 3, class 1, limit`.
    pub place: String,
    /// The rejected value.
    pub found: String,
    /// The acceptable values.
    pub advice: String,
}

impl ConfigError {
    pub(crate) fn new(
        place: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> ConfigError {
        ConfigError { place: place.into(), found: found.into(), advice: advice.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.found, self.advice)
    }
}

impl std::error::Error for ConfigError {}
