//! [`Outbox`]: what waits to be sent on one controller's stream.
//!
//! Anyone may put messages in, from any thread, and never waits: a controller that reads slowly
//! slows no other. If it falls behind:
//!
//! * reports (packet-in, digests, idle timeouts) are refused once the outbox is full, and counted.
//!   The specification lets all of them get lost;
//! * errors are reports too, of which far less may wait: a controller that sends faulty requests
//!   and reads nothing does not fill the switch. An error without room for the message that it is
//!   about comes without it;
//! * all outboxes of a device share a room, and no stream gets more of it once it holds more than is
//!   free, so that one reader's unread reports do not cost others theirs;
//! * notices of arbitration always go in. Should more than [`NOTICE_COUNT_MAX`] wait, the oldest
//!   is dropped, because a later notice includes an earlier one.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use ::p4runtime::Status;
use futures_util::Stream;
use messages::p4::v1::stream_message_response::Update;
use messages::p4::v1::{StreamError, StreamMessageResponse};
use prost::Message;
use units::memory::{Budget, Purpose, Share};

/// Bytes of reports that may wait on one stream: half a second of full frames at 64 Mb/s.
pub const REPORT_SIZE_BYTES_MAX: usize = 4 << 20;
/// Bytes of them that may be errors.
pub const ERROR_SIZE_BYTES_MAX: usize = 64 << 10;
/// Bytes of reports that may wait on all streams of a device.
pub const REPORTS_SIZE_BYTES_MAX: usize = 64 << 20;
/// The memory of a report beside its bytes.
const REPORT_OVERHEAD_BYTES: usize = 256;
/// Notices of arbitration that may wait on one stream.
pub const NOTICE_COUNT_MAX: usize = 64;

/// The memory of the reports of all streams of a device, and its bound.
#[derive(Debug)]
pub struct Room {
    taken_bytes: AtomicUsize,
    bound_bytes: usize,
    memory: Budget,
}

impl Room {
    /// The room that this memory has for reports.
    pub fn of(memory: Budget) -> Room {
        let bound = memory.limit(Purpose::Reports).0.min(REPORTS_SIZE_BYTES_MAX as u64);
        Room { taken_bytes: AtomicUsize::new(0), bound_bytes: bound as usize, memory }
    }
}

impl Default for Room {
    fn default() -> Room {
        Room::of(Budget::UNLIMITED)
    }
}

/// One controller's waiting messages; shared between those who send and the stream that drains.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    room: Arc<Room>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Waiting>,
    report_size_bytes: usize,
    error_size_bytes: usize,
    notice_count: usize,
    lost_reports: u64,
    /// Set once: the stream ends with this after what is queued, `Ok` being the normal end.
    end: Option<Result<(), Status>>,
    /// The task that drains, if it sleeps.
    waker: Option<Waker>,
    /// The memory of the waiting messages.
    memory: Share,
}

#[derive(Debug)]
enum Waiting {
    Notice(StreamMessageResponse),
    Report(StreamMessageResponse),
    Error(StreamMessageResponse),
}

impl Outbox {
    /// An empty one, which shares a room with others.
    pub fn new(room: &Arc<Room>) -> Outbox {
        let memory = room.memory.share(Purpose::Reports);
        Outbox { state: Mutex::new(State { memory, ..State::default() }), room: Arc::clone(room) }
    }

    /// Queues something that the controller may miss. `false`: there was no room; it is counted.
    pub fn report(&self, message: StreamMessageResponse) -> bool {
        let mut state = self.lock();
        if state.end.is_some() {
            return false;
        }
        let taken = self.take_room(&mut state, &message);
        if taken {
            state.queue.push_back(Waiting::Report(message));
            state.wake();
        } else {
            state.lost_reports += 1;
        }
        taken
    }

