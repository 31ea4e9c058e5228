//! Why a program was refused.

use std::fmt;

/// A program that reads as BMv2 JSON but makes no sense: where, what was expected, what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// A JSON pointer: `/actions/3/primitives/0`.
    pub path: String,
    /// What belongs there and what was found.
    pub message: String,
}

impl LoadError {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> LoadError {
        LoadError { path: path.into(), message: message.into() }
    }

    /// The same complaint, `path` in front of its place.
    pub(crate) fn under(mut self, path: &str) -> LoadError {
        self.path = format!("{path}{}", self.path);
        self
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "BMv2 JSON, at {place}: {}", self.message)
    }
}

impl std::error::Error for LoadError {}

impl From<bmv2::ReadError> for LoadError {
    fn from(error: bmv2::ReadError) -> LoadError {
        let message = format!("expected {}, found {}", error.expected, error.found);
        LoadError { path: error.path, message }
    }
}

/// `what` named `name` does not exist; says which names do.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> LoadError {
    let known: Vec<&str> = known.into_iter().take(8).collect();
    let hint = match known.as_slice() {
        [] => format!("the program has no {what}"),
        names => format!("known: {}", names.join(", ")),
    };
    LoadError::new("", format!("there is no {what} \"{name}\"; {hint}"))
}
