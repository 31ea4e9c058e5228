//! Loss recovery: from the first doubt to the repair, and back if it was a mistake.
//!
//! ```text
//!   Open <-> Disorder -- something is lost --> Recovery --- all acknowledged ---> Open
//!     |         ECE, full local queue ------> Cwr -------- all acknowledged ---> Open
//!     +------- the timer fires -------------> Loss ------- all acknowledged ---> Open
//! ```
//!
//! A reduction is undone when every retransmission turns out to have been unnecessary: reported by
//! DSACK (RFC 3708), by timestamps (RFC 4015, Eifel) or, after a timeout, by F-RTO (RFC 5682).

use units::{Span, Time};

use super::ack::AckWork;
use super::connection::{Connection, Sender, Undo, Waiting};
use super::prr::Prr;
use super::rack::Patience;
use super::state::RecoveryState;
use crate::congestion::{Happening, SSTHRESH_NONE};

/// Timers are not set shorter than two of the kernel's ticks (250 a second).
pub(super) const TIMER_MIN: Span = Span::from_ms(8);

impl Connection {
    /// An acknowledgment that is not plain progress, or one during recovery.
    pub(super) fn judge_losses(&mut self, work: &mut AckWork) {
        if work.ece {
            self.snd.prior_ssthresh = 0;
        }
        if self.snd.recovery == RecoveryState::Open {
            self.snd.retransmit_stamp = None;
        } else if self.snd.una >= self.snd.recovery_end && self.end_episode(work) {
            return;
        }
        match self.snd.recovery {
            RecoveryState::Recovery => {
                if !work.advanced {
                    self.count_duplicate(work);
                } else if self.undo_partial(work) {
                    return;
                }
                if self.undo_by_dsack(work.now) {
                    self.try_to_open();
                }
                self.find_losses(work);
                return;
            }
            RecoveryState::Loss => {
                self.judge_timeout(work);
                if self.snd.recovery != RecoveryState::Loss {
                    self.find_losses(work);
                }
                let goes_on = self.snd.recovery == RecoveryState::Open || work.lost_retransmission;
                if !goes_on {
                    return;
                }
            }
            _ => {
                if !self.sack && work.advanced {
                    self.snd.queue.guess_sacked(0);
                }
                self.count_duplicate(work);
                if self.snd.recovery <= RecoveryState::Disorder {
                    self.undo_by_dsack(work.now);
                }
                self.find_losses(work);
            }
        }
        if self.snd.queue.lost() == 0 {
            self.stay_open(work);
        } else if self.snd.recovery < RecoveryState::Recovery
            || self.snd.recovery == RecoveryState::Loss && work.lost_retransmission
        {
            self.enter_recovery(work);
        }
    }

    /// Everything sent before the episode began is acknowledged. Returns true if it has to go on.
    fn end_episode(&mut self, work: &AckWork) -> bool {
        match self.snd.recovery {
            // CWR ends only when something sent after it began is acknowledged.
            RecoveryState::Cwr => {
                if self.snd.una != self.snd.recovery_end {
                    self.end_reduction(work.now);
                    self.snd.recovery = RecoveryState::Open;
                }
                false
            }
            RecoveryState::Recovery => {
                if !self.sack {
                    self.snd.queue.guess_sacked(0);
                }
                if self.undo_at_end(work) {
                    return true;
                }
                self.end_reduction(work.now);
                self.snd.recovery = RecoveryState::Open;
                self.snd.undo = None;
                false
            }
            _ => false,
        }
    }

    /// Marks what RACK, or three duplicates, say is lost, and sets the reordering timer.
    pub(super) fn find_losses(&mut self, work: &mut AckWork) {
        let before = self.snd.queue.retransmitted();
        if self.sack && self.settings.rack {
            if self.rack_losses(work.now) {
                work.rearm = false;
            }
        } else if self.sack {
            self.count_losses(work.now);
        } else {
            self.mark_lost_without_sack(work);
        }
        work.lost_retransmission |= self.snd.queue.retransmitted() < before;
    }

