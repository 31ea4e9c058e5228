//! The packets that a client wants to follow, and the messages with their steps.

use bits::Int;
use device::{Pattern, TraceEvent, TraceFilter, TraceRecord};
use messages::vitrine::v1;
use pipeline::{Event, KeyMatch};
use v1::program_step::Kind as Step;
use v1::trace_step::Kind;

use super::parts::port_of;
use super::reasons;
use crate::refusal::Refusal;
use crate::watch::Item;

/// Filters of one request, and patterns of one filter.
const COUNT_MAX: usize = 64;

/// The filters of a request.
pub fn filters_of(request: &v1::TraceRequest) -> Result<Vec<TraceFilter>, Refusal> {
    if request.filters.is_empty() {
        return Err(Refusal::invalid(
            "the request has no filter: add one (an empty filter takes every packet)",
        ));
    }
    if request.filters.len() > COUNT_MAX {
        return Err(too_many("filters", request.filters.len()));
    }
    request.filters.iter().map(filter_of).collect()
}

fn filter_of(filter: &v1::TraceFilter) -> Result<TraceFilter, Refusal> {
    if filter.patterns.len() > COUNT_MAX {
        return Err(too_many("patterns", filter.patterns.len()));
    }
    let pattern = |pattern: &v1::BytePattern| {
        if !pattern.mask.is_empty() && pattern.mask.len() != pattern.value.len() {
            return Err(Refusal::invalid(format!(
                "the pattern at offset {} has a value of {} bytes and a mask of {}: give as many, \
                 or no mask",
                pattern.offset,
                pattern.value.len(),
                pattern.mask.len()
            )));
        }
        Ok(Pattern {
            offset: pattern.offset as usize,
            value: pattern.value.to_vec(),
            mask: pattern.mask.to_vec(),
        })
    };
    Ok(TraceFilter {
        port: filter.port.map(port_of).transpose()?,
        patterns: filter.patterns.iter().map(pattern).collect::<Result<_, _>>()?,
        one_in: filter.one_in.max(1),
        frames_max: if filter.frames_max == 0 { u64::MAX } else { filter.frames_max },
        tells_primitives: false,
    })
}

fn too_many(what: &str, found: usize) -> Refusal {
    Refusal::invalid(format!("{found} {what} are more than the {COUNT_MAX} that are possible"))
}

/// The message of one batch of a feed.
pub fn batch_message(batch: Vec<Item>) -> v1::TraceResponse {
    let mut message = v1::TraceResponse::default();
    for item in batch {
        match item {
            Item::Lost(count) => message.lost_steps += count,
            Item::Step(record) => message.steps.extend(step_message(*record)),
            Item::CompleteUntil(at) => message.complete_until_ps = at.ps(),
            // A trace has no other events.
            _ => {}
        }
    }
    message
}

/// None: the message has no word for it.
fn step_message(record: TraceRecord) -> Option<v1::TraceStep> {
    let kind = match record.event {
        TraceEvent::Copied { from, kind } => {
            Kind::Copied(v1::Copied { from, instance_type: kind as u32 })
        }
        TraceEvent::Departed { port, queueing } => Kind::Departed(v1::Departed {
            queue: Some(v1::QueueRef { port: port.0.into(), class: queueing.class.0.into() }),
            enqueued_ps: queueing.enqueued.ps(),
            enqueue_depth_packets: queueing.depth_packets_at_enqueue,
            dequeue_depth_packets: queueing.depth_packets_at_dequeue,
        }),
        TraceEvent::Digest { list } => Kind::DigestList(list),
        TraceEvent::Dropped(reason) => Kind::Dropped(reasons::message(reason).into()),
        TraceEvent::Program(event) => {
            Kind::Program(v1::ProgramStep { kind: Some(program_step(event)?) })
        }
        TraceEvent::Queued { port, class } => {
            Kind::Queued(v1::QueueRef { port: port.0.into(), class: class.0.into() })
        }
        TraceEvent::Received { filter, port, frame } => Kind::Received(v1::Received {
            filter: u32::try_from(filter).unwrap_or(u32::MAX),
            port: port.0.into(),
            frame: frame.into(),
        }),
        TraceEvent::Recirculated => Kind::Recirculated(true),
        TraceEvent::Replicated { group } => Kind::ReplicatedBy(group),
        TraceEvent::Resubmitted => Kind::Resubmitted(true),
        TraceEvent::Transmitted { port, frame } => {
            Kind::Transmitted(v1::Transmitted { port: port.0.into(), frame: frame.into() })
        }
    };
    Some(v1::TraceStep { packet: record.packet, time_ps: record.at.ps(), kind: Some(kind) })
}

