//! Why a program was refused.

use std::fmt;

use tables::TableError;
use units::memory::Exhausted;

/// A program that reads as BMv2 JSON but makes no sense: where, what was expected, what is there. Or
/// one for which there is no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// A JSON pointer: `/actions/3/primitives/0`.
    pub path: String,
    /// The value found, and the values that belong there.
    pub message: String,
    /// It makes sense, but there is no room for it now.
    pub is_of_memory: bool,
}

impl LoadError {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> LoadError {
        LoadError { path: path.into(), message: message.into(), is_of_memory: false }
    }

    /// There is no room for the part at this place.
    pub(crate) fn of_memory(path: impl Into<String>, what: &str, error: &Exhausted) -> LoadError {
        let message = format!("there is no room for {what}: {error}");
        LoadError { is_of_memory: true, ..LoadError::new(path, message) }
    }

    /// A table did not take what is at this place.
    pub(crate) fn of_table(error: &TableError) -> LoadError {
        let is_of_memory = matches!(error, TableError::Memory(_));
        LoadError { is_of_memory, ..LoadError::new("", error.to_string()) }
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
        LoadError::new(error.path, message)
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
