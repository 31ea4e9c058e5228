//! The life of a packet in the words of simple_switch.
//!
//! ```text
//!   [7.0] [cxt 0] Processing packet received on port 1
//!   [7.0] [cxt 0] Parser 'parser': start
//!   [7.0] [cxt 0] Extracting header 'ethernet'
//!   [7.0] [cxt 0] Table 'MyIngress.ipv4_lpm': hit with handle 1
//!   [7.0] [cxt 0] Action entry is MyIngress.ipv4_forward - 80000000222,2,
//!   [7.0] [cxt 0] Egress port is 2
//!   [7.0] [cxt 0] Transmitting packet of size 98 out of port 2
//! ```
//!
//! Scripts and courses look for these lines. A copy has a number of its own here, so the number
//! behind the point is always 0. Events that simple_switch does not log are in our words: why a
//! packet was dropped outside the program, and when it left its queue.

mod entry;

use bmv2::SourceInfo;
use device::{Crossing, Part, Parts, TraceEvent};
use pipeline::{Event, InstanceType, Pipeline};
use tracing::{Level, debug, error, info, trace};
use units::{DropReason, PortId};

use entry::hex_digits;

/// Writes the steps of packets, one after the other.
#[derive(Debug, Default)]
pub(super) struct Teller {
    parts: Parts,
    /// The latest copy: its destination is reported with it.
    copy: Option<Copy>,
    /// An action is the one that a table has chosen.
    is_chosen: bool,
}

#[derive(Debug)]
struct Copy {
    number: u64,
    of: u64,
    kind: InstanceType,
}

/// The context of a line beside the step itself.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The program, unless there is none any more.
    pub pipeline: Option<&'a Pipeline>,
    pub drop_port: PortId,
}

type Line = (Level, String);

impl Teller {
    /// Writes one step of a packet.
    pub fn tell(&mut self, packet: u64, step: &TraceEvent, context: Context<'_>) {
        let Crossing { over, begun, .. } = self.parts.cross(packet, step);
        if let Some((earlier, part)) = over {
            write(earlier, end_of(&part));
        }
        if begun == Some(Part::Deparser) {
            write(packet, vec![(Level::DEBUG, "Deparser 'deparser': start".to_owned())]);
        }
        write(packet, self.lines(packet, step, context));
    }

    /// The lines of one step.
    fn lines(&mut self, packet: u64, step: &TraceEvent, context: Context<'_>) -> Vec<Line> {
        let text = match step {
            TraceEvent::Copied { from, kind } => {
                self.copy = Some(Copy { number: packet, of: *from, kind: *kind });
                match kind {
                    InstanceType::IngressClone => "Cloning packet at ingress".to_owned(),
                    InstanceType::EgressClone => "Cloning packet at egress".to_owned(),
                    // Where it goes is said when it is known.
                    _ => return Vec::new(),
                }
            }
            TraceEvent::Departed { port, queueing } => format!(
                "Leaving queue {} of port {port} after {}",
                queueing.class,
                queueing.departed.since(queueing.enqueued)
            ),
            TraceEvent::Digest { list } => format!("Sending digest of list {list}"),
            TraceEvent::Dropped(DropReason::IngressProgram) => {
                let port = format!("Egress port is {}", context.drop_port);
                let dropped = "Dropping packet at the end of ingress".to_owned();
                return vec![(Level::DEBUG, port), (Level::DEBUG, dropped)];
            }
            TraceEvent::Dropped(DropReason::EgressProgram) => {
                "Dropping packet at the end of egress".to_owned()
            }
            TraceEvent::Dropped(reason) => format!("Dropping packet: {}", reason.name()),
            TraceEvent::Program(event) => return self.program_lines(event, context.pipeline),
            TraceEvent::Queued { port, .. } => self.goes_to(packet, *port),
            TraceEvent::Received { port, .. } => {
                format!("Processing packet received on port {port}")
            }
            TraceEvent::Recirculated => "Recirculating packet".to_owned(),
            TraceEvent::Replicated { group } => {
                format!("Multicast requested for packet (group {group})")
            }
            TraceEvent::Resubmitted => "Resubmitting packet".to_owned(),
            TraceEvent::Transmitted { port, frame } => {
                format!("Transmitting packet of size {} out of port {port}", frame.len())
            }
        };
        vec![(Level::DEBUG, text)]
    }

    /// A packet is handed over to be sent by this port.
    fn goes_to(&mut self, packet: u64, port: PortId) -> String {
        match self.copy.take_if(|copy| copy.number == packet) {
            None => format!("Egress port is {port}"),
            Some(Copy {
                of, kind: InstanceType::IngressClone | InstanceType::EgressClone, ..
            }) => {
                format!("Cloning packet to egress port {port} (a copy of {of}.0)")
            }
            Some(Copy { of, .. }) => {
                format!("Replicating packet on port {port} (a copy of {of}.0)")
            }
        }
    }

