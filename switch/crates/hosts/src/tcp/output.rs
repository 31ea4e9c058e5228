//! Output: new data, repairs, acknowledgments (RFC 9293 section 3.8, RFC 6675 section 5).
//!
//! New data leaves while cwnd, the other side's window, pacing and the local queue allow it; a
//! burst that could be larger in a moment waits for it, as Linux's TSO does.

use units::{Span, Time};
use wire::Ecn;
use wire::tcp::{Flags, SeqNumber};
use wire::tcp_options::{SackBlock, Settings as Options, Timestamps};

use super::connection::{Connection, Io, Waiting};
use super::segment::Outgoing;
use super::sequence::wire_number;
use super::state::{RecoveryState, State};
use crate::congestion::{EcnUse, Happening};

/// A burst smaller than this part of the window may wait for the next acknowledgment
/// (tcp_tso_win_divisor), if that is less than a millisecond away.
const DEFER_DIVISOR: u64 = 3;
const DEFER_SPAN: Span = Span::from_ms(1);
const SACK_BLOCK_BYTES: u32 = 8;
/// Linux's addition to a packet's payload before it rounds up to a power of two: room for headers
/// and the list of fragments.
const PACKET_OVERHEAD_BYTES: u32 = 640;

impl Connection {
    /// Sends all that may leave now.
    pub fn push(&mut self, io: &mut Io<'_>) {
        let open = matches!(
            self.state,
            State::Established
                | State::CloseWait
                | State::FinWait1
                | State::Closing
                | State::LastAck
        );
        if !open {
            return;
        }
        self.expand_send_buffer();
        if !self.has_unsent() {
            self.after_push(io.now);
            return;
        }
        let was_empty = self.snd.queue.is_empty();
        let mut sent = 0;
        let mut deferred = false;
        while self.has_unsent() && !self.is_held_back(io.now) {
            let in_flight = self.snd.queue.in_flight();
            let quota = self.snd.window.cwnd.saturating_sub(in_flight);
            if quota == 0 || !self.fits_window() || self.nagle_waits() || self.is_throttled() {
                break;
            }
            let most = self.burst_segments();
            if self.should_defer(io.now, quota, most) {
                deferred = true;
                break;
            }
            let burst = quota.min((self.snd.window.cwnd / 2).max(1)).min(most);
            let before = sent;
            if !self.send_burst(io, burst, &mut sent) {
                break;
            }
            debug_assert!(sent > before);
        }
        if sent > 0 {
            self.note_sent_new(io.now, was_empty);
        }
        let full = deferred || self.snd.queue.in_flight() >= self.snd.window.cwnd;
        if sent > 0 || full {
            self.note_window_use(io.now, full);
        }
        self.after_push(io.now);
    }

    /// Up to `burst` segments; false if the local queue is full.
    fn send_burst(&mut self, io: &mut Io<'_>, burst: u32, sent: &mut u32) -> bool {
        let (mut bytes, before) = (0, *sent);
        for _ in 0..burst {
            if !self.has_unsent() || !self.fits_window() {
                break;
            }
            if io.room == 0 {
                // As when a qdisc drops: slow down, and try again when there is room.
                self.enter_cwr(io.now);
                self.note_paced(io.now, bytes);
                return false;
            }
            let length = self.send_next(io);
            bytes += u64::from(length);
            *sent += 1;
        }
        // Linux ends each burst with PSH, so that the receiver does not wait for more of it.
        if *sent - before > 1
            && let Some(last) = io.out.last_mut()
        {
            last.flags |= Flags::PSH;
        }
        self.note_paced(io.now, bytes);
        true
    }

    /// The next new segment leaves; returns its payload's length.
    pub(super) fn send_next(&mut self, io: &mut Io<'_>) -> u32 {
        let seq = self.snd.nxt;
        let room = self.window_end().saturating_sub(seq).max(1);
        let length = self.unsent_bytes().min(u64::from(self.snd.mss)).min(room) as u32;
        let is_last = seq + u64::from(length) == self.snd.offered + 1;
        let with_fin = is_last && self.snd.closing && self.snd.fin.is_none();
        if with_fin {
            self.snd.fin = Some(seq + u64::from(length));
            self.state = match self.state {
                State::CloseWait => State::LastAck,
                _ => State::FinWait1,
            };
        }
        let in_flight = self.snd.queue.in_flight();
        let nothing = self.snd.queue.is_empty();
        if in_flight == 0 {
            self.tell_congestion(io.now, Happening::TransmitStart);
        }
        let stamp = self.snd.rate.stamp(io.now, nothing, in_flight);
        let numbers = length + u32::from(with_fin);
        self.snd.queue.push(seq, numbers, io.now, stamp);
        self.snd.nxt += u64::from(numbers);
        if self.is_reducing() {
            self.snd.prr.note_sent();
        }
        self.emit_stream(io, seq, numbers, true);
        length
    }

