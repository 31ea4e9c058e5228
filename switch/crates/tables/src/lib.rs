//! Match-action tables and action profiles.
//!
//! A table knows neither headers nor programs. Its key is a number of limbs of 64 bits, built by
//! the caller from a packet's fields as [`KeyShape`] lays them out; an action is a number and its
//! data, which the table returns untouched. The table knows which entry a key hits, which changes a
//! controller may make, and which entries use a member of an action profile.
//!
//! ```text
//!   controller                                packet
//!       | Entry: key as written, action          | key in limbs
//!       v                                        v
//!   Table::insert --> exact, lpm or ternary --> Table::find --> Table::run: first step, data
//!                     index by entry number
//! ```
//!
//! For each packet: [`Table::find`] the entry; if it is [`NONE`], [`Table::miss`] and
//! [`Table::default`] say what follows, else [`Table::hit`] and [`Table::run`]. Where that is
//! [`INDIRECT`], [`Table::target`] names the member or group of an [`ActionProfile`].
//!
//! Nothing on that way allocates, and no change moves more than some ten microseconds' worth of
//! entries: packets wait meanwhile.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod cells;
mod entry;
mod error;
mod exact;
mod key;
mod lpm;
mod profile;
mod room;
mod segments;
mod table;
mod ternary;

pub use cells::{Color, Counter, Meter, MeterConfig, MeterRate, MeterUnit};
pub use entry::{Entry, EntryAction, EntryId, KeyMatch};
pub use error::TableError;
pub use exact::NONE;
pub use key::{KeyPart, KeyShape};
pub use profile::{ActionProfile, Member};
pub use table::{DefaultEntry, INDIRECT, Run, Table, TableAction, TableConfig, Target};