    fn program_lines(&mut self, event: &Event, pipeline: Option<&Pipeline>) -> Vec<Line> {
        let debug = |text: String| (Level::DEBUG, text);
        let trace = |text: String| (Level::TRACE, text);
        let is_chosen = std::mem::replace(&mut self.is_chosen, false);
        match event {
            Event::Action { name, data } => {
                let data = data.iter().map(|(_, value)| value);
                let chosen = debug(format!("Action entry is {}", entry::action(name, data)));
                let begun = trace(format!("Action {name}"));
                if is_chosen { vec![chosen, begun] } else { vec![begun] }
            }
            Event::AssertionFailed { what } => {
                vec![(Level::ERROR, format!("Assertion failed: {what}"))]
            }
            Event::Condition { name, holds } => {
                let source = pipeline.and_then(|it| it.source_of_condition(name));
                let (place, text) =
                    (place_of(source), source.map_or(name, |it| &it.source_fragment));
                vec![trace(format!("{place}Condition \"{text}\" ({name}) is {holds}"))]
            }
            Event::Checksum { .. } | Event::ParserDone { .. } | Event::ParserState { .. } => {
                lines_beside_controls(event)
            }
            Event::Control { name } => vec![debug(format!("Pipeline '{name}': start"))],
            Event::Emitted { header } => vec![debug(format!("Deparsing header '{header}'"))],
            Event::Extracted { header, .. } => vec![debug(format!("Extracting header '{header}'"))],
            Event::FieldChanged { field, after, .. } => {
                vec![trace(format!("Field {field} becomes 0x{}", hex_digits(after, 0)))]
            }
            Event::Log { text } => vec![(Level::INFO, text.clone())],
            Event::Primitive { source } => {
                let text =
                    source.as_ref().map_or("(no source info)", |it| it.source_fragment.as_str());
                vec![trace(format!("{}Primitive {text}", place_of(source.as_ref())))]
            }
            // The primitive before it says as much as simple_switch says of an extern.
            Event::QueueRead { .. } => Vec::new(),
            Event::Table { table, key, entry, handle, matches, .. } => {
                self.is_chosen = true;
                let found = pipeline.and_then(|it| Some((it, it.table(it.table_index(table)?))));
                let mut said = vec![
                    trace(format!("Applying table '{table}'")),
                    debug(format!("Looking up key:\n{}", entry::key(key, found.map(|it| it.1)))),
                ];
                if entry.is_none() {
                    said.push(debug(format!("Table '{table}': miss")));
                    return said;
                }
                said.push(debug(format!("Table '{table}': hit with handle {handle}")));
                said.extend(found.and_then(|(pipeline, of)| {
                    entry::dump(pipeline, of, *handle, key, matches).map(debug)
                }));
                said
            }
        }
    }
}

fn write(packet: u64, lines: Vec<Line>) {
    for (level, text) in lines {
        match level {
            Level::ERROR => error!("[{packet}.0] [cxt 0] {text}"),
            Level::INFO => info!("[{packet}.0] [cxt 0] {text}"),
            Level::TRACE => trace!("[{packet}.0] [cxt 0] {text}"),
            _ => debug!("[{packet}.0] [cxt 0] {text}"),
        }
    }
}

/// The lines of the steps of parsers and of checksums.
fn lines_beside_controls(event: &Event) -> Vec<Line> {
    let debug = |text: String| (Level::DEBUG, text);
    let trace = |text: String| (Level::TRACE, text);
    match event {
        Event::Checksum { name, verified: true, computed, found } => {
            let passed = if computed == found { "passed" } else { "failed" };
            vec![
                debug(format!("Checksum '{name}': computed {computed:#x} - actual {found:#x}")),
                debug(format!("Verified checksum '{name}': {passed}")),
            ]
        }
        Event::Checksum { name, .. } => vec![debug(format!("Updating checksum '{name}'"))],
        Event::ParserDone { error, parsed } => {
            let mut said = vec![trace(format!("Bytes parsed: {parsed}"))];
            if error != "NoError" {
                said.push(debug(format!("Parser error: {error}")));
            }
            said.push(debug("Parser 'parser': end".to_owned()));
            said
        }
        Event::ParserState { name } => {
            let entering = debug(format!("Parser 'parser' entering state '{name}'"));
            match name.as_str() {
                "start" => vec![debug("Parser 'parser': start".to_owned()), entering],
                _ => vec![entering],
            }
        }
        _ => Vec::new(),
    }
}

