//! The way from those who serve controllers to the one data plane and back.
//!
//! A request is a value; it travels over a bounded channel and brings the slot for its reply along.
//! Callers hold a [`Handle`] and wait as futures, on whatever runs those; the data plane holds the
//! [`Inbox`] and never waits. When the channel is full, new requests wait outside: a controller that
//! floods delays itself and its like, never a packet.
//!
//! ```text
//!   service --Handle::reserve, ask--> [bounded channel] --Inbox::poll_request--> data plane
//!      ^                                                                             |
//!      +------------------------------- reply slot ----------------------------------+
//! ```

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use futures_channel::{mpsc, oneshot};
use futures_util::lock::{Mutex, MutexGuard};
use p4runtime::{Code, Refusal};

/// Requests that may wait for the data plane.
pub const WAITING_COUNT_MAX: usize = 64;

/// Makes the data plane look into its inbox, if it sleeps.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Where a reply goes. Dropping it without a reply tells the waiting side that there is none.
pub type Reply<T> = oneshot::Sender<T>;

/// Where a reply comes from.
pub type Answer<T> = oneshot::Receiver<T>;

/// The callers' side.
pub struct Handle<R> {
    /// The holder of the lock may send the next request as soon as there is room.
    sender: Arc<Mutex<mpsc::Sender<R>>>,
    wake: Wake,
}

/// The data plane's side.
#[derive(Debug)]
pub struct Inbox<R> {
    receiver: mpsc::Receiver<R>,
}

/// The right to send one request at once.
pub struct Permit<'a, R> {
    sender: MutexGuard<'a, mpsc::Sender<R>>,
    wake: &'a Wake,
}

/// Both ends of a new exchange; `wake` is called after each request has been sent.
pub fn exchange<R>(wake: Wake) -> (Handle<R>, Inbox<R>) {
    // The channel adds one place for its sender.
    let (sender, receiver) = mpsc::channel(WAITING_COUNT_MAX - 1);
    (Handle { sender: Arc::new(Mutex::new(sender)), wake }, Inbox { receiver })
}

/// Where one reply goes, and where it comes from.
pub fn slot<T>() -> (Reply<T>, Answer<T>) {
    oneshot::channel()
}

impl<R> Handle<R> {
    /// Waits for room, then hands out the right to send. Sending itself does not wait, so it can
    /// be done under a lock.
    pub async fn reserve(&self) -> Result<Permit<'_, R>, Refusal> {
        let mut sender = self.sender.lock().await;
        poll_fn(|context| sender.poll_ready(context)).await.map_err(|_| stopped())?;
        Ok(Permit { sender, wake: &self.wake })
    }

    /// Sends the request that `make` builds around a reply slot, and waits for the reply.
    pub async fn ask<T>(&self, make: impl FnOnce(Reply<T>) -> R) -> Result<T, Refusal> {
        let (reply, answer) = slot();
        self.reserve().await?.send(make(reply));
        answered(answer).await
    }
}

impl<R> Permit<'_, R> {
    /// Sends and wakes.
    pub fn send(mut self, request: R) {
        // Without a data plane the request is dropped, and with it the slot for its reply: the
        // waiting caller gets an error.
        let _sent_or_dropped = self.sender.start_send(request);
        (self.wake)();
    }
}

impl<R> Inbox<R> {
    /// The next request, if one waits.
    pub fn poll_request(&mut self) -> Option<R> {
        self.receiver.try_recv().ok()
    }
}

/// Waits for the data plane's reply in a slot.
pub async fn answered<T>(answer: Answer<T>) -> Result<T, Refusal> {
    answer.await.map_err(|_| stopped())
}

/// A reply without a waiting caller (the client has gone) is not an error.
pub fn reply<T>(slot: Reply<T>, value: T) {
    let _nobody_waits = slot.send(value);
}

fn stopped() -> Refusal {
    Refusal::new(Code::Unavailable, "the switch is stopping and takes no more requests")
}

impl<R> Clone for Handle<R> {
    fn clone(&self) -> Self {
        Self { sender: Arc::clone(&self.sender), wake: Arc::clone(&self.wake) }
    }
}

impl<R> fmt::Debug for Handle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
