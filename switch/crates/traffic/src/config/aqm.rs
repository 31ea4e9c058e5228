//! Active queue management: who is dropped or marked before the queue is full.

use units::{Bytes, Ratio, Span};

use super::{ConfigError, Limit};
use chance::Probability;

/// A queue's active queue management. Wherever `ecn` is set, a packet that is ECN-capable is marked
/// where another would be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AqmConfig {
    /// Controlled delay (RFC 8289): drops at the head while packets wait too long.
    Codel(CodelConfig),
    /// Marks ECN-capable arrivals while the queue is at or above a threshold, as DCTCP wants it;
    /// drops nobody.
    EcnStep {
        /// The threshold: a queue that would be full by this limit marks.
        threshold: Limit,
    },
    /// Proportional integral controller enhanced (RFC 8033): drops arrivals with a probability
    /// that follows the delay.
    Pie(PieConfig),
    /// Random early detection (Floyd and Jacobson 1993); with several profiles, WRED.
    Red(RedConfig),
}

/// The parameters of CoDel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// The delay that is good enough.
    pub target: Span,
    /// How long the delay must be above it before anything is dropped.
    pub interval: Span,
    /// With no more than this in the queue nothing is dropped.
    pub mtu: Bytes,
    /// Mark instead of drop where possible.
    pub ecn: bool,
}

/// RFC 8289's: 5 ms, 100 ms, an Ethernet frame; marking on.
impl Default for CodelConfig {
    fn default() -> CodelConfig {
        CodelConfig {
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            mtu: Bytes(1514),
            ecn: true,
        }
    }
}

/// The parameters of PIE, by their names in RFC 8033.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieConfig {
    /// QDELAY_REF: the delay to steer to.
    pub target: Span,
    /// T_UPDATE: how often the probability is computed.
    pub update: Span,
    /// MAX_BURST: a burst of this length after quiet passes untouched.
    pub burst: Span,
    /// The gain on the distance to the target, per second.
    pub alpha: Ratio,
    /// The gain on the trend, per second.
    pub beta: Ratio,
    /// MAX_ECNTH: above this probability even ECN-capable packets are dropped.
    pub ecn_below: Probability,
    /// MEAN_PKTSIZE: with up to two of these in the queue nothing is dropped.
    pub mean_packet: Bytes,
    /// Mark instead of drop where possible.
    pub ecn: bool,
}

/// RFC 8033's: 15 ms, 15 ms, 150 ms, 1/8, 5/4, 10 %; marking on.
impl Default for PieConfig {
    fn default() -> PieConfig {
        PieConfig {
            target: Span::from_ms(15),
            update: Span::from_ms(15),
            burst: Span::from_ms(150),
            alpha: Ratio::new(1, 8).expect("not zero"),
            beta: Ratio::new(5, 4).expect("not zero"),
            ecn_below: Probability::ppm(100_000),
            mean_packet: Bytes(1000),
            ecn: true,
        }
    }
}

/// The parameters of RED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedConfig {
    /// What the average counts.
    pub unit: RedUnit,
    /// One profile for all packets, or up to three by drop precedence (green, yellow, red); a
    /// precedence beyond the last takes the last.
    pub profiles: Vec<RedProfile>,
    /// The weight of one arrival in the moving average.
    pub weight: Probability,
    /// Rise to certain dropping between `max` and twice `max`, rather than at `max`.
    pub gentle: bool,
    /// While the queue is idle the average decays as if packets of this length arrived back to
    /// back at the line's rate and found nothing.
    pub mean_packet: Bytes,
    /// Mark instead of drop where possible, as long as the average is within the profile.
    pub ecn: bool,
}

/// What RED's thresholds and average are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedUnit {
    /// Bytes waiting.
    Bytes,
    /// Packets waiting.
    Packets,
}

/// How likely an arrival is dropped, by the average queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedProfile {
    /// Below this average nothing is dropped.
    pub min: u64,
    /// At this average the probability is `max_probability`.
    pub max: u64,
    /// The probability at `max`.
    pub max_probability: Probability,
}

/// Floyd's: 5 and 15 packets, 2 %, weight 0.002, gentle; marking on.
impl Default for RedConfig {
    fn default() -> RedConfig {
        let profile = RedProfile { min: 5, max: 15, max_probability: Probability::ppm(20_000) };
        RedConfig {
            unit: RedUnit::Packets,
            profiles: vec![profile],
            weight: Probability::ppm(2_000),
            gentle: true,
            mean_packet: Bytes(1000),
            ecn: true,
        }
    }
}

impl AqmConfig {
    pub(crate) fn validate(&self, place: &str) -> Result<(), ConfigError> {
        let refuse = |found: &str, advice: &str| {
            Err(ConfigError::new(format!("{place}, AQM"), found, advice))
        };
        match self {
            AqmConfig::Codel(codel) if codel.interval == Span::ZERO => {
                refuse("an interval of no length", "100 ms suits the Internet")
            }
            AqmConfig::EcnStep { threshold } if *threshold == Limit::NONE => {
                refuse("a step without a threshold", "give packets, bytes or both")
            }
            AqmConfig::Pie(pie) if pie.update == Span::ZERO => {
                refuse("an update interval of no length", "15 ms suits the Internet")
            }
            AqmConfig::Red(red) if red.profiles.is_empty() || red.profiles.len() > 3 => {
                refuse("no profile or more than three", "give one, or one per drop precedence")
            }
            AqmConfig::Red(red) if red.profiles.iter().any(|p| p.min >= p.max) => {
                refuse("a minimum that is not below its maximum", "max = 3 x min is customary")
            }
            _ => Ok(()),
        }
    }
}
