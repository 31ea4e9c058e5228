//! Why the switch ends.

use std::fmt;

/// Why the switch cannot start, or cannot go on.
#[derive(Debug)]
pub struct SwitchError(String);

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SwitchError {
    /// An error with all that is to be said.
    pub fn new(message: impl fmt::Display) -> SwitchError {
        SwitchError(message.to_string())
    }
}
