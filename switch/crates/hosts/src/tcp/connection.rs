//! One TCP connection: its state, and how it is driven.
//!
//! A connection knows no addresses, no clock and no network. Its host
//!
//! 1. opens it ([`Connection::connect`], [`Connection::accept`]),
//! 2. hands it each segment ([`Connection::handle_segment`]), each expired instant
//!    ([`Connection::handle_time`]) and what the application wants ([`Connection::offer`], ...),
//! 3. takes off, after each of these, the segments it put into [`Io::out`] and what
//!    [`Connection::take_happened`] tells,
//! 4. comes back at [`Connection::next_due`].
//!
//! The parts stand in files of their own: `input` (what RFC 9293 says of an arriving segment),
//! `ack` and `recovery` (what an acknowledgment means), `output` (what may leave), `timers`.

use std::ops::BitOrAssign;
use std::sync::Arc;

use units::{Span, Time};

use super::ack_policy::AckPolicy;
use super::prr::Prr;
use super::rack::Rack;
use super::rate_sample::RateSampler;
use super::receive_queue::ReceiveQueue;
use super::receive_window::ReceiveWindow;
use super::rto::RttEstimator;
use super::segment::{Outgoing, Segment};
use super::send_queue::SendQueue;
use super::sequence::expand;
use super::settings::{EcnSetting, TcpSettings};
use super::state::{RecoveryState, State};
use crate::congestion::{Congestion, EcnUse, Happening, Path, Window};
use wire::tcp::Flags;

/// RFC 9293 section 3.7.1: without the option, this is what the other side takes.
const MSS_DEFAULT: u32 = 536;
/// The bytes of the timestamps option in each segment, padding included.
const TIMESTAMP_BYTES: u32 = 12;

/// The events for the application since it last polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Happened(u8);

impl Happened {
    /// The handshake is over.
    pub const ESTABLISHED: Happened = Happened(1);
    /// Bytes arrived in order.
    pub const READABLE: Happened = Happened(2);
    /// The other side will send no more.
    pub const PEER_CLOSED: Happened = Happened(4);
    /// Everything offered was acknowledged.
    pub const ALL_ACKNOWLEDGED: Happened = Happened(8);
    /// It is over in good order.
    pub const CLOSED: Happened = Happened(16);
    /// The other side reset it, or there was none.
    pub const RESET: Happened = Happened(32);
    /// The other side did not answer for too long.
    pub const TIMED_OUT: Happened = Happened(64);

    /// One of `others` happened.
    pub fn any(self, others: Happened) -> bool {
        self.0 & others.0 != 0
    }

    /// Nothing did.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOrAssign for Happened {
    fn bitor_assign(&mut self, other: Happened) {
        self.0 |= other.0;
    }
}

impl std::ops::BitOr for Happened {
    type Output = Happened;
    fn bitor(self, other: Happened) -> Happened {
        Happened(self.0 | other.0)
    }
}

/// The arguments of each call of a connection.
#[derive(Debug)]
pub(crate) struct Io<'a> {
    pub now: Time,
    /// Segments to send, in this order.
    pub out: &'a mut Vec<Outgoing>,
    /// How many more frames the sending queue takes.
    pub room: usize,
}

/// The host's knowledge of the way to the other side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The largest IP packet, and the bytes of IP and TCP header without options.
    pub mtu: u32,
    pub header: u32,
}

/// The purpose of the retransmission timer; there is one timer, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    Nothing,
    /// RFC 6298's timeout.
    Timeout,
    /// A tail loss probe (RFC 8985 section 7).
    TailProbe,
    /// Segments that may yet turn out to be reordered (RFC 8985 section 6.2).
    Reordering,
    /// The other side's window is shut (RFC 9293 section 3.8.6.1).
    ZeroWindow,
}

/// The data that an undo of a reduction needs (RFC 5682, RFC 4015, RFC 3708).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// The first unacknowledged byte when it began.
    pub marker: u64,
    /// Retransmissions not yet reported as duplicates; none before the first.
    pub retransmits: Option<u32>,
}