    /// Runs RACK; true if it set the reordering timer.
    pub(super) fn rack_losses(&mut self, now: Time) -> bool {
        let patience = self.patience(now);
        let mut path = self.path(now);
        let Sender { rack, queue, rate, congestion, window, .. } = &mut self.snd;
        let wait = rack.detect_losses(queue, &patience, |sent| {
            rate.lost += 1;
            path.lost = rate.lost;
            congestion.lost(window, &path, &sent.stamp);
        });
        let Some(wait) = wait else { return false };
        self.arm(Waiting::Reordering, now + wait + TIMER_MIN);
        true
    }

    pub(super) fn patience(&self, now: Time) -> Patience {
        let snd = &self.snd;
        Patience {
            now,
            min_rtt_us: snd.rtt.min_us(),
            srtt_us: snd.rtt.srtt_us(),
            reordering_seen: snd.reordering_seen > 0,
            losses_certain: snd.recovery >= RecoveryState::Recovery
                || snd.queue.sacked() >= snd.reordering,
        }
    }

    /// RFC 6675 without RACK: a segment is lost if `reordering` packets above it were sacked.
    fn count_losses(&mut self, now: Time) {
        let mut above = self.snd.queue.sacked();
        for number in self.snd.queue.numbers() {
            if above < self.snd.reordering {
                return;
            }
            let sent = self.snd.queue.get(number);
            if sent.is_sacked() {
                above -= 1;
            } else if !sent.is_retransmitted() {
                self.mark_lost(now, number);
            }
        }
    }

    /// Counts a segment as lost, unless it is already.
    pub(super) fn mark_lost(&mut self, now: Time, number: u64) -> bool {
        let is_news = self.snd.queue.mark_lost(number);
        if is_news {
            self.snd.rate.lost += 1;
            let path = self.path(now);
            let Sender { queue, congestion, window, .. } = &mut self.snd;
            congestion.lost(window, &path, &queue.get(number).stamp);
        }
        is_news
    }

    fn enter_recovery(&mut self, work: &AckWork) {
        self.begin_recovery(work.now, work.ece);
    }

    /// The reordering timer found losses: no acknowledgment says so.
    pub(super) fn enter_recovery_by_timer(&mut self, now: Time) {
        self.begin_recovery(now, false);
    }

    fn begin_recovery(&mut self, now: Time, by_mark: bool) {
        self.snd.prior_ssthresh = 0;
        self.begin_undo();
        if !self.is_reducing() {
            if !by_mark {
                self.snd.prior_ssthresh = self.current_ssthresh();
            }
            self.begin_reduction(now);
        }
        self.snd.recovery = RecoveryState::Recovery;
        self.snd.counts.recoveries += 1;
        self.tell_congestion(now, Happening::RecoveryBegins);
    }

    fn begin_undo(&mut self) {
        let under_way = self.snd.queue.retransmitted();
        let retransmits = (under_way > 0).then_some(under_way);
        self.snd.undo = Some(Undo { marker: self.snd.una, retransmits });
    }

    /// Reduces the window without a loss: for a mark, or because the local queue is full.
    pub(super) fn enter_cwr(&mut self, now: Time) {
        self.snd.prior_ssthresh = 0;
        if self.snd.recovery < RecoveryState::Cwr {
            self.snd.undo = None;
            self.begin_reduction(now);
            self.snd.recovery = RecoveryState::Cwr;
        }
    }

    fn begin_reduction(&mut self, now: Time) {
        let snd = &mut self.snd;
        snd.recovery_end = snd.nxt;
        snd.tail_probe_end = None;
        snd.window.cwnd_count = 0;
        snd.window.prior_cwnd = snd.window.cwnd;
        snd.prr = Prr::begin(snd.window.cwnd);
        let path = self.path(now);
        self.snd.window.ssthresh = self.snd.congestion.ssthresh(&self.snd.window, &path);
        self.snd.cwr_wanted = self.ecn;
    }

    fn end_reduction(&mut self, now: Time) {
        let ends_low = self.snd.recovery == RecoveryState::Cwr || self.snd.undo.is_some();
        let has_threshold = self.snd.window.ssthresh < SSTHRESH_NONE;
        if has_threshold && ends_low && !self.snd.congestion.takes_over() {
            self.snd.window.cwnd = self.snd.window.ssthresh;
        }
        self.tell_congestion(now, Happening::ReductionEnds);
    }

    /// The threshold that stands for the present window, if it were to be remembered.
    pub(super) fn current_ssthresh(&self) -> u32 {
        let window = &self.snd.window;
        if self.is_reducing() { window.ssthresh } else { window.ssthresh.max(window.cwnd * 3 / 4) }
    }

