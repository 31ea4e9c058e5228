//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! An algorithm is one file and one line of [`TABLE`]. It sees a [`Path`] (what is measured), sets a
//! [`Window`] (what it decides), and keeps what else it needs to itself. Loss-based algorithms
//! implement [`Congestion::grow`] and [`Congestion::ssthresh`], and leave the reduction to PRR
//! (`tcp/prr.rs`); model-based ones take everything over in [`Congestion::control`].
//!
//! All arithmetic is in whole numbers: packets, microseconds, bytes a second.

mod bbr1;
mod bbr3;
mod clumps;
mod cubic;
mod dctcp;
mod max_filter;
mod outside;
mod prague;
mod reno;
#[cfg(test)]
mod tests_support;

use std::fmt::{self, Debug, Display};
use std::str::FromStr;
use std::sync::Arc;

use chance::Chance;
use units::{Fault, Time};

pub use self::outside::{
    CongestionAnswer, CongestionEvent, CongestionOutside, CongestionQuestion, MarksWanted,
    PathSeen, WindowSeen,
};
pub(crate) use crate::tcp::{RateSample, RecoveryState, Stamp};

/// "No threshold yet": slow start goes on until something is lost.
pub(crate) const SSTHRESH_NONE: u32 = u32::MAX / 2;

/// BBR's rates are packets a microsecond, times 2 to the power of this.
const RATE_SHIFT: u32 = 24;

/// `tcp_min_tso_segs`
const BURST_SEGMENTS_MIN: u32 = 2;

/// An algorithm's decisions. Windows are counted in packets, as Linux counts them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// How many packets may be in flight.
    pub cwnd: u32,
    /// Below this many, slow start.
    pub ssthresh: u32,
    /// Packets acknowledged towards the next increase of `cwnd` by one.
    pub(crate) cwnd_count: u32,
    /// The most that `cwnd` may be.
    pub(crate) cwnd_max: u32,
    /// The value of `cwnd` before the last reduction, for an undo.
    pub(crate) prior_cwnd: u32,
    /// The rate at which segments may leave, in bytes a second; kept only where pacing is on.
    pub pacing_bytes_per_s: u64,
    /// How many segments one burst may have however slowly it is paced.
    pub(crate) burst_segments_min: u32,
    /// Less is sent than the path takes, on purpose: samples do not say what it could.
    pub(crate) limited_by_choice: bool,
}

impl Window {
    pub(crate) fn new(cwnd: u32, ssthresh: Option<u32>) -> Window {
        Window {
            cwnd,
            ssthresh: ssthresh.unwrap_or(SSTHRESH_NONE),
            cwnd_count: 0,
            cwnd_max: u32::MAX / 4,
            prior_cwnd: 0,
            pacing_bytes_per_s: u64::MAX,
            burst_segments_min: BURST_SEGMENTS_MIN,
            limited_by_choice: false,
        }
    }

    /// Below the threshold?
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// RFC 5681 section 3.1 with RFC 3465's byte counting without limit: one packet for each packet
    /// acknowledged, up to the threshold. Returns those left over for congestion avoidance.
    pub(crate) fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (grown - self.cwnd);
        self.cwnd = grown.min(self.cwnd_max);
        left
    }

    /// One packet more for every `per_increase` packets acknowledged.
    pub(crate) fn additive_increase(&mut self, per_increase: u32, acked: u32) {
        let per_increase = per_increase.max(1);
        // Credits earned at a slower growth are worth at most one packet now.
        if self.cwnd_count >= per_increase {
            self.cwnd_count = 0;
            self.cwnd += 1;
        }
        self.cwnd_count += acked;
        if self.cwnd_count >= per_increase {
            self.cwnd += self.cwnd_count / per_increase;
            self.cwnd_count %= per_increase;
        }
        self.cwnd = self.cwnd.min(self.cwnd_max);
    }
}

