//! The steps of packets as bmv2 publishes them for event loggers (`--nanolog`): a message each,
//! with the ids of the program's JSON in the place of names.
//!
//! ```text
//!   type i32 | device u64 | context u32 | signature u64 | packet u64 | copy u64 | one or two i32
//! ```
//!
//! All numbers are little-endian. There is one context; packets have no signature here, and a copy has
//! a number of its own, so context, signature and copy are 0.
//!
//! There, pipelines and deparsers have end messages. Here a step of a control, a parser or a
//! deparser shows that the one before is over, so the end message comes with the first step behind
//! it.

use std::collections::BTreeMap;

use device::{Crossing, Part, Parts, TraceEvent, TraceRecord};
use pipeline::Event;

/// Types of messages, as the interface numbers them.
mod kind {
    pub const PACKET_IN: i32 = 0;
    pub const PACKET_OUT: i32 = 1;
    pub const PARSER_START: i32 = 2;
    pub const PARSER_DONE: i32 = 3;
    pub const PARSER_EXTRACT: i32 = 4;
    pub const DEPARSER_START: i32 = 5;
    pub const DEPARSER_DONE: i32 = 6;
    pub const DEPARSER_EMIT: i32 = 7;
    pub const CHECKSUM_UPDATE: i32 = 8;
    pub const PIPELINE_START: i32 = 9;
    pub const PIPELINE_DONE: i32 = 10;
    pub const CONDITION_EVAL: i32 = 11;
    pub const TABLE_HIT: i32 = 12;
    pub const TABLE_MISS: i32 = 13;
    pub const ACTION_EXECUTE: i32 = 14;
    pub const CONFIG_CHANGE: i32 = 999;
}

/// Makes messages of steps, one device's in their order.
#[derive(Debug)]
pub struct Steps {
    device_id: u64,
    ids: Ids,
    parts: Parts,
    /// The last table that was looked up: of several actions of one name its own is meant.
    table: Option<String>,
}

/// Ids by name; what has none is 0.
#[derive(Debug, Default)]
struct Ids {
    headers: BTreeMap<String, i32>,
    checksums: BTreeMap<String, i32>,
    pipelines: BTreeMap<String, i32>,
    conditions: BTreeMap<String, i32>,
    tables: BTreeMap<String, i32>,
    actions: BTreeMap<String, i32>,
    /// By table and action.
    actions_of_tables: BTreeMap<(String, String), i32>,
    parser: i32,
    deparser: i32,
}

impl Steps {
    /// Of a device without a program.
    pub fn new(device_id: u64) -> Steps {
        Steps { device_id, ids: Ids::default(), parts: Parts::default(), table: None }
    }

    /// The program from now on, and the message that says so.
    pub fn change(&mut self, program: &bmv2::Program) -> Vec<u8> {
        (self.ids, self.parts, self.table) = (Ids::of(program), Parts::default(), None);
        self.message(kind::CONFIG_CHANGE, 0, &[])
    }

    /// The messages of a step.
    pub fn messages(&mut self, record: &TraceRecord) -> Vec<Vec<u8>> {
        let TraceRecord { packet, event, .. } = record;
        let Crossing { over, begun, ended } = self.parts.cross(*packet, event);
        let mut said = Vec::new();
        said.extend(over.map(|(earlier, part)| self.done(earlier, &part)));
        said.extend(begun.map(|part| self.start(*packet, &part)));
        said.extend(self.step(*packet, event));
        said.extend(ended.map(|part| self.done(*packet, &part)));
        said
    }

    fn start(&self, packet: u64, part: &Part) -> Vec<u8> {
        match part {
            Part::Control(name) => {
                self.message(kind::PIPELINE_START, packet, &[self.control(name)])
            }
            Part::Deparser => self.message(kind::DEPARSER_START, packet, &[self.ids.deparser]),
            Part::Parser => self.message(kind::PARSER_START, packet, &[self.ids.parser]),
        }
    }

