//! A segment arrives (RFC 9293 section 3.10.7), check by check in the RFC's order.

use units::{Span, Time};

use super::connection::{Connection, Happened, Io};
use super::receive_queue::Arrived;
use super::segment::Segment;
use super::sequence::expand;
use super::state::State;
use crate::congestion::EcnUse;
use wire::Ecn;
use wire::tcp::Flags;

/// Linux's tcp_fin_timeout: how long FIN-WAIT-2 waits for the other side's FIN.
const FIN_TIMEOUT: Span = Span::from_secs(60);

/// Why a segment was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its acknowledgment is for something never sent, or far too old.
    BadAck,
    /// An old timestamp (RFC 7323's PAWS).
    OldTimestamp,
    /// Outside of the window.
    OutsideWindow,
    /// It makes no sense in this state.
    Unexpected,
}

impl Connection {
    /// A segment whose checksum is right arrived.
    pub fn handle_segment(
        &mut self,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), Refusal> {
        match self.state {
            State::Closed => Err(Refusal::Unexpected),
            State::SynSent => self.handle_in_syn_sent(io, segment),
            _ => self.handle_in_sequence(io, segment),
        }
    }

    /// The other side's SYN: number 0 of its sequence.
    pub(super) fn take_syn(&mut self, now: Time, segment: &Segment<'_>) {
        let (offer, settings) = (&segment.options, &self.settings);
        self.rcv.initial = segment.seq;
        self.rcv.nxt = 1;
        self.rcv.read = 1;
        self.sack = settings.sack && offer.sack_permitted;
        self.timestamps = settings.timestamps && offer.timestamps.is_some();
        self.rcv.ts_recent = offer.timestamps.map(|stamps| stamps.value);
        let scaled = settings.window_scaling && offer.window_scale.is_some();
        self.snd.scale = if scaled { offer.window_scale.unwrap_or(0).min(14) } else { 0 };
        self.rcv.window.begin(now, scaled);
        if let Some(mss) = offer.max_segment_size {
            self.snd.mss_peer = u32::from(mss);
        }
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        self.snd.wnd = u64::from(segment.window);
        self.snd.wnd_max = self.snd.wnd;
        self.fit_mss();
    }

