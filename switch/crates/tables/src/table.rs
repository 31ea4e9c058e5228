//! A match-action table: entries, their index, and the control plane's view of both.
//!
//! The hot path is [`Table::find`] and [`Table::run`]. The control plane's part of an entry (its
//! key as written, its time-out) is kept apart from the packet's part (its action and data), each
//! in flat arrays by entry number.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use units::{Span, Time};

use crate::cells::{Color, Counter, Meter, MeterConfig, MeterUnit};
use crate::entry::{Entry, EntryAction, EntryId, KeyMatch};
use crate::error::TableError;
use crate::exact::{ExactIndex, NONE};
use crate::key::{EncodedKey, KeyShape};
use crate::lpm::LpmIndex;
use crate::room::{RESERVED_SIZE_MAX, reserved, with_room};
use crate::ternary::TernaryIndex;

/// An action of a table. The program gives its numbers their meaning.
#[derive(Clone, Copy, Debug)]
pub struct TableAction {
    /// Index in the program.
    pub action: usize,
    pub start: u32,
    /// The node that runs next, after a hit and after a miss.
    pub next: [u32; 2],
}

/// The action of a packet that hits an entry.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The first step of its action, or [`INDIRECT`].
    pub start: u32,
    /// The node after it; of no meaning where the action is that of a member or group.
    pub next: u32,
    /// Where its data starts.
    data: usize,
}

/// [`Run::start`] of an entry whose action is that of a member or group: see its [`Target`].
pub const INDIRECT: u32 = u32::MAX;

/// The packet's part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An action of the table, by its position there.
    Action(u32),
    /// A group of the table's action profile.
    Group(u32),
    /// A member of it.
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
#[derive(Clone, Debug, Default)]
pub struct DefaultEntry {
    /// As it was written.
    pub entry: Option<EntryAction>,
    pub target: Option<Target>,
    /// The action's data in limbs.
    pub data: Vec<u64>,
}

#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    shape: KeyShape,
    size: usize,
    actions: Vec<TableAction>,
    miss_next: u32,
    const_entries: bool,
    /// Entries that are const in a table that takes others.
    fixed: BTreeSet<EntryId>,
    /// The only action that the default entry may have, where the program says so.
    const_default_action: Option<usize>,
    const_default: bool,
    profile: Option<usize>,
    with_counters: bool,
    meter: Option<MeterUnit>,
    /// The meter configuration of new entries.
    new_meters: Option<MeterConfig>,
    with_timeouts: bool,
    /// Whether a hit leaves a trace: in a counter, a meter or the time of the last one.
    notes_hits: bool,
    default: DefaultEntry,
    initial_default: DefaultEntry,
    index: Index,
    /// Limbs of action data an entry takes: those of the longest action.
    data_limbs: usize,
    // By entry number; what packets change is in cells, so that the table itself is only read.
    entries: Vec<Option<Entry>>,
    targets: Vec<Target>,
    /// The meaning of `targets` for a packet.
    runs: Vec<Run>,
    data: Vec<u64>,
    counters: Vec<Cell<Counter>>,
    meters: Vec<Cell<Meter>>,
    // Those of the default entry; see `count_miss`.
    default_counter: Cell<Counter>,
    default_meter: Cell<Meter>,
    last_hits: Vec<Cell<Time>>,
    /// How often each number has been given back, of which handles tell.
    generations: Vec<u8>,
    /// Numbers that were given back; the lowest is given first.
    free: BinaryHeap<Reverse<u32>>,
    count: usize,
    /// The approximate memory of an entry.
    entry_bytes: usize,
}

/// The memory of an entry without its key and data, and of each of its keys. Neither is the exact
/// size in this machine's memory: a program that loads in one place loads everywhere.
const ENTRY_BYTES: usize = 128;
const KEY_BYTES: usize = 112;

/// A handle has an entry's number in this many bits, and its generation above them.
const NUMBER_BITS: u32 = 24;

/// How to make a table.
#[derive(Debug)]
pub struct TableConfig {
    /// The program's name for it.
    pub name: String,
    pub shape: KeyShape,
    /// How many entries it can have.
    pub size: usize,
    /// The actions that its entries may run.
    pub actions: Vec<TableAction>,
    /// The node that runs after a miss without default action.
    pub miss_next: u32,
    /// Index of the action profile of an indirect table.
    pub profile: Option<usize>,
    /// Whether each entry has a counter.
    pub with_counters: bool,
    /// The unit of each entry's meter, if it has one.
    pub meter: Option<MeterUnit>,
    /// Whether entries may have time-outs.
    pub with_timeouts: bool,
    /// Limbs of data of the longest action.
    pub data_limbs: usize,
}

