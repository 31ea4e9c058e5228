//! The gRPC server of the switch: P4Runtime and `vitrine.v1`. The only crate that knows protobuf
//! services.
//!
//! Three layers, one duty each:
//!
//! 1. **Rules**, pure and synchronous: [`arbitration`] decides who may write; [`index`] knows the
//!    program's P4Info; [`translate`], [`config`], [`packet_io`] and [`router`] turn messages into
//!    plain values and back, with every check that needs no more than P4Info; [`digest`] collects
//!    messages for the controller. Every refusal is a [`refusal::Refusal`]; [`details`] lists those
//!    of a batch as far as the client takes them.
//! 2. **The seam** to the data plane: [`exchange`] carries requests as values to the one
//!    data-plane thread and brings replies back; there an [`agent`] carries them out between
//!    packets, on whatever implements [`agent::DataPlane`]. [`reports`] and what is [`mod@watch`]ed go
//!    the other way.
//! 3. **Services**: [`server`] owns the threads, [`connections`] the sockets, [`service`] the calls,
//!    [`session`] and [`outbox`] what belongs to each connected controller.
//!
//! ```text
//!             gRPC threads                   |        data-plane thread
//!  message -> service -> translate -> Change -> exchange -> Agent -> pipeline, traffic
//!  message <- outbox  <- server    <- Report <------------- Agent <- device
//! ```
//!
//! [`proto`] holds the generated types. P4Runtime's definitions come from the installed Python
//! package, `vitrine.v1` from `proto/vitrine/v1/router.proto`, which is that service's reference.

#![allow(deprecated, reason = "P4Runtime still has its older fields, and they are read back too")]

pub mod agent;
pub mod arbitration;
pub mod binding;
pub mod config;
pub mod connections;
pub mod details;
pub mod digest;
pub mod exchange;
pub mod found;
pub mod index;
pub mod outbox;
pub mod packet_io;
pub mod proto;
pub mod refusal;
pub mod reports;
pub mod router;
pub mod server;
pub mod service;
pub mod session;
mod tls;
pub mod translate;
pub mod watch;
