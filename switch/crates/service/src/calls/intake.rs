//! How much of what controllers send is held at once.
//!
//! A request may be as long as a program with its P4Info or some hundred thousand entries, and
//! while it is read, translated and carried out it takes several times that much memory. So large
//! messages share a room. Each takes its length of it when its first bytes say how long it is, and
//! gives that back when the call is answered; one that finds no room is refused at once, and its
//! sender may send it again, or in parts. Small messages need none: who asks for little is served.
//! Who has announced a large one and then sends it a byte at a time keeps the room only until
//! somebody else needs it: below [`PACE_BYTES_PER_S`] it gives way.
//!
//! ```text
//!   DATA frames of HTTP/2   ─────┬───────────────┬──────────┬─────
//!   messages of gRPC         [0|len| ........ ][0|len| ... ]      Metered reads the lengths
//! ```

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use http_body::Frame;
use p4runtime::Refusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tonic::body::Body;
use tonic::codegen::{Bytes, Service, http};
use tonic::server::NamedService;

use crate::connections::{Caller, caller_of};
use crate::places::OpenCall;
use crate::status::tonic_status;

/// The longest message: a program with its P4Info, or a Write of some hundred thousand entries.
pub const MESSAGE_SIZE_BYTES_MAX: usize = 64 << 20;

/// Large messages that are held at the same time: one of the longest, or several that are shorter.
pub const LARGE_MESSAGES_SIZE_BYTES_MAX: usize = MESSAGE_SIZE_BYTES_MAX;

/// Messages up to this need no room.
pub const SMALL_MESSAGE_SIZE_BYTES_MAX: usize = 256 << 10;

/// A sender of a large message that sends nothing for so long does not keep its room.
const STALL_MAX: Duration = Duration::from_secs(30);

/// A byte that says whether a message is compressed, and four of its length.
const PREFIX_SIZE_BYTES: usize = 5;

/// A large message that comes more slowly than this gives way to others.
pub const PACE_BYTES_PER_S: u64 = 1 << 20;

/// So long nothing is expected of a sender: connections begin slowly.
const PACE_GRACE: Duration = Duration::from_secs(2);

/// The room of one switch, and who has some of it.
#[derive(Debug)]
pub struct Large {
    free: Arc<Semaphore>,
    holders: Mutex<Vec<Weak<Holder>>>,
}

/// What one call has of the room.
#[derive(Debug, Default)]
struct Holder {
    held: Mutex<Option<Held>>,
    /// Its place was needed by another.
    is_displaced: AtomicBool,
    /// Who reads the message.
    reader: AtomicWaker,
}

/// The room of a message.
#[derive(Debug)]
struct Held {
    _permit: OwnedSemaphorePermit,
    began: Instant,
    /// Bytes that are still to come.
    left: usize,
    length: usize,
}

impl Held {
    /// Whether it comes too slowly to keep others waiting.
    fn is_slow(&self) -> bool {
        let expected = self.began.elapsed().saturating_sub(PACE_GRACE).as_millis() as u64;
        let arrived = (self.length - self.left) as u64;
        self.left > 0 && arrived * 1000 < expected * PACE_BYTES_PER_S
    }
}

impl Holder {
    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up the room of a message that comes too slowly.
    fn give_way(&self) {
        let mut held = self.lock();
        if held.as_ref().is_some_and(Held::is_slow) {
            *held = None;
            self.is_displaced.store(true, Ordering::Relaxed);
            self.reader.wake();
        }
    }
}

impl Large {
    /// Room for a message, perhaps that of slower ones.
    fn take(&self, holder: &Arc<Holder>, length: usize) -> Result<(), Refusal> {
        let acquire = || Arc::clone(&self.free).try_acquire_many_owned(length as u32).ok();
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        holders.retain(|it| it.strong_count() > 0);
        let permit = acquire().or_else(|| {
            holders.iter().filter_map(Weak::upgrade).for_each(|it| it.give_way());
            acquire()
        });
        let permit = permit.ok_or_else(|| no_room(length, &self.free))?;
        let began = Instant::now();
        *holder.lock() = Some(Held { _permit: permit, began, left: length, length });
        let this = Arc::downgrade(holder);
        if !holders.iter().any(|it| it.ptr_eq(&this)) {
            holders.push(this);
        }
        Ok(())
    }
}