/// The lines at the end of a part of the program; a parser's are those of its last step.
fn end_of(part: &Part) -> Vec<Line> {
    match part {
        Part::Control(name) => vec![(Level::DEBUG, format!("Pipeline '{name}': end"))],
        Part::Deparser => vec![(Level::DEBUG, "Deparser 'deparser': end".to_owned())],
        Part::Parser => Vec::new(),
    }
}

/// File and line, in front of the source text.
fn place_of(source: Option<&SourceInfo>) -> String {
    source.map(|at| format!("{}({}) ", at.filename, at.line)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bits::Int;
    use units::{ClassId, PortId};

    use super::*;

    fn said(teller: &mut Teller, packet: u64, step: TraceEvent) -> Vec<String> {
        let context = Context { pipeline: None, drop_port: PortId(511) };
        let lines = teller.lines(packet, &step, context);
        lines.into_iter().map(|(_, text)| text).collect()
    }

    fn alone(step: TraceEvent) -> Vec<String> {
        said(&mut Teller::default(), 0, step)
    }

    #[test]
    fn a_table_is_told_in_the_lines_that_scripts_look_for() {
        let key = vec![("hdr.ethernet.dstAddr".to_owned(), Int::from(0x0a00_0001_u64))];
        let table = "MyIngress.dmac".to_owned();
        let event = Event::Table {
            table,
            key,
            entry: Some(0),
            handle: 1 << 24,
            matches: Vec::new(),
            priority: 0,
        };
        let mut teller = Teller::default();
        assert_eq!(
            said(&mut teller, 0, TraceEvent::Program(event)),
            [
                "Applying table 'MyIngress.dmac'",
                "Looking up key:\n* hdr.ethernet.dstAddr: a000001\n",
                "Table 'MyIngress.dmac': hit with handle 16777216",
            ]
        );
        let data =
            vec![("dst".to_owned(), Int::from(0x0800_u64)), ("port".to_owned(), Int::zero())];
        let event = Event::Action { name: "MyIngress.forward".to_owned(), data };
        assert_eq!(
            said(&mut teller, 0, TraceEvent::Program(event.clone())),
            ["Action entry is MyIngress.forward - 800,0,", "Action MyIngress.forward"]
        );
        // A call that no table has chosen.
        assert_eq!(said(&mut teller, 0, TraceEvent::Program(event)), ["Action MyIngress.forward"]);
    }

    #[test]
    fn statements_stand_behind_their_file_and_line() {
        let source = SourceInfo {
            filename: "basic.p4".to_owned(),
            line: 81,
            column: 8,
            source_fragment: "standard_metadata.egress_spec = port".to_owned(),
        };
        let primitive = Event::Primitive { source: Some(source) };
        assert_eq!(
            alone(TraceEvent::Program(primitive)),
            ["basic.p4(81) Primitive standard_metadata.egress_spec = port"]
        );
        let unknown = Event::Primitive { source: None };
        assert_eq!(alone(TraceEvent::Program(unknown)), ["Primitive (no source info)"]);
    }

    #[test]
    fn copies_are_told_with_where_they_go() {
        let mut teller = Teller::default();
        let queued = |port| TraceEvent::Queued { port: PortId(port), class: ClassId(0) };
        let copied = |kind| TraceEvent::Copied { from: 7, kind };
        assert!(said(&mut teller, 8, copied(InstanceType::Replicated)).is_empty());
        assert_eq!(
            said(&mut teller, 8, queued(2)),
            ["Replicating packet on port 2 (a copy of 7.0)"]
        );
        let cloned = said(&mut teller, 9, copied(InstanceType::IngressClone));
        assert_eq!(cloned, ["Cloning packet at ingress"]);
        let to = said(&mut teller, 9, queued(3));
        assert_eq!(to, ["Cloning packet to egress port 3 (a copy of 7.0)"]);
        assert_eq!(said(&mut teller, 7, queued(4)), ["Egress port is 4"]);
    }

    #[test]
    fn the_ways_in_and_out_are_told_as_simple_switch_does() {
        let frame = vec![0; 98];
        let received = TraceEvent::Received { filter: 0, port: PortId(1), frame: frame.clone() };
        assert_eq!(alone(received), ["Processing packet received on port 1"]);
        let sent = TraceEvent::Transmitted { port: PortId(2), frame };
        assert_eq!(alone(sent), ["Transmitting packet of size 98 out of port 2"]);
        let dropped = TraceEvent::Dropped(DropReason::IngressProgram);
        let expected = ["Egress port is 511", "Dropping packet at the end of ingress"];
        assert_eq!(alone(dropped), expected);
        let queue = TraceEvent::Dropped(DropReason::QueueLimit);
        assert_eq!(alone(queue), ["Dropping packet: queue_limit"]);
    }
}
