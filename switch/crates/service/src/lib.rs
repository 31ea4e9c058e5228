//! The gRPC server of the switch: P4Runtime and `vitrine.v1`. The only crate that knows gRPC.
//!
//! [`server`] owns the threads, [`connections`] the sockets, [`calls`] what gRPC adds to the calls of
//! [`agent::front`].
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

pub mod calls;
pub mod connections;
pub mod server;
mod status;
pub mod stubs;
mod tls;
