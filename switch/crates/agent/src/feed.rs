//! [`Feed`]: what waits to be sent to one watcher.
//!
//! The data-plane thread puts items in and never waits; the gRPC side drains. The feed holds a
//! bounded number of bytes. An item that finds no room is lost: events are counted and the count
//! takes their place in the stream, samples are counted in the next sample. Drops, marks and
//! thresholds are few and say what went wrong: a quarter of the room is theirs alone, so they are lost
//! last. (The driver of a world in virtual time need not lose any: it lets no time pass while a feed
//! [is filling](Feed::is_filling), unless its watcher may lose.)

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use p4runtime::Refusal;
use p4runtime::watch::Item;
use units::memory::Share;

/// Bytes that may wait for one watcher: 100,000 events, or some hundred samples of a large switch.
pub const SIZE_BYTES_MAX: usize = 16 << 20;

/// Beyond this only what is lost last finds room.
const COMMON_BYTES_MAX: usize = SIZE_BYTES_MAX / 4 * 3;

/// Items that are handed out together at the most.
const BATCH_COUNT_MAX: usize = 1024;

/// The items that wait for one watcher.
#[derive(Debug, Default)]
pub struct Feed {
    state: Mutex<State>,
    may_lose: bool,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    size_bytes: usize,
    /// Lost since the last item that found room.
    lost_events: u64,
    missed_samples: u64,
    /// One of both ends has gone.
    closed: bool,
    /// The reason, if the reader should learn it.
    end: Option<Refusal>,
    /// The task that drains, if it sleeps.
    waker: Option<Waker>,
    /// The memory of the waiting items.
    memory: Share,
}

impl Feed {
    /// `may_lose`: its reader delays nothing, in virtual time either. The waiting items come out of
    /// `memory`, a share of nothing.
    pub fn new(may_lose: bool, memory: Share) -> Feed {
        let state = State { memory, ..State::default() };
        Feed { may_lose, state: Mutex::new(state) }
    }

    /// Takes all `items`, or as many as there is room for. Leaves the list empty.
    pub fn push_all(&self, items: &mut Vec<Item>) {
        let mut state = self.lock();
        items.drain(..).for_each(|item| state.push(item));
        state.wake();
    }

    /// As [`Self::push_all`], but the reader is not woken for them unless they fill a message: they
    /// go out with the next items, or at [`Self::wake`].
    pub fn keep_all(&self, items: &mut Vec<Item>) {
        let mut state = self.lock();
        items.drain(..).for_each(|item| state.push(item));
        if state.items.len() >= BATCH_COUNT_MAX {
            state.wake();
        }
    }

    /// Wakes the reader if something waits for it.
    pub fn wake(&self) {
        self.lock().wake();
    }

    /// Whether the reader has gone.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether half of the room is taken, and its reader is to be waited for.
    pub fn is_filling(&self) -> bool {
        !self.may_lose && self.lock().size_bytes > SIZE_BYTES_MAX / 2
    }

    /// Ends the stream after what waits.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.wake();
    }

    /// Ends the stream, after what waits, with a reason.
    pub fn end(&self, why: Refusal) {
        self.lock().end.get_or_insert(why);
        self.close();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, and the state is valid between any two lines.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn push(&mut self, item: Item) {
        let size_bytes = size_bytes_of(&item);
        let room_bytes = if is_lost_last(&item) { SIZE_BYTES_MAX } else { COMMON_BYTES_MAX };
        let wanted = self.size_bytes + size_bytes;
        let is_full = wanted > room_bytes || self.memory.cover(wanted as u64).is_err();
        match item {
            Item::Lost(count) => self.lost_events += count,
            Item::Sample { missed, .. } if is_full => self.missed_samples += missed + 1,
            Item::Columns(lost) if is_full => {
                self.missed_samples += lost.missed() + lost.len() as u64;
            }
            Item::Columns(mut columns) => {
                columns.miss(std::mem::take(&mut self.missed_samples));
                self.keep(Item::Columns(columns), size_bytes);
            }
            _ if is_full => self.lost_events += 1,
            Item::Sample { snapshot, missed } => {
                let missed = missed + std::mem::take(&mut self.missed_samples);
                self.keep(Item::Sample { snapshot, missed }, size_bytes);
            }
            event => self.keep(event, size_bytes),
        }
    }

    fn keep(&mut self, item: Item, size_bytes: usize) {
        if self.lost_events > 0 {
            let lost = Item::Lost(std::mem::take(&mut self.lost_events));
            self.size_bytes += size_bytes_of(&lost);
            self.items.push_back(lost);
        }
        self.size_bytes += size_bytes;
        self.items.push_back(item);
    }

    /// The items of one message: at most one sample, or those of one set of columns, or one mark of
    /// completeness, and the events before it; a loss only at the beginning.
    fn batch(&mut self) -> Vec<Item> {
        let mut batch = Vec::new();
        while let Some(item) = self.items.front() {
            if matches!(item, Item::Lost(_)) && !batch.is_empty() {
                break;
            }
            let is_last =
                matches!(item, Item::Sample { .. } | Item::Columns(_) | Item::CompleteUntil(_));
            self.size_bytes -= size_bytes_of(item);
            batch.extend(self.items.pop_front());
            if is_last || batch.len() == BATCH_COUNT_MAX {
                break;
            }
        }
        self.memory.shrink(self.size_bytes as u64);
        batch
    }

    fn wake(&mut self) {
        if (self.closed || !self.items.is_empty())
            && let Some(waker) = self.waker.take()
        {
            waker.wake();
        }
    }
}