    /// Queues what was wrong with a message; without the message if there is no room for that.
    pub fn complain(&self, mut error: StreamError) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        for _ in 0..2 {
            let response = |error| StreamMessageResponse { update: Some(Update::Error(error)) };
            let message = response(error.clone());
            let size_bytes = cost(&message);
            let fits = state.error_size_bytes + size_bytes <= ERROR_SIZE_BYTES_MAX;
            if fits && self.take_room(&mut state, &message) {
                state.error_size_bytes += size_bytes;
                state.queue.push_back(Waiting::Error(detached(message)));
                return state.wake();
            }
            error.details = None;
        }
        state.lost_reports += 1;
    }

    /// Room for a report, if the stream does not hold more then than would be free.
    fn take_room(&self, state: &mut State, message: &StreamMessageResponse) -> bool {
        let size_bytes = cost(message);
        let own = state.report_size_bytes + size_bytes;
        let all = self.room.taken_bytes.load(Ordering::Relaxed) + size_bytes;
        let is_fair = own <= REPORT_SIZE_BYTES_MAX && own + all <= self.room.bound_bytes;
        if !is_fair || state.memory.set(own as u64).is_err() {
            return false;
        }
        state.report_size_bytes = own;
        self.room.taken_bytes.fetch_add(size_bytes, Ordering::Relaxed);
        true
    }

    /// Queues a notice of arbitration; it cannot be refused.
    pub fn notify(&self, message: StreamMessageResponse) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        if state.notice_count == NOTICE_COUNT_MAX {
            let oldest = state.queue.iter().position(|item| matches!(item, Waiting::Notice(_)));
            oldest.and_then(|position| state.queue.remove(position));
        } else {
            state.notice_count += 1;
        }
        state.queue.push_back(Waiting::Notice(message));
        state.wake();
    }

    /// Ends the stream: normally after all that waits has been sent, with an error at once.
    pub fn end(&self, result: Result<(), Status>) {
        let mut state = self.lock();
        if state.end.is_none() {
            if result.is_err() {
                state.queue.clear();
                self.give_back_all(&mut state);
            }
            state.end = Some(result);
            state.wake();
        }
    }

    /// Whether half of the room for reports is taken.
    pub fn is_filling(&self) -> bool {
        let state = self.lock();
        state.end.is_none() && state.report_size_bytes > REPORT_SIZE_BYTES_MAX / 2
    }

    /// How many reports found no room since the stream was opened.
    pub fn lost_reports(&self) -> u64 {
        self.lock().lost_reports
    }

    /// Nothing waits any more.
    fn give_back_all(&self, state: &mut State) {
        self.room.taken_bytes.fetch_sub(state.report_size_bytes, Ordering::Relaxed);
        state.memory.shrink(0);
        (state.report_size_bytes, state.error_size_bytes) = (0, 0);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock, and the state is valid between any two lines.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// The next message, and how much room it gives back.
    fn next(&mut self) -> Option<(StreamMessageResponse, usize)> {
        Some(match self.queue.pop_front()? {
            Waiting::Notice(message) => {
                self.notice_count -= 1;
                (message, 0)
            }
            Waiting::Report(message) => {
                let size_bytes = cost(&message);
                self.report_size_bytes -= size_bytes;
                (message, size_bytes)
            }
            Waiting::Error(message) => {
                let size_bytes = cost(&message);
                self.report_size_bytes -= size_bytes;
                self.error_size_bytes -= size_bytes;
                (message, size_bytes)
            }
        })
    }
}

/// The same in memory of its own: what it is about lies in what was received with it.
fn detached(message: StreamMessageResponse) -> StreamMessageResponse {
    StreamMessageResponse::decode(&message.encode_to_vec()[..]).unwrap_or(message)
}

/// The memory of a report.
fn cost(message: &StreamMessageResponse) -> usize {
    message.encoded_len() + REPORT_OVERHEAD_BYTES
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let mut state =
            std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.give_back_all(&mut state);
    }
}

/// The draining end.
#[derive(Debug)]
pub struct OutboxStream(pub Arc<Outbox>);

