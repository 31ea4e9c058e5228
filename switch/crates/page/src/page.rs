//! [`Page`]: a network in virtual time and the calls of one page.
//!
//! Its owner hands over frames with [`Page::take`], calls [`Page::work`] as it says, and carries
//! away the frames of [`Page::next_frame`]. Nothing waits and nothing runs by itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_channel::mpsc::{UnboundedSender, unbounded};
use futures_util::StreamExt;
use messages::google::rpc;
use p4runtime::{Refusal, Status};
use prost::Message;
use prost::bytes::Bytes;
use stage::{Next, Stage};

use crate::calls::{Answers, Served};
use crate::frames::{self, CALL, CANCEL, DONE, END, MESSAGE, REFUSED, SEND, frame};

/// Bytes of frames that may wait to be carried away. Beyond that streams fill up, and then the world
/// stands still until they are read.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// Calls that may be under way.
const CALLS_MAX: usize = 256;

/// See the top of the file.
#[derive(Debug)]
pub struct Page {
    stage: Stage,
    served: Served,
    calls: BTreeMap<u32, Call>,
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
}

struct Call {
    /// None: the page has said all.
    requests: Option<UnboundedSender<Bytes>>,
    answers: Answers,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

impl Default for Page {
    fn default() -> Page {
        // The owner works after it has handed over a frame.
        let (stage, world, fronts) = Stage::new(Arc::new(|| {}), None, None);
        let served = Served { world, fronts };
        let (calls, waiting) = (BTreeMap::new(), VecDeque::new());
        Page { stage, served, calls, waiting, waiting_bytes: 0 }
    }
}

impl Page {
    /// A frame of the page. Other bytes, and frames of a call that is over, are ignored.
    pub fn take(&mut self, bytes: &[u8]) {
        let Some((kind, number, rest)) = frames::read(bytes) else { return };
        match kind {
            CALL if !self.calls.contains_key(&number) => self.begin(number, rest),
            SEND => {
                if let Some(requests) = self.requests(number) {
                    // A call that listens no more has ended, and says so itself.
                    let _taken = requests.unbounded_send(Bytes::copy_from_slice(rest));
                }
            }
            DONE => {
                if let Some(call) = self.calls.get_mut(&number) {
                    call.requests = None;
                }
            }
            CANCEL => drop(self.calls.remove(&number)),
            _ => {}
        }
    }

    fn requests(&mut self, number: u32) -> Option<&UnboundedSender<Bytes>> {
        self.calls.get_mut(&number)?.requests.as_ref()
    }

    fn begin(&mut self, number: u32, rest: &[u8]) {
        if self.calls.len() >= CALLS_MAX {
            let why = format!("{CALLS_MAX} calls are under way: end some first");
            return self.end(number, Err(Refusal::exhausted(why).into()));
        }
        // Requests say which router they mean, so its name is not looked at.
        let Some((_, method)) = frames::named(rest) else {
            return self.end(number, Err(Refusal::invalid("the call names no method").into()));
        };
        let (sender, requests) = unbounded();
        let answers = self.served.answers(method, requests);
        self.calls.insert(number, Call { requests: Some(sender), answers });
    }

    /// Carries out requests, lets time pass for a while and collects messages; `clock` is the real
    /// time.
    pub fn work(&mut self, clock: Duration) -> Next {
        // A call that begins now asks the stage when it is first polled.
        let asked = self.poll();
        let next = self.stage.work(clock);
        let told = self.poll();
        if asked || told { Next::Again } else { next }
    }

    /// The next frame for the page.
    pub fn next_frame(&mut self) -> Option<Vec<u8>> {
        let frame = self.waiting.pop_front()?;
        self.waiting_bytes -= frame.len();
        Some(frame)
    }

    /// Lets every call go as far as it can; whether one had something to say.
    fn poll(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let mut has_said = false;
        let mut ended = Vec::new();
        for (number, call) in &mut self.calls {
            while self.waiting_bytes < WAITING_BYTES_MAX {
                let Poll::Ready(told) = call.answers.poll_next_unpin(&mut context) else { break };
                has_said = true;
                match told {
                    Some(Ok(message)) => {
                        let frame = frame(MESSAGE, *number, &message);
                        self.waiting_bytes += frame.len();
                        self.waiting.push_back(frame);
                    }
                    Some(Err(status)) => ended.push((*number, Err(status))),
                    None => ended.push((*number, Ok(()))),
                }
                if ended.last().is_some_and(|(last, _)| last == number) {
                    break;
                }
            }
        }
        for (number, outcome) in ended {
            self.calls.remove(&number);
            self.end(number, outcome);
        }
        has_said
    }

    fn end(&mut self, number: u32, outcome: Result<(), Status>) {
        let frame = match outcome {
            Ok(()) => frame(END, number, &[]),
            Err(status) => frame(REFUSED, number, &packed(status)),
        };
        self.waiting_bytes += frame.len();
        self.waiting.push_back(frame);
    }
}

/// As `google.rpc.Status`; a batch's has been packed already.
fn packed(status: Status) -> Bytes {
    let Status { code, message, details } = status;
    if !details.is_empty() {
        return details;
    }
    rpc::Status { code: code as i32, message, details: Vec::new() }.encode_to_vec().into()
}