/// The sender: RFC 9293's SND variables and everything that decides what leaves when.
#[derive(Debug)]
pub(crate) struct Sender {
    pub initial: u32,
    pub una: u64,
    pub nxt: u64,
    /// The other side's window, the largest it ever was, its scale, and RFC 9293's SND.WL1.
    pub wnd: u64,
    pub wnd_max: u64,
    pub scale: u8,
    pub wnd_seq: u64,
    /// The payload of a full segment, what the other side takes, and what the path takes.
    pub mss: u32,
    pub mss_peer: u32,
    pub route: Route,
    /// Bytes the application wants sent, since the beginning, and whether there will be no more.
    pub offered: u64,
    /// How much of it the send buffer takes, from the first unacknowledged byte on.
    pub buffer_bytes: u64,
    pub closing: bool,
    /// The number of the FIN, once it was sent.
    pub fin: Option<u64>,
    pub queue: SendQueue,
    pub rtt: RttEstimator,
    pub rate: RateSampler,
    pub rack: Rack,
    pub prr: Prr,
    pub window: Window,
    pub congestion: Box<dyn Congestion>,
    pub recovery: RecoveryState,
    /// The next byte to send when the present state was entered: it ends when this is acknowledged.
    pub recovery_end: u64,
    /// The threshold before the reduction, if it may be taken back; 0 for not.
    pub prior_ssthresh: u32,
    pub undo: Option<Undo>,
    /// The timestamp of the first retransmission of this episode.
    pub retransmit_stamp: Option<u32>,
    pub frto: bool,
    pub reordering: u32,
    pub reordering_seen: u32,
    pub waiting: Waiting,
    pub due: Time,
    pub retransmits: u32,
    pub tail_probe_end: Option<u64>,
    pub tail_probe_was_retransmission: bool,
    pub pace_next: Time,
    pub pace_due: Time,
    pub last_sent_at: Time,
    /// How far the window is used: see `output::note_window_use`.
    pub cwnd_limited: bool,
    pub sent_max: u32,
    pub usage_end: u64,
    pub used: u32,
    pub used_at: Time,
    /// Bytes in the host's sending queue.
    pub queued_bytes: u32,
    /// The next new segment carries CWR (RFC 3168 section 6.1.2).
    pub cwr_wanted: bool,
    pub counts: SenderCounts,
}

/// Counters for `ss`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderCounts {
    pub segments: u64,
    pub data_segments: u64,
    pub bytes: u64,
    pub retransmitted: u64,
    pub timeouts: u64,
    pub recoveries: u64,
    pub undone: u64,
    pub dsacks: u64,
    pub marks: u64,
}

/// The receiver: RFC 9293's RCV variables and everything that decides what is acknowledged when.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub initial: u32,
    pub nxt: u64,
    /// How far the application has taken the stream, and how far it is willing to (in bytes).
    pub read: u64,
    pub read_limit: u64,
    pub fin: Option<u64>,
    pub queue: ReceiveQueue,
    pub dsack: Option<(u64, u64)>,
    pub window: ReceiveWindow,
    pub policy: AckPolicy,
    /// The other side's last timestamp in order, and what was acknowledged last (RFC 7323).
    pub ts_recent: Option<u32>,
    pub last_ack_sent: u64,
    /// The largest payload seen, at least 536: what counts as a full segment.
    pub mss_seen: u32,
    /// RFC 3168: echo until CWR comes. DCTCP: the mark of the last segment.
    pub echo_ce: bool,
    pub segments: u64,
    pub bytes: u64,
    pub duplicates: u64,
    pub marks: u64,
}

/// See the top of the file.
#[derive(Debug)]
pub(crate) struct Connection {
    pub state: State,
    pub settings: Arc<TcpSettings>,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: bool,
    pub snd: Sender,
    pub rcv: Receiver,
    /// When TIME-WAIT, or the wait for a FIN that may never come, is over.
    pub linger_due: Time,
    pub established_at: Time,
    happened: Happened,
}

