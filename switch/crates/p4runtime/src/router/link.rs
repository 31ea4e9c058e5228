//! The cable at a port: the neighbour that sends, and one line each way.

use device::{LinkConfig, SenderConfig, SenderRate};
use messages::vitrine::v1;
use traffic::{Impairment, Jitter, LineReport, Loss, Probability, Stalls};
use units::Rate;
use v1::loss::Kind;

use super::Problem;
use super::limit::{limit_message, limit_of};
use super::parts::{depth_message, problem, span, tally_message};

const THOUSAND_MILLION: u64 = 1_000_000_000;

/// Longest delay and jitter: 10 minutes, which is beyond Mars. Much longer ones are slips of a unit.
const DELAY_NS_MAX: u64 = 600 * THOUSAND_MILLION;

/// Edits a cable; what the message leaves unset stays as it is.
pub(super) fn edit_link(
    link: &mut LinkConfig,
    change: &v1::Link,
    place: &str,
    problems: &mut Vec<Problem>,
) {
    if let Some(sender) = &change.sender {
        link.sender = sender_of(sender);
    }
    if let Some(line) = &change.receive {
        link.receive = line_of(line, &format!("{place}, receive line"), problems);
    }
    if let Some(line) = &change.transmit {
        link.transmit = line_of(line, &format!("{place}, transmit line"), problems);
    }
}

fn sender_of(sender: &v1::Sender) -> SenderConfig {
    let rate = match sender.rate_bps {
        None => SenderRate::OfPort,
        Some(rate_bps) => Rate::from_bps(rate_bps).map_or(SenderRate::Unlimited, SenderRate::Own),
    };
    let backlog = sender.backlog.as_ref().map_or_else(|| SenderConfig::default().backlog, limit_of);
    SenderConfig { rate, backlog }
}

fn line_of(line: &v1::Line, place: &str, problems: &mut Vec<Problem>) -> Impairment {
    let jitter = line.jitter.unwrap_or_default();
    let stalls = line.stalls.unwrap_or_default();
    for (what, ns) in
        [("delay", line.delay_ns), ("jitter", jitter.max_ns), ("stalls", stalls.max_ns)]
    {
        if ns > DELAY_NS_MAX {
            let place = format!("{place}, {what}");
            problems.push(problem(&place, format!("{ns} ns"), "at most 600 s; the unit is ns"));
        }
    }
    let mut share = |what, parts| probability(parts, &format!("{place}, {what}"), problems);
    Impairment {
        delay: span(line.delay_ns),
        jitter: Jitter { max: span(jitter.max_ns), reorder: jitter.reorder },
        stalls: Stalls { share: share("stalls", stalls.share_ppb), max: span(stalls.max_ns) },
        corruption: share("corruption", line.corruption_ppb),
        duplication: share("duplication", line.duplication_ppb),
        loss: match line.loss.unwrap_or_default().kind {
            None => Loss::Never,
            // A loss of nothing reads back as none.
            Some(Kind::IndependentPpb(0)) => Loss::Never,
            Some(Kind::IndependentPpb(parts)) => Loss::Independent(share("loss", parts)),
            Some(Kind::Bursty(bursty)) => Loss::Bursty {
                turns_bad: share("loss", bursty.turns_bad_ppb),
                turns_good: share("loss", bursty.turns_good_ppb),
                while_good: share("loss", bursty.while_good_ppb),
                while_bad: share("loss", bursty.while_bad_ppb),
            },
        },
    }
}

fn probability(parts: u64, place: &str, problems: &mut Vec<Problem>) -> Probability {
    match Probability::ratio(parts, THOUSAND_MILLION) {
        Some(probability) if parts <= THOUSAND_MILLION => probability,
        _ => {
            let advice = "certainty is 1,000,000,000 ppb";
            problems.push(problem(place, format!("{parts} ppb"), advice));
            Probability::ALWAYS
        }
    }
}

/// A cable with every field set.
pub(super) fn link_message(link: &LinkConfig) -> v1::Link {
    let rate_bps = match link.sender.rate {
        SenderRate::OfPort => None,
        SenderRate::Unlimited => Some(0),
        SenderRate::Own(rate) => Some(rate.bps()),
    };
    v1::Link {
        sender: Some(v1::Sender { rate_bps, backlog: Some(limit_message(&link.sender.backlog)) }),
        receive: Some(line_message(&link.receive)),
        transmit: Some(line_message(&link.transmit)),
    }
}