impl TableConfig {
    /// The approximate memory of each of its entries.
    pub fn entry_bytes(&self) -> usize {
        let limbs = self.shape.limbs() + self.data_limbs;
        let counter = if self.with_counters { size_of::<Counter>() } else { 0 };
        let meter = if self.meter.is_some() { size_of::<Meter>() } else { 0 };
        let keys = self.shape.parts().len() * KEY_BYTES;
        ENTRY_BYTES + keys + limbs * size_of::<u64>() + counter + meter
    }
}

impl Table {
    /// A table without entries.
    pub fn new(config: TableConfig) -> Table {
        let entry_bytes = config.entry_bytes();
        let shape = &config.shape;
        let room = config.size.min(RESERVED_SIZE_MAX);
        let index = if shape.is_ternary() {
            Index::Ternary(TernaryIndex::new(shape.limbs(), shape.range_count, room))
        } else if let Some(prefix_limbs) = shape.prefix_limbs {
            Index::Lpm(LpmIndex::new(shape.limbs() - prefix_limbs, prefix_limbs, config.size))
        } else {
            Index::Exact(ExactIndex::with_capacity(shape.limbs(), reserved(config.size)))
        };
        Table {
            name: config.name,
            shape: config.shape,
            size: config.size,
            actions: config.actions,
            miss_next: config.miss_next,
            const_entries: false,
            fixed: BTreeSet::new(),
            const_default_action: None,
            const_default: false,
            profile: config.profile,
            with_counters: config.with_counters,
            meter: config.meter,
            new_meters: None,
            with_timeouts: config.with_timeouts,
            notes_hits: config.with_counters || config.meter.is_some() || config.with_timeouts,
            initial_default: DefaultEntry::default(),
            default: DefaultEntry::default(),
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
            generations: with_room(room),
            free: with_room(room).into(),
            count: 0,
            entry_bytes,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The approximate memory of its entries and their index. An entry that is removed leaves its
    /// room to the next one.
    pub fn size_bytes(&self) -> u64 {
        let index = match &self.index {
            Index::Exact(index) => index.size_bytes(),
            Index::Lpm(index) => index.size_bytes(),
            Index::Ternary(index) => index.size_bytes(),
        };
        (index + self.entries.len() * self.entry_bytes) as u64
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

    /// Its actions, in the order of the program.
    pub fn actions(&self) -> &[TableAction] {
        &self.actions
    }

    /// Indexes of its actions in the program.
    pub fn action_indexes(&self) -> impl Iterator<Item = usize> {
        self.actions.iter().map(|action| action.action)
    }

    /// How its keys lie among the limbs.
    pub fn shape(&self) -> &KeyShape {
        &self.shape
    }

    /// Name, match type and width in bits of each key.
    pub fn keys(&self) -> impl Iterator<Item = (&str, bmv2::MatchType, u32)> {
        self.shape.parts().iter().map(|part| (part.name.as_str(), part.match_type, part.width))
    }

    /// Index of the action profile whose members its entries run, if it is an indirect table.
    pub fn profile(&self) -> Option<usize> {
        self.profile
    }

    /// The node that runs after a miss without default action.
    pub fn miss_next(&self) -> u32 {
        self.miss_next
    }

    /// The unit of its direct meters, if it has them.
    pub fn meter_unit(&self) -> Option<MeterUnit> {
        self.meter
    }

    /// Whether its entries may have time-outs.
    pub fn has_timeouts(&self) -> bool {
        self.with_timeouts
    }

    /// Whether a hit leaves a trace: in a counter, a meter or the time of the last one.
    #[inline(always)]
    pub fn notes_hits(&self) -> bool {
        self.notes_hits
    }

    /// The entry of a key, or [`NONE`]. `masked` is room for another key.
    pub fn find(&self, key: &[u64], masked: &mut [u64]) -> u32 {
        if self.count == 0 {
            return NONE;
        }
        match &self.index {
            Index::Exact(index) => index.find(key),
            Index::Lpm(index) => index.find(key),
            Index::Ternary(index) => index.find(key, masked),
        }
    }

    /// The same for a key of one limb.
    #[inline(always)]
    pub fn find_one(&self, key: u64) -> u32 {
        if self.count == 0 {
            return NONE;
        }
        match &self.index {
            Index::Exact(index) => index.find_one(key),
            Index::Lpm(index) => index.find_one(key),
            Index::Ternary(index) => index.find_one(key),
        }
    }

    /// The action of a packet that hits an entry, and the action data.
    #[inline]
    pub fn run(&self, entry: u32) -> (Run, &[u64]) {
        let run = self.runs[entry as usize];
        (run, &self.data[run.data..])
    }

    /// Where an entry points.
    pub fn target(&self, entry: u32) -> Target {
        self.targets[entry as usize]
    }

    /// Counts a hit, and returns the colour of the entry's meter, if it has one.
    #[inline]
    pub fn hit(&self, entry: u32, length_bytes: u32, now: Time) -> Option<Color> {
        if self.with_counters {
            count(&self.counters[entry as usize], length_bytes);
        }
        if self.with_timeouts {
            self.last_hits[entry as usize].set(now);
        }
        self.meter.map(|unit| self.color(entry, unit.amount(length_bytes), now))
    }

    /// The colour that an entry's meter gives to `amount` packets or bytes.
    #[inline(never)]
    fn color(&self, entry: u32, amount: u64, now: Time) -> Color {
        let cell = &self.meters[entry as usize];
        let mut meter = cell.get();
        let color = meter.color(amount, now);
        cell.set(meter);
        color
    }

    /// Counts a miss, and returns its colour if a controller has configured the default entry's
    /// meter. Unless one has, a miss leaves the meter's field alone, as on simple_switch, whose
    /// default entries have neither counter nor meter.
    #[inline]
    pub fn miss(&self, length_bytes: u32, now: Time) -> Option<Color> {
        if self.with_counters {
            count(&self.default_counter, length_bytes);
        }
        let unit = self.meter?;
        let mut meter = self.default_meter.get();
        let _ = meter.config()?;
        let color = meter.color(unit.amount(length_bytes), now);
        self.default_meter.set(meter);
        Some(color)
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

    /// The number of an entry together with how often that number has been given back, as far as 8
    /// bits go: it tells an entry from those that had its number before. A table of more entries than
    /// there are numbers in a handle cannot tell.
    pub fn handle(&self, id: EntryId) -> u32 {
        let tells = self.size <= 1 << NUMBER_BITS;
        let generation = self.generations.get(id.0 as usize).filter(|_| tells);
        u32::from(generation.copied().unwrap_or(0)) << NUMBER_BITS | id.0
    }

    /// The entry that a handle may stand for. It does if it is there and has this handle.
    pub fn id_of_handle(&self, handle: u32) -> EntryId {
        let tells = self.size <= 1 << NUMBER_BITS;
        EntryId(if tells { handle & ((1 << NUMBER_BITS) - 1) } else { handle })
    }

    /// Makes an empty table a new one: old handles are forgotten.
    pub fn forget_generations(&mut self) {
        if self.count == 0 {
            self.generations.fill(0);
        }
    }

    pub fn entry(&self, id: EntryId) -> Result<&Entry, TableError> {
        let entry = self.entries.get(id.0 as usize).and_then(Option::as_ref);
        entry.ok_or_else(|| self.not_found(format!("entry {}", id.0)))
    }

    /// The entry with exactly this key and priority.
    pub fn find_entry(&self, key: &[KeyMatch], priority: i32) -> Result<EntryId, TableError> {
        self.found(&self.shape.encode(&self.name, key)?, priority)
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

    /// Sets what the meters of entries are set to when they are added; mostly none is.
    pub fn set_new_meters(&mut self, config: Option<MeterConfig>) {
        self.new_meters = config;
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

    /// Adds an entry that runs `target`, with the action's data in limbs.
    pub fn insert(
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
        let free = self.free.pop().map(|Reverse(number)| number);
        let number = free.unwrap_or(self.entries.len() as u32);
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
        if let Some(meter) = self.meters.get_mut(at) {
            meter.get_mut().configure(self.new_meters, now);
        }
        self.last_hits[at].set(now);
        self.count += 1;
        Ok(EntryId(number))
    }

    /// Gives an entry another action and time-out; its counter and meter stay.
    pub fn modify(
        &mut self,
        id: EntryId,
        action: EntryAction,
        idle_timeout: Option<Span>,
        target: Target,
        data: &[u64],
        now: Time,
    ) -> Result<(), TableError> {
        self.check_free(id)?;
        let _ = self.entry(id)?;
        if let Some(entry) = &mut self.entries[id.0 as usize] {
            (entry.action, entry.idle_timeout) = (action, idle_timeout);
        }
        self.set_target(id.0, target, data);
        self.last_hits[id.0 as usize].set(now);
        Ok(())
    }

    /// Removes an entry and returns it.
    pub fn delete(&mut self, id: EntryId) -> Result<Entry, TableError> {
        self.check_free(id)?;
        let key = self.shape.encode(&self.name, &self.entry(id)?.key)?;
        self.remove(id, &key)
    }

    /// Removes the entry with exactly this key and priority, whose key is encoded only once for it.
    pub fn delete_by_key(
        &mut self,
        key: &[KeyMatch],
        priority: i32,
    ) -> Result<(EntryId, Entry), TableError> {
        let key = self.shape.encode(&self.name, key)?;
        let id = self.found(&key, priority)?;
        self.check_free(id)?;
        Ok((id, self.remove(id, &key)?))
    }

    fn found(&self, key: &EncodedKey, priority: i32) -> Result<EntryId, TableError> {
        match self.find_encoded(key, priority) {
            NONE => Err(self.not_found("entry with this key".to_owned())),
            entry => Ok(EntryId(entry)),
        }
    }

    fn remove(&mut self, id: EntryId, key: &EncodedKey) -> Result<Entry, TableError> {
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
        let generation = &mut self.generations[id.0 as usize];
        *generation = generation.wrapping_add(1);
        self.free.push(Reverse(id.0));
        self.count -= 1;
        deleted.ok_or_else(|| self.not_found(format!("entry {}", id.0)))
    }

    /// The action of a miss.
    #[inline(always)]
    pub fn default(&self) -> &DefaultEntry {
        &self.default
    }

    /// Whether a controller may give the default entry this action; `None` puts the program's back.
    pub fn check_default(&self, action: Option<&EntryAction>) -> Result<(), TableError> {
        let refuse = |what: &str| {
            Err(TableError::Const { table: format!("{}'s default {what}", self.name) })
        };
        match (self.const_default_action, action) {
            _ if self.const_default => refuse("entry"),
            (Some(fixed), Some(EntryAction::Action { action, .. })) if fixed != *action => {
                refuse("action")
            }
            _ => Ok(()),
        }
    }

    /// Sets the default entry; `None` puts the program's back.
    pub fn set_default(&mut self, default: Option<DefaultEntry>) {
        self.default = default.unwrap_or_else(|| self.initial_default.clone());
    }

    /// Sets what [`Self::set_default`] goes back to.
    pub fn set_initial_default(&mut self, default: DefaultEntry) {
        self.initial_default = default.clone();
        self.default = default;
    }

    /// Makes the default entry as constant as the program declares it: altogether, or its action.
    pub fn fix_default(&mut self, entry: bool, action: Option<usize>) {
        (self.const_default, self.const_default_action) = (entry, action);
    }

    /// Whether a miss always runs the same action, with the same data.
    pub fn has_fixed_default(&self) -> bool {
        self.const_default && self.const_default_action.is_some()
    }

    /// From now on the entries are constant.
    pub fn fix_entries(&mut self) {
        self.const_entries = true;
    }

    /// From now on this entry is constant.
    pub fn fix_entry(&mut self, id: EntryId) {
        let _new = self.fixed.insert(id);
    }

    /// Whether the entry must not be changed or removed.
    pub fn is_fixed(&self, id: EntryId) -> bool {
        self.const_entries || self.fixed.contains(&id)
    }

    fn check_free(&self, id: EntryId) -> Result<(), TableError> {
        match (self.const_entries, self.fixed.contains(&id)) {
            (true, _) => Err(TableError::Const { table: self.name.clone() }),
            (false, true) => {
                Err(TableError::Const { table: format!("{}'s entry {}", self.name, id.0) })
            }
            (false, false) => Ok(()),
        }
    }

    /// Removes all entries but const ones, and puts the program's default back.
    pub fn reset(&mut self) {
        self.set_default(None);
        self.counters.fill(Cell::default());
        self.default_counter = Cell::default();
        self.default_meter = Cell::default();
        self.new_meters = None;
        if self.const_entries {
            return;
        }
        if !self.fixed.is_empty() {
            let all: Vec<EntryId> = self.entries().map(|(id, _)| id).collect();
            for id in all {
                // Those that are const stay.
                let _ = self.delete(id);
            }
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
        self.generations.clear();
        self.free.clear();
        self.count = 0;
    }

    fn find_encoded(&self, key: &EncodedKey, priority: i32) -> u32 {
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
            self.runs.resize(count, Run { start: INDIRECT, next: 0, data: 0 });
            self.data.resize(count * self.data_limbs, 0);
            self.last_hits.resize(count, Cell::new(Time::ZERO));
            self.generations.resize(count, 0);
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
            Target::Group(_) | Target::Member(_) => Run { start: INDIRECT, next: 0, data: start },
        };
        self.data[start..start + data.len()].copy_from_slice(data);
    }

    fn not_found(&self, what: String) -> TableError {
        TableError::NotFound { what: format!("{what} in table {}", self.name) }
    }
}

#[inline]
fn count(cell: &Cell<Counter>, length_bytes: u32) {
    let mut counter = cell.get();
    counter.count(length_bytes);
    cell.set(counter);
}