impl Sender {
    fn new(
        settings: &TcpSettings,
        congestion: Box<dyn Congestion>,
        initial: u32,
        route: Route,
    ) -> Sender {
        let mss = route.mtu - route.header;
        Sender {
            initial,
            una: 0,
            nxt: 0,
            wnd: 0,
            wnd_max: 0,
            scale: 0,
            wnd_seq: 0,
            mss,
            mss_peer: MSS_DEFAULT,
            route,
            offered: 0,
            buffer_bytes: settings.wmem.default.count(),
            closing: false,
            fin: None,
            queue: SendQueue::default(),
            rtt: RttEstimator::new(settings.rto_initial),
            rate: RateSampler::default(),
            rack: Rack::new(),
            prr: Prr::default(),
            window: Window::new(settings.initial_window, settings.initial_ssthresh),
            congestion,
            recovery: RecoveryState::Open,
            recovery_end: 0,
            prior_ssthresh: 0,
            undo: None,
            retransmit_stamp: None,
            frto: false,
            reordering: settings.reordering,
            reordering_seen: 0,
            waiting: Waiting::Nothing,
            due: Time::MAX,
            retransmits: 0,
            tail_probe_end: None,
            tail_probe_was_retransmission: false,
            pace_next: Time::ZERO,
            pace_due: Time::MAX,
            last_sent_at: Time::ZERO,
            cwnd_limited: false,
            sent_max: 0,
            usage_end: 0,
            used: 0,
            used_at: Time::ZERO,
            queued_bytes: 0,
            cwr_wanted: false,
            counts: SenderCounts::default(),
        }
    }
}

impl Receiver {
    fn new(settings: &TcpSettings, mss: u32) -> Receiver {
        Receiver {
            initial: 0,
            nxt: 0,
            read: 0,
            read_limit: u64::MAX,
            fin: None,
            queue: ReceiveQueue::default(),
            dsack: None,
            window: ReceiveWindow::new(settings, mss),
            policy: AckPolicy::new(),
            ts_recent: None,
            last_ack_sent: 0,
            mss_seen: MSS_DEFAULT,
            echo_ce: false,
            segments: 0,
            bytes: 0,
            duplicates: 0,
            marks: 0,
        }
    }
}

impl Connection {
    fn new(
        settings: &Arc<TcpSettings>,
        congestion: Box<dyn Congestion>,
        initial: u32,
        route: Route,
    ) -> Connection {
        let snd = Sender::new(settings, congestion, initial, route);
        let rcv = Receiver::new(settings, snd.mss);
        Connection {
            state: State::Closed,
            settings: Arc::clone(settings),
            sack: false,
            timestamps: false,
            ecn: false,
            snd,
            rcv,
            linger_due: Time::MAX,
            established_at: Time::MAX,
            happened: Happened::default(),
        }
    }

    /// Opens actively (RFC 9293 section 3.10.1): a SYN leaves.
    pub fn connect(
        io: &mut Io<'_>,
        settings: &Arc<TcpSettings>,
        congestion: Box<dyn Congestion>,
        initial: u32,
        route: Route,
    ) -> Connection {
        let mut connection = Connection::new(settings, congestion, initial, route);
        connection.state = State::SynSent;
        connection.ecn = settings.ecn == EcnSetting::On || connection.marks_matter();
        connection.send_syn(io);
        connection
    }

    /// Answers a SYN (RFC 9293 section 3.10.7.2).
    pub fn accept(
        io: &mut Io<'_>,
        settings: &Arc<TcpSettings>,
        congestion: Box<dyn Congestion>,
        initial: u32,
        route: Route,
        syn: &Segment<'_>,
    ) -> Connection {
        let mut connection = Connection::new(settings, congestion, initial, route);
        connection.state = State::SynReceived;
        connection.take_syn(io.now, syn);
        let asked = syn.flags.contains(Flags::ECE | Flags::CWR);
        let willing = settings.ecn != EcnSetting::Off || connection.marks_matter();
        connection.ecn = asked && willing;
        connection.send_syn(io);
        connection
    }

    /// The congestion control depends on marks: it uses ECN whatever the settings say.
    pub fn marks_matter(&self) -> bool {
        self.snd.congestion.ecn() != EcnUse::Classic
    }

