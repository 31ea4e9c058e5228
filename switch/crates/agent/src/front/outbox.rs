//! [`Outbox`]: what waits to be sent on one controller's stream.
//!
//! Anyone may put messages in, from any thread, and never waits: a controller that reads slowly
//! slows nobody. What happens when it falls behind:
//!
//! * reports (packet-in, digests, idle timeouts, errors) are refused once the outbox is full, and
//!   counted. The specification lets all of them get lost;
//! * notices of arbitration always go in. Should more than [`NOTICE_COUNT_MAX`] wait, the oldest
//!   is forgotten, because a later notice says all that an earlier one said.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use ::p4runtime::Status;
use futures_util::Stream;
use messages::p4::v1::StreamMessageResponse;
use prost::Message;

/// Bytes of reports that may wait on one stream: half a second of full frames at 64 Mb/s.
pub const REPORT_SIZE_BYTES_MAX: usize = 4 << 20;
/// Notices of arbitration that may wait on one stream.
pub const NOTICE_COUNT_MAX: usize = 64;

/// One controller's waiting messages; shared between those who send and the stream that drains.
#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Waiting>,
    report_size_bytes: usize,
    notice_count: usize,
    lost_reports: u64,
    /// Set once: the stream ends with this after what is queued, `Ok` being the normal end.
    end: Option<Result<(), Status>>,
    /// The task that drains, if it sleeps.
    waker: Option<Waker>,
}

#[derive(Debug)]
enum Waiting {
    Notice(StreamMessageResponse),
    Report(StreamMessageResponse),
}

impl Outbox {
    /// Queues something that the controller may miss. `false`: there was no room; it is counted.
    pub fn report(&self, message: StreamMessageResponse) -> bool {
        let size_bytes = message.encoded_len();
        let mut state = self.lock();
        if state.end.is_some() {
            return false;
        }
        if state.report_size_bytes + size_bytes > REPORT_SIZE_BYTES_MAX {
            state.lost_reports += 1;
            return false;
        }
        state.report_size_bytes += size_bytes;
        state.queue.push_back(Waiting::Report(message));
        state.wake();
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

    fn next(&mut self) -> Option<StreamMessageResponse> {
        match self.queue.pop_front()? {
            Waiting::Notice(message) => {
                self.notice_count -= 1;
                Some(message)
            }
            Waiting::Report(message) => {
                self.report_size_bytes -= message.encoded_len();
                Some(message)
            }
        }
    }
}

/// The draining end.
#[derive(Debug)]
pub struct OutboxStream(pub Arc<Outbox>);

impl Stream for OutboxStream {
    type Item = Result<StreamMessageResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.lock();
        if let Some(message) = state.next() {
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
    use messages::p4::v1::stream_message_response::Update;
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
