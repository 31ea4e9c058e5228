//! BMv2 JSON, the format between a P4 compiler for v1model and the switch, as typed structs.
//!
//! * [`read`] turns JSON text into a [`Program`]. Mistakes are refused with their place in the
//!   JSON (`/pipelines/0/tables/3/key/0`), with the expected and the found value.
//! * [`write`] turns a [`Program`] into JSON that this crate, and the standard switch, read.
//!
//! There is no behaviour here and no cross-checking: a name may refer to nothing, an id may occur
//! twice. Those checks need to know what an object is for, and belong to `pipeline`.
//!
//! The format: `docs/JSON_format.md` of p4lang/behavioral-model, versions 2.0 to 2.24. Where an
//! older version spells something differently (`shift` for `advance`, `actions` for `action_ids`),
//! reading accepts both and writing uses the newer. Members that p4c leaves out of header unions are
//! added.

// Members whose names suffice have no comment.
#[allow(missing_docs)]
mod expression;
mod foreign;
mod node;
mod old_checksums;
#[allow(missing_docs)]
mod program;
mod read;
mod read_control;
mod read_parser;
mod read_parts;
mod reading;
mod room;
mod unions;
mod write;
mod write_control;
mod write_parts;

pub use expression::{BinaryOperator, Expression, FieldRef, UnaryOperator};
pub use node::ReadError;
pub use program::*;
pub use read::{DEPTH_MAX, VERSION_MAX, VERSION_MIN, read};
pub use reading::reading_bytes;
pub use write::write;
