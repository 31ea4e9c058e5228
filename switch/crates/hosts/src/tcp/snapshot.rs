//! The `ss -ti` data of a connection, readable at any instant.

use units::{Bytes, Rate, Span, Time};

use super::connection::{Connection, Waiting};
use super::state::{RecoveryState, State};

/// The purpose of a connection's retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingFor {
    /// The timer is off.
    Nothing,
    /// RFC 6298's timeout.
    Timeout,
    /// A tail loss probe.
    TailProbe,
    /// Segments that may be late rather than lost.
    Reordering,
    /// The other side's window to open.
    ZeroWindow,
}

/// One connection at one instant; names are those of `ss -ti` where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// RFC 9293's state.
    pub state: State,
    /// Where loss recovery stands.
    pub recovery: RecoveryState,
    /// The name of the congestion control.
    pub congestion: String,
    /// Its own data: names and whole numbers.
    pub algorithm: Vec<(&'static str, u64)>,
    /// Packets that may be in flight, and where slow start ends; none if it has not ended yet.
    pub cwnd: u32,
    pub ssthresh: Option<u32>,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// The largest IP packet of the path.
    pub pmtu: Bytes,
    /// Smoothed round-trip time and its variance; none before the first measurement.
    pub rtt: Option<(Span, Span)>,
    /// The least round-trip time of the last five minutes.
    pub min_rtt: Option<Span>,
    /// The timeout in force, and how often it was doubled.
    pub rto: Span,
    pub backoff: u32,
    /// The timer's purpose, and its instant.
    pub waiting: WaitingFor,
    pub due: Option<Time>,
    /// The rate at which segments leave, if they are paced.
    pub pacing_rate: Option<Rate>,
    /// The last sample of the rate at which the path delivers.
    pub delivery_rate: Option<Rate>,
    /// Segments not acknowledged, reported by SACK, counted as lost, sent again and on their way.
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    /// Retransmissions since the beginning.
    pub retrans_total: u64,
    /// Packets by which the path was seen to reorder.
    pub reordering: u32,
    /// The sender has nothing more to send at the moment.
    pub app_limited: bool,
    /// Bytes sent (retransmissions included), acknowledged, received, waiting to be sent.
    pub bytes_sent: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub not_sent: u64,
    /// Segments sent, with acknowledgments, and data segments received.
    pub segs_out: u64,
    pub data_segs_in: u64,
    /// Packets delivered, and of these with a congestion mark.
    pub delivered: u64,
    pub delivered_ce: u64,
    /// The other side's window, and ours.
    pub snd_wnd: u64,
    pub rcv_wnd: u64,
    /// The bytes that the application takes in a round trip, and that round trip.
    pub rcv_space: u64,
    pub rcv_rtt: Span,
    /// Bytes that arrived behind a hole.
    pub rcv_ooo: u64,
    /// Timeouts, recoveries, reductions taken back, duplicates told, marks echoed.
    pub timeouts: u64,
    pub recoveries: u64,
    pub undone: u64,
    pub dsacks: u64,
    pub marks: u64,
}

impl Connection {
    pub fn snapshot(&self) -> Snapshot {
        let (snd, rcv) = (&self.snd, &self.rcv);
        let us = |us: u32| Span::from_us(u64::from(us));
        let rate = |bytes_per_s: u64| Rate::from_bps(bytes_per_s.saturating_mul(8));
        let mut algorithm = Vec::new();
        snd.congestion.tell(&mut |name, value| algorithm.push((name, value)));
        Snapshot {
            state: self.state,
            recovery: snd.recovery,
            congestion: snd.congestion.name().to_owned(),
            algorithm,
            cwnd: snd.window.cwnd,
            ssthresh: (snd.window.ssthresh < crate::congestion::SSTHRESH_NONE)
                .then_some(snd.window.ssthresh),
            mss: Bytes(u64::from(snd.mss)),
            pmtu: Bytes(u64::from(snd.route.mtu)),
            rtt: (snd.rtt.srtt_us() > 0)
                .then(|| (us(snd.rtt.srtt_us()), us(snd.rtt.variance_us()))),
            min_rtt: (snd.rtt.min_us() < u32::MAX).then(|| us(snd.rtt.min_us())),
            rto: self.rto(),
            backoff: snd.rtt.backoff(),
            waiting: match snd.waiting {
                Waiting::Nothing => WaitingFor::Nothing,
                Waiting::Timeout => WaitingFor::Timeout,
                Waiting::TailProbe => WaitingFor::TailProbe,
                Waiting::Reordering => WaitingFor::Reordering,
                Waiting::ZeroWindow => WaitingFor::ZeroWindow,
            },
            due: (snd.due < Time::MAX).then_some(snd.due),
            pacing_rate: rate(self.pacing_bytes_per_s()).filter(|_| self.is_paced()),
            delivery_rate: rate(snd.rate.bytes_per_s(snd.mss)),
            unacked: snd.queue.sent(),
            sacked: snd.queue.sacked(),
            lost: snd.queue.lost(),
            retrans: snd.queue.retransmitted(),
            retrans_total: snd.counts.retransmitted,
            reordering: snd.reordering,
            app_limited: snd.rate.app_limited_until > 0,
            bytes_sent: snd.counts.bytes,
            bytes_acked: self.acknowledged_bytes(),
            bytes_received: rcv.bytes,
            not_sent: (snd.offered + 1).saturating_sub(snd.nxt.max(1)),
            segs_out: snd.counts.segments,
            data_segs_in: rcv.segments,
            delivered: snd.rate.delivered,
            delivered_ce: snd.rate.delivered_ce,
            snd_wnd: snd.wnd,
            rcv_wnd: u64::from(rcv.window.open(rcv.nxt)),
            rcv_space: rcv.window.taken_bytes(),
            rcv_rtt: us(rcv.window.rtt_us()),
            rcv_ooo: rcv.queue.bytes(),
            timeouts: snd.counts.timeouts,
            recoveries: snd.counts.recoveries,
            undone: snd.counts.undone,
            dsacks: snd.counts.dsacks,
            marks: snd.counts.marks,
        }
    }
}
