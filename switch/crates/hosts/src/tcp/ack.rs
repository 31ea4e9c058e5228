//! The meaning of an acknowledgment: which data arrived, how long it took, and the consequences.
//!
//! The order is Linux's: take off what is acknowledged, mark what is sacked, measure, let recovery
//! decide what is lost, let congestion control decide how much may be in flight, repair, send on.

use units::Time;
use wire::tcp::Flags;

use super::connection::{Connection, Happened, Io, Waiting};
use super::input::Refusal;
use super::rate_sample::{RateSample, Sampling};
use super::segment::Segment;
use super::sequence::expand;
use super::state::{RecoveryState, State};

/// The effects of one acknowledgment, collected while it is processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckWork {
    pub now: Time,
    pub ack: u64,
    pub prior_una: u64,
    /// The highest data that SACK had reported before.
    pub prior_sacked_up_to: u64,
    pub prior_in_flight: u32,
    pub prior_delivered: u64,
    pub prior_lost: u64,
    /// The first unacknowledged byte moved; data (not a SYN) was among what it passed.
    pub advanced: bool,
    pub acked_data: bool,
    /// Of what was acknowledged: something was sent twice; something was sent once before the
    /// present episode began, so its acknowledgment is an original one.
    pub acked_retransmission: bool,
    pub acked_original: bool,
    /// SACK reported new data; it reported a duplicate, and one that answers the tail probe.
    pub sacked: bool,
    pub dsack: bool,
    pub dsack_of_probe: bool,
    /// The window changed; the segment carries data or a FIN; it carries ECE.
    pub window_update: bool,
    pub carries_data: bool,
    pub ece: bool,
    /// A retransmission was found to be lost.
    pub lost_retransmission: bool,
    /// F-RTO: new data goes out before anything is sent again.
    pub new_data_first: bool,
    /// The timer has to be set anew.
    pub rearm: bool,
    /// The timestamp echoed, if there is one.
    pub echo: Option<u32>,
    pub sampling: Sampling,
    /// When the first and the last of the segments were sent that were acknowledged without doubt.
    pub first_acked_at: Option<Time>,
    pub last_acked_at: Option<Time>,
    pub first_sacked_at: Option<Time>,
    pub last_sacked_at: Option<Time>,
    pub segments_acked: u32,
    /// The lowest number that arrived late although it was never sent again: reordering.
    pub reordered_from: u64,
}

impl AckWork {
    /// Linux's "dubious": recovery has to examine it.
    fn is_dubious(&self, recovery: RecoveryState) -> bool {
        let not_duplicate =
            self.carries_data || self.window_update || self.acked_data || self.advanced;
        !not_duplicate || self.sacked || self.dsack || self.ece || recovery != RecoveryState::Open
    }

    /// A pure duplicate acknowledgment (RFC 5681 section 2).
    pub fn is_duplicate(&self) -> bool {
        !self.advanced && !self.carries_data && !self.window_update
    }
}

