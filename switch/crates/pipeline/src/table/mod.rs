//! A match-action table: entries, their index, and the control plane's view of both.
//!
//! The hot path is [`Table::find`]: build the key (limbs of 64 bits), ask the index for an entry
//! number. What the control plane wants to know of an entry (its key as written, its time-out) is
//! kept apart from what a packet needs (its action and data), each in flat arrays by entry number.

mod exact;
mod key;
mod load;
mod lpm;
mod segments;
mod ternary;

use std::cell::Cell;
use std::fmt;

use bits::Int;
use units::{Span, Time};

use exact::ExactIndex;
pub(crate) use exact::NONE;
use key::{KeyPart, KeyShape};
pub(crate) use load::fill_tables;
use lpm::LpmIndex;
use ternary::TernaryIndex;

use crate::state::{Counter, Meter};

/// An entry's number: stable while the entry exists, reused afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

/// What an entry asks of one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyMatch {
    /// Any value.
    Any,
    /// This value.
    Exact(Int),
    /// This value in the first bits.
    Lpm {
        /// The value; later bits do not count.
        value: Int,
        /// How many bits count.
        length_bits: u32,
    },
    /// A value from low to high, both included.
    Range {
        /// The lowest.
        low: Int,
        /// The highest.
        high: Int,
    },
    /// This value in the bits of a mask.
    Ternary {
        /// The value; bits outside the mask do not count.
        value: Int,
        /// The bits that count.
        mask: Int,
    },
}

/// What happens on a match, or on a miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// Runs an action.
    Action {
        /// Index of the action in the program.
        action: usize,
        /// Its data.
        data: Vec<Int>,
    },
    /// Runs the action of one member of a group of the table's action profile.
    Group(u32),
    /// Runs the action of a member of the table's action profile.
    Member(u32),
}

/// An entry as the control plane writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One match a key.
    pub key: Vec<KeyMatch>,
    /// Ternary and range tables: the highest number wins, as in P4Runtime. Elsewhere 0.
    pub priority: i32,
    /// What happens.
    pub action: EntryAction,
    /// The entry is reported when no packet has hit it for so long.
    pub idle_timeout: Option<Span>,
}

/// Why a table, profile or group did not take a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The action is not one of the table's.
    ActionNotInTable {
        /// The table.
        table: String,
        /// Index of the action.
        action: usize,
    },
    /// The entries or the default entry are `const`.
    Const {
        /// The table.
        table: String,
    },
    /// The data does not fit the action.
    Data {
        /// What is wrong.
        message: String,
    },
    /// There is such an entry already.
    Exists {
        /// The table, member or group.
        what: String,
    },
    /// No more room.
    Full {
        /// The table or profile.
        what: String,
        /// How many it holds.
        size: usize,
    },
    /// The member or group is in use.
    InUse {
        /// Which.
        what: String,
    },
    /// The key does not fit the table.
    Key {
        /// The table.
        table: String,
        /// What is wrong.
        message: String,
    },
    /// There is no such entry, member or group.
    NotFound {
        /// Which.
        what: String,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::ActionNotInTable { table, action } => {
                write!(f, "table {table} does not list action {action}; use one of its actions")
            }
            TableError::Const { table } => {
                write!(f, "table {table} is declared const there; change the program instead")
            }
            TableError::Data { message } => write!(f, "{message}"),
            TableError::Exists { what } => write!(f, "{what} exists already; modify it instead"),
            TableError::Full { what, size } => {
                write!(f, "{what} is full ({size}); raise its `size` in the program")
            }
            TableError::InUse { what } => write!(f, "{what} is in use; remove its users first"),
            TableError::Key { table, message } => write!(f, "table {table}: {message}"),
            TableError::NotFound { what } => write!(f, "there is no {what}"),
        }
    }
}

impl std::error::Error for TableError {}

/// What runs after the table; [`END`] ends the control.
pub(crate) const END: u32 = u32::MAX;

/// An action of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableAction {
    /// Index in the program.
    pub action: usize,
    /// Its first step.
    pub start: u32,
    /// The node that runs next, after a hit and after a miss.
    pub next: [u32; 2],
}

/// What a packet runs that hits an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The first step of its action, or [`INDIRECT`].
    pub start: u32,
    /// The node after it.
    pub next: u32,
    /// Where its data starts.
    data: usize,
}

/// The action is that of a member or group: see the entry's [`Target`].
pub(crate) const INDIRECT: u32 = u32::MAX;

/// What a packet needs to know of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// An action of the table, by its position there; data lies at the entry's number.
    Action(u32),
    Group(u32),
    Member(u32),
}

