//! The bound on controllers' messages held at once.
//!
//! A request may be as long as a program with its P4Info or some hundred thousand entries, and
//! while it is read, translated and carried out it takes several times that much memory. So each
//! takes memory for requests: for its length when its first bytes announce it, for its elements as
//! they arrive (`elements.rs`), and gives it back when the call is answered. One that finds no room
//! is refused at once, and its sender may send it again, or in parts. Messages of up to
//! [`FREE_SIZE_BYTES`] and of a few elements take nothing, being covered by the allowance of every
//! call, so that small requests are always served. A sender that has announced more and then sends
//! it a byte at a time keeps the room only until another needs it: below [`PACE_BYTES_PER_S`] it
//! gives way.
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
use tokio::time::{Instant, Sleep, sleep};
use tonic::body::Body;
use tonic::codegen::{Bytes, Service, http};
use tonic::server::NamedService;
use units::memory::{Budget, Exhausted, Owner, Purpose, Share};

use super::elements::Elements;
use super::unsent::Open;
use crate::connections::caller_of;
use crate::status::tonic_status;

/// The longest message: a program with its P4Info, or a Write of some hundred thousand entries.
pub const MESSAGE_SIZE_BYTES_MAX: usize = 64 << 20;

/// Messages up to this take no memory of their own, unless they have many elements.
pub const FREE_SIZE_BYTES: usize = 1 << 10;

/// The largest decoded size of such a message; one with more elements counts like a longer one.
const FREE_DECODED_BYTES: u64 = 8 << 10;

/// The memory of a message while it is read and carried out.
#[derive(Clone, Copy, Debug)]
struct Weights {
    /// For each of its bytes.
    byte: u64,
    /// For each of its elements, and for each within one.
    outer: u64,
    inner: u64,
}

impl Weights {
    /// Of the updates of a Write: what they are in the message, as a change, and as what became of
    /// it.
    const BATCH: Weights = Weights { byte: 2, outer: 768, inner: 128 };
    /// Of anything else: the JSON of a program, and objects of P4Info.
    const OTHER: Weights = Weights { byte: 8, outer: 512, inner: 512 };

    fn of_call(path: &str) -> Weights {
        match path.rsplit('/').next() {
            Some("Read" | "StreamChannel" | "Write") => Self::BATCH,
            _ => Self::OTHER,
        }
    }

    fn size_bytes(self, length: usize, elements: &Elements) -> u64 {
        self.byte * length as u64 + self.outer * elements.outer + self.inner * elements.inner
    }
}

/// A sender of a large message that sends nothing for this long does not keep its room.
const STALL_MAX: Duration = Duration::from_secs(30);

/// A byte that says whether a message is compressed, and four of its length.
const PREFIX_SIZE_BYTES: usize = 5;

/// A large message that comes more slowly than this gives way to others.
pub const PACE_BYTES_PER_S: u64 = 1 << 20;

/// So long nothing is expected of a sender: connections begin slowly.
const PACE_GRACE: Duration = Duration::from_secs(2);

/// The room of one switch, and the messages that are still coming.
#[derive(Debug)]
pub struct Intake {
    memory: Budget,
    holders: Mutex<Vec<Weak<Holder>>>,
}

/// One call's part of the room.
#[derive(Debug, Default)]
struct Holder {
    held: Mutex<Option<Held>>,
    /// Its place was needed by another.
    is_displaced: AtomicBool,
    /// The reader of the message.
    reader: AtomicWaker,
}

/// The room of a message.
#[derive(Debug)]
struct Held {
    memory: Share,
    began: Instant,
    /// Bytes that are still to come.
    left: usize,
    length: usize,
}

impl Held {
    /// So much of the memory, or nothing, if that is covered already.
    fn wanted(&self, size_bytes: u64) -> u64 {
        let is_free = self.length <= FREE_SIZE_BYTES && size_bytes <= FREE_DECODED_BYTES;
        if is_free { 0 } else { size_bytes }
    }

    fn has_room(&self) -> bool {
        self.memory.bytes() > 0
    }

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

    /// So much of the room, if it can be had.
    fn cover(&self, size_bytes: u64) -> Result<(), Exhausted> {
        self.lock().as_mut().map_or(Ok(()), |held| held.memory.cover(held.wanted(size_bytes)))
    }

    /// Gives up the room of a message that comes too slowly.
    fn give_way(&self) {
        let mut held = self.lock();
        if held.as_ref().is_some_and(|held| held.has_room() && held.is_slow()) {
            *held = None;
            self.is_displaced.store(true, Ordering::Relaxed);
            self.reader.wake();
        }
    }
}

