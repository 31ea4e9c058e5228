//! Answers that wait because clients do not take them.
//!
//! HTTP/2 keeps messages that a client has not announced to take, or its connection has no room
//! for: messages of a stream, 400 KiB at most and one more, and lists of errors, which may be as
//! long as programs. All of it comes out of the memory for answers. A message without room there
//! ends the call with RESOURCE_EXHAUSTED; a list of errors is left out, and the message says so.
//!
//! A message is encoded at once, so that only bytes wait. The first [`FREE_SIZE_BYTES`] of a call's
//! bytes are covered by the allowance of every call, so that small requests are always answered.
//!
//! ```text
//!   message ──► bytes ──► HTTP/2 ──► connection
//!               └─ Piece ─────────┘
//!   status ──► details ─► HTTP/2 ──► HPACK ──► connection
//!               └─ Details ───────┘  └─ Client ──────────┘ until it has been written
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use http_body::{Body as _, Frame};
use p4runtime::Refusal;
use tonic::body::Body;
use tonic::codegen::{Bytes, http};
use tonic::{Code, Status};
use units::memory::{Budget, Exhausted, Owner, Purpose, Share};

use crate::places::{Caller, Client, OpenCall};
use crate::status::tonic_status;

/// So much of a call's answers needs no memory of its own.
const FREE_SIZE_BYTES: usize = 1 << 10;

/// HTTP/2's memory for a piece beside its bytes.
const PIECE_OVERHEAD_BYTES: u64 = 256;

/// The memory of a byte of details at most: as it is, and once it has been encoded.
const BYTES_PER_DETAIL: u64 = 2;

type Polled = Option<Result<Frame<Bytes>, Status>>;

/// The memory of an open call.
#[derive(Debug)]
pub(super) struct Open {
    _call: Option<OpenCall>,
    client: Option<Client>,
    owner: Owner,
    memory: Budget,
    /// Waiting bytes that are covered by the allowance of every call.
    free_bytes: Arc<AtomicU64>,
}

impl Open {
    /// A call begins.
    pub fn new(caller: Option<&Caller>, memory: Budget) -> Open {
        Open {
            _call: caller.map(Caller::begin),
            client: caller.map(Caller::client).cloned(),
            owner: caller.map(Caller::owner).cloned().unwrap_or_default(),
            memory,
            free_bytes: Arc::default(),
        }
    }

    /// The caller's part of the memory.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The answer, of which everything counts that waits.
    pub fn answer(self, answer: http::Response<Body>) -> http::Response<Body> {
        let (mut parts, body) = answer.into_parts();
        self.count_details(&mut parts.headers);
        http::Response::from_parts(parts, Body::new(Answering::new(body, self)))
    }

    fn share(&self, bytes: u64) -> Result<Share, Exhausted> {
        let mut share = self.memory.share_of(Purpose::Answers, &self.owner);
        share.set(bytes)?;
        Ok(share)
    }

