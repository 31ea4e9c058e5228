//! Digests on their way from the packet thread to subscribers.
//!
//! The packet thread hands them over without waiting. Those without room are lost, counted, and
//! reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent::front::Front;
use agent::learning::{Learned, Learner};
use bmruntime::learning;
use tokio::sync::mpsc;

use crate::publisher::Publisher;

/// Lists that wait to be published.
const WAITING_COUNT_MAX: usize = 1024;

#[derive(Debug)]
struct Teller {
    lists: mpsc::Sender<Learned>,
    lost: Arc<AtomicU64>,
}

impl Learner for Teller {
    fn learn(&mut self, learned: Learned) {
        if self.lists.try_send(learned).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Publishes what packets teach, from now on.
pub async fn publish(front: Arc<Front>, device_id: u64, publisher: Publisher) {
    let (lists, mut waiting) = mpsc::channel(WAITING_COUNT_MAX);
    let lost = Arc::new(AtomicU64::new(0));
    let teller = Teller { lists, lost: Arc::clone(&lost) };
    let messages = publisher.messages();
    let serving = tokio::spawn(publisher.serve());
    if learning::tell(&front, Box::new(teller)).await.is_ok() {
        while let Some(learned) = waiting.recv().await {
            let count = lost.swap(0, Ordering::Relaxed);
            if count > 0 {
                tracing::warn!(count, "lists of digests found no room and were not published");
            }
            // Without subscribers there is nothing to send.
            let _told = messages.send(learning::message(device_id, &learned).into());
        }
    }
    serving.abort();
}
