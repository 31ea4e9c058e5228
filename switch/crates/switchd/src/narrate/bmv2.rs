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
//! Scripts and courses look for these lines. A copy has a number of its own here, so what is behind
//! the point is always 0. What simple_switch never says is said in our words: why a packet was dropped
//! outside the program, and when it left its queue.

use bits::Int;
use device::TraceEvent;
use pipeline::{Event, InstanceType, Pipeline};
use tracing::{Level, debug, error, info, trace};
use units::DropReason;

use super::key_widths;

/// Writes one step of a packet.
pub(super) fn tell(packet: u64, step: &TraceEvent, pipeline: Option<&Pipeline>) {
    for (level, text) in lines(step, |table| key_widths(pipeline, table)) {
        match level {
            Level::ERROR => error!("[{packet}.0] [cxt 0] {text}"),
            Level::INFO => info!("[{packet}.0] [cxt 0] {text}"),
            Level::TRACE => trace!("[{packet}.0] [cxt 0] {text}"),
            _ => debug!("[{packet}.0] [cxt 0] {text}"),
        }
    }
}

/// What is said of one step; `widths` knows how many bits the keys of a table have.
fn lines(step: &TraceEvent, widths: impl Fn(&str) -> Vec<u32>) -> Vec<(Level, String)> {
    let text = match step {
        TraceEvent::Copied { from, kind } => match kind {
            InstanceType::IngressClone => format!("Cloning packet at ingress (a copy of {from}.0)"),
            InstanceType::EgressClone => format!("Cloning packet at egress (a copy of {from}.0)"),
            kind => format!("Replicating packet (a copy of {from}.0, {kind:?})"),
        },
        TraceEvent::Departed { port, queueing } => format!(
            "Leaving queue {} of port {port} after {}",
            queueing.class,
            queueing.departed.since(queueing.enqueued)
        ),
        TraceEvent::Digest { list } => format!("Sending digest of list {list}"),
        TraceEvent::Dropped(DropReason::IngressProgram) => {
            "Dropping packet at the end of ingress".to_owned()
        }
        TraceEvent::Dropped(DropReason::EgressProgram) => {
            "Dropping packet at the end of egress".to_owned()
        }
        TraceEvent::Dropped(reason) => format!("Dropping packet: {}", reason.name()),
        TraceEvent::Program(event) => return program_lines(event, widths),
        TraceEvent::Queued { port, .. } => format!("Egress port is {port}"),
        TraceEvent::Received { port, .. } => format!("Processing packet received on port {port}"),
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

fn program_lines(event: &Event, widths: impl Fn(&str) -> Vec<u32>) -> Vec<(Level, String)> {
    let debug = |text: String| (Level::DEBUG, text);
    let trace = |text: String| (Level::TRACE, text);
    match event {
        Event::Action { name, data } => {
            let data: String = data.iter().map(|(_, value)| hex_digits(value, 0) + ",").collect();
            vec![debug(format!("Action entry is {name} - {data}")), trace(format!("Action {name}"))]
        }
        Event::AssertionFailed { what } => {
            vec![(Level::ERROR, format!("Assertion failed: {what}"))]
        }
        Event::Checksum { name, verified, computed, found } if *verified => {
            vec![debug(format!("Verifying checksum '{name}': {}", computed == found))]
        }
        Event::Checksum { name, .. } => vec![debug(format!("Updating checksum '{name}'"))],
        Event::Condition { name, holds } => vec![trace(format!("Condition ({name}) is {holds}"))],
        Event::Control { name } => vec![debug(format!("Pipeline '{name}': start"))],
        Event::Emitted { header } => vec![debug(format!("Deparsing header '{header}'"))],
        Event::Extracted { header, .. } => vec![debug(format!("Extracting header '{header}'"))],
        Event::FieldChanged { field, after, .. } => {
            vec![trace(format!("Field {field} becomes 0x{}", hex_digits(after, 0)))]
        }
        Event::Log { text } => vec![(Level::INFO, text.clone())],
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
        Event::Table { table, key, entry, .. } => {
            let ended = match entry {
                Some(handle) => format!("Table '{table}': hit with handle {handle}"),
                None => format!("Table '{table}': miss"),
            };
            let widths = widths(table).into_iter().chain(std::iter::repeat(0));
            let parts = key.iter().zip(widths).map(|((name, value), width)| {
                format!("* {name:<20}: {}\n", hex_digits(value, width.div_ceil(8) as usize * 2))
            });
            vec![
                trace(format!("Applying table '{table}'")),
                debug(format!("Looking up key:\n{}", parts.collect::<String>())),
                debug(ended),
            ]
        }
    }
}

/// At least so many digits.
fn hex_digits(value: &Int, count: usize) -> String {
    format!("{value:0count$x}")
}

#[cfg(test)]
mod tests {
    use units::PortId;

    use super::*;

    fn said(step: TraceEvent) -> Vec<String> {
        lines(&step, |_| vec![48]).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_table_is_told_in_the_lines_that_scripts_look_for() {
        let key = vec![("hdr.ethernet.dstAddr".to_owned(), Int::from(0x0a00_0001_u64))];
        let table = "MyIngress.dmac".to_owned();
        let event = Event::Table { table, key, entry: Some(0), matches: Vec::new(), priority: 0 };
        assert_eq!(
            said(TraceEvent::Program(event)),
            [
                "Applying table 'MyIngress.dmac'",
                "Looking up key:\n* hdr.ethernet.dstAddr: 00000a000001\n",
                "Table 'MyIngress.dmac': hit with handle 0",
            ]
        );
        let data =
            vec![("dst".to_owned(), Int::from(0x0800_u64)), ("port".to_owned(), Int::zero())];
        let event = Event::Action { name: "MyIngress.forward".to_owned(), data };
        assert_eq!(
            said(TraceEvent::Program(event)),
            ["Action entry is MyIngress.forward - 800,0,", "Action MyIngress.forward"]
        );
    }

    #[test]
    fn the_ways_in_and_out_are_told_as_simple_switch_does() {
        let frame = vec![0; 98];
        let received = TraceEvent::Received { filter: 0, port: PortId(1), frame: frame.clone() };
        assert_eq!(said(received), ["Processing packet received on port 1"]);
        let sent = TraceEvent::Transmitted { port: PortId(2), frame };
        assert_eq!(said(sent), ["Transmitting packet of size 98 out of port 2"]);
        let dropped = TraceEvent::Dropped(DropReason::IngressProgram);
        assert_eq!(said(dropped), ["Dropping packet at the end of ingress"]);
        let queue = TraceEvent::Dropped(DropReason::QueueLimit);
        assert_eq!(said(queue), ["Dropping packet: queue_limit"]);
    }
}
