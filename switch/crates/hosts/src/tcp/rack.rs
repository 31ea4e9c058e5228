//! RACK: a segment is lost if one sent later was delivered and enough time has passed (RFC 8985).

use units::{Span, Time};

use super::send_queue::{SendQueue, Sent};

/// After a spurious retransmission the wider reordering window is kept for this many recoveries.
const PERSIST_RECOVERIES: u8 = 16;

/// RACK's knowledge of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// When the segment that was delivered last was sent, and where it ended.
    sent_at: Time,
    end: u64,
    rtt_us: u32,
    /// The reordering window in quarters of the least round-trip time, and how long it stays wide.
    window_quarters: u8,
    persist: u8,
    /// A retransmission turned out unnecessary in this round trip.
    dsack_seen: bool,
    adapted_at_delivered: u64,
    /// Something new was learnt since losses were last looked for.
    pub advanced: bool,
}

/// The inputs for RACK's waiting time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub now: Time,
    pub min_rtt_us: u32,
    pub srtt_us: u32,
    /// Reordering was seen on this path.
    pub reordering_seen: bool,
    /// Segments are being repaired, or enough came out of order that waiting is of no use.
    pub losses_certain: bool,
}

impl Rack {
    pub fn new() -> Rack {
        Rack {
            sent_at: Time::ZERO,
            end: 0,
            rtt_us: 0,
            window_quarters: 1,
            persist: 0,
            dsack_seen: false,
            adapted_at_delivered: 0,
            advanced: false,
        }
    }

    /// A segment was delivered (RFC 8985 section 6.2, step 2).
    pub fn segment_delivered(&mut self, sent: &Sent, now: Time, min_rtt_us: u32) {
        let rtt_us = now.since(sent.sent_at).whole_us() as u32;
        // Faster than the path allows: the answer is to the original, not to the retransmission.
        if rtt_us < min_rtt_us && sent.was_retransmitted() {
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        if (sent.sent_at, sent.end()) > (self.sent_at, self.end) {
            self.sent_at = sent.sent_at;
            self.end = sent.end();
        }
    }

    /// The receiver told that it got something twice (RFC 8985 section 6.2, step 4).
    pub fn note_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Once a round trip: the reordering window grows by a quarter after a DSACK, and returns to
    /// one quarter after 16 recoveries without.
    pub fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.adapted_at_delivered {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.window_quarters = self.window_quarters.saturating_add(1);
            self.dsack_seen = false;
            self.adapted_at_delivered = delivered;
            self.persist = PERSIST_RECOVERIES;
        } else if self.persist == 0 {
            self.window_quarters = 1;
        }
    }

    /// A recovery ended, or one turned out to be spurious.
    pub fn recovery_ended(&mut self, spurious: bool) {
        self.persist = if spurious { PERSIST_RECOVERIES } else { self.persist.saturating_sub(1) };
    }

    fn window_us(&self, patience: &Patience) -> u64 {
        if !patience.reordering_seen && patience.losses_certain || patience.min_rtt_us == u32::MAX {
            return 0;
        }
        let quarter = u64::from(patience.min_rtt_us / 4);
        (quarter * u64::from(self.window_quarters)).min(u64::from(patience.srtt_us))
    }

    /// How long until a segment sent at `sent_at` counts as lost; none if it does now.
    pub fn remaining(&self, sent_at: Time, patience: &Patience) -> Option<Span> {
        let due = sent_at + Span::from_us(u64::from(self.rtt_us) + self.window_us(patience));
        (due > patience.now).then(|| due - patience.now)
    }

    /// Marks what counts as lost now (RFC 8985 section 6.2, step 5), telling `lost` of each segment.
    /// Returns how long to wait for those that may yet.
    pub fn detect_losses(
        &mut self,
        queue: &mut SendQueue,
        patience: &Patience,
        mut lost: impl FnMut(&Sent),
    ) -> Option<Span> {
        if !self.advanced {
            return None;
        }
        self.advanced = false;
        let mut wait = None;
        let mut next = queue.oldest_sent();
        while let Some(number) = next {
            let sent = queue.get(number);
            if (sent.sent_at, sent.end()) >= (self.sent_at, self.end) {
                break;
            }
            next = queue.sent_after(number);
            match self.remaining(sent.sent_at, patience) {
                None => {
                    if queue.mark_lost(number) {
                        lost(queue.get(number));
                    }
                }
                Some(remaining) => wait = wait.max(Some(remaining)),
            }
        }
        wait
    }
}
