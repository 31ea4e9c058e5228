//! The tonic services: what threads, streams and limits add to [`agent::front`].
//!
//! ```text
//!   intake.rs     how much of requests is held at once
//!   elements.rs   what a request will take when it is decoded
//!   p4runtime.rs  the six calls of p4.v1.P4Runtime
//!   stream.rs     a controller's stream
//!   unsent.rs     what of answers waits
//!   router.rs     vitrine.v1.Router
//!   world.rs      vitrine.v1.World
//! ```

mod elements;
pub mod intake;
pub mod p4runtime;
pub mod router;
mod stream;
mod unsent;
pub mod world;

use std::sync::Arc;

use agent::devices::Devices;
use agent::front::Fronts;

use crate::loading::Loading;

/// The common part of all calls and streams.
#[derive(Debug)]
pub struct Shared {
    /// The devices, which carry out the calls.
    pub fronts: Arc<Fronts>,
    /// Opens the network devices of ports that come later.
    pub devices: Arc<dyn Devices>,
    /// The programs that are being loaded.
    pub loading: Arc<Loading>,
}
