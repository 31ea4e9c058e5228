//! The gRPC server of the switch: P4Runtime and `vitrine.v1`. The only crate that knows gRPC.
//!
//! [`server`] owns the threads, [`connections`] the sockets, [`calls`] what happens between a message
//! on the wire and a request to the data plane; [`session`] and [`outbox`] hold what belongs to each
//! connected controller.
//!
//! ```text
//!             gRPC threads                        |        data-plane thread
//!  message -> calls -> p4runtime -> Request -> exchange -> Agent -> pipeline, traffic
//!  message <- outbox  <- server    <- Report <------------ Agent <- device
//! ```

#![allow(deprecated, reason = "P4Runtime still has its older fields, and they are read back too")]

pub mod calls;
pub mod connections;
pub mod outbox;
pub mod server;
pub mod session;
mod status;
pub mod stubs;
mod tls;