/// Which index finds entries. Its tag is looked at for every packet: it is a byte of its own.
#[derive(Clone, Debug)]
#[repr(u8)]
enum Index {
    Exact(ExactIndex),
    Lpm(LpmIndex),
    Ternary(TernaryIndex),
}

/// The default entry: what a miss runs.
#[derive(Clone, Debug)]
pub(crate) struct DefaultEntry {
    pub entry: Option<EntryAction>,
    pub target: Option<Target>,
    pub data: Vec<u64>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) shape: KeyShape,
    pub(crate) size: usize,
    pub(crate) actions: Vec<TableAction>,
    /// What runs after a miss without default action.
    pub(crate) miss_next: u32,
    pub(crate) const_entries: bool,
    /// Positions in `actions` the default may take; all if `None`.
    pub(crate) const_default_action: Option<usize>,
    pub(crate) const_default: bool,
    /// Index of the action profile of an indirect table.
    pub(crate) profile: Option<usize>,
    pub(crate) with_counters: bool,
    pub(crate) meter: Option<DirectMeter>,
    pub(crate) with_timeouts: bool,
    /// Whether a hit leaves a trace: in a counter, a meter or the time of the last one.
    pub(crate) notes_hits: bool,
    pub(crate) default: DefaultEntry,
    initial_default: DefaultEntry,
    index: Index,
    /// Limbs of action data an entry takes: those of the longest action.
    data_limbs: usize,
    // By entry number; what packets change is in cells, so that the table itself is only read.
    entries: Vec<Option<Entry>>,
    targets: Vec<Target>,
    /// What `targets` mean for a packet.
    runs: Vec<Run>,
    data: Vec<u64>,
    counters: Vec<Cell<Counter>>,
    meters: Vec<Cell<Meter>>,
    // Those of the default entry; see `count_miss`.
    default_counter: Cell<Counter>,
    default_meter: Cell<Meter>,
    last_hits: Vec<Cell<Time>>,
    free: Vec<u32>,
    count: usize,
}

/// A direct meter: what it counts and where its colour goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectMeter {
    pub unit: crate::state::MeterUnit,
    pub result: crate::place::Cell,
}

/// How to make a table.
pub(crate) struct TableConfig {
    pub name: String,
    pub shape: KeyShape,
    pub size: usize,
    pub actions: Vec<TableAction>,
    pub miss_next: u32,
    pub profile: Option<usize>,
    pub with_counters: bool,
    pub meter: Option<DirectMeter>,
    pub with_timeouts: bool,
    pub data_limbs: usize,
}