    /// Sends again what is lost, as far as the window allows (RFC 6675 section 5, step C).
    pub(super) fn retransmit_lost(&mut self, io: &mut Io<'_>) {
        while let Some(number) = self.snd.queue.next_to_retransmit() {
            if self.is_held_back(io.now)
                || self.snd.queue.in_flight() >= self.snd.window.cwnd
                || io.room == 0
            {
                return;
            }
            self.retransmit(io, number);
            if self.is_reducing() {
                self.snd.prr.note_sent();
            }
            if number == self.snd.queue.first() && self.snd.waiting != Waiting::Reordering {
                let rto = self.rto();
                self.arm(Waiting::Timeout, io.now + rto);
            }
        }
    }

    /// Sends one segment again.
    pub(super) fn retransmit(&mut self, io: &mut Io<'_>, number: u64) {
        let in_flight = self.snd.queue.in_flight();
        let stamp = self.snd.rate.stamp(io.now, false, in_flight);
        self.snd.queue.retransmit(number, io.now, stamp);
        let sent = self.snd.queue.get(number);
        let (seq, numbers) = (sent.seq, sent.length);
        self.snd.retransmit_stamp.get_or_insert(super::timestamp(io.now));
        self.snd.counts.retransmitted += 1;
        if let Some(undo) = &mut self.snd.undo {
            undo.retransmits = Some(undo.retransmits.unwrap_or(0) + 1);
        }
        self.emit_stream(io, seq, numbers, false);
        self.note_paced(io.now, u64::from(numbers));
    }

    /// Puts the stream's `[seq, seq + numbers)` into a segment; a FIN is the number after the data.
    fn emit_stream(&mut self, io: &mut Io<'_>, seq: u64, numbers: u32, first_time: bool) {
        let end = seq + u64::from(numbers);
        let has_fin = self.snd.fin.is_some_and(|fin| end > fin);
        let length = numbers - u32::from(has_fin);
        let mut flags = Flags::ACK;
        if has_fin {
            flags |= Flags::FIN;
        }
        if end > self.snd.offered && length > 0 {
            flags |= Flags::PSH;
        }
        if first_time && std::mem::take(&mut self.snd.cwr_wanted) && self.ecn {
            flags |= Flags::CWR;
        }
        // RFC 3168 section 6.1.5: a retransmission is not ECN-capable; RFC 8257 lifts that.
        let ecn = match self.snd.congestion.ecn() {
            _ if !self.ecn => Ecn::NotEct,
            EcnUse::Classic if !first_time || length == 0 => Ecn::NotEct,
            EcnUse::Classic | EcnUse::EveryMark => Ecn::Ect0,
            EcnUse::L4s => Ecn::Ect1,
        };
        self.snd.last_sent_at = io.now;
        self.snd.counts.data_segments += 1;
        self.snd.counts.bytes += u64::from(length);
        self.rcv.policy.data_sent(io.now);
        let mut out = self.header(io.now, flags, seq, length);
        out.offset = seq.saturating_sub(1);
        out.length = length;
        out.ecn = ecn;
        self.emit(io, out);
    }

    /// The timers and the algorithm hear of new data on its way.
    fn note_sent_new(&mut self, now: Time, was_empty: bool) {
        if was_empty || self.snd.waiting == Waiting::TailProbe {
            self.arm_timeout(now);
        }
        self.schedule_tail_probe(now);
    }

    /// Whether the window is what limits the sender (RFC 7661's question, Linux's answer): true if
    /// it was full at any time in the last window.
    fn note_window_use(&mut self, now: Time, full: bool) {
        let snd = &mut self.snd;
        let sent = snd.queue.sent();
        if snd.una >= snd.usage_end || full || !snd.cwnd_limited && sent > snd.sent_max {
            snd.cwnd_limited = full;
            snd.sent_max = sent;
            snd.usage_end = snd.nxt;
        }
        if self.is_cwnd_limited() {
            self.snd.used = 0;
            self.snd.used_at = now;
            return;
        }
        self.snd.used = self.snd.used.max(sent);
        let starved = now.since(self.snd.used_at) >= self.rto();
        if self.settings.slow_start_after_idle && starved && !self.snd.congestion.takes_over() {
            self.fit_window_to_use(now);
        }
    }

