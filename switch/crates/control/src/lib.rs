//! The gRPC server of the switch: P4Runtime and `vitrine.v1`. The only crate that knows protobuf
//! services.
//!
//! Three layers, one duty each:
//!
//! 1. **Rules**, pure and synchronous: [`arbitration`] decides who may write, [`index`] knows the
//!    program's P4Info, [`config`] and [`packet_io`] translate between messages and what the
//!    device understands. No threads, no streams; every refusal is a [`refusal::Refusal`].
//! 2. **The seam** to the data plane: [`exchange`] carries requests as values to the one
//!    data-plane thread and brings replies back.
//! 3. **Streams**: [`session`] and [`outbox`] hold what belongs to each connected controller.
//!
//! [`proto`] holds the generated types. P4Runtime's definitions come from the installed Python
//! package, `vitrine.v1` from `proto/vitrine/v1/router.proto`, which is that service's reference.

pub mod arbitration;
pub mod config;
pub mod exchange;
pub mod index;
pub mod outbox;
pub mod packet_io;
pub mod proto;
pub mod refusal;
pub mod session;