impl Table {
    pub(crate) fn new(config: TableConfig) -> Table {
        let shape = &config.shape;
        let room = config.size.min(RESERVED_SIZE_MAX);
        let index = if shape.is_ternary {
            Index::Ternary(TernaryIndex::new(shape.limbs, shape.range_count, room))
        } else if let Some(prefix_limbs) = shape.prefix_limbs {
            Index::Lpm(LpmIndex::new(shape.limbs - prefix_limbs, prefix_limbs, config.size))
        } else {
            Index::Exact(ExactIndex::with_capacity(shape.limbs, reserved(config.size)))
        };
        let default = DefaultEntry { entry: None, target: None, data: Vec::new() };
        Table {
            name: config.name,
            shape: config.shape,
            size: config.size,
            actions: config.actions,
            miss_next: config.miss_next,
            const_entries: false,
            const_default_action: None,
            const_default: false,
            profile: config.profile,
            with_counters: config.with_counters,
            meter: config.meter,
            with_timeouts: config.with_timeouts,
            notes_hits: config.with_counters || config.meter.is_some() || config.with_timeouts,
            initial_default: default.clone(),
            default,
            index,
            data_limbs: config.data_limbs,
            entries: with_room(room),
            targets: with_room(room),
            runs: with_room(room),
            data: with_room(room * config.data_limbs),
            counters: with_room(if config.with_counters { room } else { 0 }),
            meters: with_room(if config.meter.is_some() { room } else { 0 }),
            default_counter: Cell::default(),
            default_meter: Cell::default(),
            last_hits: with_room(room),
            free: with_room(room),
            count: 0,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many masks its entries have. A change looks through them all, as a packet does; in
    /// tables without masks it looks at none.
    pub fn mask_count(&self) -> usize {
        match &self.index {
            Index::Ternary(index) => index.mask_count(),
            Index::Exact(_) | Index::Lpm(_) => 0,
        }
    }

    /// It has no entries.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many entries it can have.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Indexes of its actions in the program.
    pub fn action_indexes(&self) -> impl Iterator<Item = usize> {
        self.actions.iter().map(|action| action.action)
    }

    /// Name, match type and width in bits of each key.
    pub fn keys(&self) -> impl Iterator<Item = (&str, bmv2::MatchType, u32)> {
        self.shape.parts.iter().map(|part| (part.name.as_str(), part.match_type, part.width))
    }

    /// The entry a packet hits, or [`NONE`]. `scratch` is room for two keys.
    #[inline]
    pub(crate) fn find(&self, area: &[u8], scratch: &mut [u64]) -> u32 {
        if self.shape.is_one_limb {
            return self.find_one(self.shape.build_one(area));
        }
        self.find_long(area, scratch)
    }

    /// The entry of a key of one limb, or [`NONE`].
    #[inline(always)]
    fn find_one(&self, key: u64) -> u32 {
        if self.count == 0 {
            return NONE;
        }
        match &self.index {
            Index::Exact(index) => index.find_one(key),
            Index::Lpm(index) => index.find_one(key),
            Index::Ternary(index) => index.find_one(key),
        }
    }

    /// [`Self::find`] with the key at hand, if it is one limb.
    #[inline(always)]
    pub(crate) fn find_keyed(&self, key: u64, area: &[u8], scratch: &mut [u64]) -> u32 {
        if self.shape.is_one_limb { self.find_one(key) } else { self.find_long(area, scratch) }
    }

    /// The same for keys of several limbs.
    fn find_long(&self, area: &[u8], scratch: &mut [u64]) -> u32 {
        if self.count == 0 {
            return NONE;
        }
        let (key, rest) = scratch.split_at_mut(self.shape.limbs);
        self.shape.build(area, key);
        match &self.index {
            Index::Exact(index) => index.find(key),
            Index::Lpm(index) => index.find(key),
            Index::Ternary(index) => index.find(key, &mut rest[..key.len()]),
        }
    }

    /// What a packet runs that hits an entry, and the action data.
    #[inline]
    pub(crate) fn run(&self, entry: u32) -> (Run, &[u64]) {
        let run = self.runs[entry as usize];
        (run, &self.data[run.data..])
    }

    /// Where an entry points.
    pub(crate) fn target(&self, entry: u32) -> Target {
        self.targets[entry as usize]
    }

    /// Counts a hit.
    #[inline]
    pub(crate) fn hit(&self, entry: u32, length_bytes: u32, now: Time) {
        if self.with_counters {
            count(&self.counters[entry as usize], length_bytes);
        }
        if self.with_timeouts {
            self.last_hits[entry as usize].set(now);
        }
    }

    /// Counts a miss, and returns its colour if a controller has configured the default entry's
    /// meter. Unless one has, a miss leaves the meter's field alone, as on simple_switch, whose
    /// default entries have neither counter nor meter.
    #[inline]
    pub(crate) fn miss(&self, length_bytes: u32, now: Time) -> Option<crate::state::Color> {
        if self.with_counters {
            count(&self.default_counter, length_bytes);
        }
        let unit = self.meter?.unit;
        let mut meter = self.default_meter.get();
        let _ = meter.config()?;
        let color = meter.color(unit.amount(length_bytes), now);
        self.default_meter.set(meter);
        Some(color)
    }

    /// The colour that an entry's meter gives to `amount` packets or bytes.
    pub(crate) fn color(&self, entry: u32, amount: u64, now: Time) -> crate::state::Color {
        let cell = &self.meters[entry as usize];
        let mut meter = cell.get();
        let color = meter.color(amount, now);
        cell.set(meter);
        color
    }

    /// All entries in the order of their numbers.
    pub fn entries(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        let numbered = self.entries.iter().enumerate();
        numbered.filter_map(|(number, entry)| Some((EntryId(number as u32), entry.as_ref()?)))
    }

    /// Every entry's number is below this one: for walks that stop and go on.
    pub fn entry_numbers(&self) -> u32 {
        self.entries.len() as u32
    }

    /// An entry.
    pub fn entry(&self, id: EntryId) -> Result<&Entry, TableError> {
        let entry = self.entries.get(id.0 as usize).and_then(Option::as_ref);
        entry.ok_or_else(|| self.not_found(format!("entry {}", id.0)))
    }

    /// The entry with exactly this key and priority.
    pub fn find_entry(&self, key: &[KeyMatch], priority: i32) -> Result<EntryId, TableError> {
        let key = self.shape.encode(&self.name, key)?;
        match self.find_encoded(&key, priority) {
            NONE => Err(self.not_found("entry with this key".to_owned())),
            entry => Ok(EntryId(entry)),
        }
    }

    /// The default entry; `None` if a miss runs no action.
    pub fn default_entry(&self) -> Option<&EntryAction> {
        self.default.entry.as_ref()
    }

    /// The direct counter of an entry, if the table has them.
    pub fn counter(&self, id: EntryId) -> Result<Option<Counter>, TableError> {
        let _ = self.entry(id)?;
        Ok(self.with_counters.then(|| self.counters[id.0 as usize].get()))
    }

    /// Sets the direct counter of an entry.
    pub fn set_counter(&mut self, id: EntryId, counter: Counter) -> Result<(), TableError> {
        let _ = self.entry(id)?;
        self.counters[id.0 as usize].set(counter);
        Ok(())
    }

    /// The direct meter of an entry, if the table has them.
    pub fn meter(&mut self, id: EntryId) -> Result<Option<&mut Meter>, TableError> {
        let _ = self.entry(id)?;
        Ok(self.meter.is_some().then(|| self.meters[id.0 as usize].get_mut()))
    }

    /// The direct counter of the default entry, if the table has them.
    pub fn default_counter(&self) -> Option<Counter> {
        self.with_counters.then(|| self.default_counter.get())
    }

    /// Sets the direct counter of the default entry.
    pub fn set_default_counter(&mut self, counter: Counter) {
        self.default_counter.set(counter);
    }

    /// The direct meter of the default entry, if the table has them.
    pub fn default_meter(&mut self) -> Option<&mut Meter> {
        self.meter.is_some().then(|| self.default_meter.get_mut())
    }

    /// When an entry was last hit, or added.
    pub fn last_hit(&self, id: EntryId) -> Result<Time, TableError> {
        let _ = self.entry(id)?;
        Ok(self.last_hits[id.0 as usize].get())
    }

    /// Takes an entry as hit at `now`: its idle time starts again.
    pub fn touch(&mut self, id: EntryId, now: Time) {
        if let Some(last_hit) = self.last_hits.get_mut(id.0 as usize) {
            last_hit.set(now);
        }
    }

    /// Entries that no packet has hit for their time-out, in the order of their numbers.
    pub fn idle_entries(&self, now: Time) -> impl Iterator<Item = EntryId> {
        let due = move |(id, entry): (EntryId, &Entry)| {
            let idle = now.since(self.last_hits[id.0 as usize].get());
            entry.idle_timeout.is_some_and(|timeout| idle >= timeout).then_some(id)
        };
        self.entries().filter_map(due)
    }

    /// Adds an entry, its action data already checked and flattened by the pipeline.
    pub(crate) fn insert(
        &mut self,
        entry: Entry,
        target: Target,
        data: &[u64],
        now: Time,
    ) -> Result<EntryId, TableError> {
        if self.const_entries {
            return Err(TableError::Const { table: self.name.clone() });
        }
        let key = self.shape.encode(&self.name, &entry.key)?;
        if self.find_encoded(&key, entry.priority) != NONE {
            return Err(TableError::Exists { what: format!("the entry of table {}", self.name) });
        }
        if self.count == self.size {
            return Err(TableError::Full { what: format!("table {}", self.name), size: self.size });
        }
        let number = self.free.pop().unwrap_or(self.entries.len() as u32);
        match &mut self.index {
            Index::Exact(index) => {
                let _ = index.insert(&key.value, number);
            }
            Index::Lpm(index) => index.insert(&key.value, key.prefix_length, number),
            Index::Ternary(index) => {
                index.insert(&key.value, &key.mask, &key.ranges, entry.priority, number);
            }
        }
        self.make_room(number);
        let at = number as usize;
        self.entries[at] = Some(entry);
        self.set_target(number, target, data);
        let _ = self.counters.get(at).map(Cell::take);
        let _ = self.meters.get(at).map(Cell::take);
        self.last_hits[at].set(now);
        self.count += 1;
        Ok(EntryId(number))
    }

    /// Gives an entry another action and time-out; its counter and meter stay.
    pub(crate) fn modify(
        &mut self,
        id: EntryId,
        action: EntryAction,
        idle_timeout: Option<Span>,
        target: Target,
        data: &[u64],
        now: Time,
    ) -> Result<(), TableError> {
        if self.const_entries {
            return Err(TableError::Const { table: self.name.clone() });
        }
        let _ = self.entry(id)?;
        if let Some(entry) = &mut self.entries[id.0 as usize] {
            (entry.action, entry.idle_timeout) = (action, idle_timeout);
        }
        self.set_target(id.0, target, data);
        self.last_hits[id.0 as usize].set(now);
        Ok(())
    }

    /// Removes an entry and returns it.
    pub(crate) fn delete(&mut self, id: EntryId) -> Result<Entry, TableError> {
        if self.const_entries {
            return Err(TableError::Const { table: self.name.clone() });
        }
        let key = self.shape.encode(&self.name, &self.entry(id)?.key)?;
        match &mut self.index {
            Index::Exact(index) => {
                let _ = index.remove(&key.value);
            }
            Index::Lpm(index) => {
                let _ = index.remove(&key.value, key.prefix_length);
            }
            Index::Ternary(index) => index.remove(&key.value, &key.mask, id.0),
        }
        let deleted = self.entries[id.0 as usize].take();
        self.free.push(id.0);
        self.count -= 1;
        deleted.ok_or_else(|| self.not_found(format!("entry {}", id.0)))
    }

    /// Sets the default entry; `None` puts the program's back.
    pub(crate) fn set_default(&mut self, default: Option<DefaultEntry>) {
        self.default = default.unwrap_or_else(|| self.initial_default.clone());
    }

    /// Sets what [`Self::set_default`] goes back to.
    pub(crate) fn set_initial_default(&mut self, default: DefaultEntry) {
        self.initial_default = default.clone();
        self.default = default;
    }

    /// Removes all entries but const ones, and puts the program's default back.
    pub(crate) fn reset(&mut self) {
        self.set_default(None);
        self.counters.fill(Cell::default());
        self.default_counter = Cell::default();
        self.default_meter = Cell::default();
        if self.const_entries {
            return;
        }
        match &mut self.index {
            Index::Exact(index) => index.clear(),
            Index::Lpm(index) => index.clear(),
            Index::Ternary(index) => index.clear(),
        }
        self.entries.clear();
        self.targets.clear();
        self.runs.clear();
        self.data.clear();
        self.counters.clear();
        self.meters.clear();
        self.last_hits.clear();
        self.free.clear();
        self.count = 0;
    }

    fn find_encoded(&self, key: &key::EncodedKey, priority: i32) -> u32 {
        match &self.index {
            Index::Exact(index) => index.find(&key.value),
            Index::Lpm(index) => index.find_prefix(&key.value, key.prefix_length),
            Index::Ternary(index) => index.find_same(&key.value, &key.mask, &key.ranges, priority),
        }
    }

    fn make_room(&mut self, number: u32) {
        let count = number as usize + 1;
        if self.entries.len() < count {
            self.entries.resize(count, None);
            self.targets.resize(count, Target::Action(0));
            self.runs.resize(count, Run { start: INDIRECT, next: END, data: 0 });
            self.data.resize(count * self.data_limbs, 0);
            self.last_hits.resize(count, Cell::new(Time::ZERO));
            if self.with_counters {
                self.counters.resize(count, Cell::default());
            }
            if self.meter.is_some() {
                self.meters.resize(count, Cell::default());
            }
        }
    }

    fn set_target(&mut self, number: u32, target: Target, data: &[u64]) {
        let start = number as usize * self.data_limbs;
        self.targets[number as usize] = target;
        self.runs[number as usize] = match target {
            Target::Action(position) => {
                let action = &self.actions[position as usize];
                Run { start: action.start, next: action.next[0], data: start }
            }
            Target::Group(_) | Target::Member(_) => Run { start: INDIRECT, next: END, data: start },
        };
        self.data[start..start + data.len()].copy_from_slice(data);
    }

    fn not_found(&self, what: String) -> TableError {
        TableError::NotFound { what: format!("{what} in table {}", self.name) }
    }
}

/// Tables declared larger than this have room in their index from the start: moving so few keys
/// takes some ten microseconds, moving more would hold up packets.
const GROWING_SIZE_MAX: usize = 4096;
/// Tables declared larger than this have room for so many at first.
const RESERVED_SIZE_MAX: usize = 1 << 20;

/// A list with room for so many, if there are so many addresses: room that is not used takes no
/// memory, and room that is made later is made by moving everything while packets wait.
fn with_room<T>(count: usize) -> Vec<T> {
    let mut list = Vec::new();
    let _fits = list.try_reserve_exact(count);
    list
}

/// For how many keys the index of a table of this size has room from the start.
fn reserved(size: usize) -> usize {
    if size > GROWING_SIZE_MAX { size.min(RESERVED_SIZE_MAX) } else { 0 }
}

/// One packet more.
#[inline]
fn count(counter: &Cell<Counter>, length_bytes: u32) {
    let Counter { packets, bytes } = counter.get();
    counter.set(Counter { packets: packets + 1, bytes: bytes + u64::from(length_bytes) });
}
