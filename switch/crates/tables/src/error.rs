//! Why a change was refused.

use std::fmt;

use units::memory::Exhausted;

/// Why a table, profile or group did not take a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The action is not one of the table's.
    ActionNotInTable {
        table: String,
        /// Index of the action.
        action: usize,
    },
    /// The entries or the default entry are `const`.
    Const { table: String },
    /// The data does not fit the action.
    Data { message: String },
    /// There is such an entry already.
    Exists {
        /// The table, member or group.
        what: String,
    },
    Full {
        /// The table or profile.
        what: String,
        /// How many it holds.
        size: usize,
    },
    /// The member or group is in use.
    InUse { what: String },
    /// The key does not fit the table.
    Key { table: String, message: String },
    /// There is no memory left for it.
    Memory(Exhausted),
    /// There is no such entry, member or group.
    NotFound { what: String },
}

impl From<Exhausted> for TableError {
    fn from(exhausted: Exhausted) -> TableError {
        TableError::Memory(exhausted)
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::ActionNotInTable { table, action } => {
                write!(f, "table {table} does not list action {action}; use one of its actions")
            }
            TableError::Const { table } => {
                write!(f, "table {table} is declared const there; change the program instead")
            }
            TableError::Data { message } => write!(f, "{message}"),
            TableError::Exists { what } => write!(f, "{what} exists already; modify it instead"),
            TableError::Full { what, size } => {
                write!(f, "{what} is full ({size}); raise its `size` in the program")
            }
            TableError::InUse { what } => write!(f, "{what} is in use; remove its users first"),
            TableError::Key { table, message } => write!(f, "table {table}: {message}"),
            TableError::Memory(exhausted) => write!(f, "{exhausted}"),
            TableError::NotFound { what } => write!(f, "there is no {what}"),
        }
    }
}

impl std::error::Error for TableError {}
