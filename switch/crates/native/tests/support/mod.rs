//! One program twice, as machine code and interpreted, and the comparison of the two.

// Each test file uses a part of this.
#![allow(dead_code)]

#[path = "../../../pipeline/tests/common/switching.rs"]
mod switching;

pub mod calls;
pub mod chance;
pub mod programs;

use std::collections::BTreeSet;

use bits::Int;
use chance::Chance;
use pipeline::{
    CloneSession, Config, Entry, EntryAction, EntryId, KeyMatch, Meter, MeterConfig, MeterRate,
    Node, Pipeline, QueueRead, Queues, Reading, Table,
};
pub use switching::Output;
use units::{PortId, Span, Time};

/// From one packet to the next.
const STEP: Span = Span::from_us(17);

/// The same program in both forms.
pub struct Both {
    name: String,
    program: bmv2::Program,
    native: Pipeline,
    interpreted: Pipeline,
    now: Time,
    /// The kinds of outputs so far.
    pub seen: Seen,
}

/// Ports at which packets left, reasons of drops, and whether there was a digest.
pub type Seen = BTreeSet<String>;

/// Queues whose depths are different at each instant and for each port.
struct Numbers(Time);

impl Queues for Numbers {
    fn read(&self, read: QueueRead) -> [u64; 2] {
        let base = self.0.ps() / STEP.ps();
        match read {
            QueueRead::BufferUse => [base, 1 << 20],
            QueueRead::PortRate { port } => [base << 20, base + u64::from(port.0)],
            QueueRead::QueueDepth { port, class } => [base + u64::from(port.0), class.0.into()],
            QueueRead::VoqDepth { input, port, .. } => {
                [base + u64::from(input.0), base ^ u64::from(port.0)]
            }
        }
    }
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
        let (name, now, seen) = (name.to_owned(), Time::ZERO, Seen::new());
        Some(Both { name, program, native, interpreted, now, seen })
    }

    /// Does the same to both forms.
    fn change<T: PartialEq + std::fmt::Debug>(
        &mut self,
        change: impl Fn(&mut Pipeline, Time) -> T,
    ) -> T {
        let first = change(&mut self.native, self.now);
        assert_eq!(first, change(&mut self.interpreted, self.now), "{}", self.name);
        first
    }

    /// Writes entries to all tables, their keys taken from packets, so that some are hit; members
    /// and groups to all action profiles; rates to all meters.
    pub fn fill_tables(&mut self, chance: &mut Chance, packets: &[Vec<u8>]) {
        self.fill_profiles(chance);
        let tables = self.native.tables().len();
        for table in 0..tables {
            for _ in 0..8 {
                self.add_entry(table, chance, packets);
            }
        }
        self.configure_meters(chance);
    }

    fn add_entry(&mut self, table: usize, chance: &mut Chance, packets: &[Vec<u8>]) {
        let loaded = &self.native.table(table);
        let actions: Vec<usize> = loaded.action_indexes().collect();
        if actions.is_empty() {
            return;
        }
        let (key, action) = (key(loaded, chance, packets), *chance.one(&actions));
        let member = chance.below(4) as u32;
        let what = [
            EntryAction::Action { action, data: self.data(action, chance) },
            EntryAction::Group(member),
            EntryAction::Member(member),
        ];
        let (priority, steps) = (chance.below(5) as i32 + 1, 1 + chance.below(50) as u64);
        // A table takes actions, or what its profile has; it takes no key twice.
        let added = what.into_iter().find_map(|action| {
            let idle_timeout = Some(STEP * steps);
            let entry = Entry { key: key.clone(), priority, action, idle_timeout };
            self.change(|it, now| it.insert_entry(table, entry.clone(), now)).ok()
        });
        let rates = rates(chance);
        self.change(|pipeline, now| {
            let meter = added.map(|id| pipeline.table_mut(table).meter(id));
            if let Some(Ok(Some(meter))) = meter {
                meter.configure(Some(rates), now);
            }
        });
    }

    /// Members 0 to 3 of each profile and, where it has a selector, groups of them.
    fn fill_profiles(&mut self, chance: &mut Chance) {
        let profiles = self.native.profiles().len();
        for profile in 0..profiles {
            for id in 0..4 {
                // Not every action is one of the profile's.
                for action in 0..self.program.actions.len() {
                    let data = self.data(action, chance);
                    let member = |pipeline: &mut Pipeline, new| {
                        pipeline.set_member(profile, id, action, data.clone(), new)
                    };
                    let added = self.change(|pipeline, _| member(pipeline, true));
                    if added.is_err() && chance.below(2) == 0 {
                        let _ = self.change(|pipeline, _| member(pipeline, false));
                    }
                }
            }
            if self.native.profile(profile).has_selector() {
                for id in 0..4 {
                    let members = [0; 3].map(|_: u32| chance.below(4) as u32);
                    for new in [true, false] {
                        let _ = self.change(|it, _| it.set_group(profile, id, &members, new));
                    }
                }
            }
        }
    }

    /// Gives every meter of an array, and of a default entry, rates that some packets exceed.
    fn configure_meters(&mut self, chance: &mut Chance) {
        for array in 0..self.program.meter_arrays.len() {
            let rates = rates(chance);
            self.change(|pipeline, now| {
                let meters = &mut pipeline.meters_mut(array).meters;
                meters.iter_mut().for_each(|meter| meter.configure(Some(rates), now));
            });
        }
        let tables = self.native.tables().len();
        for table in 0..tables {
            let rates = rates(chance);
            self.change(|pipeline, now| {
                let meter = pipeline.table_mut(table).default_meter();
                meter.into_iter().for_each(|meter| meter.configure(Some(rates), now));
            });
        }
    }

    fn data(&self, action: usize, chance: &mut Chance) -> Vec<Int> {
        let params = self.native.action(action).params;
        params.iter().map(|(_, width)| chance.number(*width)).collect()
    }

    /// Sends a packet through both; whatever comes out must be the same. Returns it.
    pub fn send(&mut self, port: PortId, packet: &[u8]) -> Vec<Output> {
        self.now += STEP;
        let run = |pipeline: &mut Pipeline| {
            let queues = Numbers(self.now);
            let around = &mut Reading(&queues);
            switching::run_to_completion(pipeline, port, packet, self.now, around)
        };
        let (native, interpreted) = (run(&mut self.native), run(&mut self.interpreted));
        assert_eq!(native, interpreted, "{}: packet {packet:02x?}", self.name);
        self.seen.extend(native.iter().map(|output| match output {
            Output::Digest { .. } => "a digest".to_owned(),
            Output::Drop(reason) => format!("{reason:?}"),
            Output::Transmit { port, .. } => format!("port {}", port.0),
        }));
        native
    }

    /// The state left by packets must be the same: registers, counters, meters, and how long
    /// entries have been idle.
    pub fn compare_state(&mut self) {
        let Both { name, now, native, interpreted, .. } = self;
        let mut all = |count: usize, show: &dyn Fn(&mut Pipeline, usize) -> String| {
            for array in 0..count {
                let (first, second) = (show(native, array), show(interpreted, array));
                assert!(first == second, "{name}: array {array}: {first}\n{second}");
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
        let tables = self.program.pipelines.iter().map(|control| control.tables.len()).sum();
        all(tables, &|pipeline, number| state_of(pipeline.table_mut(number), *now));
    }

    /// How many entries of all tables are idle, and how many are not.
    pub fn idle_and_not(&self) -> [usize; 2] {
        let tables = self.native.tables();
        let idle = tables.clone().map(|table| table.idle_entries(self.now).count()).sum();
        [idle, tables.map(Table::len).sum::<usize>() - idle]
    }

    /// The meters of a table's entries as they are now.
    pub fn direct_meters(&mut self, table: &str) -> Vec<Meter> {
        let table = self.native.table_index(table).expect("the table exists");
        let table = self.native.table_mut(table);
        let ids: Vec<EntryId> = table.entries().map(|(id, _)| id).collect();
        let meter = |id| table.meter(id).ok().flatten().map(|meter| *meter);
        ids.into_iter().filter_map(meter).collect()
    }
}

/// The state that packets have left in a table.
fn state_of(table: &mut Table, now: Time) -> String {
    let idle: Vec<EntryId> = table.idle_entries(now).collect();
    let default = (table.default_counter(), table.default_meter().cloned());
    let ids: Vec<EntryId> = table.entries().map(|(id, _)| id).collect();
    let entries = ids.into_iter().map(|id| {
        let (counter, last_hit) = (table.counter(id), table.last_hit(id));
        format!("{counter:?} {last_hit:?} {:?}\n", table.meter(id))
    });
    format!("{}{default:?}\nidle: {idle:?}", entries.collect::<String>())
}

/// Rates of some packets, or bytes, a second, of which one packet each [`STEP`] makes 59,000.
fn rates(chance: &mut Chance) -> MeterConfig {
    let mut one = |of: &[u64]| *chance.one(of);
    MeterConfig {
        committed_rate: MeterRate::per_s(one(&[10_000, 1_000_000])),
        committed_burst: one(&[0, 3, 500]),
        peak_rate: MeterRate::per_s(one(&[20_000, 3_000_000])),
        peak_burst: one(&[2, 5, 1000]),
        excess_burst: *chance.one(&[None, Some(2), Some(600)]),
    }
}

/// A pipeline on which every request of the program leads somewhere.
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
