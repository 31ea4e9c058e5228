//! P4Runtime entities to and from plain values, with every check that P4Info alone decides. Pure.
//!
//! ```text
//!   change.rs       one update of a Write: what is to change
//!   query.rs        one entity of a Read: what to look for
//!   op.rs           insert, modify or delete
//!   table.rs        table entries: changes, queries, what was found
//!   matching.rs     the keys of tables and value sets
//!   action.rs       actions, arguments, one-shot groups
//!   profile.rs      members and groups of action profiles
//!   cells.rs        counters and meters
//!   replication.rs  multicast groups and clone sessions
//! ```

pub mod action;
pub mod cells;
pub mod change;
pub mod matching;
pub mod op;
pub mod profile;
pub mod query;
pub mod replication;
pub mod table;

use prost::bytes::Bytes;

use crate::refusal::Refusal;

/// Bytes that are kept, in memory of their own: those of a message keep the whole message.
pub(crate) fn own(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// An update must say what to do.
pub(crate) fn unspecified() -> Refusal {
    Refusal::invalid("the update's type is not set: use INSERT, MODIFY or DELETE")
}

/// v1model has no externs beyond those that P4Runtime has words for.
pub(crate) fn no_externs() -> Refusal {
    Refusal::unimplemented("this switch has no externs beyond those of v1model: use their entities")
}
