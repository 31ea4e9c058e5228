//! The tonic services: what happens between a message on the wire and a request to the data plane.
//!
//! ```text
//!   intake.rs     how much of large requests is held at once
//!   p4runtime.rs  the six calls of p4.v1.P4Runtime
//!   stream.rs     a controller's stream
//!   router.rs     vitrine.v1.Router
//! ```

pub mod intake;
pub mod p4runtime;
pub mod router;
pub mod stream;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use agent::Request;
use agent::exchange::Handle;
use agent::ports::Devices;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::session::Sessions;
use ::p4runtime::Refusal;
use ::p4runtime::config::Config;

/// What all calls and streams share.
#[derive(Debug)]
pub struct Shared {
    /// The open streams, and who is primary.
    pub sessions: Sessions,
    /// The configurations.
    pub configs: Configs,
    /// How pipelines are loaded.
    pub pipeline: pipeline::Config,
    /// Who opens the network devices of ports that come later.
    pub devices: Arc<dyn Devices>,
    /// The way to the data plane.
    pub plane: Handle<Request>,
    /// Reports that the data plane had no room to hand over.
    pub lost_reports: Arc<AtomicU64>,
    /// Room for entities of answers that clients have not taken yet.
    pub answers: Arc<Semaphore>,
    /// Held while a configuration is being replaced: one at a time.
    pub changing_config: tokio::sync::Mutex<()>,
}

/// The most entities that wait in answers for clients that do not take them: some 600 MB.
pub const ANSWER_ENTITIES_MAX: usize = 2_000_000;

impl Shared {
    /// Room for an answer of so many entities, for as long as what is returned lives.
    pub fn reserve_answer(&self, entities: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let wanted = u32::try_from(entities).unwrap_or(u32::MAX);
        Arc::clone(&self.answers).try_acquire_many_owned(wanted).map_err(|_| {
            Refusal::exhausted(format!(
                "the answer has {entities} entities, and {} of {ANSWER_ENTITIES_MAX} are free for \
                 answers that clients have not taken: take those first, or ask for less",
                self.answers.available_permits()
            ))
        })
    }

    /// Reports that no controller got to see, wherever on the way they were lost.
    pub fn lost_report_count(&self) -> u64 {
        self.sessions.lost_reports() + self.lost_reports.load(Ordering::Relaxed)
    }
}

/// The configuration in force, and the one that is saved to be committed.
#[derive(Debug, Default)]
pub struct Configs {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    committed: Option<Arc<Config>>,
    saved: Option<Arc<Config>>,
}

impl Configs {
    /// The configuration that reads and writes refer to: the saved one if there is one, because
    /// VERIFY_AND_SAVE says so, else the one in force.
    pub fn current(&self) -> Result<Arc<Config>, Refusal> {
        self.with(|state| state.saved.clone().or_else(|| state.committed.clone())).ok_or_else(
            || {
                Refusal::precondition(
                    "no program is loaded; send one with SetForwardingPipelineConfig first",
                )
            },
        )
    }

    /// The configuration in force.
    pub fn committed(&self) -> Option<Arc<Config>> {
        self.with(|state| state.committed.clone())
    }

    /// The configuration that waits for COMMIT.
    pub fn saved(&self) -> Option<Arc<Config>> {
        self.with(|state| state.saved.clone())
    }

    /// Puts a configuration in force; a saved one is forgotten.
    pub fn commit(&self, config: Arc<Config>) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) =
            State { committed: Some(config), saved: None };
    }

    /// Saves a configuration.
    pub fn save(&self, config: Arc<Config>) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).saved = Some(config);
    }

    fn with<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}
