//! When to acknowledge: at once, every second segment, or a little later (RFC 9293 section
//! 3.8.6.3, RFC 5681 section 4.2), with Linux's timings.
//!
//! * A connection begins with quick acknowledgments, so that the sender's slow start is not held
//!   up; after sixteen, and while its window does not grow any more (tcp_grow_window), it waits for
//!   a second segment or the delayed-ACK timer.
//! * A segment with PSH, or shorter than a full one, is the end of a message: it is
//!   acknowledged as soon as the application has taken it (tcp_cleanup_rbuf).
//! * The timer follows the gaps between segments, from 40 ms to 200 ms.
//! * Acknowledgments that only repeat SACK blocks are put together: 5 % of a round trip or 1 ms.

use units::{Span, Time};

use super::settings::TcpSettings;

const QUICK_MAX: u32 = 16;
/// The first acknowledgments of a hole go out one by one: the sender counts three (RFC 5681).
const DUPLICATES_AT_ONCE: u32 = 3;
/// Of those that follow, this many are put together at the most.
const COMPRESSED_MAX: u32 = 44;

/// The receiver's patience.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckPolicy {
    /// How many more acknowledgments go out at once.
    quick: u32,
    /// Requests and responses alternate: the response will carry the acknowledgment.
    interactive: bool,
    /// The present timeout; zero before the first segment.
    ato: Span,
    last_data_at: Time,
    /// Something came that is not acknowledged.
    pending: bool,
    /// It has to be acknowledged at once.
    urgent: bool,
    /// The end of something came, and one that was short after such an end.
    pushed: bool,
    pushed_again: bool,
    delayed_until: Time,
    duplicates: u32,
    compressed: u32,
    compressed_until: Time,
    compressed_nxt: u64,
}

/// The policy's decision for the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub now: Time,
    /// More than one full segment (or what the settings stretch it to) is unacknowledged.
    pub enough: bool,
    /// The window to advertise is not smaller than the last one.
    pub window_open: bool,
    /// Bytes wait behind a hole.
    pub holes: bool,
    /// The application has taken everything, and nothing waits behind a hole either.
    pub drained: bool,
    pub sack: bool,
    pub nxt: u64,
    pub rtt_us: u32,
    pub srtt_us: u32,
}

impl AckPolicy {
    pub fn new() -> AckPolicy {
        AckPolicy {
            quick: 0,
            interactive: false,
            ato: Span::ZERO,
            last_data_at: Time::ZERO,
            pending: false,
            urgent: false,
            pushed: false,
            pushed_again: false,
            delayed_until: Time::MAX,
            duplicates: 0,
            compressed: 0,
            compressed_until: Time::MAX,
            compressed_nxt: 0,
        }
    }

    /// When an acknowledgment is due at the latest.
    pub fn due(&self) -> Time {
        self.delayed_until.min(self.compressed_until)
    }

    /// Something needs an acknowledgment now.
    pub fn note_urgent(&mut self) {
        self.pending = true;
        self.urgent = true;
    }

    /// A segment came: it ends with PSH, or is shorter than others were.
    pub fn note_push(&mut self, push: bool, short: bool) {
        self.pushed_again |= self.pushed && short;
        self.pushed |= push || short;
    }

    /// The window opens further: the sender, in slow start perhaps, is informed at once.
    pub fn note_growth(&mut self) {
        self.quick |= 1;
    }

    /// From here on, `count` acknowledgments at once: something unusual happened.
    pub fn quicken(&mut self, count: u32, settings: &TcpSettings) {
        self.quick = self.quick.max(count.min(QUICK_MAX));
        self.interactive = false;
        self.ato = settings.delayed_ack_min;
    }

    /// Data arrived; `window_segments` fit into the window.
    pub fn data_arrived(
        &mut self,
        now: Time,
        window_segments: u32,
        rto: Span,
        settings: &TcpSettings,
    ) {
        self.pending = true;
        let least = settings.delayed_ack_min;
        let quick = (window_segments / 2).clamp(2, QUICK_MAX);
        if self.ato == Span::ZERO {
            self.quick = self.quick.max(quick);
            self.ato = least;
        } else {
            let gap = now.since(self.last_data_at);
            if gap <= least / 2 {
                self.ato = self.ato / 2 + least / 2;
            } else if gap < self.ato {
                self.ato = (self.ato / 2 + gap).min(rto);
            } else if gap > rto {
                // A long silence: the sender may have restarted its slow start.
                self.quick = self.quick.max(quick);
            }
        }
        self.last_data_at = now;
    }