    fn done(&self, packet: u64, part: &Part) -> Vec<u8> {
        match part {
            Part::Control(name) => self.message(kind::PIPELINE_DONE, packet, &[self.control(name)]),
            Part::Deparser => self.message(kind::DEPARSER_DONE, packet, &[self.ids.deparser]),
            Part::Parser => self.message(kind::PARSER_DONE, packet, &[self.ids.parser]),
        }
    }

    fn control(&self, name: &str) -> i32 {
        id(&self.ids.pipelines, name)
    }

    /// The step itself, if the interface has a word for it.
    fn step(&mut self, packet: u64, event: &TraceEvent) -> Option<Vec<u8>> {
        let ids = &self.ids;
        let (kind, values) = match event {
            TraceEvent::Received { port, .. } => (kind::PACKET_IN, vec![i32::from(port.0)]),
            TraceEvent::Transmitted { port, .. } => (kind::PACKET_OUT, vec![i32::from(port.0)]),
            TraceEvent::Program(event) => match event {
                Event::Extracted { header, .. } => {
                    (kind::PARSER_EXTRACT, vec![id(&ids.headers, header)])
                }
                Event::Emitted { header } => (kind::DEPARSER_EMIT, vec![id(&ids.headers, header)]),
                Event::Checksum { name, verified: false, .. } => {
                    (kind::CHECKSUM_UPDATE, vec![id(&ids.checksums, name)])
                }
                Event::Condition { name, holds } => {
                    (kind::CONDITION_EVAL, vec![id(&ids.conditions, name), i32::from(*holds)])
                }
                Event::Table { table, entry, handle, .. } => {
                    let number = id(&ids.tables, table);
                    self.table = Some(table.clone());
                    match entry {
                        Some(_) => (kind::TABLE_HIT, vec![number, handle.cast_signed()]),
                        None => (kind::TABLE_MISS, vec![number]),
                    }
                }
                Event::Action { name, .. } => {
                    (kind::ACTION_EXECUTE, vec![ids.action(self.table.as_deref(), name)])
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(self.message(kind, packet, &values))
    }

    fn message(&self, kind: i32, packet: u64, values: &[i32]) -> Vec<u8> {
        let mut message = kind.to_le_bytes().to_vec();
        message.extend(self.device_id.to_le_bytes());
        message.extend([0; size_of::<u32>() + size_of::<u64>()]);
        message.extend(packet.to_le_bytes());
        message.extend([0; size_of::<u64>()]);
        message.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        message
    }
}

impl Ids {
    fn of(program: &bmv2::Program) -> Ids {
        let controls = &program.pipelines;
        let tables = || controls.iter().flat_map(|control| &control.tables);
        let conditions = controls.iter().flat_map(|control| &control.conditionals);
        let of_tables = tables().flat_map(|table| {
            let actions = table.actions.iter().zip(&table.action_ids);
            actions.map(|(action, id)| ((table.name.clone(), action.clone()), id.cast_signed()))
        });
        Ids {
            headers: by_name(program.headers.iter().map(|it| (&it.name, it.id))),
            checksums: by_name(program.checksums.iter().map(|it| (&it.name, it.id))),
            pipelines: by_name(controls.iter().map(|it| (&it.name, it.id))),
            conditions: by_name(conditions.map(|it| (&it.name, it.id))),
            tables: by_name(tables().map(|it| (&it.name, it.id))),
            actions: by_name(program.actions.iter().map(|it| (&it.name, it.id))),
            actions_of_tables: of_tables.collect(),
            parser: program.parsers.first().map_or(0, |it| it.id.cast_signed()),
            deparser: program.deparsers.first().map_or(0, |it| it.id.cast_signed()),
        }
    }

    fn action(&self, table: Option<&str>, name: &str) -> i32 {
        let own = table
            .and_then(|table| self.actions_of_tables.get(&(table.to_owned(), name.to_owned())));
        own.copied().unwrap_or_else(|| id(&self.actions, name))
    }
}

fn by_name<'a>(objects: impl Iterator<Item = (&'a String, u32)>) -> BTreeMap<String, i32> {
    objects.map(|(name, id)| (name.clone(), id.cast_signed())).collect()
}

fn id(ids: &BTreeMap<String, i32>, name: &str) -> i32 {
    ids.get(name).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bmv2::{Action, Header, Parser, Pipeline, Program, Table};
    use units::{DropReason, PortId, Time};

    use super::*;

    fn program() -> Program {
        let named = |name: &str, id| Action { name: name.to_owned(), id, ..Action::default() };
        let table = Table {
            name: "routes".to_owned(),
            id: 4,
            actions: vec!["NoAction".to_owned()],
            action_ids: vec![8],
            ..Table::default()
        };
        let ingress = Pipeline {
            name: "ingress".to_owned(),
            id: 6,
            tables: vec![table],
            ..Pipeline::default()
        };
        let header = Header { name: "ethernet".to_owned(), id: 2, ..Header::default() };
        Program {
            headers: vec![header],
            parsers: vec![Parser { id: 5, ..Parser::default() }],
            actions: vec![named("NoAction", 7), named("NoAction", 8)],
            pipelines: vec![ingress],
            ..Program::default()
        }
    }

    /// Type and values of the messages of these steps of packet 9.
    fn said(events: Vec<TraceEvent>) -> Vec<(i32, Vec<i32>)> {
        let mut steps = Steps::new(3);
        let change = steps.change(&program());
        assert_eq!(change.len(), 40);
        assert_eq!(&change[..12], b"\xe7\x03\0\0\x03\0\0\0\0\0\0\0");
        let records =
            events.into_iter().map(|event| TraceRecord { packet: 9, at: Time::ZERO, event });
        let messages: Vec<Vec<u8>> = records.flat_map(|record| steps.messages(&record)).collect();
        let number = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().unwrap());
        let parts = messages.iter().map(|message| {
            assert_eq!(&message[24..32], 9_u64.to_le_bytes());
            (number(&message[..4]), message[40..].chunks(4).map(number).collect())
        });
        parts.collect()
    }