/// An algorithm's view of its connection, at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) now: Time,
    /// When pacing lets the next segment leave.
    pub(crate) next_send: Time,
    /// Payload bytes of a full segment.
    pub(crate) mss: u32,
    /// Smoothed round-trip time; zero before the first measurement.
    pub(crate) srtt_us: u32,
    /// The least of the last minutes; `u32::MAX` before the first measurement.
    pub(crate) min_rtt_us: u32,
    /// Packets believed to be in the network (RFC 6675's pipe).
    pub(crate) in_flight: u32,
    /// Sequence numbers of the sender: first unacknowledged and next to send.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// Packets delivered, delivered with a CE mark, and marked lost since the beginning.
    pub(crate) delivered: u64,
    pub(crate) delivered_ce: u64,
    pub(crate) lost: u64,
    /// Whether segments are spaced out in time, and whether the application has nothing to send.
    pub(crate) paced: bool,
    pub(crate) app_limited: bool,
    /// Whether the window, not the application, limits the sender.
    pub(crate) cwnd_limited: bool,
    pub(crate) recovery: RecoveryState,
}

/// The events besides acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// The first segment leaves after nothing was in flight.
    TransmitStart,
    /// A cwnd reduction is over.
    ReductionEnds,
    /// The retransmission timer fired and all in flight counts as lost.
    Timeout,
    /// Losses began to be repaired.
    RecoveryBegins,
    /// A reduction turned out to be wrong and is taken back.
    Undone,
}

/// How a connection uses ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EcnUse {
    /// RFC 3168: ECT(0), one reduction a round trip.
    Classic,
    /// RFC 8257: ECT(0) on every packet, marks echoed one by one.
    EveryMark,
    /// RFC 9331: the same with ECT(1).
    L4s,
}

/// One connection's congestion control.
pub(crate) trait Congestion: Debug + Send {
    /// The name one chooses it by; Linux's.
    fn name(&self) -> &str;

    /// The handshake is over.
    fn begin(&mut self, _window: &mut Window, _path: &Path) {}

    /// A segment was acknowledged and, if nothing was ambiguous, timed.
    fn measured(&mut self, _window: &mut Window, _path: &Path, _rtt_us: u32) {}

    /// `acked` packets were delivered outside of any reduction: the window may grow.
    fn grow(&mut self, window: &mut Window, path: &Path, acked: u32);

    /// The threshold after packets were lost or marked.
    fn ssthresh(&mut self, window: &Window, path: &Path) -> u32;

    /// The value of `cwnd` after a reduction that was wrong.
    fn undo_cwnd(&mut self, window: &Window, _path: &Path) -> u32 {
        window.cwnd.max(window.prior_cwnd)
    }

    fn happened(&mut self, _window: &mut Window, _path: &Path, _what: Happening) {}

    /// Called for every acknowledgment before anything else is done with the window: `delivered`
    /// packets, of which `marked` are known to have met congestion.
    fn acknowledged(&mut self, _w: &mut Window, _path: &Path, _delivered: u32, _marked: u32) {}

    /// [`Congestion::control`] sets `cwnd` and the pacing rate, in place of PRR and
    /// [`Congestion::grow`].
    fn takes_over(&self) -> bool {
        false
    }

    /// A packet has just been found to be lost, counted in [`Path::lost`] already; `sent` is what was
    /// known when it left. Called before [`Congestion::control`] of the same acknowledgment.
    fn lost(&mut self, _window: &mut Window, _path: &Path, _sent: &Stamp) {}

    /// Sets window and rate after each acknowledgment.
    fn control(&mut self, _window: &mut Window, _path: &Path, _sample: &RateSample) {}

    /// Whether segments have to be spaced out in time even if the settings do not require it.
    fn needs_pacing(&self) -> bool {
        false
    }

    fn ecn(&self) -> EcnUse {
        EcnUse::Classic
    }

