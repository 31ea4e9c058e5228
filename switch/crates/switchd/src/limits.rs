//! The limits of the switch, as `--limits` prints them. Each number is the constant that the code
//! works with.

use std::fmt::Write;

use agent::exchange;
use agent::front::outbox;
use p4runtime::{arbitration, digest, translate};
use service::{capacity, connections, server};
use traffic::QueueConfig;
use units::memory::Purpose;
use units::{Bytes, CLASS_COUNT_MAX, PORT_NUMBER_MAX};

use crate::memory::Memory;

/// The limited thing, its limit, and the behaviour beyond.
type Row = (&'static str, String, &'static str);

/// A table for people, a line a limit.
pub fn table() -> String {
    let rows = rows();
    let width = |column: fn(&Row) -> &str| rows.iter().map(|row| column(row).len()).max();
    let (first, second) = (width(|row| row.0), width(|row| &row.1));
    let (first, second) = (first.unwrap_or(0), second.unwrap_or(0));
    rows.iter().fold(String::new(), |mut text, (what, limit, beyond)| {
        let _infallible = writeln!(text, "{what:first$}  {limit:>second$}  {beyond}");
        text
    })
}

fn rows() -> Vec<Row> {
    [rows_of_packets(), rows_of_memory(), rows_of_controllers()].concat()
}

fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes >> 20)
}

/// The limits for packets and programs.
fn rows_of_packets() -> Vec<Row> {
    let queue = QueueConfig::default().limit.packets.unwrap_or(u64::MAX);
    vec![
        ("port number", PORT_NUMBER_MAX.to_string(), "refused"),
        ("queues of a port", CLASS_COUNT_MAX.to_string(), "refused"),
        ("packets in a queue at first", queue.to_string(), "dropped: queue_limit"),
        (
            "frames that a port brings in at a turn",
            crate::switch::FRAMES_PER_TURN_MAX.to_string(),
            "wait for the next",
        ),
        (
            "memory of a program's counters, meters and registers",
            mebibytes(pipeline::ARRAY_MEMORY_BYTES as usize),
            "the program is refused",
        ),
        (
            "memory of a program's tables, filled to their sizes",
            mebibytes(pipeline::TABLE_MEMORY_BYTES as usize),
            "the program is refused",
        ),
        (
            "rounds of a control's loops for a packet",
            pipeline::ROUNDS_MAX.to_string(),
            "dropped: loop_limit",
        ),
        (
            "states of a parser that a packet enters",
            pipeline::native::STATES_MAX.to_string(),
            "parser_error is ParserTimeout",
        ),
        ("bytes of a frame", ports::FRAME_SIZE_BYTES_MAX.to_string(), "not sent by the netdev"),
    ]
}

/// The parts of the budget on this machine, unless --memory says something else.
fn rows_of_memory() -> Vec<Row> {
    let memory = Memory::by_default();
    let row = |what, limit: Bytes, beyond| (what, mebibytes(limit.0 as usize), beyond);
    let parts = memory.budget().rows().map(|(purpose, what, limit)| match purpose {
        Purpose::Calls => row(what, limit, "wait"),
        Purpose::Packets => row(what, limit, "dropped: packet_memory"),
        Purpose::Reports | Purpose::Watchers => row(what, limit, "lost, counted"),
        _ => row(what, limit, "RESOURCE_EXHAUSTED"),
    });
    let whole = row("memory of all that clients make, of which", memory.all, "by its parts:");
    std::iter::once(whole).chain(parts).collect()
}

/// The limits for controllers.
fn rows_of_controllers() -> Vec<Row> {
    vec![
        ("streams of a role", arbitration::CLIENT_COUNT_MAX.to_string(), "a backup gives way"),
        ("roles", arbitration::ROLE_COUNT_MAX.to_string(), "a deserted one gives way"),
        (
            "roles of one connection",
            arbitration::ROLES_PER_CONNECTION_MAX.to_string(),
            "RESOURCE_EXHAUSTED",
        ),
        (
            "connections, with little memory fewer",
            connections::CONNECTION_COUNT_MAX.to_string(),
            "another gives way",
        ),
        (
            "calls open on a connection, with little memory fewer",
            capacity::CALLS_PER_CONNECTION_MAX.to_string(),
            "wait",
        ),
        (
            "size of a request",
            mebibytes(server::MESSAGE_SIZE_BYTES_MAX),
            "RESOURCE_EXHAUSTED or OUT_OF_RANGE",
        ),
        ("requests on their way to the packets", exchange::WAITING_COUNT_MAX.to_string(), "wait"),
        (
            "entries or cells of a DATAPLANE_ATOMIC batch",
            agent::ATOMIC_STEPS_MAX.to_string(),
            "UNIMPLEMENTED",
        ),
        (
            "weights of a group, added up",
            translate::action::WEIGHT_SUM_MAX.to_string(),
            "RESOURCE_EXHAUSTED",
        ),
        (
            "copies that a group or session makes",
            translate::replication::REPLICA_COUNT_MAX.to_string(),
            "RESOURCE_EXHAUSTED",
        ),
        (
            "reports that wait for a slow controller",
            mebibytes(outbox::REPORT_SIZE_BYTES_MAX),
            "lost, counted",
        ),
        ("reports that wait together", mebibytes(outbox::REPORTS_SIZE_BYTES_MAX), "lost, counted"),
        (
            "errors that wait for a slow controller",
            format!("{} KiB", outbox::ERROR_SIZE_BYTES_MAX >> 10),
            "lost, counted",
        ),
        ("messages in a digest list", digest::LIST_SIZE_MAX.to_string(), "the list is sent"),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_limit_is_a_line_that_fits_a_terminal() {
        let table = super::table();
        assert!(table.lines().count() >= 10, "{table}");
        assert!(table.lines().all(|line| line.len() <= 100), "{table}");
        assert!(table.contains("queues of a port"), "{table}");
    }
}
