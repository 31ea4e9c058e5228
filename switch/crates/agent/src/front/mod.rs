//! The controllers' side: messages in, messages out, over any transport.
//!
//! A [`Front`] knows the connected clients and their rights, turns each call into a [`Request`] to
//! the data plane and its result into the answer that the specification requires. It knows no
//! transport and no runtime: its calls are futures that wait for nothing but the data plane, so a
//! gRPC server awaits them on its threads, and a page or a virtual world polls them between two
//! turns of [`Agent::work`](crate::Agent::work).
//!
//! A call whose future is dropped has either not reached the data plane, and then nothing happens, or
//! has, and then it is carried out to its end. Either way what packets, reads and
//! GetForwardingPipelineConfig see is one and the same, because only the data plane says which
//! program there is.
//!
//! ```text
//!   fronts.rs     the devices of one address
//!   sessions.rs   the open streams, and the primaries
//!   outbox.rs     the messages that wait on one stream
//!   stream.rs     one controller's stream
//!   p4runtime.rs  the calls of p4.v1.P4Runtime
//!   router.rs     the calls of vitrine.v1.Router
//!   visits.rs     what another door of the process asks
//! ```

mod fronts;
pub mod outbox;
mod p4runtime;
mod router;
mod sessions;
mod stream;
mod visits;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::fronts::{Fronts, Served};
pub use self::p4runtime::{ReadAnswer, capabilities};
use self::sessions::{Claim, Sessions};
pub use self::stream::Stream;
use crate::exchange::{Answer, Handle, Reply, answered, slot};
use crate::programs::Published;
use crate::reports::Reported;
use crate::request::Request;
use ::p4runtime::{Dialect, Refusal};
use units::memory::{Budget, Owner, Purpose, Share};

/// One device, as controllers see it.
#[derive(Debug)]
pub struct Front {
    sessions: Sessions,
    programs: Published,
    plane: Handle<Request>,
    lost_reports: Arc<AtomicU64>,
    dialect: Dialect,
    memory: Budget,
}

impl Front {
    /// The device with this number. `programs` and `lost_reports` are the agent's and its
    /// reporter's; `plane` leads to the agent's inbox.
    pub fn new(
        device_id: u64,
        programs: Published,
        plane: Handle<Request>,
        lost_reports: Arc<AtomicU64>,
    ) -> Self {
        let sessions = Sessions::new(device_id);
        let memory = Budget::UNLIMITED;
        Self { sessions, programs, plane, lost_reports, dialect: Dialect::Specification, memory }
    }

    /// Messages that wait for controllers come out of this memory.
    #[must_use]
    pub fn with_memory(self, memory: Budget) -> Self {
        Self { sessions: self.sessions.with_memory(memory), memory, ..self }
    }

    /// Each watcher has no more than it leaves to others.
    fn share_of_watcher(&self) -> Share {
        self.memory.share_of(Purpose::Watchers, &Owner::default())
    }

    /// The rules that controllers rely on.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { sessions: self.sessions.with_dialect(dialect), dialect, ..self }
    }

    /// Tells the primaries concerned what the data plane has reported, `epoch_ns` nanoseconds after
    /// 1970.
    pub fn tell(&self, reported: &Reported, epoch_ns: i64) {
        let Reported { config, report, .. } = reported;
        if let Some(notification) = report.notification(&config.index, epoch_ns) {
            self.sessions.report(&notification.message, |role| notification.concerns(role));
        }
    }

    /// Whether a stream of this connection is a primary's.
    pub fn leads(&self, connection: u64) -> bool {
        self.sessions.leads(connection)
    }

    /// Ends every stream, and says why.
    pub fn end_all(&self, why: &Refusal) {
        self.sessions.end_all(why);
    }

    /// Whether a reader of reports is so slow that half of the room for them is taken.
    pub fn is_filling(&self) -> bool {
        self.sessions.is_filling()
    }

    /// Ends the streams of those, and says why.
    pub fn end_filling(&self, why: &Refusal) {
        self.sessions.end_filling(why);
    }

    /// Reports that no controller got to see, wherever on the way they were lost.
    fn lost_report_count(&self) -> u64 {
        self.sessions.lost_reports() + self.lost_reports.load(Ordering::Relaxed)
    }

    /// Sends a request if the sender is primary still, and waits until it is answered.
    async fn ask_as_primary<T>(
        &self,
        claim: &Claim,
        make: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, Refusal> {
        let permit = self.plane.reserve().await?;
        let (reply, answer): (Reply<T>, Answer<T>) = slot();
        self.sessions.hand_over(claim, || permit.send(make(reply)))?;
        answered(answer).await
    }
}
