//! One program twice, as machine code and interpreted, and the comparison of the two.

// Each test file uses a part of this.
#![allow(dead_code)]

#[path = "../../../pipeline/tests/common/switching.rs"]
mod switching;

pub mod chance;
pub mod programs;

use bits::Int;
use chance::Chance;
use pipeline::{
    CloneSession, Config, Entry, EntryAction, KeyMatch, Node, Pipeline, Table, Unobserved,
};
use units::{PortId, Span, Time};

/// The same program in both forms.
pub struct Both {
    name: String,
    program: bmv2::Program,
    native: Pipeline,
    interpreted: Pipeline,
    now: Time,
}

impl Both {
    /// Loads a program; none if the pipeline refuses it, which other tests look into.
    pub fn load(name: &str, program: bmv2::Program) -> Option<Both> {
        let config = Config { seed: 7, ..Config::default() };
        let interpreted = wired(Pipeline::new(&program, &config).ok()?);
        let config = Config { compile: Some(native::compile), ..config };
        let native = wired(Pipeline::new(&program, &config).ok()?);
        assert_eq!(native.native_failure(), None, "{name}");
        assert!(native.is_native() && !interpreted.is_native());
        Some(Both { name: name.to_owned(), program, native, interpreted, now: Time::ZERO })
    }

    /// Writes entries to all tables, their keys taken from packets, so that some are hit.
    pub fn fill_tables(&mut self, chance: &mut Chance, packets: &[Vec<u8>]) {
        for table in 0..self.native.tables().len() {
            for _ in 0..8 {
                let loaded = &self.native.tables()[table];
                let actions: Vec<usize> = loaded.action_indexes().collect();
                if actions.is_empty() {
                    continue;
                }
                let action = actions[chance.below(actions.len())];
                let entry = Entry {
                    key: key(loaded, chance, packets),
                    priority: chance.below(5) as i32 + 1,
                    action: EntryAction::Action { action, data: self.data(action, chance) },
                    idle_timeout: None,
                };
                // What one refuses the other does: a key that is there, an indirect table.
                let first = self.native.insert_entry(table, entry.clone(), self.now);
                let second = self.interpreted.insert_entry(table, entry, self.now);
                assert_eq!(first, second, "{}", self.name);
            }
        }
    }

    fn data(&self, action: usize, chance: &mut Chance) -> Vec<Int> {
        let params = self.native.action(action).params;
        params.iter().map(|(_, width)| chance.number(*width)).collect()
    }

    /// Sends a packet through both; whatever comes out must be the same.
    pub fn send(&mut self, port: PortId, packet: &[u8]) {
        self.now += Span::from_us(17);
        let run = |pipeline: &mut Pipeline| {
            switching::run_to_completion(pipeline, port, packet, self.now, &mut Unobserved)
        };
        let (native, interpreted) = (run(&mut self.native), run(&mut self.interpreted));
        assert_eq!(native, interpreted, "{}: packet {packet:02x?}", self.name);
    }

    /// What packets have left behind must be the same: registers, counters, meters.
    pub fn compare_state(&self) {
        let all = |count: usize, show: &dyn Fn(&Pipeline, usize) -> String| {
            for array in 0..count {
                let (first, second) = (show(&self.native, array), show(&self.interpreted, array));
                assert!(first == second, "{}: array {array}: {first}\n{second}", self.name);
            }
        };
        let counters = self.program.counter_arrays.iter().filter(|array| !array.is_direct);
        all(self.program.register_arrays.len(), &|pipeline, array| {
            format!("{:?}", pipeline.registers(array))
        });
        all(counters.count(), &|pipeline, array| format!("{:?}", pipeline.counters(array)));
        all(self.program.meter_arrays.len(), &|pipeline, array| {
            format!("{:?}", pipeline.meters(array))
        });
        all(self.native.tables().len(), &|pipeline, number| {
            let table = &pipeline.tables()[number];
            let entries = table.entries().map(|(id, _)| table.counter(id));
            format!("{:?} {:?}", table.default_counter(), entries.collect::<Vec<_>>())
        });
    }
}

/// A pipeline on which everything that a program can ask for leads somewhere.
fn wired(mut pipeline: Pipeline) -> Pipeline {
    for session in [1, 2, 5, 100, 250] {
        let session_config = CloneSession { port: Some(PortId(4)), ..CloneSession::default() };
        pipeline.replication.set_session(session, Some(session_config));
    }
    let ports = (1..4).map(PortId).collect();
    pipeline.replication.set_group(1, Some(vec![Node { rid: 1, ports, lags: Vec::new() }]));
    pipeline
}

/// A key for a table, its values those of some packet's bytes or small.
fn key(table: &Table, chance: &mut Chance, packets: &[Vec<u8>]) -> Vec<KeyMatch> {
    table
        .keys()
        .map(|(_, kind, width)| {
            let value = chance.value_like(packets, width);
            match kind {
                bmv2::MatchType::Lpm => {
                    let length_bits = chance.below(width as usize + 1) as u32;
                    let rest = (width - length_bits) as usize;
                    let value = value.shift_right(rest).shift_left(rest);
                    KeyMatch::Lpm { value, length_bits }
                }
                bmv2::MatchType::Ternary => {
                    let mask = chance.number(width);
                    KeyMatch::Ternary { value: &value & &mask, mask }
                }
                bmv2::MatchType::Range => {
                    let other = chance.value_like(packets, width);
                    let (low, high) = if value < other { (value, other) } else { (other, value) };
                    KeyMatch::Range { low, high }
                }
                _ => KeyMatch::Exact(value),
            }
        })
        .collect()
}