    /// The application wants `bytes` more to be sent. Their values follow from their place in the
    /// stream: see `payload.rs`.
    pub fn offer(&mut self, io: &mut Io<'_>, bytes: u64) {
        if !self.snd.closing {
            // The numbers behind it, such as that of the FIN, have to fit, too.
            self.snd.offered = self.snd.offered.saturating_add(bytes).min(u64::MAX / 2);
            self.restart_after_idle(io.now);
            self.push(io);
        }
    }

    /// There will be no more to send (RFC 9293 section 3.10.4): a FIN follows what was offered.
    pub fn close(&mut self, io: &mut Io<'_>) {
        if self.snd.closing {
            return;
        }
        self.snd.closing = true;
        match self.state {
            // Data offered before is still sent; with nothing offered there is nothing to open.
            State::SynSent if self.snd.offered == 0 => self.finish(Happened::CLOSED),
            State::Closed => (),
            _ => self.push(io),
        }
    }

    /// Ends it at once (RFC 9293 section 3.10.5): the other side gets a RST.
    pub fn abort(&mut self, io: &mut Io<'_>) {
        if self.state.is_synchronized() || self.state == State::SynReceived {
            self.send_reset(io);
        }
        self.finish(Happened::CLOSED);
    }

    /// The application takes the stream up to `limit` bytes and no further.
    pub fn read_up_to(&mut self, io: &mut Io<'_>, limit: u64) {
        self.rcv.read_limit = limit;
        self.take_in(io.now);
        let before = self.rcv.window.open(self.rcv.nxt);
        let now = self.rcv.window.choose(self.rcv.nxt, self.held_bytes(), &self.settings);
        // Worth telling once it is twice what the other side knows (Linux's tcp_cleanup_rbuf).
        if self.state.may_receive() && now > 0 && u64::from(now) >= 2 * u64::from(before) {
            self.send_ack(io);
        }
    }

    /// The earliest instant at which something is to be done.
    pub fn next_due(&self) -> Time {
        self.snd.due.min(self.snd.pace_due).min(self.rcv.policy.due()).min(self.linger_due)
    }

    /// The events since the last call.
    pub fn take_happened(&mut self) -> Happened {
        std::mem::take(&mut self.happened)
    }

    pub(super) fn note(&mut self, what: Happened) {
        self.happened |= what;
    }

    /// Bytes of the stream that the application has taken.
    pub fn taken_bytes(&self) -> u64 {
        self.rcv.read.saturating_sub(1)
    }

    /// Bytes of the stream that the other side has acknowledged.
    pub fn acknowledged_bytes(&self) -> u64 {
        self.snd.una.saturating_sub(1).min(self.snd.offered)
    }

    /// The key of the other side's stream and the place in it of the byte with number `seq`; none
    /// before its SYN was seen, and for bytes before the stream.
    pub fn place_of(&self, seq: u32) -> Option<(u64, u64)> {
        let number = expand(seq, self.rcv.initial, self.rcv.nxt);
        (self.rcv.nxt > 0 && number > 0).then(|| (u64::from(self.rcv.initial), number - 1))
    }

    /// Whether the number `seq` is of something sent and not acknowledged.
    pub fn has_in_flight(&self, seq: u32) -> bool {
        let number = expand(seq, self.snd.initial, self.snd.una);
        (self.snd.una..self.snd.nxt).contains(&number)
    }

    /// A SYN that may begin a new connection in the place of this one, which is in TIME-WAIT: its
    /// number or its timestamp is later than anything of the old (RFC 9293 section 3.6.1, RFC 6191).
    pub fn is_replaced_by(&self, segment: &Segment<'_>) -> bool {
        let opens = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        let later = expand(segment.seq, self.rcv.initial, self.rcv.nxt) > self.rcv.nxt;
        self.state == State::TimeWait && opens && later
    }

    /// Ends it silently.
    pub fn forget(&mut self) {
        self.finish(Happened::default());
    }

    /// Nothing will happen any more.
    pub fn is_over(&self) -> bool {
        self.state == State::Closed
    }

