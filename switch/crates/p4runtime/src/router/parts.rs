//! Common parts of messages: numbers with a unit, names of ports and queues; and the report of a
//! mistake.

use messages::vitrine::v1;
use traffic::{Depth, Tally};
use units::{ClassId, PortId, Ratio, Span};

use super::Problem;
use crate::refusal::Refusal;

pub(super) fn problem(place: &str, found: String, advice: &str) -> Problem {
    Problem { place: place.to_owned(), found, advice: advice.to_owned() }
}

/// Spans end at 213 days; longer ones mean the same.
pub(super) fn span(ns: u64) -> Span {
    Span::from_ps(ns.saturating_mul(1000))
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

/// The number of a port.
pub(super) fn port_of(port: u32) -> Result<PortId, Refusal> {
    u16::try_from(port)
        .map(PortId)
        .map_err(|_| Refusal::invalid(format!("{port} is too large for a port number")))
}

/// The message for the name of a queue.
pub(super) fn queue_message((port, class): (PortId, ClassId)) -> v1::QueueRef {
    v1::QueueRef { port: port.0.into(), class: class.0.into() }
}

pub(super) fn tally_message(tally: Tally) -> v1::Tally {
    v1::Tally { packets: tally.packets, bytes: tally.bytes.0 }
}

pub(super) fn depth_message(depth: Depth) -> v1::Tally {
    v1::Tally { packets: depth.packets, bytes: depth.bytes.0 }
}
