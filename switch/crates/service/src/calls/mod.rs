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
use tokio::task::spawn_blocking;

use ::p4runtime::{Code, Refusal};

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

/// Does something that takes long, away from the threads that serve others.
pub async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| Refusal::new(Code::Internal, format!("it broke off: {error}")))?
}
