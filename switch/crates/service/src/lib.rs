//! The servers of the switch: P4Runtime and `vitrine.v1` over gRPC, and bmv2's runtime interface over
//! Thrift. The only crate that knows gRPC.
//!
//! [`server`] owns the threads, [`connections`] the sockets, [`capacity`] says how many there may be,
//! [`calls`] what gRPC adds to the calls of [`agent::front`], [`door`] the socket of the other
//! interface, [`publisher`] that of its digests.
//!
//! ```text
//!             gRPC threads                  |        data-plane thread
//!  message -> calls -> front -> Request -> exchange -> Agent -> pipeline, traffic
//!  message <- outbox <- front <- Report <------------- Agent <- device
//! ```

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

pub mod address;
pub mod calls;
pub mod capacity;
pub mod connections;
mod door;
mod learner;
mod loading;
mod places;
pub mod publisher;
mod roles;
pub mod server;
mod status;
pub mod steps;
mod strangers;
pub mod stubs;
mod tls;
mod waiting;