    /// The algorithm's data for `ss -i`: names and whole numbers.
    fn tell(&self, _tell: &mut dyn FnMut(&'static str, u64)) {}
}

type Make = fn(Chance) -> Box<dyn Congestion>;

/// Every algorithm there is. A new one is a file of this folder and a line here.
const TABLE: [(&str, Make); 6] = [
    ("bbr", |dice| Box::new(bbr1::Bbr::new(dice))),
    ("bbr3", |dice| Box::new(bbr3::Bbr3::new(dice))),
    ("cubic", |_| Box::new(cubic::Cubic::default())),
    ("dctcp", |_| Box::new(dctcp::Dctcp::default())),
    ("prague", |_| Box::new(prague::Prague::default())),
    ("reno", |_| Box::new(reno::Reno)),
];

/// A congestion control: one that there is, chosen by its name, `"cubic".parse()`, or one from
/// outside.
#[derive(Clone)]
pub struct Algorithm(Kind);

#[derive(Clone)]
enum Kind {
    /// Its place in [`TABLE`].
    BuiltIn(usize),
    Outside(Arc<outside::Outside>),
}

/// All that are built in, in the order of their names.
pub fn algorithms() -> impl Iterator<Item = Algorithm> {
    (0..TABLE.len()).map(|place| Algorithm(Kind::BuiltIn(place)))
}

pub fn algorithm_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

impl Algorithm {
    /// The default: Linux's choice.
    pub const CUBIC: Algorithm = Algorithm(Kind::BuiltIn(2));

    /// One from outside, for all connections that begin with it; see [`CongestionOutside`].
    /// `compared` decides too, and the first difference is a fault.
    pub fn outside(
        name: &str,
        decider: Box<dyn CongestionOutside>,
        compared: Option<Algorithm>,
    ) -> Algorithm {
        Algorithm(Kind::Outside(Arc::new(outside::Outside::new(
            name.to_owned(),
            decider,
            compared,
        ))))
    }

    /// The name one chooses it by; Linux's.
    pub fn name(&self) -> &str {
        match &self.0 {
            Kind::BuiltIn(place) => TABLE[*place].0,
            Kind::Outside(outside) => outside.name(),
        }
    }

    /// The fault of an outside algorithm. The driver of hosts that use one looks here while time
    /// passes, and ends the run.
    pub fn fault(&self) -> Option<Fault> {
        match &self.0 {
            Kind::BuiltIn(_) => None,
            Kind::Outside(outside) => outside.fault(),
        }
    }

    /// It, for one connection; `dice` is for its use alone.
    pub(crate) fn make(&self, dice: Chance) -> Box<dyn Congestion> {
        match &self.0 {
            Kind::BuiltIn(place) => TABLE[*place].1(dice),
            Kind::Outside(outside) => Box::new(outside.begin(dice)),
        }
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Algorithm) -> bool {
        match (&self.0, &other.0) {
            (Kind::BuiltIn(one), Kind::BuiltIn(other)) => one == other,
            (Kind::Outside(one), Kind::Outside(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Algorithm {}

impl Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
        algorithms()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// A name that no congestion control has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(pub String);

impl Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = algorithm_names().collect();
        write!(f, "there is no congestion control {:?}; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownAlgorithm {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_hands_over_what_it_does_not_use() {
        let mut window = Window::new(10, None);
        window.ssthresh = 12;
        assert_eq!(window.slow_start(5), 3);
        assert_eq!(window.cwnd, 12);
    }

    #[test]
    fn one_window_of_acknowledgments_adds_one_packet() {
        let mut window = Window::new(10, None);
        (0..10).for_each(|_| window.additive_increase(10, 1));
        assert_eq!((window.cwnd, window.cwnd_count), (11, 0));
    }

    #[test]
    fn every_algorithm_is_found_by_the_name_it_tells() {
        for algorithm in algorithms() {
            assert_eq!(algorithm.name().parse(), Ok(algorithm.clone()));
            assert_eq!(algorithm.make(Chance::new(1, "test")).name(), algorithm.name());
        }
        assert_eq!(Algorithm::CUBIC.name(), "cubic");
        let told = "vegas".parse::<Algorithm>().expect_err("there is none").to_string();
        let names = "bbr, bbr3, cubic, dctcp, prague, reno";
        assert_eq!(told, format!("there is no congestion control \"vegas\"; there are {names}"));
    }
}
