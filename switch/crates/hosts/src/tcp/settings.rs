//! How a host's TCP behaves: what Linux has as sysctls, by the same names where there are any.

use units::{Bytes, Rate, Span};

use crate::congestion::Algorithm;

/// `tcp_rmem` or `tcp_wmem`: least, at the beginning, most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Never less than this.
    pub min: Bytes,
    /// The initial size.
    pub default: Bytes,
    /// Where autotuning ends.
    pub max: Bytes,
}

/// When a connection negotiates ECN; the values of `tcp_ecn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnSetting {
    /// Neither ask nor agree.
    Off,
    /// Ask, and agree when asked.
    On,
    /// Agree when asked: Linux's default.
    Passive,
}

/// The settings of one host, shared by its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSettings {
    /// The congestion control of new connections.
    pub congestion: Algorithm,
    /// `tcp_ecn`
    pub ecn: EcnSetting,
    /// `tcp_sack`
    pub sack: bool,
    /// `tcp_dsack`
    pub dsack: bool,
    /// `tcp_timestamps`
    pub timestamps: bool,
    /// `tcp_window_scaling`
    pub window_scaling: bool,
    /// `tcp_rmem`
    pub rmem: Memory,
    /// `tcp_wmem`
    pub wmem: Memory,
    /// `tcp_moderate_rcvbuf`: the receive window grows with the rate of arrivals.
    pub moderate_rcvbuf: bool,
    /// Which part of a receive buffer is window, in 256ths; the rest is the kernel's bookkeeping.
    pub window_256ths: u32,
    /// The initial window, in packets (RFC 6928).
    pub initial_window: u32,
    /// Where a new connection's slow start ends, in packets: `ssthresh` of a route.
    pub initial_ssthresh: Option<u32>,
    /// Nagle's algorithm (RFC 9293 section 3.7.4); applications of measurement switch it off.
    pub nagle: bool,
    /// Space segments out in time, as the fq qdisc does; BBR does so always.
    pub pacing: bool,
    /// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, in percent of cwnd / srtt.
    pub pacing_slow_start_percent: u32,
    pub pacing_avoidance_percent: u32,
    /// The most that segments are spaced to, `SO_MAX_PACING_RATE`; with it they always are.
    pub pacing_rate_max: Option<Rate>,
    /// The most segments handed down in one piece, 1 for none (no TSO); `gso_max_segs`.
    pub tso_segments_max: u32,
    /// The most bytes of one connection in the sending queue, `tcp_limit_output_bytes`; none lets a
    /// connection fill the queue.
    pub queued_bytes_max: Option<Bytes>,
    /// `tcp_recovery`: losses are detected by time (RFC 8985).
    pub rack: bool,
    /// `tcp_early_retrans`: tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// `tcp_frto` (RFC 5682)
    pub frto: bool,
    /// `tcp_reordering` and `tcp_max_reordering`, in packets.
    pub reordering: u32,
    pub reordering_max: u32,
    /// `tcp_rto_min_us`
    pub rto_min: Span,
    /// `tcp_rto_max_ms`
    pub rto_max: Span,
    /// The timeout before the first measurement (RFC 6298 section 2.1).
    pub rto_initial: Span,
    /// The least and the longest time an acknowledgment waits.
    pub delayed_ack_min: Span,
    pub delayed_ack_max: Span,
    /// How many segments one acknowledgment answers; 2 is RFC 5681's, more stretches them.
    pub segments_per_ack: u32,
    /// `tcp_comp_sack_delay_ns`: how long acknowledgments with SACK may be put together.
    pub sack_compression: Span,
    /// `tcp_syn_retries` and `tcp_retries2`
    pub syn_retries: u32,
    pub retries: u32,
    /// `tcp_slow_start_after_idle` (RFC 5681 section 4.1)
    pub slow_start_after_idle: bool,
    /// How long TIME-WAIT lasts.
    pub time_wait: Span,
}

impl Default for TcpSettings {
    /// Linux's defaults, with Nagle off.
    fn default() -> TcpSettings {
        TcpSettings {
            congestion: Algorithm::CUBIC,
            ecn: EcnSetting::Passive,
            sack: true,
            dsack: true,
            timestamps: true,
            window_scaling: true,
            rmem: Memory { min: Bytes(4096), default: Bytes(131_072), max: Bytes(33_554_432) },
            wmem: Memory { min: Bytes(4096), default: Bytes(16_384), max: Bytes(4_194_304) },
            moderate_rcvbuf: true,
            window_256ths: 128,
            initial_window: 10,
            initial_ssthresh: None,
            nagle: false,
            pacing: false,
            pacing_slow_start_percent: 200,
            pacing_avoidance_percent: 120,
            pacing_rate_max: None,
            tso_segments_max: 44,
            queued_bytes_max: None,
            rack: true,
            tail_loss_probe: true,
            frto: true,
            reordering: 3,
            reordering_max: 300,
            rto_min: Span::from_ms(200),
            rto_max: Span::from_secs(120),
            rto_initial: Span::from_secs(1),
            delayed_ack_min: Span::from_ms(40),
            delayed_ack_max: Span::from_ms(200),
            segments_per_ack: 2,
            sack_compression: Span::from_ms(1),
            syn_retries: 6,
            retries: 15,
            slow_start_after_idle: true,
            time_wait: Span::from_secs(60),
        }
    }
}