    pub(super) fn finish(&mut self, why: Happened) {
        self.state = State::Closed;
        self.snd.waiting = Waiting::Nothing;
        self.snd.due = Time::MAX;
        self.snd.pace_due = Time::MAX;
        self.rcv.policy.ack_sent(&self.settings);
        self.linger_due = Time::MAX;
        self.note(why);
    }

    /// Both sides' SYNs have come and gone.
    pub(super) fn establish(&mut self, now: Time) {
        self.state = State::Established;
        self.established_at = now;
        self.note(Happened::ESTABLISHED);
        // RFC 6298 section 5.7, RFC 5681: a lost SYN makes the beginning careful.
        if self.snd.counts.retransmitted > 1 {
            self.snd.window.cwnd = 1;
        }
        self.snd.used_at = now;
        self.snd.pace_next = now;
        let path = self.path(now);
        self.snd.congestion.begin(&mut self.snd.window, &path);
        self.update_pacing();
    }

    /// The MSS that both sides and the path allow (RFC 9293 section 3.7.1, RFC 6691).
    pub(super) fn fit_mss(&mut self) {
        let path = self.snd.route.mtu - self.snd.route.header;
        let options = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        let whole = path.min(self.snd.mss_peer).saturating_sub(options).max(8);
        // Half of the largest window at most, so that a small one does not stand still between two
        // segments (RFC 9293 section 3.8.6.2.1; Linux's tcp_bound_to_half_wnd).
        let window = self.snd.wnd_max.min(u64::from(u32::MAX)) as u32;
        let most = if window > MSS_DEFAULT { window / 2 } else { window.max(8) };
        self.snd.mss = if window == 0 { whole } else { whole.min(most) };
    }

    /// The path turned out to take no more than `mtu` bytes (RFC 1191, RFC 8201).
    pub fn path_mtu(&mut self, io: &mut Io<'_>, mtu: u32) {
        if mtu >= self.snd.route.mtu || mtu <= self.snd.route.header + TIMESTAMP_BYTES + 8 {
            return;
        }
        self.snd.route.mtu = mtu;
        self.fit_mss();
        if self.state.is_synchronized() {
            self.snd.queue.cut(self.snd.mss);
            self.retransmit_lost(io);
            self.push(io);
        }
    }

    /// The view of the congestion control.
    pub(super) fn path(&self, now: Time) -> Path {
        let snd = &self.snd;
        Path {
            now,
            next_send: snd.pace_next.max(now),
            mss: snd.mss,
            srtt_us: snd.rtt.srtt_us(),
            min_rtt_us: snd.rtt.min_us(),
            in_flight: snd.queue.in_flight(),
            una: snd.una,
            nxt: snd.nxt,
            delivered: snd.rate.delivered,
            delivered_ce: snd.rate.delivered_ce,
            lost: snd.rate.lost,
            paced: self.is_paced(),
            app_limited: snd.rate.app_limited_until > 0,
            cwnd_limited: self.is_cwnd_limited(),
            recovery: snd.recovery,
        }
    }

    pub(super) fn tell_congestion(&mut self, now: Time, what: Happening) {
        let path = self.path(now);
        self.snd.congestion.happened(&mut self.snd.window, &path, what);
    }

    /// Whether segments are spaced out in time.
    pub(super) fn is_paced(&self) -> bool {
        let settings = &self.settings;
        settings.pacing || settings.pacing_rate_max.is_some() || self.snd.congestion.needs_pacing()
    }

    pub(super) fn rto(&self) -> Span {
        self.snd.rtt.rto(self.settings.rto_max)
    }

    /// Bytes in the receive buffer: not taken yet, or behind a hole.
    pub(super) fn held_bytes(&self) -> u64 {
        self.stream_end() - self.rcv.read + self.rcv.queue.bytes()
    }

    /// The end of the data in order, without the FIN.
    pub(super) fn stream_end(&self) -> u64 {
        self.rcv.fin.map_or(self.rcv.nxt, |fin| fin.min(self.rcv.nxt))
    }
}