impl Stream for OutboxStream {
    type Item = Result<StreamMessageResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.lock();
        if let Some((message, size_bytes)) = state.next() {
            self.0.room.taken_bytes.fetch_sub(size_bytes, Ordering::Relaxed);
            let left = state.report_size_bytes as u64;
            state.memory.shrink(left);
            return Poll::Ready(Some(Ok(message)));
        }
        match &mut state.end {
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
            Some(end) => {
                // An error is handed out once; after it, and after a normal end, nothing follows.
                let end = std::mem::replace(end, Ok(()));
                Poll::Ready(end.err().map(Err))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ::p4runtime::{Code, Refusal};

    use super::*;
    use messages::p4::v1 as p4;
    use prost::bytes::Bytes;

    fn packet(len: usize) -> StreamMessageResponse {
        let packet = p4::PacketIn { payload: Bytes::from(vec![0; len]), metadata: Vec::new() };
        StreamMessageResponse { update: Some(Update::Packet(packet)) }
    }

    fn notice(device_id: u64) -> StreamMessageResponse {
        let update = p4::MasterArbitrationUpdate { device_id, ..Default::default() };
        StreamMessageResponse { update: Some(Update::Arbitration(update)) }
    }

    fn drain(outbox: &Arc<Outbox>) -> Vec<Result<StreamMessageResponse, Status>> {
        let mut stream = OutboxStream(Arc::clone(outbox));
        let mut context = Context::from_waker(Waker::noop());
        let mut drained = Vec::new();
        while let Poll::Ready(Some(item)) = Pin::new(&mut stream).poll_next(&mut context) {
            drained.push(item);
        }
        drained
    }

    #[test]
    fn a_full_outbox_refuses_reports_counts_them_and_still_takes_notices() {
        let outbox = Arc::new(Outbox::default());
        // Five packets of 1 MiB and a few bytes: 4 MiB hold three of them.
        let taken = (0..5).filter(|_| outbox.report(packet(1 << 20))).count();
        assert_eq!((taken, outbox.lost_reports()), (3, 2));
        outbox.notify(notice(1));
        assert_eq!(drain(&outbox).len(), 4);
        assert!(outbox.report(packet(1)), "there is room again");
    }

    #[test]
    fn errors_that_nobody_reads_take_little_and_come_without_what_they_are_about() {
        let outbox = Arc::new(Outbox::default());
        let about = |length| {
            let packet = p4::PacketOut { payload: vec![0; length].into(), ..Default::default() };
            let details = p4::PacketOutError { packet_out: Some(packet) };
            let details = Some(p4::stream_error::Details::PacketOut(details));
            StreamError { message: "no".to_owned(), details, ..Default::default() }
        };
        (0..1000).for_each(|_| outbox.complain(about(20_000)));
        // 64 KiB hold three of 20,000 bytes, and then as many without as 262 bytes fit into the rest.
        let drained = drain(&outbox);
        let whole = drained.iter().filter(|it| it.as_ref().unwrap().encoded_len() > 20_000).count();
        assert_eq!(whole, 3);
        assert!((10..30).contains(&(drained.len() - whole)), "{}", drained.len());
        assert_eq!(outbox.lost_reports(), 1000 - drained.len() as u64);
        assert!(outbox.report(packet(1 << 20)), "reports have room of their own");
    }

    #[test]
    fn unread_streams_leave_room_to_others() {
        let room = Arc::new(Room::default());
        let fill = |outbox: &Outbox| (0..5).filter(|_| outbox.report(packet(1 << 20))).count();
        let outboxes: Vec<Outbox> = (0..100).map(|_| Outbox::new(&room)).collect();
        let taken: Vec<usize> = outboxes.iter().map(fill).collect();
        // Of 64 MiB, 19 take three each and leave seven, which is twice what three more would be.
        assert_eq!(taken[..19], [3; 19]);
        assert!(room.taken_bytes.load(Ordering::Relaxed) <= REPORTS_SIZE_BYTES_MAX);
        assert!(taken[20..].iter().any(|count| *count > 0), "{taken:?}");
        drop(outboxes);
        assert_eq!(room.taken_bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_waits_takes_of_the_memory_and_gives_it_back() {
        // Two MiB are for reports, and a stream leaves as much as it takes.
        let budget = Budget::new(units::Bytes(48 << 20), units::Bytes(0));
        let outbox = Arc::new(Outbox::new(&Arc::new(Room::of(budget))));
        let taken = (0..50).filter(|_| outbox.report(packet(100_000))).count();
        assert_eq!(taken, 10);
        assert!(budget.taken(Purpose::Reports).0 > 1_000_000);
        assert_eq!(drain(&outbox).len(), 10);
        assert_eq!(budget.taken(Purpose::Reports), units::Bytes(0));
    }

    #[test]
    fn of_too_many_notices_the_oldest_are_forgotten() {
        let outbox = Arc::new(Outbox::default());
        for n in 0..NOTICE_COUNT_MAX as u64 + 2 {
            outbox.notify(notice(n));
        }
        let drained = drain(&outbox);
        assert_eq!(drained.len(), NOTICE_COUNT_MAX);
        assert_eq!(drained[0].as_ref().unwrap(), &notice(2));
    }

    #[test]
    fn a_normal_end_comes_after_what_waits_and_an_error_before() {
        let outbox = Arc::new(Outbox::default());
        outbox.notify(notice(1));
        outbox.end(Ok(()));
        assert!(!outbox.report(packet(1)), "nothing goes into a stream that has ended");
        assert_eq!(drain(&outbox).len(), 1);

        let outbox = Arc::new(Outbox::default());
        outbox.notify(notice(1));
        outbox.end(Err(Refusal::not_found("device 9 is not here").into()));
        let drained = drain(&outbox);
        assert_eq!(drained.len(), 1);
        assert_eq!(drained[0].as_ref().unwrap_err().code, Code::NotFound);
    }
}
