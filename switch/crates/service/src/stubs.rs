//! The generated halves of the gRPC services: what a server implements, what a client calls.

#![allow(missing_docs, clippy::all, rustdoc::all)]

/// P4Runtime.
pub mod p4 {
    include!("generated/p4.v1.rs");
}

pub mod vitrine {
    include!("generated/vitrine.v1.rs");
}