fn line_message(line: &Impairment) -> v1::Line {
    let kind = match line.loss {
        Loss::Never => None,
        Loss::Independent(share) => Some(Kind::IndependentPpb(ppb(share))),
        Loss::Bursty { turns_bad, turns_good, while_good, while_bad } => {
            Some(Kind::Bursty(v1::BurstyLoss {
                turns_bad_ppb: ppb(turns_bad),
                turns_good_ppb: ppb(turns_good),
                while_good_ppb: ppb(while_good),
                while_bad_ppb: ppb(while_bad),
            }))
        }
    };
    v1::Line {
        delay_ns: line.delay.whole_ns(),
        jitter: Some(v1::Jitter {
            max_ns: line.jitter.max.whole_ns(),
            reorder: line.jitter.reorder,
        }),
        loss: Some(v1::Loss { kind }),
        corruption_ppb: ppb(line.corruption),
        duplication_ppb: ppb(line.duplication),
        stalls: Some(v1::Stalls {
            share_ppb: ppb(line.stalls.share),
            max_ns: line.stalls.max.whole_ns(),
        }),
    }
}

/// Probabilities are binary fractions; the nearest thousand-millionth is what was written.
fn ppb(probability: Probability) -> u64 {
    let (raw, always) = (u128::from(probability.raw()), u128::from(Probability::ALWAYS.raw()));
    ((raw * u128::from(THOUSAND_MILLION) + always / 2) / always) as u64
}

/// The numbers of a line.
pub(super) fn line_counters(line: &LineReport) -> v1::LineCounters {
    let counters = &line.counters;
    v1::LineCounters {
        offered: Some(tally_message(counters.offered)),
        refused: Some(tally_message(counters.refused)),
        duplicated: Some(tally_message(counters.duplicated)),
        lost: Some(tally_message(counters.lost)),
        delivered: Some(tally_message(counters.delivered)),
        corrupted: Some(tally_message(counters.corrupted)),
        backlog: Some(depth_message(line.backlog)),
        backlog_high_water: Some(depth_message(line.backlog_high_water)),
        under_way: Some(depth_message(line.under_way)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(change: &v1::Link) -> (LinkConfig, Vec<Problem>) {
        let (mut link, mut problems) = (LinkConfig::default(), Vec::new());
        edit_link(&mut link, change, "port 1", &mut problems);
        (link, problems)
    }

    #[test]
    fn every_share_reads_back_as_it_was_written() {
        // The smallest, some that are no binary fractions, and certainty.
        for parts in [1, 3, 100_000, 333_333_333, 999_999_999, THOUSAND_MILLION] {
            let line = v1::Line {
                delay_ns: 10_000_000,
                jitter: Some(v1::Jitter { max_ns: parts, reorder: true }),
                loss: Some(v1::Loss { kind: Some(Kind::IndependentPpb(parts)) }),
                corruption_ppb: parts,
                duplication_ppb: parts,
                stalls: Some(v1::Stalls { share_ppb: parts, max_ns: parts }),
            };
            let sender = v1::Sender {
                rate_bps: Some(parts),
                backlog: Some(v1::Limit { packets: 0, bytes: parts }),
            };
            let sent = v1::Link { sender: Some(sender), receive: Some(line), transmit: Some(line) };
            let (link, problems) = edited(&sent);
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(link_message(&link), sent);
        }
    }

    #[test]
    fn a_sender_without_a_rate_has_the_ports_and_one_of_0_has_none() {
        let sender = |rate_bps| {
            let sender = Some(v1::Sender { rate_bps, backlog: None });
            edited(&v1::Link { sender, ..Default::default() }).0.sender.rate
        };
        assert_eq!(sender(None), SenderRate::OfPort);
        assert_eq!(sender(Some(0)), SenderRate::Unlimited);
    }

    #[test]
    fn what_waits_in_a_sender_is_bounded_unless_no_bound_is_asked_for() {
        let backlog = |backlog| {
            let sender = Some(v1::Sender { rate_bps: None, backlog });
            edited(&v1::Link { sender, ..Default::default() }).0.sender.backlog
        };
        assert_eq!(backlog(None), SenderConfig::default().backlog);
        assert_eq!(backlog(Some(v1::Limit::default())), traffic::Limit::default());
    }

    #[test]
    fn shares_above_certainty_and_delays_of_hours_are_refused() {
        let hour = 3_600 * THOUSAND_MILLION;
        let line = v1::Line {
            delay_ns: hour,
            jitter: Some(v1::Jitter { max_ns: hour, reorder: false }),
            loss: Some(v1::Loss { kind: Some(Kind::IndependentPpb(THOUSAND_MILLION + 1)) }),
            corruption_ppb: u64::MAX,
            ..Default::default()
        };
        let (_, problems) = edited(&v1::Link { transmit: Some(line), ..Default::default() });
        let places: Vec<_> = problems.iter().map(|problem| problem.place.as_str()).collect();
        let line = "port 1, transmit line";
        let expected =
            ["delay", "jitter", "corruption", "loss"].map(|what| format!("{line}, {what}"));
        assert_eq!(places, expected);
    }
}