/// A gRPC service that shares a room for large messages with others.
#[derive(Clone, Debug)]
pub struct Bounded<S> {
    inner: S,
    room: Arc<Large>,
}

impl<S> Bounded<S> {
    /// A service and the room that it shares.
    pub fn new(inner: S, room: &Arc<Large>) -> Self {
        Self { inner, room: Arc::clone(room) }
    }
}

/// The room of one switch.
pub fn room() -> Arc<Large> {
    let free = Arc::new(Semaphore::new(LARGE_MESSAGES_SIZE_BYTES_MAX));
    Arc::new(Large { free, holders: Mutex::default() })
}

impl<S: NamedService> NamedService for Bounded<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Bounded<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let open = caller_of(request.extensions()).map(Caller::begin);
        let held = Arc::<Holder>::default();
        let metered = |body| Body::new(Metered::new(body, &self.room, &held));
        let answer = self.inner.call(request.map(metered));
        Box::pin(async move {
            let answer = answer.await;
            // The body of a call with one request is long gone; that of a stream keeps its own.
            drop(held);
            // A stream of answers is a call as long as it goes on.
            answer.map(|it| it.map(|body| Body::new(Answering { body, _open: open })))
        })
    }
}

/// The body of an answer: as long as it is there, its call is open.
#[derive(Debug)]
struct Answering {
    body: Body,
    _open: Option<OpenCall>,
}

impl http_body::Body for Answering {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tonic::Status>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// The body of a request, of which the lengths of its messages are read.
struct Metered {
    body: Body,
    room: Arc<Large>,
    held: Arc<Holder>,
    /// The first bytes of a message that came with the frame before.
    prefix: Vec<u8>,
    /// Bytes of the message that are still to come.
    left: usize,
    /// When the sender has been silent for too long.
    stalled: Pin<Box<Sleep>>,
}

impl Metered {
    fn new(body: Body, room: &Arc<Large>, held: &Arc<Holder>) -> Self {
        Self {
            body,
            room: Arc::clone(room),
            held: Arc::clone(held),
            prefix: Vec::with_capacity(PREFIX_SIZE_BYTES),
            left: 0,
            stalled: Box::pin(sleep(STALL_MAX)),
        }
    }

    /// Follows the messages through a frame's bytes.
    fn meter(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let passed = self.left.min(bytes.len());
                self.left -= passed;
                if let Some(held) = self.held.lock().as_mut() {
                    held.left = self.left;
                }
                bytes = &bytes[passed..];
                continue;
            }
            let taken = (PREFIX_SIZE_BYTES - self.prefix.len()).min(bytes.len());
            self.prefix.extend(&bytes[..taken]);
            bytes = &bytes[taken..];
            if let [_, length @ ..] = self.prefix.as_slice()
                && let Ok(length) = <[u8; 4]>::try_from(length)
            {
                self.prefix.clear();
                self.begin(u32::from_be_bytes(length))?;
            }
        }
        Ok(())
    }

    /// A message begins; the one before has been taken.
    fn begin(&mut self, length: u32) -> Result<(), Refusal> {
        self.left = length as usize;
        *self.held.lock() = None;
        // What is too long for any room is refused by who reads it.
        if (SMALL_MESSAGE_SIZE_BYTES_MAX + 1..=MESSAGE_SIZE_BYTES_MAX).contains(&self.left) {
            self.room.take(&self.held, self.left)?;
        }
        Ok(())
    }

    fn holds_room(&self) -> bool {
        self.held.lock().is_some()
    }
}

fn no_room(length: usize, room: &Semaphore) -> Refusal {
    Refusal::exhausted(format!(
        "this message has {length} bytes, and {} of {LARGE_MESSAGES_SIZE_BYTES_MAX} are free for \
         large messages of all controllers: send it again when others are done, or in parts of up \
         to {SMALL_MESSAGE_SIZE_BYTES_MAX} bytes, for which there is always room",
        room.available_permits()
    ))
}

