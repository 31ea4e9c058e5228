//! Steps of packets on their way from the packet thread to loggers of bmv2's events.
//!
//! Packets are followed only for subscribers, because each step costs as much as a hundred others.
//! The packet thread hands steps over without waiting. Those without room are lost, counted, and
//! reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent::exchange::Wake;
use agent::front::Front;
use bmruntime::steps::Steps;
use device::TraceRecord;
use p4runtime::config::Config;
use tokio::sync::{broadcast, mpsc};

use crate::publisher::Publisher;

/// Steps that wait to be published: some hundred packets'.
const WAITING_COUNT_MAX: usize = 1 << 14;

/// A message for the task that publishes.
#[derive(Debug)]
enum Note {
    Step(TraceRecord),
    Subscribed,
}

/// The packet thread's end.
#[derive(Clone, Debug)]
pub struct StepTeller {
    notes: mpsc::Sender<Note>,
    messages: broadcast::Sender<Arc<[u8]>>,
    lost: Arc<AtomicU64>,
}

impl StepTeller {
    /// Whether anybody listens.
    pub fn is_heard(&self) -> bool {
        self.messages.receiver_count() > 0
    }

    /// Hands over a step.
    pub fn tell(&self, record: TraceRecord) {
        if self.notes.try_send(Note::Step(record)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Publishes steps from now on, within a runtime; `wake` has the packet thread see who listens.
pub fn publish(front: Arc<Front>, device_id: u64, publisher: Publisher, wake: Wake) -> StepTeller {
    let (notes, waiting) = mpsc::channel(WAITING_COUNT_MAX);
    let (messages, lost) = (publisher.messages(), Arc::default());
    let subscribed = notes.clone();
    let teller = StepTeller { notes, messages, lost };
    tokio::spawn(publisher.serve_and(move || {
        // Without room there are steps, which are looked at as well.
        let _full = subscribed.try_send(Note::Subscribed);
        wake();
    }));
    tokio::spawn(tell(front, device_id, teller.clone(), waiting));
    teller
}

/// Makes messages of steps, beside the packet thread.
async fn tell(
    front: Arc<Front>,
    device_id: u64,
    teller: StepTeller,
    mut waiting: mpsc::Receiver<Note>,
) {
    let mut steps = Steps::new(device_id);
    let mut known: Option<Arc<Config>> = None;
    while let Some(note) = waiting.recv().await {
        let lost = teller.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lost, "steps of packets found no room and were not published");
        }
        let mut said = Vec::new();
        let current = front.programs().in_force;
        if !is_same(known.as_ref(), current.as_ref()) {
            let change = steps.change(&program_of(current.as_deref()));
            // The first subscriber reads the program itself; bmv2's client ends on a change that it
            // cannot follow.
            let is_news = !matches!(note, Note::Subscribed) || teller.messages.receiver_count() > 1;
            said.extend(is_news.then_some(change));
            known = current;
        }
        if let Note::Step(record) = note {
            said.extend(steps.messages(&record));
        }
        for message in said {
            // Without subscribers there is nothing to send.
            let _told = teller.messages.send(message.into());
        }
    }
}

fn is_same(known: Option<&Arc<Config>>, current: Option<&Arc<Config>>) -> bool {
    match (known, current) {
        (Some(known), Some(current)) => Arc::ptr_eq(known, current),
        (known, current) => known.is_none() && current.is_none(),
    }
}

/// The program was read before, when it was loaded.
fn program_of(config: Option<&Config>) -> bmv2::Program {
    let json = config.and_then(|config| config.json().ok());
    json.and_then(|json| bmv2::read(&json).ok()).unwrap_or_default()
}