    /// The same bytes, which count as long as they are there.
    fn count(&self, bytes: Bytes) -> Result<Bytes, Exhausted> {
        let size = bytes.len() as u64;
        let is_free = |free: u64| {
            let free = free + size;
            (free <= FREE_SIZE_BYTES as u64).then_some(free)
        };
        let cover =
            match self.free_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_free) {
                Ok(_before) => Cover::Call(Arc::clone(&self.free_bytes), size),
                // Buffers grow by doubling.
                Err(_) => {
                    let size = size.next_power_of_two() + PIECE_OVERHEAD_BYTES;
                    Cover::Budget { _share: self.share(size)? }
                }
            };
        Ok(Bytes::from_owner(Piece { bytes, _cover: cover }))
    }

    /// Counts the details of a status among these headers, or takes them out and says so.
    fn count_details(&self, headers: &mut http::HeaderMap) {
        let Some(value) = headers.get(Status::GRPC_STATUS_DETAILS) else { return };
        if value.len() <= FREE_SIZE_BYTES {
            return;
        }
        let exhausted = match self.share(value.len() as u64 * BYTES_PER_DETAIL) {
            Ok(share) => {
                let details = Details {
                    value: value.clone(),
                    share: Some(share),
                    client: self.client.clone(),
                };
                let value = http::HeaderValue::from_maybe_shared(Bytes::from_owner(details));
                // They were a header's value before.
                if let Ok(value) = value {
                    headers.insert(Status::GRPC_STATUS_DETAILS, value);
                }
                return;
            }
            Err(exhausted) => exhausted,
        };
        let status = Status::from_header_map(headers);
        let (code, said) =
            status.as_ref().map_or((Code::Unknown, ""), |status| (status.code(), status.message()));
        let message = format!("{said}; which parts failed is left out: {exhausted}");
        headers.remove(Status::GRPC_STATUS_DETAILS);
        if let Some(message) = headers_of(Status::new(code, message)).remove(Status::GRPC_MESSAGE) {
            headers.insert(Status::GRPC_MESSAGE, message);
        }
    }
}

fn headers_of(status: Status) -> http::HeaderMap {
    status.into_http::<()>().into_parts().0.headers
}

/// The cover of a waiting piece.
enum Cover {
    /// So many bytes of those that are free.
    Call(Arc<AtomicU64>, u64),
    Budget {
        _share: Share,
    },
}

impl Drop for Cover {
    fn drop(&mut self) {
        if let Cover::Call(free_bytes, size) = self {
            free_bytes.fetch_sub(*size, Ordering::Relaxed);
        }
    }
}

/// A piece of an answer, as long as it is not sent.
struct Piece {
    bytes: Bytes,
    _cover: Cover,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The details of a status. Encoded they wait in the connection's own buffer, and count there.
struct Details {
    value: http::HeaderValue,
    share: Option<Share>,
    client: Option<Client>,
}

impl AsRef<[u8]> for Details {
    fn as_ref(&self) -> &[u8] {
        self.value.as_bytes()
    }
}

impl Drop for Details {
    fn drop(&mut self) {
        if let (Some(client), Some(share)) = (&self.client, self.share.take()) {
            client.writes(share);
        }
    }
}

/// The body of an answer: as long as it is there, its call is open.
struct Answering {
    body: Body,
    /// The first poll of the answer.
    first: Option<Polled>,
    has_ended: bool,
    open: Open,
}

impl Answering {
    fn new(body: Body, open: Open) -> Answering {
        let mut answering = Answering { body, first: None, has_ended: false, open };
        if !answering.body.is_end_stream() {
            // The taker of the answer polls again, and is woken then.
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(first) = answering.poll(&mut context) {
                answering.first = Some(first);
            }
        }
        answering
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Polled> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let Poll::Ready(Some(Ok(frame))) = polled else { return polled };
        let frame = match frame.into_data() {
            Ok(bytes) => match self.open.count(bytes) {
                Ok(bytes) => Frame::data(bytes),
                Err(exhausted) => {
                    self.has_ended = true;
                    Frame::trailers(headers_of(tonic_status(Refusal::from(exhausted))))
                }
            },
            Err(frame) => match frame.into_trailers() {
                Ok(mut trailers) => {
                    self.open.count_details(&mut trailers);
                    Frame::trailers(trailers)
                }
                Err(frame) => frame,
            },
        };
        Poll::Ready(Some(Ok(frame)))
    }
}

impl http_body::Body for Answering {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Polled> {
        match self.first.take() {
            Some(first) => Poll::Ready(first),
            None => self.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && (self.has_ended || self.body.is_end_stream())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// 48 MiB, of which answers have six, and one client not quite half of that.
    fn budget() -> Budget {
        Budget::new(units::Bytes(48 << 20), units::Bytes(0))
    }

    fn taken(memory: Budget) -> u64 {
        memory.taken(Purpose::Answers).0
    }

    /// A body of messages that are there.
    struct Messages(VecDeque<usize>);

    impl http_body::Body for Messages {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Polled> {
            Poll::Ready(self.0.pop_front().map(|length| Ok(Frame::data(vec![7; length].into()))))
        }
    }

    fn answer<const N: usize>(memory: Budget, lengths: [usize; N]) -> Body {
        let body = Body::new(Messages(VecDeque::from(lengths)));
        Open::new(None, memory).answer(http::Response::new(body)).into_body()
    }

    fn next(body: &mut Body) -> Option<Frame<Bytes>> {
        match Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(polled) => polled.map(|frame| frame.expect("nothing fails")),
            Poll::Pending => panic!("all of it is there"),
        }
    }