impl http_body::Body for Metered {
    type Data = Bytes;
    type Error = tonic::Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tonic::Status>>> {
        self.held.reader.register(context.waker());
        if self.held.is_displaced.load(Ordering::Relaxed) {
            let message = format!(
                "this large message came at less than {} KiB a second, and another needed its \
                 room: send it again, or in parts of up to {SMALL_MESSAGE_SIZE_BYTES_MAX} bytes",
                PACE_BYTES_PER_S >> 10
            );
            return Poll::Ready(Some(Err(tonic_status(Refusal::exhausted(message)))));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.stalled.as_mut().reset(Instant::now() + STALL_MAX);
            if let Err(refusal) = self.meter(data) {
                return Poll::Ready(Some(Err(tonic_status(refusal))));
            }
        }
        let waits = polled.is_pending() && self.left > 0 && self.holds_room();
        if waits && self.stalled.as_mut().poll(context).is_ready() {
            let seconds = STALL_MAX.as_secs();
            let message = format!("nothing of a large message came for {seconds} s; send it again");
            return Poll::Ready(Some(Err(tonic::Status::deadline_exceeded(message))));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl fmt::Debug for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered").field("left", &self.left).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metered(room: &Arc<Large>) -> (Metered, Arc<Holder>) {
        let held = Arc::default();
        (Metered::new(Body::empty(), room, &held), held)
    }

    fn prefix(length: usize) -> Vec<u8> {
        let length = u32::try_from(length).unwrap();
        [&[0][..], &length.to_be_bytes()].concat()
    }

    const LARGE: usize = SMALL_MESSAGE_SIZE_BYTES_MAX + 1;

    #[tokio::test]
    async fn a_large_message_takes_its_length_however_its_bytes_are_cut() {
        let room = room();
        let (mut body, held) = metered(&room);
        for byte in prefix(LARGE) {
            body.meter(&[byte]).unwrap();
        }
        assert_eq!(room.free.available_permits(), LARGE_MESSAGES_SIZE_BYTES_MAX - LARGE);
        // The next message of a stream comes in the same frame as the end of this one.
        body.meter(&[vec![7; LARGE], prefix(3), vec![7; 3]].concat()).unwrap();
        assert_eq!(room.free.available_permits(), LARGE_MESSAGES_SIZE_BYTES_MAX);
        assert!(held.lock().is_none());
    }

    #[tokio::test]
    async fn what_finds_no_room_is_refused_and_small_messages_need_none() {
        let room = room();
        let (mut first, held) = metered(&room);
        first.meter(&prefix(MESSAGE_SIZE_BYTES_MAX)).unwrap();
        let (mut second, _) = metered(&room);
        let refusal = second.meter(&prefix(LARGE)).unwrap_err();
        assert_eq!(refusal.code, p4runtime::Code::ResourceExhausted);
        let (mut small, _) = metered(&room);
        small.meter(&prefix(SMALL_MESSAGE_SIZE_BYTES_MAX)).unwrap();
        // The call is answered.
        drop((first, held));
        let (mut again, _) = metered(&room);
        again.meter(&prefix(LARGE)).unwrap();
    }

    /// Time is the test's own.
    #[tokio::test(start_paused = true)]
    async fn who_announces_much_and_sends_little_gives_way_and_who_sends_does_not() {
        let room = room();
        let (mut dripping, held) = metered(&room);
        dripping.meter(&prefix(MESSAGE_SIZE_BYTES_MAX)).unwrap();
        let (mut other, _of_other) = metered(&room);
        assert!(other.meter(&prefix(LARGE)).is_err(), "it may have been slow to begin");
        // After 2 seconds of grace and one at 1 MiB a second.
        tokio::time::advance(Duration::from_millis(3001)).await;
        dripping.meter(&vec![7; 1 << 20]).unwrap();
        let (mut other, _of_other) = metered(&room);
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(held.lock().as_ref().map(Held::is_slow), Some(true), "half a second is missing");
        dripping.meter(&vec![7; 1 << 20]).unwrap();
        assert!(other.meter(&prefix(LARGE)).is_err(), "it has caught up");
        tokio::time::advance(Duration::from_secs(20)).await;
        let (mut other, _of_other) = metered(&room);
        other.meter(&prefix(LARGE)).unwrap();
        assert!(held.is_displaced.load(Ordering::Relaxed));
        let left = LARGE_MESSAGES_SIZE_BYTES_MAX - LARGE;
        assert_eq!(room.free.available_permits(), left);
    }
}