fn program_step(event: Event) -> Option<Step> {
    Some(match event {
        Event::Action { name, data } => Step::Action(v1::Values { name, values: values(data) }),
        Event::AssertionFailed { what } => Step::AssertionFailed(what),
        Event::Checksum { name, verified, computed, found } => {
            Step::Checksum(v1::Checksum { name, verified, computed, found })
        }
        Event::Condition { name, holds } => Step::Condition(v1::Condition { name, holds }),
        Event::Control { name } => Step::Control(name),
        Event::Emitted { header } => Step::Emitted(header),
        Event::Extracted { header, length } => {
            Step::Extracted(v1::Extracted { header, length_bytes: length as u64 })
        }
        Event::FieldChanged { field, before, after } => Step::Field(v1::FieldChange {
            field,
            before: before.to_string(),
            after: after.to_string(),
        }),
        Event::Log { text } => Step::Log(text),
        Event::ParserDone { error, parsed } => {
            Step::ParserDone(v1::ParserDone { error, parsed_bytes: parsed as u64 })
        }
        Event::ParserState { name } => Step::ParserState(name),
        Event::Primitive { .. } => return None,
        Event::QueueRead { function, inputs, outputs } => Step::QueueRead(v1::QueueRead {
            inputs: Some(v1::Values { name: function, values: numbers(inputs) }),
            outputs: numbers(outputs),
        }),
        Event::Table { table, key, entry, matches, priority, .. } => {
            let key = Some(v1::Values { name: table, values: values(key) });
            let matches = matches.iter().map(match_text).collect();
            Step::Table(v1::TableLookup { key, entry, matches, priority })
        }
    })
}

fn values(named: Vec<(String, Int)>) -> Vec<v1::Value> {
    named.into_iter().map(|(name, value)| v1::Value { name, value: value.to_string() }).collect()
}

fn numbers(named: Vec<(String, u64)>) -> Vec<v1::Value> {
    named.into_iter().map(|(name, value)| v1::Value { name, value: value.to_string() }).collect()
}

/// An entry's match for a key, as `TableLookup.matches` has it.
fn match_text(asked: &KeyMatch) -> String {
    match asked {
        KeyMatch::Any => "*".to_owned(),
        KeyMatch::Exact(value) => value.to_string(),
        KeyMatch::Lpm { value, length_bits } => format!("{value}/{length_bits}"),
        KeyMatch::Range { low, high } => format!("{low}..{high}"),
        KeyMatch::Ternary { value, mask } => format!("{value} &&& {mask}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_match_is_told_in_the_words_that_the_message_promises() {
        let int = |value: u32| Int::from(value);
        let asked = [
            KeyMatch::Any,
            KeyMatch::Exact(int(6)),
            KeyMatch::Lpm { value: int(0x0a00_0100), length_bits: 24 },
            KeyMatch::Range { low: int(80), high: int(443) },
            KeyMatch::Ternary { value: int(6), mask: int(255) },
        ];
        let told = asked.iter().map(match_text).collect::<Vec<_>>();
        assert_eq!(told, ["*", "6", "167772416/24", "80..443", "6 &&& 255"]);
    }

    #[test]
    fn filters_that_cannot_be_are_refused_with_a_sentence() {
        let refused = |filters| {
            filters_of(&v1::TraceRequest { filters, ..Default::default() }).unwrap_err().message
        };
        assert!(refused(Vec::new()).starts_with("the request has no filter"));
        let pattern =
            v1::BytePattern { offset: 12, value: vec![8, 0].into(), mask: vec![1].into() };
        let filter = v1::TraceFilter { patterns: vec![pattern], ..Default::default() };
        assert_eq!(
            refused(vec![filter]),
            "the pattern at offset 12 has a value of 2 bytes and a mask of 1: give as many, or no \
             mask"
        );
        assert_eq!(
            refused(vec![v1::TraceFilter::default(); 65]),
            "65 filters are more than the 64 that are possible"
        );
    }
}