    fn program_event(event: Event) -> TraceEvent {
        TraceEvent::Program(event)
    }

    #[test]
    fn parts_of_a_program_begin_and_end_and_names_become_ids() {
        let table = Event::Table {
            table: "routes".to_owned(),
            key: Vec::new(),
            entry: Some(12),
            handle: 12,
            matches: Vec::new(),
            priority: 0,
        };
        let header = "ethernet".to_owned();
        let steps = vec![
            TraceEvent::Received { filter: 0, port: PortId(1), frame: vec![0; 14] },
            program_event(Event::ParserState { name: "start".to_owned() }),
            program_event(Event::Extracted { header: header.clone(), length: 14 }),
            program_event(Event::ParserDone { error: "NoError".to_owned(), parsed: 14 }),
            program_event(Event::Control { name: "ingress".to_owned() }),
            program_event(table),
            // Of two actions of this name it is the table's.
            program_event(Event::Action { name: "NoAction".to_owned(), data: Vec::new() }),
            program_event(Event::Emitted { header }),
            TraceEvent::Transmitted { port: PortId(2), frame: vec![0; 14] },
        ];
        let told = said(steps);
        let expected: Vec<(i32, Vec<i32>)> = vec![
            (kind::PACKET_IN, vec![1]),
            (kind::PARSER_START, vec![5]),
            (kind::PARSER_EXTRACT, vec![2]),
            (kind::PARSER_DONE, vec![5]),
            (kind::PIPELINE_START, vec![6]),
            (kind::TABLE_HIT, vec![4, 12]),
            (kind::ACTION_EXECUTE, vec![8]),
            (kind::PIPELINE_DONE, vec![6]),
            (kind::DEPARSER_START, vec![0]),
            (kind::DEPARSER_EMIT, vec![2]),
            (kind::DEPARSER_DONE, vec![0]),
            (kind::PACKET_OUT, vec![2]),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_packet_that_is_dropped_still_ends_its_pipeline() {
        let steps = vec![
            program_event(Event::Control { name: "ingress".to_owned() }),
            TraceEvent::Dropped(DropReason::IngressProgram),
        ];
        assert_eq!(said(steps), [(kind::PIPELINE_START, vec![6]), (kind::PIPELINE_DONE, vec![6])]);
    }
}