    pub(super) fn is_cwnd_limited(&self) -> bool {
        let snd = &self.snd;
        snd.cwnd_limited || snd.window.in_slow_start() && snd.window.cwnd < 2 * snd.sent_max
    }

    /// A window that was not used for a timeout shrinks half-way to what was (RFC 2861).
    fn fit_window_to_use(&mut self, now: Time) {
        if self.snd.recovery == RecoveryState::Open {
            let used = self.snd.used.max(self.settings.initial_window);
            if used < self.snd.window.cwnd {
                self.snd.window.ssthresh = self.current_ssthresh();
                self.snd.window.cwnd = self.snd.window.cwnd.midpoint(used);
            }
            self.snd.used = 0;
        }
        self.snd.used_at = now;
    }

    /// After an idle time longer than the timeout, slow start begins anew (RFC 5681 section 4.1),
    /// from a window halved for each timeout that passed.
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        self.note_app_limited();
        let idle = now.since(self.snd.last_sent_at);
        let rto = self.rto();
        let applies = self.settings.slow_start_after_idle
            && self.snd.queue.is_empty()
            && self.state.is_synchronized()
            && !self.snd.congestion.takes_over();
        if !applies || idle <= rto {
            return;
        }
        self.snd.window.ssthresh = self.current_ssthresh();
        let least = self.settings.initial_window.min(self.snd.window.cwnd);
        let halvings = (idle.ps() / rto.ps().max(1)).min(31) as u32;
        self.snd.window.cwnd = (self.snd.window.cwnd >> halvings).max(least);
        self.snd.used = 0;
        self.snd.used_at = now;
    }

    /// The delivery rate from here on underestimates the path.
    fn note_app_limited(&mut self) {
        let queue = &self.snd.queue;
        let idle = self.unsent_bytes() < u64::from(self.snd.mss)
            && queue.in_flight() < self.snd.window.cwnd
            && queue.lost() <= queue.retransmitted()
            && self.snd.queued_bytes == 0;
        if idle && self.state.is_synchronized() {
            let until = self.snd.rate.delivered + u64::from(queue.in_flight());
            self.snd.rate.app_limited_until = until.max(1);
        }
    }

    /// The end of a push, when nothing more may leave.
    fn after_push(&mut self, now: Time) {
        let waits_for_buffer = self.snd.offered + 1 > self.send_limit();
        if waits_for_buffer {
            self.note_app_limited();
        }
        let shut = self.snd.queue.is_empty() && self.has_unsent() && !self.fits_window();
        if shut && self.snd.waiting == Waiting::Nothing {
            self.arm_zero_window(now);
        }
    }

    /// The number up to which the send buffer holds what the application wants to send.
    fn send_limit(&self) -> u64 {
        let held = self.snd.una.max(1).saturating_add(self.snd.buffer_bytes);
        held.min(self.snd.offered.saturating_add(1))
    }

    /// The send buffer grows with the window, twice as large, and never shrinks (Linux's
    /// tcp_sndbuf_expand): in recovery more than a window may be unacknowledged. Linux counts a
    /// packet with the memory it would take if it were alone, although several share theirs, so
    /// what fits is some six windows: the application may be late by that much.
    pub(super) fn expand_send_buffer(&mut self) {
        let memory = &self.settings.wmem;
        let packets = self.snd.window.cwnd.max(self.settings.initial_window);
        let alone = u64::from(self.snd.mss + PACKET_OVERHEAD_BYTES).next_power_of_two();
        let wanted = 2 * u64::from(packets.max(self.snd.reordering + 1)) * alone;
        let wanted = wanted.max(memory.default.count()).min(memory.max.count());
        self.snd.buffer_bytes = self.snd.buffer_bytes.max(wanted);
    }

    /// Bytes that could leave as far as the application and the send buffer are concerned.
    pub fn unsent_bytes(&self) -> u64 {
        self.send_limit().saturating_sub(self.snd.nxt.max(1))
    }

    fn has_unsent(&self) -> bool {
        let fin_waits =
            self.snd.closing && self.snd.fin.is_none() && self.snd.nxt == self.snd.offered + 1;
        self.unsent_bytes() > 0 || fin_waits
    }

    /// The first number the other side does not take yet.
    pub(super) fn window_end(&self) -> u64 {
        self.snd.una + self.snd.wnd
    }

    /// The next segment fits into the other side's window, whole (RFC 9293 section 3.8.6.2.1).
    fn fits_window(&self) -> bool {
        let next = self.unsent_bytes().min(u64::from(self.snd.mss));
        self.snd.nxt + next <= self.window_end()
    }

    /// Nagle (RFC 9293 section 3.7.4): a small segment waits while something is unacknowledged.
    fn nagle_waits(&self) -> bool {
        self.settings.nagle
            && self.unsent_bytes() < u64::from(self.snd.mss)
            && !self.snd.queue.is_empty()
            && !self.snd.closing
    }

    /// This connection has enough in the local queue (Linux's TCP small queues).
    pub fn is_throttled(&self) -> bool {
        let Some(most) = self.settings.queued_bytes_max else { return false };
        let millisecond = (self.pacing_bytes_per_s() >> 10).max(2 * u64::from(self.snd.mss));
        u64::from(self.snd.queued_bytes) >= most.count().min(millisecond)
    }

    /// Whether a larger burst is about to become possible.
    fn should_defer(&mut self, now: Time, quota: u32, most: u32) -> bool {
        let mss = u64::from(self.snd.mss);
        if most == 1 || self.unsent_bytes() <= mss || self.snd.recovery >= RecoveryState::Recovery {
            return false;
        }
        if now.since(self.snd.last_sent_at) > DEFER_SPAN {
            return false;
        }
        let by_window = self.window_end() - self.snd.nxt;
        let limit = by_window.min(u64::from(quota) * mss);
        let window = self.snd.wnd.min(u64::from(self.snd.window.cwnd) * mss);
        if limit >= u64::from(most) * mss
            || limit >= window / DEFER_DIVISOR
            || limit >= self.unsent_bytes()
        {
            return false;
        }
        let Some(first) = self.snd.queue.front() else { return false };
        let srtt = Span::from_us(u64::from(self.snd.rtt.srtt_us()));
        let until_ack = (first.sent_at + srtt).since(now);
        until_ack <= (srtt / 2).min(DEFER_SPAN)
    }

    /// A header: everything but payload and ECN. It counts as an acknowledgment.
    fn header(&mut self, now: Time, flags: Flags, seq: u64, length: u32) -> Outgoing {
        let mut options = Options::default();
        if self.timestamps {
            options.timestamps = Some(self.stamps(now));
        }
        self.add_sack_blocks(&mut options, length);
        let mut flags = flags;
        if self.rcv.echo_ce && self.ecn {
            flags |= Flags::ECE;
        }
        let window = self.rcv.window.choose(self.rcv.nxt, self.held_bytes(), &self.settings);
        let window = self.rcv.window.tell(window, self.rcv.nxt, false);
        self.rcv.last_ack_sent = self.rcv.nxt;
        self.rcv.policy.ack_sent(&self.settings);
        Outgoing {
            seq: wire_number(seq, self.snd.initial),
            ack: wire_number(self.rcv.nxt, self.rcv.initial),
            flags,
            window,
            options,
            offset: 0,
            length: 0,
            ecn: Ecn::NotEct,
        }
    }

    fn stamps(&self, now: Time) -> Timestamps {
        Timestamps { value: super::timestamp(now), echo_reply: self.rcv.ts_recent.unwrap_or(0) }
    }

    /// DSACK first, then the newest ranges, where the header and a full segment leave room.
    fn add_sack_blocks(&mut self, options: &mut Options, length: u32) {
        if !self.sack || self.rcv.dsack.is_none() && self.rcv.queue.is_empty() {
            return;
        }
        let most = if self.timestamps { 3 } else { 4 };
        let room = self.snd.mss.saturating_sub(length + 4) / SACK_BLOCK_BYTES;
        let initial = self.rcv.initial;
        let blocks = self.rcv.dsack.take().into_iter().chain(self.rcv.queue.blocks());
        for (from, to) in blocks.take(most.min(room as usize)) {
            options.sack.push(SackBlock {
                left: SeqNumber(wire_number(from, initial)),
                right: SeqNumber(wire_number(to, initial)),
            });
        }
    }

    fn emit(&mut self, io: &mut Io<'_>, out: Outgoing) {
        self.snd.counts.segments += 1;
        io.room = io.room.saturating_sub(1);
        io.out.push(out);
    }

    /// An acknowledgment without data.
    pub(super) fn send_ack(&mut self, io: &mut Io<'_>) {
        let mut out = self.header(io.now, Flags::ACK, self.snd.nxt, 0);
        // DCTCP and L4S mark acknowledgments as capable too: they share the queue of the data.
        out.ecn = match self.snd.congestion.ecn() {
            EcnUse::EveryMark if self.ecn => Ecn::Ect0,
            EcnUse::L4s if self.ecn => Ecn::Ect1,
            _ => Ecn::NotEct,
        };
        self.emit(io, out);
    }

    /// A probe of a shut window: an old number, which has to be answered (RFC 9293 section 3.8.6.1).
    pub(super) fn send_window_probe(&mut self, io: &mut Io<'_>) {
        let seq = self.snd.una - 1;
        let out = self.header(io.now, Flags::ACK, seq, 0);
        self.emit(io, out);
    }

    /// After a segment was worked in: acknowledges if it is time.
    pub(super) fn acknowledge_if_due(&mut self, io: &mut Io<'_>) {
        let unacknowledged = self.rcv.nxt - self.rcv.window.told_at().min(self.rcv.nxt);
        let segments = u64::from(self.settings.segments_per_ack.max(1) - 1);
        let window = &self.rcv.window;
        let chosen = window.choose(self.rcv.nxt, self.held_bytes(), &self.settings);
        let situation = super::ack_policy::Situation {
            now: io.now,
            enough: unacknowledged > segments * u64::from(self.rcv.mss_seen),
            window_open: u64::from(chosen) + unacknowledged >= u64::from(window.last_told()),
            holes: !self.rcv.queue.is_empty(),
            drained: self.held_bytes() == 0,
            sack: self.sack,
            nxt: self.rcv.nxt,
            rtt_us: window.rtt_us(),
            srtt_us: self.snd.rtt.srtt_us(),
        };
        if self.rcv.policy.decide(&situation, &self.settings) {
            self.send_ack(io);
        }
    }

    /// The SYN, or SYN-ACK: number 0 of our sequence.
    pub(super) fn send_syn(&mut self, io: &mut Io<'_>) {
        let stamp = self.snd.rate.stamp(io.now, true, 0);
        self.snd.queue.push(0, 1, io.now, stamp);
        self.snd.nxt = 1;
        self.emit_syn(io);
        let rto = self.rto();
        self.arm(Waiting::Timeout, io.now + rto);
    }

    /// The same once more.
    pub(super) fn resend_syn(&mut self, io: &mut Io<'_>) {
        let stamp = self.snd.rate.stamp(io.now, true, 0);
        let first = self.snd.queue.first();
        self.snd.queue.retransmit(first, io.now, stamp);
        self.emit_syn(io);
    }

    fn emit_syn(&mut self, io: &mut Io<'_>) {
        let answers = self.state == State::SynReceived;
        let settings = &self.settings;
        let scaled = if answers { self.rcv.window.scale > 0 } else { settings.window_scaling };
        let options = Options {
            max_segment_size: Some((self.snd.route.mtu - self.snd.route.header) as u16),
            window_scale: scaled.then_some(self.rcv.window.scale),
            sack_permitted: if answers { self.sack } else { settings.sack },
            timestamps: (if answers { self.timestamps } else { settings.timestamps })
                .then(|| self.stamps(io.now)),
            ..Options::default()
        };
        let mut flags = Flags::SYN;
        if answers {
            flags |= Flags::ACK;
        }
        if self.ecn {
            flags |= if answers { Flags::ECE } else { Flags::ECE | Flags::CWR };
        }
        let window = self.rcv.window.last_told();
        let window = self.rcv.window.tell(window, self.rcv.nxt, true);
        self.rcv.last_ack_sent = self.rcv.nxt;
        let ack = if answers { wire_number(self.rcv.nxt, self.rcv.initial) } else { 0 };
        let seq = self.snd.initial;
        let ecn = Ecn::NotEct;
        self.snd.last_sent_at = io.now;
        self.emit(io, Outgoing { seq, ack, flags, window, options, offset: 0, length: 0, ecn });
    }

    /// A RST in order: the connection is given up.
    pub(super) fn send_reset(&mut self, io: &mut Io<'_>) {
        let out = self.header(io.now, Flags::RST | Flags::ACK, self.snd.nxt, 0);
        self.emit(io, out);
    }

    /// A RST that answers an acknowledgment of something never sent (RFC 9293 section 3.5.2).
    pub(super) fn send_reset_for(&mut self, io: &mut Io<'_>, ack: u32) {
        let out = Outgoing {
            seq: ack,
            ack: 0,
            flags: Flags::RST,
            window: 0,
            options: Options::default(),
            offset: 0,
            length: 0,
            ecn: Ecn::NotEct,
        };
        self.emit(io, out);
    }
}
