//! The tonic services: what threads, streams and limits add to [`agent::front`].
//!
//! ```text
//!   intake.rs     how much of large requests is held at once
//!   p4runtime.rs  the six calls of p4.v1.P4Runtime
//!   stream.rs     a controller's stream
//!   router.rs     vitrine.v1.Router
//!   world.rs      vitrine.v1.World
//! ```

pub mod intake;
pub mod p4runtime;
pub mod router;
mod stream;
pub mod world;

use std::sync::Arc;

use agent::devices::Devices;
use agent::front::Fronts;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use ::p4runtime::{Code, Refusal};

/// What all calls and streams share.
#[derive(Debug)]
pub struct Shared {
    /// The devices, which carry out the calls.
    pub fronts: Arc<Fronts>,
    /// Who opens the network devices of ports that come later.
    pub devices: Arc<dyn Devices>,
    /// Room for entities of answers that clients have not taken yet.
    pub answers: Arc<Semaphore>,
    /// Held while a program is loaded: one at a time, because each takes memory.
    pub loading: Arc<Mutex<()>>,
}

/// The most entities that wait in answers for clients that do not take them: some 600 MB.
pub const ANSWER_ENTITIES_MAX: usize = 2_000_000;

impl Shared {
    /// Room for an answer of so many entities, for as long as what is returned lives.
    fn reserve_answer(&self, entities: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let wanted = u32::try_from(entities).unwrap_or(u32::MAX);
        Arc::clone(&self.answers).try_acquire_many_owned(wanted).map_err(|_| {
            Refusal::exhausted(format!(
                "the answer has {entities} entities, and {} of {ANSWER_ENTITIES_MAX} are free for \
                 answers that clients have not taken: take those first, or ask for less",
                self.answers.available_permits()
            ))
        })
    }
}

/// Does something that takes long, away from the threads that serve others.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| Refusal::new(Code::Internal, format!("it broke off: {error}")))?
}