impl Intake {
    /// So much for a message, perhaps what slower ones have.
    fn cover(&self, holder: &Arc<Holder>, size_bytes: u64) -> Result<(), Exhausted> {
        holder.cover(size_bytes).or_else(|_| {
            let others: Vec<_> = self.lock().iter().filter_map(Weak::upgrade).collect();
            others.iter().filter(|it| !Arc::ptr_eq(it, holder)).for_each(|it| it.give_way());
            holder.cover(size_bytes)
        })
    }

    /// A message is still coming: should it be slow, it may have to give way.
    fn list(&self, holder: &Arc<Holder>) {
        let this = Arc::downgrade(holder);
        let mut holders = self.lock();
        holders.retain(|it| it.strong_count() > 0 && !it.ptr_eq(&this));
        holders.push(this);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Holder>>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A gRPC service that shares a room for messages with others.
#[derive(Clone, Debug)]
pub struct Bounded<S> {
    inner: S,
    room: Arc<Intake>,
}

impl<S> Bounded<S> {
    /// A service and the room that it shares.
    pub fn new(inner: S, room: &Arc<Intake>) -> Self {
        Self { inner, room: Arc::clone(room) }
    }
}

/// The room of one switch, which has this memory.
pub fn room(memory: Budget) -> Arc<Intake> {
    Arc::new(Intake { memory, holders: Mutex::default() })
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
        let open = Open::new(caller_of(request.extensions()), self.room.memory);
        let held = Arc::<Holder>::default();
        let weights = Weights::of_call(request.uri().path());
        let metered =
            |body| Body::new(Metered::new(body, &self.room, &held, weights, open.owner()));
        let answer = self.inner.call(request.map(metered));
        Box::pin(async move {
            let answer = answer.await;
            // The body of a call with one request is long gone; that of a stream keeps its own.
            drop(held);
            // A stream of answers is a call as long as it goes on.
            answer.map(|it| open.answer(it))
        })
    }
}

/// The body of a request, of which the lengths of its messages are read.
struct Metered {
    body: Body,
    room: Arc<Intake>,
    held: Arc<Holder>,
    /// The first bytes of a message that came with the frame before.
    prefix: Vec<u8>,
    /// Bytes of the message that are still to come.
    left: usize,
    weights: Weights,
    owner: Owner,
    /// The elements of the message, as far as it has come.
    elements: Elements,
    /// When the sender has been silent for too long.
    stalled: Pin<Box<Sleep>>,
}

impl Metered {
    fn new(
        body: Body,
        room: &Arc<Intake>,
        held: &Arc<Holder>,
        weights: Weights,
        owner: &Owner,
    ) -> Self {
        Self {
            body,
            room: Arc::clone(room),
            held: Arc::clone(held),
            prefix: Vec::with_capacity(PREFIX_SIZE_BYTES),
            left: 0,
            weights,
            owner: owner.clone(),
            elements: Elements::default(),
            stalled: Box::pin(sleep(STALL_MAX)),
        }
    }

    /// Follows the messages through a frame's bytes.
    fn meter(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let (passed, rest) = bytes.split_at(self.left.min(bytes.len()));
                bytes = rest;
                self.pass(passed)?;
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
        if self.left > 0 && self.holds_room() {
            self.room.list(&self.held);
        }
        Ok(())
    }

    /// Some bytes of the message have come.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.left -= bytes.len();
        let length = match self.held.lock().as_mut() {
            None => return Ok(()),
            Some(held) => {
                held.left = self.left;
                held.length
            }
        };
        self.elements.follow(bytes);
        let wanted = self.weights.size_bytes(length, &self.elements);
        Ok(self.room.cover(&self.held, wanted)?)
    }

    /// A message begins; the one before has been taken.
    fn begin(&mut self, length: u32) -> Result<(), Refusal> {
        let length = length as usize;
        self.left = length;
        self.elements = Elements::default();
        *self.held.lock() = None;
        // The reader refuses messages that are too long for any room.
        if length <= MESSAGE_SIZE_BYTES_MAX {
            let memory = self.room.memory.share_of(Purpose::Requests, &self.owner);
            let began = Instant::now();
            *self.held.lock() = Some(Held { memory, began, left: length, length });
            self.room.cover(&self.held, self.weights.size_bytes(length, &self.elements))?;
        }
        Ok(())
    }

    fn holds_room(&self) -> bool {
        self.held.lock().as_ref().is_some_and(Held::has_room)
    }
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
                "this message came at less than {} KiB a second, and another needed its room: send \
                 it again, or in parts of up to {FREE_SIZE_BYTES} bytes",
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
    use units::Bytes as Size;

    use super::*;

    /// 48 MiB, of which requests have six.
    fn budget() -> Budget {
        Budget::new(Size(48 << 20), Size(0))
    }

