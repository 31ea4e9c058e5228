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

use crate::places::{Caller, Untaken};

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

/// Room for one answer, and the place of it among those of its connection.
#[derive(Debug)]
pub(crate) struct AnswerRoom {
    _room: OwnedSemaphorePermit,
    _of_caller: Option<Untaken>,
}

impl Shared {
    /// Room for an answer of so many entities, for as long as what is returned lives. A connection
    /// that has not taken an earlier answer gets no more than would be free for others then.
    fn reserve_answer(
        &self,
        entities: usize,
        caller: Option<&Caller>,
    ) -> Result<AnswerRoom, Refusal> {
        let free = self.answers.available_permits();
        let untaken = caller.map_or(0, Caller::untaken_entities);
        let is_fair = untaken == 0 || untaken + 2 * entities <= free;
        let wanted = u32::try_from(entities).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.answers).try_acquire_many_owned(wanted).ok();
        let Some(room) = room.filter(|_| is_fair) else {
            return Err(Refusal::exhausted(format!(
                "the answer has {entities} entities, and {free} of {ANSWER_ENTITIES_MAX} are free \
                 for answers that clients have not taken, of which this connection has {untaken}: \
                 take those first, or ask for less"
            )));
        };
        let of_caller = caller.map(|caller| caller.leave_untaken(entities));
        Ok(AnswerRoom { _room: room, _of_caller: of_caller })
    }
}

/// Does something that takes long, away from the threads that serve others.
pub async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| Refusal::new(Code::Internal, format!("it broke off: {error}")))?
}