    /// Data was sent: an answer within the timeout makes the connection interactive.
    pub fn data_sent(&mut self, now: Time) {
        if self.ato > Span::ZERO && now.since(self.last_data_at) < self.ato {
            self.interactive = true;
        }
    }

    /// A segment with an acknowledgment left.
    pub fn ack_sent(&mut self, settings: &TcpSettings) {
        if self.pending && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = settings.delayed_ack_min;
            }
        }
        self.pending = false;
        self.urgent = false;
        self.pushed = false;
        self.pushed_again = false;
        self.compressed = 0;
        self.delayed_until = Time::MAX;
        self.compressed_until = Time::MAX;
    }

    /// After a segment was worked in: true if an acknowledgment has to leave now, else the timers
    /// are set.
    pub fn decide(&mut self, at: &Situation, settings: &TcpSettings) -> bool {
        if !self.pending {
            return false;
        }
        let quick = self.quick > 0 && !self.interactive;
        // A response will carry the acknowledgment, unless what it answers came in parts.
        let ended = self.pushed_again || self.pushed && !self.interactive;
        if self.urgent || quick || at.enough && at.window_open || ended && at.drained {
            return true;
        }
        if !at.holes {
            self.delay(at, settings);
            return false;
        }
        !self.compress(at, settings)
    }

    fn delay(&mut self, at: &Situation, settings: &TcpSettings) {
        let mut ato = self.ato.max(settings.delayed_ack_min);
        if ato > settings.delayed_ack_min {
            let ends = self.interactive || self.pushed;
            let most = if ends { settings.delayed_ack_max } else { Span::from_ms(500) };
            let rtt = Span::from_us(u64::from(at.srtt_us)).max(settings.delayed_ack_min);
            ato = ato.min(if at.srtt_us > 0 { most.min(rtt) } else { most });
        }
        let until = at.now + ato.min(settings.delayed_ack_max);
        self.delayed_until = self.delayed_until.min(until);
    }

    /// Tells whether the acknowledgment may be put together with others.
    fn compress(&mut self, at: &Situation, settings: &TcpSettings) -> bool {
        if !at.sack || settings.sack_compression == Span::ZERO || self.compressed >= COMPRESSED_MAX
        {
            return false;
        }
        if self.compressed_nxt != at.nxt {
            self.compressed_nxt = at.nxt;
            self.duplicates = 0;
        }
        if self.duplicates < DUPLICATES_AT_ONCE {
            self.duplicates += 1;
            return false;
        }
        self.compressed += 1;
        if self.compressed_until == Time::MAX {
            let rtt_us = match at.srtt_us {
                0 => at.rtt_us,
                srtt_us => at.rtt_us.min(srtt_us),
            };
            let wait = Span::from_us(u64::from(rtt_us) / 20).min(settings.sack_compression);
            self.compressed_until = at.now + wait;
        }
        true
    }

    /// The time has come: true if an acknowledgment has to leave.
    pub fn expire(&mut self, now: Time, rto: Span, settings: &TcpSettings) -> bool {
        if self.compressed_until <= now {
            self.compressed_until = Time::MAX;
            return true;
        }
        if self.delayed_until > now {
            return false;
        }
        self.delayed_until = Time::MAX;
        if self.interactive {
            // The response took too long: it does not carry acknowledgments after all.
            self.interactive = false;
            self.ato = settings.delayed_ack_min;
        } else {
            self.ato = (self.ato * 2).min(rto);
        }
        self.pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's tcp_grow_window: while the window grows, a lone segment is not kept waiting; the next
    /// one is again.
    #[test]
    fn a_window_that_grows_is_told_at_once() {
        let settings = TcpSettings::default();
        let mut policy = AckPolicy::new();
        let at = Situation {
            now: Time::ZERO,
            enough: false,
            window_open: true,
            holes: false,
            drained: true,
            sack: true,
            nxt: 1,
            rtt_us: 10_000,
            srtt_us: 10_000,
        };
        let mut arrives = |grows: bool| {
            policy.data_arrived(Time::ZERO, 44, Span::from_ms(200), &settings);
            if grows {
                policy.note_growth();
            }
            let at_once = policy.decide(&at, &settings);
            policy.ack_sent(&settings);
            at_once
        };
        let beginning: Vec<bool> = (0..17).map(|_| arrives(false)).collect();
        assert_eq!(beginning.iter().filter(|at_once| **at_once).count(), QUICK_MAX as usize);
        assert!(arrives(true));
        assert!(!arrives(false));
    }
}