    /// The body of a Write of a client that sends nothing else.
    fn metered(room: &Arc<Intake>) -> (Metered, Arc<Holder>) {
        let (held, owner) = (Arc::default(), Owner::default());
        (Metered::new(Body::empty(), room, &held, Weights::BATCH, &owner), held)
    }

    fn prefix(length: usize) -> Vec<u8> {
        let length = u32::try_from(length).unwrap();
        [&[0][..], &length.to_be_bytes()].concat()
    }

    fn taken(memory: Budget) -> u64 {
        memory.taken(Purpose::Requests).0
    }

    /// Bytes that are no element: a field's number, then zeros, which nothing begins with.
    fn opaque(length: usize) -> Vec<u8> {
        vec![7; length]
    }

    #[tokio::test]
    async fn a_message_takes_its_length_however_its_bytes_are_cut() {
        let (memory, length) = (budget(), 100_000);
        let room = room(memory);
        let (mut body, held) = metered(&room);
        for byte in prefix(length) {
            body.meter(&[byte]).unwrap();
        }
        assert!((200_000..205_000).contains(&taken(memory)), "{}", taken(memory));
        // The next message of a stream comes in the same frame as the end of this one.
        body.meter(&[opaque(length), prefix(3), vec![7; 3]].concat()).unwrap();
        assert_eq!(taken(memory), 0);
        drop(held);
    }

    #[tokio::test]
    async fn what_finds_no_room_is_refused_and_short_messages_need_none() {
        let room = room(budget());
        let (mut first, held) = metered(&room);
        first.meter(&prefix(1_300_000)).unwrap();
        let (mut second, _) = metered(&room);
        let refusal = second.meter(&prefix(1_300_000)).unwrap_err();
        assert_eq!(refusal.code, p4runtime::Code::ResourceExhausted);
        assert!(refusal.message.contains("no memory is left for requests"), "{refusal}");
        let (mut short, _) = metered(&room);
        short.meter(&prefix(FREE_SIZE_BYTES)).unwrap();
        // The call is answered.
        drop((first, held));
        let (mut again, _) = metered(&room);
        again.meter(&prefix(1_300_000)).unwrap();
    }

    #[tokio::test]
    async fn elements_count_as_what_they_will_be_when_they_are_decoded() {
        let memory = budget();
        let room = room(memory);
        let (mut body, held) = metered(&room);
        body.meter(&prefix(100_000)).unwrap();
        let parts = (0..50).map_while(|_| body.meter(&[0x1a, 0].repeat(1000)).ok());
        // Half of 6 MiB is for one client: three times 768,000 bytes, with the message itself.
        assert_eq!(parts.count(), 3);
        let refusal = body.meter(&[0x1a, 0].repeat(1000)).unwrap_err();
        assert!(refusal.message.contains("gets no more than others"), "{refusal}");
        drop((body, held));
        assert_eq!(taken(memory), 0);
    }

    #[tokio::test]
    async fn a_short_message_of_many_elements_counts_and_one_of_few_does_not() {
        let memory = budget();
        let room = room(memory);
        let (mut body, _held) = metered(&room);
        body.meter(&[prefix(1000), [0x1a, 0].repeat(500)].concat()).unwrap();
        assert!((384_000..400_000).contains(&taken(memory)), "{}", taken(memory));
        // An update with 30 bytes of something in it.
        body.meter(&[prefix(64), [&[0x1a, 30][..], &[7; 30]].concat().repeat(2)].concat()).unwrap();
        assert_eq!(taken(memory), 0);
    }

    /// Time is the test's own.
    #[tokio::test(start_paused = true)]
    async fn who_announces_much_and_sends_little_gives_way_and_who_sends_does_not() {
        // Of 96 MiB for requests one client has not quite half.
        let room = room(Budget::new(Size(768 << 20), Size(0)));
        let large = 20_000_000;
        let (mut dripping, held) = metered(&room);
        dripping.meter(&prefix(large)).unwrap();
        let (mut other, _of_other) = metered(&room);
        assert!(other.meter(&prefix(large)).is_err(), "it may have been slow to begin");
        // After 2 seconds of grace and one at 1 MiB a second.
        tokio::time::advance(Duration::from_millis(3001)).await;
        dripping.meter(&opaque(1 << 20)).unwrap();
        let (mut other, _of_other) = metered(&room);
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(held.lock().as_ref().map(Held::is_slow), Some(true), "half a second is missing");
        dripping.meter(&opaque(1 << 20)).unwrap();
        assert!(other.meter(&prefix(large)).is_err(), "it has caught up");
        tokio::time::advance(Duration::from_secs(20)).await;
        let (mut other, _of_other) = metered(&room);
        other.meter(&prefix(large)).unwrap();
        assert!(held.is_displaced.load(Ordering::Relaxed));
    }
}
