//! Timers: timeouts, probes, delayed acknowledgments.

use units::{Span, Time};

use super::connection::{Connection, Happened, Io, Waiting};
use super::recovery::TIMER_MIN;
use super::state::{RecoveryState, State};

impl Connection {
    /// It is `now`, at or after [`Connection::next_due`].
    pub fn handle_time(&mut self, io: &mut Io<'_>) {
        if self.linger_due <= io.now {
            // TIME-WAIT is over, or the other side's FIN never came.
            self.finish(Happened::CLOSED);
            return;
        }
        let rto = self.rto();
        if self.rcv.policy.due() <= io.now && self.rcv.policy.expire(io.now, rto, &self.settings) {
            self.send_ack(io);
        }
        if self.snd.pace_due <= io.now {
            self.snd.pace_due = Time::MAX;
            self.retransmit_lost(io);
            self.push(io);
        }
        if self.snd.due <= io.now {
            let waiting = self.snd.waiting;
            self.disarm();
            match waiting {
                Waiting::Nothing => (),
                Waiting::Timeout => self.time_out(io),
                Waiting::TailProbe => self.send_tail_probe(io),
                Waiting::Reordering => self.reordering_timeout(io),
                Waiting::ZeroWindow => self.probe_window(io),
            }
        }
    }

    pub(super) fn arm(&mut self, waiting: Waiting, due: Time) {
        self.snd.waiting = waiting;
        self.snd.due = due;
    }

    pub(super) fn disarm(&mut self) {
        self.arm(Waiting::Nothing, Time::MAX);
    }

    /// RFC 6298 section 5: the timeout runs while something is unacknowledged.
    pub(super) fn arm_timeout(&mut self, now: Time) {
        let Some(first) = self.snd.queue.front() else {
            self.disarm();
            return;
        };
        let rto = self.rto();
        // A timer that waited for something else began with the first segment's sending.
        let restarted = matches!(self.snd.waiting, Waiting::Reordering | Waiting::TailProbe);
        let due =
            if restarted { (first.sent_at + rto).max(now + Span::from_us(1)) } else { now + rto };
        self.arm(Waiting::Timeout, due);
    }

    /// Something was acknowledged (RFC 6298 section 5.3).
    pub(super) fn arm_after_ack(&mut self, now: Time) {
        if !self.schedule_tail_probe(now) {
            self.arm_timeout(now);
        }
    }

    /// RFC 8985 section 7.2: if no acknowledgment comes for two round trips, a probe makes one
    /// come. Tells whether it is scheduled.
    pub(super) fn schedule_tail_probe(&mut self, now: Time) -> bool {
        let quiet = matches!(self.snd.recovery, RecoveryState::Open | RecoveryState::Cwr);
        let sent = self.snd.queue.sent();
        let applies = self.settings.tail_loss_probe && self.sack && quiet && sent > 0;
        if !applies || self.snd.queue.sacked() > 0 || !self.state.is_synchronized() {
            return false;
        }
        let srtt = Span::from_us(u64::from(self.snd.rtt.srtt_us()));
        let mut wait = if srtt == Span::ZERO {
            self.settings.rto_initial
        } else if sent == 1 {
            // A lone segment may be waiting for a delayed acknowledgment.
            srtt * 2 + self.settings.rto_min
        } else {
            srtt * 2 + TIMER_MIN
        };
        // Never later than the timeout would have come.
        let rto = self.rto();
        let timeout_due = match self.snd.waiting {
            Waiting::Timeout if self.snd.due > now => self.snd.due,
            _ => now + rto,
        };
        wait = wait.min(timeout_due.since(now));
        self.arm(Waiting::TailProbe, now + wait);
        true
    }

    /// RFC 8985 section 7.3: new data if there is some and the window takes it, else the last
    /// segment once more.
    fn send_tail_probe(&mut self, io: &mut Io<'_>) {
        let one_probe_only = self.snd.tail_probe_end.is_some();
        let Some(last) = self.snd.queue.last() else { return };
        let new_fits = self.unsent_bytes() > 0
            && self.snd.nxt + self.unsent_bytes().min(u64::from(self.snd.mss)) <= self.window_end();
        if !one_probe_only && io.room > 0 {
            if new_fits {
                self.send_next(io);
                self.snd.tail_probe_was_retransmission = false;
                self.snd.tail_probe_end = Some(self.snd.nxt);
            } else {
                self.retransmit(io, last);
                self.snd.tail_probe_was_retransmission = true;
                self.snd.tail_probe_end = Some(self.snd.nxt);
            }
        }
        let rto = self.rto();
        self.arm(Waiting::Timeout, io.now + rto);
    }

    /// Segments that were perhaps only reordered had their time (RFC 8985 section 6.3).
    fn reordering_timeout(&mut self, io: &mut Io<'_>) {
        self.snd.rack.advanced = true;
        let lost_before = self.snd.queue.lost();
        self.rack_losses(io.now);
        if self.snd.queue.lost() > lost_before {
            if self.snd.recovery < RecoveryState::Recovery {
                self.enter_recovery_by_timer(io.now);
            }
            self.retransmit_lost(io);
        }
        if self.snd.waiting == Waiting::Nothing {
            self.arm_timeout(io.now);
        }
    }

    /// RFC 6298 section 5.4 to 5.7.
    fn time_out(&mut self, io: &mut Io<'_>) {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        let most = if opening { self.settings.syn_retries } else { self.settings.retries };
        if self.snd.retransmits >= most {
            if !opening {
                self.send_reset(io);
            }
            self.finish(Happened::TIMED_OUT);
            return;
        }
        self.snd.counts.timeouts += 1;
        if opening {
            self.snd.counts.retransmitted += 1;
            self.resend_syn(io);
        } else if self.snd.queue.is_empty() {
            return;
        } else {
            self.enter_loss(io.now);
            self.update_pacing();
            let first = self.snd.queue.first();
            self.retransmit(io, first);
        }
        self.snd.retransmits += 1;
        self.snd.rtt.back_off();
        let rto = self.rto();
        self.arm(Waiting::Timeout, io.now + rto);
    }

    /// The other side's window is shut: ask again in a while (RFC 9293 section 3.8.6.1).
    pub(super) fn arm_zero_window(&mut self, now: Time) {
        let wait = self.rto().max(self.settings.rto_min);
        self.arm(Waiting::ZeroWindow, now + wait);
    }

    fn probe_window(&mut self, io: &mut Io<'_>) {
        if !self.snd.queue.is_empty() || self.unsent_bytes() == 0 {
            return;
        }
        if self.snd.retransmits >= self.settings.retries {
            self.send_reset(io);
            self.finish(Happened::TIMED_OUT);
            return;
        }
        if self.window_end() > self.snd.nxt {
            // A window smaller than a segment: better little than nothing.
            self.send_next(io);
            self.arm_timeout(io.now);
        } else {
            self.send_window_probe(io);
            self.snd.retransmits += 1;
            self.snd.rtt.back_off();
            self.arm_zero_window(io.now);
        }
    }
}
