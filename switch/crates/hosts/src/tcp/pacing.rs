//! Spacing segments out in time, and how large a burst may be (Linux's internal pacing and TSO
//! autosizing).

use units::{Bytes, Rate, Span, Time};

use super::connection::Connection;

/// The first segments leave at once: there is nothing to go by yet.
const UNPACED_SEGMENTS: u64 = 10;
/// A burst is what leaves in about a millisecond (2^-10 s) at the pacing rate,
const BURST_SHIFT: u32 = 10;
/// and more on short paths: this much, halved for each half millisecond of round trip.
const BURST_BYTES_MAX: u64 = 65_536;
const BURST_RTT_SHIFT: u32 = 9;

impl Connection {
    /// Sets the pacing rate from the window: a multiple of cwnd / srtt, unless the algorithm has
    /// set it.
    pub(super) fn update_pacing(&mut self) {
        if self.snd.congestion.takes_over() {
            return;
        }
        let window = &self.snd.window;
        let slow_start = window.cwnd < window.ssthresh / 2;
        let percent = if slow_start {
            self.settings.pacing_slow_start_percent
        } else {
            self.settings.pacing_avoidance_percent
        };
        let packets = u64::from(window.cwnd.max(self.snd.queue.sent()));
        let bytes = packets * u64::from(self.snd.mss) * u64::from(percent) / 100;
        let srtt_us = u64::from(self.snd.rtt.srtt_us());
        self.snd.window.pacing_bytes_per_s =
            (bytes * 1_000_000).checked_div(srtt_us).unwrap_or(u64::MAX);
    }

    /// The rate at which segments leave where they are paced, in bytes a second.
    pub(super) fn pacing_bytes_per_s(&self) -> u64 {
        let most = self.settings.pacing_rate_max.map_or(u64::MAX, |rate| (rate.bps() / 8).max(1));
        self.snd.window.pacing_bytes_per_s.min(most)
    }

    /// Whether the next segment has to wait; if so, the timer is set.
    pub(super) fn is_held_back(&mut self, now: Time) -> bool {
        if !self.is_paced() || self.snd.pace_next <= now {
            return false;
        }
        self.snd.pace_due = self.snd.pace_next;
        true
    }

    /// `bytes` of payload left at `now`: the next may leave when they are through at the pacing rate,
    /// which is one of payload as well (Linux's tcp_update_skb_after_send).
    pub(super) fn note_paced(&mut self, now: Time, bytes: u64) {
        let rate = self.pacing_bytes_per_s();
        if !self.is_paced() || self.snd.counts.data_segments < UNPACED_SEGMENTS {
            self.snd.pace_next = now;
            return;
        }
        let Some(rate) = Rate::from_bps(rate.saturating_mul(8)) else { return };
        let mut takes = rate.span_of(Bytes(bytes));
        // Lateness is made up for, by half a burst at the most.
        let late = now.since(self.snd.pace_next);
        takes -= Span::from_ps(takes.ps() / 2).min(late);
        self.snd.pace_next = now.max(self.snd.pace_next) + takes;
    }

    /// How many segments one burst has at the most.
    pub(super) fn burst_segments(&self) -> u32 {
        let most = self.settings.tso_segments_max.max(1);
        let mut bytes = self.pacing_bytes_per_s() >> BURST_SHIFT;
        let halvings = self.snd.rtt.min_us() >> BURST_RTT_SHIFT;
        if halvings < 32 {
            bytes += BURST_BYTES_MAX >> halvings;
        }
        let segments = bytes.min(BURST_BYTES_MAX) / u64::from(self.snd.mss);
        (segments as u32).max(self.snd.window.burst_segments_min).min(most)
    }
}