impl Connection {
    /// Works an acknowledgment in; `seq` is the number of the segment that carries it.
    pub(super) fn handle_ack(
        &mut self,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
        seq: u64,
    ) -> Result<(), Refusal> {
        let ack = expand(segment.ack, self.snd.initial, self.snd.una);
        let mut work = self.begin_work(io.now, segment, ack);
        if ack > self.snd.nxt {
            // RFC 9293 section 3.10.7.4, fifth check; RFC 5961 section 5.
            self.send_ack(io);
            return Err(Refusal::BadAck);
        }
        if ack < self.snd.una {
            if ack + self.snd.wnd_max < self.snd.una {
                self.send_ack(io);
                return Err(Refusal::BadAck);
            }
            // Overtaken by a later one; what it says of SACK may still be news.
            self.tag_sacked(&mut work, segment);
            return Ok(());
        }
        if ack > self.snd.una {
            work.advanced = true;
            self.snd.retransmits = 0;
        }
        self.update_window(&mut work, segment, seq, ack);
        self.snd.una = ack;
        self.tag_sacked(&mut work, segment);
        // On a SYN, ECE is part of the agreement, no echo.
        if segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN) && self.ecn {
            work.ece = true;
            self.snd.counts.marks += 1;
        }
        if self.snd.queue.is_empty() {
            self.answer_to_probe(io.now);
        } else {
            self.take_off_acknowledged(&mut work);
            self.measure(&mut work);
            self.recover(io, &mut work);
        }
        if work.advanced && self.snd.una == self.snd.nxt && self.snd.una > self.snd.offered {
            self.note(Happened::ALL_ACKNOWLEDGED);
        }
        Ok(())
    }

    fn begin_work(&self, now: Time, segment: &Segment<'_>, ack: u64) -> AckWork {
        let queue = &self.snd.queue;
        AckWork {
            now,
            ack,
            prior_una: self.snd.una,
            prior_sacked_up_to: queue.sacked_up_to,
            prior_in_flight: queue.in_flight(),
            prior_delivered: self.snd.rate.delivered,
            prior_lost: self.snd.rate.lost,
            advanced: false,
            acked_data: false,
            acked_retransmission: false,
            acked_original: false,
            sacked: false,
            dsack: false,
            dsack_of_probe: false,
            window_update: false,
            carries_data: !segment.payload.is_empty() || segment.flags.contains(Flags::FIN),
            ece: false,
            lost_retransmission: false,
            new_data_first: false,
            rearm: false,
            echo: segment.options.timestamps.map(|t| t.echo_reply).filter(|_| self.timestamps),
            sampling: Sampling::default(),
            first_acked_at: None,
            last_acked_at: None,
            first_sacked_at: None,
            last_sacked_at: None,
            segments_acked: 0,
            reordered_from: u64::MAX,
        }
    }

    /// RFC 9293 section 3.10.7.4: SND.WND, if this is not older than what set it last.
    fn update_window(&mut self, work: &mut AckWork, segment: &Segment<'_>, seq: u64, ack: u64) {
        let scale = if segment.flags.contains(Flags::SYN) { 0 } else { self.snd.scale };
        let window = u64::from(segment.window) << scale;
        let newer = ack > self.snd.una
            || seq > self.snd.wnd_seq
            || seq == self.snd.wnd_seq && window > self.snd.wnd;
        if newer {
            work.window_update = window != self.snd.wnd;
            self.snd.wnd_seq = seq;
            self.snd.wnd = window;
            if window > self.snd.wnd_max {
                self.snd.wnd_max = window;
                self.fit_mss();
            }
        }
    }

    /// Takes the segments below `una` off the queue.
    fn take_off_acknowledged(&mut self, work: &mut AckWork) {
        let snd = &mut self.snd;
        let min_rtt_us = snd.rtt.min_us();
        while let Some(mut sent) = snd.queue.acknowledge(snd.una) {
            work.rearm = true;
            work.segments_acked += 1;
            work.acked_data |= sent.seq > 0;
            if sent.was_retransmitted() {
                work.acked_retransmission = true;
            } else if !sent.is_sacked() {
                work.last_acked_at = Some(sent.sent_at);
                work.first_acked_at.get_or_insert(sent.sent_at);
                work.reordered_from = work.reordered_from.min(sent.seq);
                work.acked_original |= sent.end() <= snd.recovery_end;
            }
            if !sent.is_sacked() {
                snd.rate.delivered += 1;
                snd.rate.segment_delivered(&mut work.sampling, &mut sent);
                snd.rack.segment_delivered(&sent, work.now, min_rtt_us);
            }
        }
        if !self.sack && work.segments_acked > 0 {
            // RFC 6582: of the duplicates counted, those acknowledged now are subtracted.
            let guessed = snd.queue.sacked().saturating_sub(work.segments_acked - 1);
            snd.queue.guess_sacked(if work.acked_data { guessed } else { 0 });
            // RFC 5682: an acknowledgment of a retransmission may pass originals that were received
            // before the timeout. Without SACK this is not known.
            work.acked_original &= !work.acked_retransmission;
        }
        // SACK blocks of this acknowledgment itself do not count: a receiver that delayed one
        // reports both at once.
        if work.reordered_from < work.prior_sacked_up_to && work.advanced {
            self.note_reordering(work.reordered_from);
        }
    }

    /// Round-trip times (RFC 6298 section 3 and RFC 7323 section 4).
    fn measure(&mut self, work: &mut AckWork) {
        let now = work.now;
        let since = |at: Option<Time>| at.map(|at| now.since(at).whole_us() as u32);
        // Karn's rule: what was sent twice is not timed, unless a timestamp tells which it was.
        let doubtful = work.acked_retransmission;
        let mut oldest_us = since(work.first_acked_at).filter(|_| !doubtful);
        let newest_us = since(work.last_acked_at).filter(|_| !doubtful);
        oldest_us = oldest_us.or(since(work.first_sacked_at));
        if oldest_us.is_none()
            && work.segments_acked > 0
            && let Some(echo) = work.echo.filter(|echo| *echo != 0)
        {
            let ms = super::timestamp(now).wrapping_sub(echo);
            oldest_us = (ms < 1 << 20).then_some(ms.max(1) * 1000);
        }
        let newest_us = newest_us.or(since(work.last_sacked_at));
        if let Some(us) = newest_us.or(oldest_us) {
            self.snd.rtt.note_min(us, now.whole_us() / 1_000_000);
        }
        if let Some(us) = oldest_us {
            self.snd.rtt.sample(us, self.snd.una, self.snd.nxt, self.settings.rto_min);
            self.snd.rtt.forget_backoff();
        }
        if work.segments_acked > 0 || work.sacked {
            let path = self.path(now);
            if let Some(us) = newest_us {
                self.snd.congestion.measured(&mut self.snd.window, &path, us);
            }
        }
        work.last_acked_at =
            newest_us.map(|us| Time::from_ps(now.ps() - u64::from(us) * 1_000_000));
    }

    /// Recovery, congestion control, and what they let out.
    fn recover(&mut self, io: &mut Io<'_>, work: &mut AckWork) {
        let acked = (self.snd.rate.delivered - work.prior_delivered) as u32;
        self.snd.rack.adapt(self.snd.rate.delivered - u64::from(acked), self.snd.rate.delivered);
        if self.snd.tail_probe_end.is_some() {
            self.answer_to_tail_probe(work);
        }
        let marked = if work.ece { acked } else { 0 };
        self.snd.rate.delivered_ce += u64::from(marked);
        let path = self.path(work.now);
        self.snd.congestion.acknowledged(&mut self.snd.window, &path, acked, marked);
        if work.is_dubious(self.snd.recovery) {
            self.judge_losses(work);
        }
        if work.rearm {
            self.arm_after_ack(work.now);
        }
        let newly_lost = (self.snd.rate.lost - work.prior_lost) as u32;
        let min_rtt_us = self.snd.rtt.min_us();
        let mut sample =
            self.snd.rate.finish(work.sampling, work.now, acked, newly_lost, min_rtt_us);
        sample.prior_in_flight = work.prior_in_flight;
        sample.ece = work.ece;
        sample.rtt_us = work.last_acked_at.map(|at| work.now.since(at).whole_us() as u32);
        let lone =
            work.segments_acked == 1 && self.snd.una - work.prior_una < u64::from(self.snd.mss);
        sample.ack_delayed = lone && !work.sacked;
        self.set_window(work, &sample);
        if work.new_data_first {
            self.push(io);
            if self.snd.nxt > self.snd.recovery_end {
                return;
            }
            self.snd.frto = false;
        }
        self.retransmit_lost(io);
    }

    /// Lets the algorithm, or PRR, set the window.
    fn set_window(&mut self, work: &AckWork, sample: &RateSample) {
        let path = self.path(work.now);
        if self.snd.congestion.takes_over() {
            self.snd.congestion.control(&mut self.snd.window, &path, sample);
            if std::mem::take(&mut self.snd.window.limited_by_choice) {
                let until = self.snd.rate.delivered + u64::from(path.in_flight);
                self.snd.rate.app_limited_until = until.max(1);
            }
            return;
        }
        if self.is_reducing() {
            let clean = work.advanced && sample.newly_lost == 0;
            let (ssthresh, in_flight) = (self.snd.window.ssthresh, path.in_flight);
            if let Some(cwnd) = self.snd.prr.cwnd(ssthresh, in_flight, sample.acked, clean) {
                self.snd.window.cwnd = cwnd;
            }
        } else if self.may_grow(work) {
            self.snd.congestion.grow(&mut self.snd.window, &path, sample.acked);
        }
        self.update_pacing();
    }

    /// The window is being reduced by PRR.
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.snd.recovery, RecoveryState::Cwr | RecoveryState::Recovery)
    }

    /// On a path that reorders, SACK counts as progress too.
    fn may_grow(&self, work: &AckWork) -> bool {
        let reorders = self.snd.reordering > self.settings.reordering;
        work.acked_data || reorders && work.sacked
    }

    /// Nothing was in flight: the acknowledgment answers a window probe, or just opens the window.
    fn answer_to_probe(&mut self, now: Time) {
        if self.state == State::Closed || self.snd.waiting != Waiting::ZeroWindow {
            return;
        }
        self.snd.retransmits = 0;
        self.snd.rtt.forget_backoff();
        if self.snd.wnd >= u64::from(self.snd.mss.min(self.unsent_bytes().max(1) as u32)) {
            self.disarm();
        } else {
            self.arm_zero_window(now);
        }
    }
}