    #[test]
    fn what_is_there_counts_from_the_start_until_it_is_sent() {
        let memory = budget();
        let mut answer = answer(memory, [100_000, 50_000]);
        let (long, short) = ((128 << 10) + PIECE_OVERHEAD_BYTES, (64 << 10) + PIECE_OVERHEAD_BYTES);
        assert_eq!(taken(memory), long, "it is encoded before anybody takes it");
        let first = next(&mut answer);
        let second = next(&mut answer);
        assert_eq!(taken(memory), long + short);
        drop(first);
        assert_eq!(taken(memory), short);
        drop(second);
        assert_eq!(taken(memory), 0);
        assert!(next(&mut answer).is_none());
    }

    #[test]
    fn short_messages_need_nothing_until_many_of_a_call_wait() {
        let memory = budget();
        let mut answer = answer(memory, [400; 5]);
        let mut waiting = vec![next(&mut answer), next(&mut answer)];
        assert_eq!(taken(memory), 0);
        waiting.push(next(&mut answer));
        assert_eq!(taken(memory), 512 + PIECE_OVERHEAD_BYTES);
        drop(waiting);
        let _one = next(&mut answer);
        assert_eq!(taken(memory), 0);
    }

    #[test]
    fn what_finds_no_room_ends_the_call_and_says_why() {
        let memory = budget();
        let mut answer = answer(memory, [3_000_000, 10]);
        let ended = next(&mut answer).and_then(|frame| frame.into_trailers().ok());
        let status = ended.as_ref().and_then(Status::from_header_map).expect("a status");
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(status.message().contains("answers that clients have not taken"), "{status}");
        assert!(next(&mut answer).is_none());
    }

    /// The answer to a Write of which everything failed, and its client.
    fn failed(memory: Budget) -> (http::Response<Body>, Client) {
        let client = Client::default();
        let open = Open { client: Some(client.clone()), ..Open::new(None, memory) };
        let status = Status::with_details(Code::Unknown, "all failed", vec![7; 90_000].into());
        (open.answer(status.into_http()), client)
    }

    #[test]
    fn errors_count_until_the_connection_has_written_them() {
        let memory = budget();
        let (answer, client) = failed(memory);
        // Four bytes for three.
        assert_eq!(taken(memory), 120_000 * BYTES_PER_DETAIL);
        let status = Status::from_header_map(answer.headers()).expect("a status");
        assert_eq!(status.details(), [7; 90_000]);
        drop((answer, status));
        assert_eq!(taken(memory), 120_000 * BYTES_PER_DETAIL, "HPACK has encoded them");
        client.has_written();
        assert_eq!(taken(memory), 0);
    }

    #[test]
    fn errors_that_find_no_room_are_left_out_and_the_message_says_so() {
        let memory = budget();
        let _full = memory.take(Purpose::Answers, memory.limit(Purpose::Answers).0);
        let (answer, _client) = failed(memory);
        let status = Status::from_header_map(answer.headers()).expect("a status");
        assert_eq!((status.code(), status.details().len()), (Code::Unknown, 0));
        let said = "all failed; which parts failed is left out: no memory is left for answers";
        assert!(status.message().starts_with(said), "{status}");
    }
}