    /// RFC 9293 section 3.10.7.3.
    fn handle_in_syn_sent(
        &mut self,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), Refusal> {
        let answers = segment.flags.contains(Flags::ACK);
        if answers && expand(segment.ack, self.snd.initial, self.snd.una) != self.snd.nxt {
            if !segment.flags.contains(Flags::RST) {
                self.send_reset_for(io, segment.ack);
            }
            return Err(Refusal::BadAck);
        }
        if segment.flags.contains(Flags::RST) {
            if answers {
                self.finish(Happened::RESET);
            }
            return if answers { Ok(()) } else { Err(Refusal::Unexpected) };
        }
        if !segment.flags.contains(Flags::SYN) {
            return Err(Refusal::Unexpected);
        }
        self.take_syn(io.now, segment);
        if !answers {
            // Both opened at the same time (RFC 9293 figure 7).
            self.ecn &= segment.flags.contains(Flags::ECE | Flags::CWR);
            self.state = State::SynReceived;
            self.resend_syn(io);
            return Ok(());
        }
        // A SYN-ACK agrees to ECN with ECE alone (RFC 3168 section 6.1.1).
        self.ecn &= segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::CWR);
        self.establish(io.now);
        self.handle_ack(io, segment, 0)?;
        self.send_ack(io);
        self.push(io);
        Ok(())
    }

    /// RFC 9293 section 3.10.7.4.
    fn handle_in_sequence(
        &mut self,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), Refusal> {
        let seq = expand(segment.seq, self.rcv.initial, self.rcv.nxt);
        let syn = u64::from(segment.flags.contains(Flags::SYN));
        let fin = u64::from(segment.flags.contains(Flags::FIN));
        let end = seq + syn + segment.payload.len() as u64 + fin;
        // Of a simultaneous open the SYN comes once more, with the acknowledgment (RFC 9293 figure 7).
        let answers = self.state == State::SynReceived
            && segment.flags.contains(Flags::SYN)
            && segment.flags.contains(Flags::ACK)
            && end == self.rcv.nxt;
        if !answers {
            self.check_sequence(io, segment, seq, end)?;
        }
        if segment.flags.contains(Flags::RST) {
            return self.handle_reset(io, seq);
        }
        if segment.flags.contains(Flags::SYN) && !answers {
            // RFC 5961 section 4.2: challenge.
            self.send_ack(io);
            return Err(Refusal::Unexpected);
        }
        if !segment.flags.contains(Flags::ACK) {
            return Err(Refusal::Unexpected);
        }
        self.note_timestamp(segment, seq);
        if self.state == State::SynReceived {
            let ack = expand(segment.ack, self.snd.initial, self.snd.una);
            if ack <= self.snd.una || ack > self.snd.nxt {
                self.send_reset_for(io, segment.ack);
                return Err(Refusal::BadAck);
            }
            self.establish(io.now);
            self.snd.wnd_seq = seq;
        }
        self.handle_ack(io, segment, seq)?;
        self.advance_closing(io.now);
        if self.state == State::Closed {
            return Ok(());
        }
        if end > seq + syn {
            self.handle_data(io, segment, seq + syn, end, fin == 1);
        }
        self.push(io);
        self.acknowledge_if_due(io);
        Ok(())
    }

    /// First check: is the segment where the window is (RFC 9293 table 6, RFC 7323 section 5)?
    fn check_sequence(
        &mut self,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
        seq: u64,
        end: u64,
    ) -> Result<(), Refusal> {
        let resets = segment.flags.contains(Flags::RST);
        if let (Some(stamps), Some(recent)) = (segment.options.timestamps, self.rcv.ts_recent)
            && self.timestamps
            && (stamps.value.wrapping_sub(recent) as i32) < 0
            && !resets
        {
            self.note_dsack(seq, end);
            self.send_ack(io);
            return Err(Refusal::OldTimestamp);
        }
        // All or part of it in [nxt, nxt + window); or an empty one at the window's edge.
        let window_end = self.rcv.window.end().max(self.rcv.nxt);
        let inside = end >= self.rcv.nxt && seq <= window_end;
        let acceptable = if end == seq {
            inside
        } else {
            inside && end > self.rcv.nxt && (seq < window_end || seq == self.rcv.nxt)
        };
        if acceptable {
            return Ok(());
        }
        if !resets {
            if end > seq {
                // A second copy of received data: the first acknowledgment may have been lost.
                self.rcv.duplicates += 1;
                self.rcv.policy.quicken(16, &self.settings);
                if end <= self.rcv.nxt {
                    self.note_dsack(seq, end);
                }
            }
            if self.state == State::TimeWait {
                self.linger_due = io.now + self.settings.time_wait;
            }
            self.send_ack(io);
            // Linux still hears the acknowledgment of an old duplicate's sender; RFC 9293 does not.
        }
        Err(Refusal::OutsideWindow)
    }

    /// Second check (RFC 5961 section 3.2): only a RST at exactly the expected number counts.
    fn handle_reset(&mut self, io: &mut Io<'_>, seq: u64) -> Result<(), Refusal> {
        if seq == self.rcv.nxt {
            self.finish(Happened::RESET);
            return Ok(());
        }
        self.send_ack(io);
        Err(Refusal::OutsideWindow)
    }

    /// RFC 7323 section 4.3: the timestamp to echo is that of the last segment in order.
    fn note_timestamp(&mut self, segment: &Segment<'_>, seq: u64) {
        if let Some(stamps) = segment.options.timestamps
            && self.timestamps
            && seq <= self.rcv.last_ack_sent.max(1)
        {
            self.rcv.ts_recent = Some(stamps.value);
        }
    }

    /// Fifth check, the part about closing (RFC 9293 figure 5).
    fn advance_closing(&mut self, now: Time) {
        let fin_acknowledged = self.snd.fin.is_some_and(|fin| self.snd.una > fin);
        if !fin_acknowledged {
            return;
        }
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                self.linger_due = now + FIN_TIMEOUT;
            }
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.finish(Happened::CLOSED),
            _ => (),
        }
    }

    fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.linger_due = now + self.settings.time_wait;
        self.note(Happened::CLOSED);
    }

    /// Seventh and eighth check: payload and FIN.
    fn handle_data(
        &mut self,
        io: &mut Io<'_>,
        segment: &Segment<'_>,
        seq: u64,
        end: u64,
        fin: bool,
    ) {
        if !self.state.may_receive() {
            return;
        }
        let length = segment.payload.len() as u32;
        self.rcv.segments += 1;
        let short = length < self.rcv.mss_seen;
        self.rcv.policy.note_push(segment.flags.contains(Flags::PSH), short);
        self.rcv.mss_seen = self.rcv.mss_seen.max(length);
        self.note_receive_rtt(io.now, segment);
        if length > 0 {
            self.note_mark(io, segment);
        }
        let window_end = self.rcv.window.end().max(self.rcv.nxt);
        if fin && end <= window_end + 1 {
            self.rcv.fin = Some(end - 1);
        }
        let data_end = (end - u64::from(fin)).min(window_end);
        let rto = self.rto();
        let window_segments = self.rcv.window.open(self.rcv.nxt) / self.rcv.mss_seen;
        self.rcv.policy.data_arrived(io.now, window_segments, rto, &self.settings);
        if data_end > seq {
            self.file(io, seq, data_end);
        }
        self.take_fin(io.now);
    }

    /// Files `[from, to)` and takes what is in order.
    fn file(&mut self, io: &mut Io<'_>, from: u64, to: u64) {
        let had_holes = !self.rcv.queue.is_empty();
        let nxt = self.rcv.nxt;
        match self.rcv.queue.insert(from, to, nxt) {
            Arrived::InOrder(up_to) => {
                if from < nxt {
                    self.note_dsack(from, nxt);
                }
                self.rcv.nxt = up_to;
                self.rcv.bytes += up_to - nxt;
                let held = self.held_bytes();
                if self.rcv.window.segment_arrived((to - from) as u32, held, &self.settings) {
                    self.rcv.policy.note_growth();
                }
                self.take_in(io.now);
                self.note(Happened::READABLE);
                // A hole was filled: tell at once (RFC 5681 section 4.2).
                if had_holes {
                    self.rcv.policy.note_urgent();
                }
            }
            Arrived::OutOfOrder => {
                if !had_holes {
                    self.rcv.policy.note_urgent();
                }
            }
            Arrived::Duplicate => {
                self.rcv.duplicates += 1;
                self.note_dsack(from, to);
                self.rcv.policy.note_urgent();
            }
        }
    }

    /// The application takes as much of the data in order as it wants.
    pub(super) fn take_in(&mut self, now: Time) {
        let wanted = self.rcv.read_limit.saturating_add(1);
        self.rcv.read = self.stream_end().min(wanted).max(self.rcv.read);
        let waiting = self.rcv.queue.highest().map_or(0, |highest| highest - self.rcv.nxt);
        self.rcv.window.fit(now, self.rcv.read, waiting, &self.settings);
    }

    /// All before the other side's FIN is here: so is the FIN.
    fn take_fin(&mut self, now: Time) {
        if self.rcv.fin != Some(self.rcv.nxt) {
            return;
        }
        self.rcv.nxt += 1;
        self.rcv.policy.note_urgent();
        self.note(Happened::PEER_CLOSED);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => (),
        }
    }

    /// RFC 2883: the first SACK block of the next acknowledgment reports a duplicate.
    pub(super) fn note_dsack(&mut self, from: u64, to: u64) {
        if self.sack && self.settings.dsack && to > from {
            self.rcv.dsack = Some((from, to));
        }
    }

    /// The receiver's view of the round trip: what it echoed is what it had sent then.
    fn note_receive_rtt(&mut self, now: Time, segment: &Segment<'_>) {
        if let Some(stamps) = segment.options.timestamps
            && stamps.echo_reply != 0
            && segment.payload.len() as u32 >= self.rcv.mss_seen
        {
            let ms = super::timestamp(now).wrapping_sub(stamps.echo_reply);
            // Segments that wait for the window are no measure of the path.
            if ms < 60_000 {
                self.rcv.window.measured((ms * 1000).max(1000), true);
            }
        }
    }

    /// A congestion mark on data (RFC 3168 section 6.1.3, RFC 8257 section 3.2).
    fn note_mark(&mut self, io: &mut Io<'_>, segment: &Segment<'_>) {
        if !self.ecn {
            return;
        }
        let marked = segment.ecn == Ecn::Ce;
        self.rcv.marks += u64::from(marked);
        if self.snd.congestion.ecn() == EcnUse::Classic {
            if segment.flags.contains(Flags::CWR) {
                self.rcv.echo_ce = false;
                self.rcv.policy.note_urgent();
            }
            if marked {
                if !self.rcv.echo_ce {
                    self.rcv.policy.quicken(2, &self.settings);
                }
                self.rcv.echo_ce = true;
            }
        } else if marked != self.rcv.echo_ce {
            // One acknowledgment must not answer for marked and unmarked segments both.
            if self.rcv.last_ack_sent < self.rcv.nxt {
                self.send_ack(io);
            }
            self.rcv.echo_ce = marked;
            self.rcv.policy.note_urgent();
        }
    }
}