    /// Nothing is lost: Open, or Disorder while something is out of order; Cwr for a mark.
    fn stay_open(&mut self, work: &AckWork) {
        if !self.any_retransmitted() {
            self.snd.retransmit_stamp = None;
        }
        if work.ece {
            self.enter_cwr(work.now);
        }
        if self.snd.recovery != RecoveryState::Cwr {
            self.try_to_open();
        }
    }

    fn try_to_open(&mut self) {
        let disorder =
            self.snd.queue.sacked() + self.snd.queue.lost() > 0 || self.any_retransmitted();
        let state = if disorder { RecoveryState::Disorder } else { RecoveryState::Open };
        if self.snd.recovery != state {
            self.snd.recovery = state;
            self.snd.recovery_end = self.snd.nxt;
        }
    }

    pub(super) fn any_retransmitted(&self) -> bool {
        let first = self.snd.queue.front();
        self.snd.queue.retransmitted() > 0 || first.is_some_and(|sent| sent.was_retransmitted())
    }

    /// The acknowledgment echoes a timestamp from before the first retransmission (RFC 4015).
    fn answers_original(&self, work: &AckWork) -> bool {
        match (self.snd.retransmit_stamp, work.echo) {
            (Some(first), Some(echo)) if echo != 0 => (echo.wrapping_sub(first) as i32) < 0,
            _ => false,
        }
    }

    fn may_undo(&self, work: &AckWork) -> bool {
        let Some(undo) = self.snd.undo else { return false };
        undo.retransmits == Some(0) || self.answers_original(work)
    }

    fn undo_reduction(&mut self, now: Time, unmark: bool) {
        if unmark {
            self.snd.queue.forgive_lost();
        }
        if self.snd.prior_ssthresh > 0 {
            let path = self.path(now);
            self.snd.window.cwnd = self.snd.congestion.undo_cwnd(&self.snd.window, &path);
            if self.snd.prior_ssthresh > self.snd.window.ssthresh {
                self.snd.window.ssthresh = self.snd.prior_ssthresh;
                self.snd.cwr_wanted = false;
            }
        }
        self.snd.undo = None;
        self.snd.rack.advanced = true;
        self.snd.counts.undone += 1;
        self.tell_congestion(now, Happening::Undone);
    }

    /// At the end of an episode. Returns true if the state is held: without SACK, until something
    /// sent after it is acknowledged, so that late duplicates begin no second one (RFC 6582).
    fn undo_at_end(&mut self, work: &AckWork) -> bool {
        let spurious = self.may_undo(work);
        if spurious {
            self.undo_reduction(work.now, false);
        }
        self.snd.rack.recovery_ended(spurious);
        if !self.sack && self.snd.una == self.snd.recovery_end {
            return true;
        }
        if spurious {
            self.snd.recovery = RecoveryState::Open;
        }
        false
    }

    /// A partial acknowledgment of the original: the hole was not a loss.
    fn undo_partial(&mut self, work: &AckWork) -> bool {
        if self.snd.undo.is_none() || !self.answers_original(work) {
            return false;
        }
        if self.snd.queue.retransmitted() > 0 {
            return true;
        }
        if !self.any_retransmitted() {
            self.snd.retransmit_stamp = None;
        }
        self.undo_reduction(work.now, true);
        self.try_to_open();
        true
    }

    fn undo_by_dsack(&mut self, now: Time) -> bool {
        let all_unneeded = self.snd.undo.is_some_and(|undo| undo.retransmits == Some(0));
        if all_unneeded {
            self.snd.rack.recovery_ended(true);
            self.undo_reduction(now, false);
        }
        all_unneeded
    }

