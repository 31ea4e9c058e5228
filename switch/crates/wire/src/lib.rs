//! The layout of frames: one file a protocol, and the Internet checksum.
//!
//! Each file names the fields of its header once, in the words of its RFC, as [`Field`]s: a place
//! and a type. On top of them is a view (`ipv4::Packet`, `tcp::Segment`, ...) that is made by
//! `new_checked`, which refuses bytes shorter than the header says, or by `new_unchecked`, for a
//! buffer that is about to be written. Where a protocol's header is worth having as a value, `Repr`
//! is that value: parsed from a view, emitted into one.
//!
//! ```text
//!   ethernet ─ vlan ─┬─ arp
//!                    ├─ ipv4 ────────────┬─ tcp ─ tcp_options
//!                    └─ ipv6 ─ extension ┼─ udp ─ vxlan, geneve ─ ethernet ...
//!                                        ├─ icmpv4, icmpv6
//!                                        └─ gre ─ ethernet, ipv4, ipv6
//! ```
//!
//! `flow` says which frames belong together.
//!
//! Code that walks a frame by offsets uses the fields directly: `udp::LENGTH.get(&frame[at..])`.
//! Nothing here allocates, keeps state or decides anything: a wrong checksum is reported, not
//! corrected.

// A field is documented by the RFC that its file names; "The source port." says no more.
#![allow(missing_docs)]

#[macro_use]
mod field;

pub mod arp;
pub mod checksum;
pub mod ethernet;
pub mod extension;
pub mod flow;
pub mod geneve;
pub mod gre;
pub mod icmpv4;
pub mod icmpv6;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
mod seq_number;
pub mod tcp;
pub mod tcp_options;
pub mod udp;
pub mod vlan;
pub mod vxlan;

use std::fmt;

pub use checksum::Sum;
pub use ethernet::{EtherType, MacAddress};
pub use field::{Field, Value};
pub use ip::{Ecn, Protocol};

/// Why bytes are not what they are read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// Fewer bytes than the header says, or than any such header has.
    Truncated,
    /// A version, length or kind that the protocol does not allow, or that is not understood.
    Malformed,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WireError::Truncated => "shorter than its headers",
            WireError::Malformed => "a header that its protocol does not allow",
        })
    }
}

impl std::error::Error for WireError {}
