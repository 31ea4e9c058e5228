//! A client's trace: the packets that the device follows, and the client's feed.
//!
//! The device follows packets for one client at a time, because each step of a followed packet
//! costs as much as a hundred others.

use std::sync::Arc;

use device::{Device, TraceFilter};
use p4runtime::refusal::Refusal;
use p4runtime::watch::Item;

use crate::feed::Feed;

/// The client's feed, if there is one.
#[derive(Debug, Default)]
pub(super) struct Tracing {
    feed: Option<Arc<Feed>>,
    /// The device's count of lost steps at the last look.
    lost: u64,
}

impl Tracing {
    /// Follows packets for a client from now on, unless one is served already.
    pub fn begin(
        &mut self,
        device: &mut Device,
        filters: Vec<TraceFilter>,
        feed: Arc<Feed>,
    ) -> Result<(), Refusal> {
        self.hand_over(device);
        if self.feed.is_some() {
            return Err(Refusal::exhausted(
                "another client is tracing, and the switch traces for one at a time; end that \
                 trace first",
            ));
        }
        if device.is_tracing() {
            return Err(Refusal::precondition(
                "the switch follows packets for its log; start it with --log-level info to trace",
            ));
        }
        while device.poll_trace().is_some() {
            // Later steps of packets of an earlier trace are dropped.
        }
        self.lost = device.trace_lost();
        device.trace(filters);
        self.feed = Some(feed);
        Ok(())
    }

    /// The client's feed.
    pub fn feed(&self) -> Option<&Arc<Feed>> {
        self.feed.as_ref()
    }

    /// Hands on what the device has recorded; ends the trace when the client has gone.
    pub fn hand_over(&mut self, device: &mut Device) {
        let Some(feed) = &self.feed else { return };
        if feed.is_closed() {
            device.trace(Vec::new());
            self.feed = None;
            return;
        }
        let mut items: Vec<Item> = Vec::new();
        while let Some(record) = device.poll_trace() {
            items.push(Item::Step(Box::new(record)));
        }
        let lost = device.trace_lost();
        if lost > self.lost {
            items.push(Item::Lost(lost - self.lost));
            self.lost = lost;
        }
        if !items.is_empty() {
            feed.push_all(&mut items);
        }
    }
}