    /// After a timeout (RFC 5682, and RFC 5681's slow start).
    fn judge_timeout(&mut self, work: &mut AckWork) {
        let recovered = self.snd.una >= self.snd.recovery_end;
        if work.advanced && self.undo_timeout(work, false) {
            return;
        }
        if self.snd.frto {
            // Step 3.b: an original was acknowledged, so the timeout was spurious.
            if work.acked_original && self.undo_timeout(work, true) {
                return;
            }
            if self.snd.nxt > self.snd.recovery_end {
                // Step 3.a: new data was sent, and a duplicate came: the losses are real.
                if work.sacked || work.is_duplicate() {
                    self.snd.frto = false;
                }
            } else if work.advanced && !recovered {
                // Step 2.b: try new data, if there is some; it goes out before any retransmission.
                self.snd.recovery_end = self.snd.nxt;
                if self.unsent_bytes() > 0 && self.window_end() > self.snd.nxt {
                    work.new_data_first = true;
                    return;
                }
                self.snd.frto = false;
            }
        }
        if recovered {
            if self.may_undo(work) {
                self.undo_reduction(work.now, false);
            }
            self.snd.rack.recovery_ended(false);
            self.snd.recovery = RecoveryState::Open;
            self.snd.undo = None;
            self.snd.frto = false;
            return;
        }
        if !self.sack {
            // RFC 6582: duplicates after a timeout tell nothing about which segment arrived.
            if work.advanced {
                self.snd.queue.guess_sacked(0);
            } else {
                self.count_duplicate(work);
            }
        }
    }

    fn undo_timeout(&mut self, work: &AckWork, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo(work) {
            return false;
        }
        self.undo_reduction(work.now, true);
        self.snd.retransmits = 0;
        self.snd.frto = false;
        if by_frto || self.sack {
            self.snd.recovery = RecoveryState::Open;
        }
        true
    }

    /// The timer fired: all counts as lost but what was sent just now (RFC 8985 section 6.3), and
    /// slow start begins anew (RFC 5681 section 3.1).
    pub(super) fn enter_loss(&mut self, now: Time) {
        let new_episode = self.snd.recovery < RecoveryState::Recovery;
        self.mark_all_lost(now);
        let first_of_episode = self.snd.recovery <= RecoveryState::Disorder
            || self.snd.una >= self.snd.recovery_end
            || self.snd.recovery == RecoveryState::Loss && self.snd.retransmits == 0;
        if first_of_episode {
            self.snd.prior_ssthresh = self.current_ssthresh();
            self.snd.window.prior_cwnd = self.snd.window.cwnd;
            let path = self.path(now);
            self.snd.window.ssthresh = self.snd.congestion.ssthresh(&self.snd.window, &path);
            self.tell_congestion(now, Happening::Timeout);
            self.begin_undo();
        }
        let snd = &mut self.snd;
        snd.window.cwnd = snd.queue.in_flight() + 1;
        snd.window.cwnd_count = 0;
        if snd.recovery <= RecoveryState::Disorder && snd.queue.sacked() >= snd.reordering {
            snd.reordering = snd.reordering.min(self.settings.reordering);
        }
        snd.recovery = RecoveryState::Loss;
        snd.recovery_end = snd.nxt;
        snd.tail_probe_end = None;
        snd.cwr_wanted = self.ecn;
        snd.frto = self.settings.frto && (new_episode || snd.retransmits > 0);
    }

    fn mark_all_lost(&mut self, now: Time) {
        // The receiver took back what it had sacked (RFC 2018 section 8).
        if self.snd.queue.front().is_some_and(|sent| sent.is_sacked()) || !self.sack {
            self.snd.queue.forget_sacks();
        }
        let patience = self.patience(now);
        let first = self.snd.queue.first();
        for number in self.snd.queue.numbers() {
            let sent = self.snd.queue.get(number);
            let recent = number != first
                && self.settings.rack
                && self.snd.rack.remaining(sent.sent_at, &patience).is_some();
            if !recent {
                self.mark_lost(now, number);
            }
        }
    }

    /// The outcome of the tail loss probe (RFC 8985 section 7.4.2).
    pub(super) fn answer_to_tail_probe(&mut self, work: &AckWork) {
        let Some(end) = self.snd.tail_probe_end else { return };
        if work.ack < end {
            return;
        }
        if !self.snd.tail_probe_was_retransmission || work.dsack_of_probe {
            // The probe was new data, or the original arrived as well: nothing was lost.
            self.snd.tail_probe_end = None;
        } else if work.ack > end {
            // The probe repaired a loss that was not noticed otherwise: the window has to pay for
            // it.
            self.begin_reduction(work.now);
            self.snd.recovery = RecoveryState::Cwr;
            self.end_reduction(work.now);
            self.try_to_open();
        } else if work.is_duplicate() && !work.sacked {
            self.snd.tail_probe_end = None;
        }
    }
}
