//! The generated halves of the gRPC services: what a server implements, what a client calls.

#![allow(missing_docs, clippy::all, rustdoc::all)]

/// P4Runtime.
pub mod p4 {
    tonic::include_proto!("p4.v1");
}

pub mod vitrine {
    tonic::include_proto!("vitrine.v1");
}