/// Whether it reports a fault rather than ordinary events, or the completeness that a reader may
/// wait for.
fn is_lost_last(item: &Item) -> bool {
    use device::Event;
    matches!(
        item,
        Item::Event(Event::Dropped(_) | Event::Marked { .. })
            | Item::Threshold { .. }
            | Item::CompleteUntil(_)
    )
}

/// About how much memory an item takes.
fn size_bytes_of(item: &Item) -> usize {
    let beside = match item {
        // Some asks, grants and accepts.
        Item::Event(device::Event::Arbitration(_)) => 512,
        Item::Event(event) => event.head_size(),
        Item::Inside { packet, .. } => size_of_val(&**packet) + packet.head.len(),
        Item::Columns(columns) => columns.size_bytes(),
        Item::Sample { snapshot, .. } => snapshot.size_bytes(),
        // Frames, names and values differ; this is more than most steps take.
        Item::Step(_) => 512,
        _ => 0,
    };
    size_of::<Item>() + beside
}

/// The draining end: batches of items. Dropping it closes the feed.
#[derive(Debug)]
pub struct FeedStream(pub Arc<Feed>);

impl Stream for FeedStream {
    type Item = Result<Vec<Item>, Refusal>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.lock();
        let batch = state.batch();
        if !batch.is_empty() {
            return Poll::Ready(Some(Ok(batch)));
        }
        if state.closed {
            return Poll::Ready(state.end.take().map(Err));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for FeedStream {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;

    use super::*;
    use units::memory::{Budget, Owner, Purpose};
    use units::{Bytes, Span, Time};

    fn event(us: u64) -> Item {
        Item::Overrun { at: Time::ZERO + Span::from_us(us), lag: Span::ZERO }
    }

    fn sample(missed: u64) -> Item {
        Item::Sample { snapshot: Box::default(), missed }
    }

    /// The contents of a batch, in letters: an event, a sample after this many missed ones, this
    /// many lost.
    fn letters(batch: &[Item]) -> String {
        let letter = |item: &Item| match item {
            Item::Sample { missed, .. } => format!("s{missed}"),
            Item::Lost(count) => format!("l{count}"),
            _ => "e".to_owned(),
        };
        batch.iter().map(letter).collect()
    }

    /// A reader like a server: it reads when it is woken, until nothing is left.
    struct Reader {
        stream: FeedStream,
        woken: Arc<Woken>,
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl Reader {
        fn new(feed: &Arc<Feed>) -> Reader {
            let mut reader = Reader { stream: FeedStream(Arc::clone(feed)), woken: Arc::default() };
            assert!(reader.read().is_empty(), "nothing waits yet");
            reader
        }

        fn is_woken(&self) -> bool {
            self.woken.0.load(Ordering::Relaxed)
        }

        /// The messages for which it was woken.
        fn told(&mut self) -> Vec<String> {
            let is_woken = self.woken.0.swap(false, Ordering::Relaxed);
            if is_woken { self.read() } else { Vec::new() }
        }

        fn read(&mut self) -> Vec<String> {
            let waker = Waker::from(Arc::clone(&self.woken));
            let mut context = Context::from_waker(&waker);
            let mut read = Vec::new();
            while let Poll::Ready(Some(batch)) = Pin::new(&mut self.stream).poll_next(&mut context)
            {
                read.push(letters(&batch.expect("nobody gives a reason to end")));
            }
            read
        }
    }

    fn drain(feed: &Feed) -> Vec<String> {
        let batches = std::iter::from_fn(|| Some(feed.lock().batch()).filter(|it| !it.is_empty()));
        batches.map(|batch| letters(&batch)).collect()
    }

    #[test]
    fn a_message_has_the_events_before_its_sample_and_a_loss_begins_a_message() {
        let feed = Feed::default();
        feed.push_all(&mut vec![event(1), event(2), sample(0), event(3), Item::Lost(4), event(5)]);
        assert_eq!(drain(&feed), ["ees0", "e", "l4e"]);
    }

    #[test]
    fn who_reads_is_woken_for_what_is_pushed_and_for_what_is_kept_once_it_fills_a_message() {
        let feed = Arc::new(Feed::default());
        let mut reader = Reader::new(&feed);
        feed.keep_all(&mut vec![event(1), event(2)]);
        assert!(reader.told().is_empty());
        feed.push_all(&mut vec![sample(0)]);
        assert_eq!(reader.told(), ["ees0"]);
        feed.keep_all(&mut (1..BATCH_COUNT_MAX as u64).map(event).collect());
        assert!(reader.told().is_empty());
        feed.keep_all(&mut vec![event(0), event(1)]);
        assert_eq!(reader.told().iter().map(String::len).collect::<Vec<_>>(), [BATCH_COUNT_MAX, 1]);
        feed.keep_all(&mut vec![event(1)]);
        feed.wake();
        assert_eq!(reader.told(), ["e"]);
        feed.wake();
        assert!(!reader.is_woken(), "nothing waits");
        feed.keep_all(&mut vec![event(1)]);
        feed.close();
        assert_eq!(reader.told(), ["e"], "a closed feed ends after what waits");
    }

    #[test]
    fn what_finds_no_room_is_counted_in_its_place() {
        let feed = Feed::default();
        let count = COMMON_BYTES_MAX / size_bytes_of(&event(0));
        feed.push_all(&mut (0..count as u64 + 3).map(event).collect());
        feed.push_all(&mut vec![sample(2)]);
        let taken: usize = drain(&feed).iter().map(String::len).sum();
        assert_eq!(taken, count, "three of them found no room");
        // The sample was lost with the two that it had to report as missing: three are missing.
        feed.push_all(&mut vec![event(9), sample(0)]);
        assert_eq!(drain(&feed), ["l3es3"]);
        assert_eq!(feed.lock().size_bytes, 0);
    }

    #[test]
    fn what_waits_takes_of_the_memory_and_gives_it_back() {
        // Two MiB are for watchers.
        let budget = Budget::new(Bytes(48 << 20), Bytes(0));
        let feed = Feed::new(true, budget.share_of(Purpose::Watchers, &Owner::default()));
        feed.push_all(&mut (0..100_000).map(event).collect());
        let taken = budget.taken(Purpose::Watchers).0;
        assert!((850_000..=917_504).contains(&taken), "one has not quite half of it: {taken}");
        let told = drain(&feed).concat();
        assert!(told.len() < 100_000, "what found no room is lost");
        assert_eq!(budget.taken(Purpose::Watchers), Bytes(0));
        feed.push_all(&mut vec![event(1)]);
        assert_eq!(drain(&feed)[0].chars().next(), Some('l'), "and counted");
    }

    #[test]
    fn drops_marks_and_thresholds_find_room_where_others_no_longer_do() {
        let mark = || {
            Item::Event(device::Event::Marked {
                at: Time::ZERO,
                port: units::PortId(1),
                class: units::ClassId(0),
                length: units::Bytes(1514),
                head: Vec::new(),
            })
        };
        let feed = Feed::default();
        let count = COMMON_BYTES_MAX / size_bytes_of(&event(0));
        feed.push_all(&mut (0..count as u64 + 5).map(event).collect());
        feed.push_all(&mut vec![mark(), event(1), mark()]);
        let told = drain(&feed).concat();
        assert_eq!(told.len(), count + "l5e".len() + "l1e".len());
        assert!(told.ends_with("l5el1e"), "the marks are there, each behind what is missing");
    }

    #[test]
    fn nobody_waits_for_a_reader_that_may_lose() {
        for may_lose in [false, true] {
            let feed = Feed::new(may_lose, Share::default());
            let count = SIZE_BYTES_MAX / size_bytes_of(&event(0));
            feed.push_all(&mut (0..count as u64).map(event).collect());
            assert_eq!(feed.is_filling(), !may_lose);
        }
    }

    #[test]
    fn a_reader_that_goes_closes_the_feed_and_a_closed_feed_ends_after_what_waits() {
        let feed = Arc::new(Feed::default());
        drop(FeedStream(Arc::clone(&feed)));
        assert!(feed.is_closed());

        let feed = Arc::new(Feed::default());
        feed.push_all(&mut vec![event(1)]);
        feed.close();
        let mut stream = FeedStream(feed);
        let mut context = Context::from_waker(Waker::noop());
        let mut next = || {
            Pin::new(&mut stream).poll_next(&mut context).map(|it| it.map(|it| it.unwrap().len()))
        };
        assert_eq!(next(), Poll::Ready(Some(1)));
        assert_eq!(next(), Poll::Ready(None));
    }

    #[test]
    fn a_reason_to_end_comes_once_and_after_what_waits() {
        let feed = Arc::new(Feed::default());
        feed.push_all(&mut vec![event(1), Item::CompleteUntil(Time::ZERO), event(2)]);
        feed.end(Refusal::exhausted("nobody reads"));
        let mut stream = FeedStream(feed);
        let mut context = Context::from_waker(Waker::noop());
        let mut next = || match Pin::new(&mut stream).poll_next(&mut context) {
            Poll::Ready(Some(Ok(batch))) => batch.len().to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!([next(), next()], ["2", "1"], "a word of completeness ends a message");
        assert!(next().contains("nobody reads"));
        assert_eq!(next(), "Ready(None)");
    }
}
