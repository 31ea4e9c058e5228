//! P4Info: what a P4 program shows to its controller, as typed structs. No behaviour.
//!
//! * [`info`] and [`types`] are the messages of `p4/config/v1/p4info.proto` and `p4types.proto`,
//!   field by field. Each message is one table of (number, name, type) rows, and that table is
//!   the only place a field is written down: the struct, the text and JSON forms, the binary
//!   encoding and the binary decoding are all made from it.
//! * [`ids`] is the rule that turns a fully qualified name into a stable 32-bit id and a short
//!   alias. Controllers store such ids, so the rule is the one that p4c uses.
//!
//! The forms are those of the protobuf libraries: fields in the order of their numbers, scalars
//! left out when they are zero, map entries sorted by key. So a text file written here can be
//! compared with a text file written elsewhere line by line.
//!
//! Nothing here knows gRPC, files or P4 syntax.

pub mod ids;
// Fields whose name says it all carry no comment; the schema documents them.
#[allow(missing_docs)]
pub mod info;
mod json;
mod message;
mod text;
#[allow(missing_docs)]
pub mod types;
mod wire;

pub use ids::{Ids, Prefix};
pub use info::*;
pub use message::{Bytes, Message};
pub use types::*;
pub use wire::DecodeError;

/// The text form with the two comment lines that name its schema, as `--p4runtime-files` writes
/// it for names that end in `.txtpb`.
pub fn to_text(info: &P4Info) -> String {
    let mut text = String::from(
        "# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n",
    );
    text.push_str(&info.to_text());
    text
}
