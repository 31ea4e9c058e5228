//! The way from the gRPC threads to the one data-plane thread and back.
//!
//! A [`Request`] is a value; it travels over a bounded channel and brings the slot for its reply
//! along. gRPC threads hold a [`Handle`] and wait without blocking a thread; the data-plane thread
//! holds the [`Inbox`] and never waits. When the channel is full, new requests wait outside: a
//! controller that floods delays itself and its like, never a packet.
//!
//! ```text
//!   service --Handle::reserve, ask--> [bounded channel] --Inbox::poll_request--> data plane
//!      ^                                                                             |
//!      +------------------------------- reply slot ----------------------------------+
//! ```

use std::fmt;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tonic::Code;

use crate::refusal::Refusal;

/// Requests that may wait for the data-plane thread.
pub const WAITING_COUNT_MAX: usize = 64;

/// Makes the data-plane thread look into its inbox, if it sleeps.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Where a reply goes. Dropping it without a reply tells the waiting side that there is none.
pub type Reply<T> = oneshot::Sender<T>;

/// The gRPC side.
pub struct Handle<R> {
    sender: mpsc::Sender<R>,
    wake: Wake,
}

/// The data-plane side.
#[derive(Debug)]
pub struct Inbox<R> {
    receiver: mpsc::Receiver<R>,
}

/// The right to send one request at once.
pub struct Permit<'a, R> {
    permit: mpsc::Permit<'a, R>,
    wake: &'a Wake,
}

/// Both ends of a new exchange; `wake` is called after each request has been sent.
pub fn exchange<R>(wake: Wake) -> (Handle<R>, Inbox<R>) {
    let (sender, receiver) = mpsc::channel(WAITING_COUNT_MAX);
    (Handle { sender, wake }, Inbox { receiver })
}

impl<R> Handle<R> {
    /// Waits for room, then hands out the right to send. Sending itself does not wait, so it can
    /// be done under a lock.
    pub async fn reserve(&self) -> Result<Permit<'_, R>, Refusal> {
        let permit = self.sender.reserve().await.map_err(|_| stopped())?;
        Ok(Permit { permit, wake: &self.wake })
    }

    /// Sends the request that `make` builds around a reply slot, and waits for the reply.
    pub async fn ask<T>(&self, make: impl FnOnce(Reply<T>) -> R) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.reserve().await?.send(make(reply));
        answered(answer).await
    }
}

impl<R> Permit<'_, R> {
    /// Sends and wakes.
    pub fn send(self, request: R) {
        self.permit.send(request);
        (self.wake)();
    }
}

impl<R> Inbox<R> {
    /// The next request, if one waits.
    pub fn poll_request(&mut self) -> Option<R> {
        self.receiver.try_recv().ok()
    }
}

/// Waits for what the data-plane thread puts into a reply slot.
pub async fn answered<T>(answer: oneshot::Receiver<T>) -> Result<T, Refusal> {
    answer.await.map_err(|_| stopped())
}

/// A reply that nobody waits for any more (the client has gone) is not an error.
pub fn reply<T>(slot: Reply<T>, value: T) {
    let _nobody_waits = slot.send(value);
}

fn stopped() -> Refusal {
    Refusal::new(Code::Unavailable, "the switch is stopping and takes no more requests")
}

impl<R> Clone for Handle<R> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<R> fmt::Debug for Handle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("sender", &self.sender).finish_non_exhaustive()
    }
}
