//! The rules of P4Runtime and `vitrine.v1`: pure, synchronous, without clock, thread or socket.
//!
//! Messages go in and plain values that the data plane understands come out, or a
//! [`Refusal`](refusal::Refusal) that says what is wrong; what the data plane found or has to report
//! becomes messages again.
//!
//! ```text
//!   arbitration  who may write: roles and election ids
//!   config       a program as controllers send it: P4Info, BMv2 JSON, cookie
//!   index        the program's P4Info, by ids
//!   binding      which object of the loaded pipeline each id means
//!   translate    updates and queries -> values, with every check that needs no more than P4Info
//!   found        what a Read found -> messages
//!   packet_io    packet-in and packet-out: controller headers <-> metadata
//!   report       the data plane's own messages
//!   digest       lists of digests: collected, sent once, acknowledged
//!   router       vitrine.v1 <-> values of the traffic manager
//!   watch        the filters and events of watchers
//!   refusal      why something was not carried out; `code` has gRPC's numbers for that
//!   details      a status that lists an error for each update
//!   dialect      where clients of simple_switch_grpc rely on more than the specification
//! ```
//!
//! The messages are generated in the crate `messages`.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]
#![allow(deprecated, reason = "P4Runtime still has its older fields, and they are read back too")]

pub mod arbitration;
pub mod binding;
pub mod code;
pub mod config;
pub mod details;
pub mod dialect;
pub mod digest;
pub mod found;
pub mod index;
pub mod netdev;
pub mod packet_io;
pub mod refusal;
pub mod report;
pub mod router;
pub mod translate;
pub mod watch;

pub use code::Code;
pub use dialect::Dialect;
pub use refusal::{Refusal, Status};
