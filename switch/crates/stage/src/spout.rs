//! [`Spout`]: the messages that wait for one reader of a stream.
//!
//! Nothing is lost: the stage lets no time pass while a spout is filling.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use p4runtime::Refusal;
use prost::Message;

/// Bytes that may wait before time stands still, about.
pub const SIZE_BYTES_MAX: usize = 16 << 20;

/// The filling end; the draining end is a [`SpoutStream`].
#[derive(Debug)]
pub struct Spout<M>(Mutex<State<M>>);

#[derive(Debug)]
struct State<M> {
    messages: VecDeque<M>,
    size_bytes: usize,
    /// One of both ends has gone.
    closed: bool,
    /// The reason for the end, if the reader should learn it.
    end: Option<Refusal>,
    waker: Option<Waker>,
}

impl<M> Default for Spout<M> {
    fn default() -> Spout<M> {
        let (messages, size_bytes) = (VecDeque::new(), 0);
        Spout(Mutex::new(State { messages, size_bytes, closed: false, end: None, waker: None }))
    }
}

impl<M: Message> Spout<M> {
    pub fn push(&self, message: M) {
        let mut state = self.lock();
        state.size_bytes += message.encoded_len();
        state.messages.push_back(message);
        state.wake();
    }

    pub fn is_filling(&self) -> bool {
        let state = self.lock();
        !state.closed && state.size_bytes > SIZE_BYTES_MAX
    }

    /// Whether the reader has gone.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Ends the stream, after what waits, with a reason.
    pub fn end(&self, why: &Refusal) {
        let mut state = self.lock();
        state.end.get_or_insert_with(|| why.clone());
        state.closed = true;
        state.wake();
    }

    fn lock(&self) -> MutexGuard<'_, State<M>> {
        // No code panics while it holds the lock, and the state is valid between any two lines.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> State<M> {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// The draining end. Dropping it tells the stage that the reader has gone.
#[derive(Debug)]
pub struct SpoutStream<M: Message>(pub(crate) Arc<Spout<M>>);

impl<M: Message> Stream for SpoutStream<M> {
    type Item = Result<M, Refusal>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.lock();
        if let Some(message) = state.messages.pop_front() {
            state.size_bytes -= message.encoded_len();
            return Poll::Ready(Some(Ok(message)));
        }
        if state.closed {
            return Poll::Ready(state.end.take().map(Err));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<M: Message> Drop for SpoutStream<M> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        state.messages.clear();
    }
}
