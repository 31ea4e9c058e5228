//! Active queue management and shares of the buffer, one message a kind.

use messages::vitrine::v1;
use traffic::{
    AqmConfig, BufferShare, CodelConfig, PieConfig, Probability, RedConfig, RedProfile, RedUnit,
};
use units::{Bytes, Ratio};
use v1::aqm::Kind;

use super::Problem;
use super::config::{limit_message, limit_of, problem, span};

const MILLION: u64 = 1_000_000;

/// The queue management of a message; `None` for a message with no kind.
pub(super) fn aqm_of(aqm: &v1::Aqm, place: &str, problems: &mut Vec<Problem>) -> Option<AqmConfig> {
    let place = format!("{place}, AQM");
    Some(match aqm.kind.as_ref()? {
        Kind::Codel(codel) => {
            let usual = CodelConfig::default();
            AqmConfig::Codel(CodelConfig {
                target: codel.target_ns.map_or(usual.target, span),
                interval: codel.interval_ns.map_or(usual.interval, span),
                mtu: codel.mtu_bytes.map_or(usual.mtu, Bytes),
                ecn: codel.ecn.unwrap_or(usual.ecn),
            })
        }
        Kind::EcnStep(step) => {
            let threshold = step.threshold.unwrap_or_default();
            AqmConfig::EcnStep { threshold: limit_of(&threshold) }
        }
        Kind::Pie(pie) => {
            let usual = PieConfig::default();
            let mut gain = |given: &Option<v1::Ratio>, usual| match given {
                Some(given) => ratio_of(given, &place, problems).unwrap_or(usual),
                None => usual,
            };
            let (alpha, beta) = (gain(&pie.alpha, usual.alpha), gain(&pie.beta, usual.beta));
            AqmConfig::Pie(PieConfig {
                target: pie.target_ns.map_or(usual.target, span),
                update: pie.update_ns.map_or(usual.update, span),
                burst: pie.burst_ns.map_or(usual.burst, span),
                alpha,
                beta,
                ecn_below: optional_ppm(pie.ecn_below_ppm, usual.ecn_below, &place, problems),
                mean_packet: pie.mean_packet_bytes.map_or(usual.mean_packet, Bytes),
                ecn: pie.ecn.unwrap_or(usual.ecn),
            })
        }
        Kind::Red(red) => AqmConfig::Red(red_of(red, &place, problems)),
    })
}

fn red_of(red: &v1::Red, place: &str, problems: &mut Vec<Problem>) -> RedConfig {
    let usual = RedConfig::default();
    let profiles: Vec<RedProfile> = red
        .profiles
        .iter()
        .map(|profile| RedProfile {
            min: profile.min,
            max: profile.max,
            max_probability: ppm(profile.max_ppm, place, problems),
        })
        .collect();
    RedConfig {
        unit: if red.in_bytes { RedUnit::Bytes } else { RedUnit::Packets },
        profiles: if profiles.is_empty() { usual.profiles } else { profiles },
        weight: optional_ppm(red.weight_ppm, usual.weight, place, problems),
        gentle: red.gentle.unwrap_or(usual.gentle),
        mean_packet: red.mean_packet_bytes.map_or(usual.mean_packet, Bytes),
        ecn: red.ecn.unwrap_or(usual.ecn),
    }
}

/// The message for a queue's management, every field set.
pub(super) fn aqm_message(aqm: Option<&AqmConfig>) -> v1::Aqm {
    let kind = aqm.map(|aqm| match aqm {
        AqmConfig::Codel(codel) => Kind::Codel(v1::Codel {
            target_ns: Some(codel.target.whole_ns()),
            interval_ns: Some(codel.interval.whole_ns()),
            mtu_bytes: Some(codel.mtu.0),
            ecn: Some(codel.ecn),
        }),
        AqmConfig::EcnStep { threshold } => {
            Kind::EcnStep(v1::EcnStep { threshold: Some(limit_message(threshold)) })
        }
        AqmConfig::Pie(pie) => Kind::Pie(v1::Pie {
            target_ns: Some(pie.target.whole_ns()),
            update_ns: Some(pie.update.whole_ns()),
            burst_ns: Some(pie.burst.whole_ns()),
            alpha: Some(ratio_message(pie.alpha)),
            beta: Some(ratio_message(pie.beta)),
            ecn_below_ppm: Some(ppm_message(pie.ecn_below)),
            mean_packet_bytes: Some(pie.mean_packet.0),
            ecn: Some(pie.ecn),
        }),
        AqmConfig::Red(red) => {
            let profiles = red.profiles.iter().map(|profile| v1::RedProfile {
                min: profile.min,
                max: profile.max,
                max_ppm: ppm_message(profile.max_probability),
            });
            Kind::Red(v1::Red {
                in_bytes: red.unit == RedUnit::Bytes,
                profiles: profiles.collect(),
                weight_ppm: Some(ppm_message(red.weight)),
                gentle: Some(red.gentle),
                mean_packet_bytes: Some(red.mean_packet.0),
                ecn: Some(red.ecn),
            })
        }
    });
    v1::Aqm { kind }
}

/// A queue's claim on the shared buffer.
pub(super) fn share_of(
    share: &v1::BufferShare,
    place: &str,
    problems: &mut Vec<Problem>,
) -> BufferShare {
    let place = format!("{place}, share");
    let alpha = share.alpha.as_ref().and_then(|alpha| ratio_of(alpha, &place, problems));
    BufferShare { alpha, minimum: Bytes(share.minimum_bytes) }
}

/// The message for a queue's claim on the shared buffer.
pub(super) fn share_message(share: &BufferShare) -> v1::BufferShare {
    v1::BufferShare { alpha: share.alpha.map(ratio_message), minimum_bytes: share.minimum.0 }
}

/// A ratio; both parts must be above 0.
pub(super) fn ratio_of(
    ratio: &v1::Ratio,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Option<Ratio> {
    let made = Ratio::new(ratio.over, ratio.under);
    if made.is_none() {
        let found = format!("the ratio {}/{}", ratio.over, ratio.under);
        problems.push(problem(place, found, "both parts of a ratio are above 0"));
    }
    made
}

/// The message for a ratio.
pub(super) fn ratio_message(ratio: Ratio) -> v1::Ratio {
    v1::Ratio { over: ratio.over(), under: ratio.under() }
}

fn optional_ppm(
    given: Option<u64>,
    usual: Probability,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Probability {
    given.map_or(usual, |parts| ppm(parts, place, problems))
}

fn ppm(parts: u64, place: &str, problems: &mut Vec<Problem>) -> Probability {
    if parts > MILLION {
        problems.push(problem(place, format!("{parts} ppm"), "certainty is 1,000,000 ppm"));
        return Probability::ALWAYS;
    }
    Probability::ppm(parts)
}

/// Probabilities are binary fractions; the nearest million-th is what was written.
fn ppm_message(probability: Probability) -> u64 {
    let always = Probability::ALWAYS.raw();
    (probability.raw() * MILLION + always / 2) / always
}
