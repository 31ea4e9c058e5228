//! One [`Change`], carried out on a pipeline; and the changes that would put things back.
//!
//! A change that is refused leaves no trace. Where a change takes several steps in the pipeline
//! (one-shot groups), the steps that can fail come first, or are taken back.

use p4runtime::refusal::Refusal;
use p4runtime::translate::action::{ActionCall, EntryAction};
use p4runtime::translate::cells::{CellRange, CounterValue, MeterRates};
use p4runtime::translate::change::{Change, DigestConfig, EntryRef};
use p4runtime::translate::op::Op;
use p4runtime::translate::profile::GroupState;
use p4runtime::translate::table::{EntryKey, EntryState, TableChange};
use pipeline::{EntryId, Meter, Pipeline, TableError};
use units::{Span, Time};

use super::forwarding::Beside;
use super::target::Target;
use super::values::{counter_of, meter_config, priority_of, refused, value_set_members};
use super::{one_shot, replicate, watched_ports};

impl Target<'_> {
    /// Carries out one change, if there is memory for its result.
    pub fn apply(&mut self, change: Change) -> Result<(), Refusal> {
        if change.is_kept() {
            self.pipeline.memory_mut().check()?;
        }
        let before_bytes = self.forwarding.ledger.size_bytes();
        let result = self.carry_out(change);
        self.pipeline.memory_mut().note(before_bytes, self.forwarding.ledger.size_bytes());
        result
    }

    fn carry_out(&mut self, change: Change) -> Result<(), Refusal> {
        match change {
            Change::Table(change) => self.apply_to_table(change),
            Change::Member(profile_id, member_id, change) => {
                self.apply_to_member(profile_id, member_id, change)
            }
            Change::Group(profile_id, group_id, change) => {
                self.apply_to_group(profile_id, group_id, change)
            }
            Change::Counter(id, range, value) => self.set_counters(id, range, value),
            Change::DirectCounter(entry, value) => self.set_direct_counter(&entry, value),
            Change::Meter(id, range, rates) => self.set_meters(id, range, rates),
            Change::DirectMeter(entry, rates) => self.set_direct_meter(&entry, rates),
            Change::Register(id, range, leaves) => self.set_registers(id, range, &leaves),
            Change::ValueSet(id, members) => {
                let set = self.forwarding.binding.value_set(id)?;
                let fields = &self.forwarding.config.index.value_set(id)?.fields;
                let members = value_set_members(fields, &members)?;
                self.pipeline.set_value_set(set, members).map_err(refused)
            }
            Change::Digest(id, change) => self.apply_to_digest(id, change),
            Change::MulticastGroup(id, op) => replicate::apply_to_group(self, id, op),
            Change::CloneSession(id, op) => replicate::apply_to_session(self, id, op),
            Change::Nothing => Ok(()),
        }
    }

    fn apply_to_table(&mut self, change: TableChange) -> Result<(), Refusal> {
        match change {
            TableChange::Entry(key, Op::Insert(state)) => self.insert(&key, state),
            TableChange::Entry(key, Op::Modify(state)) => self.modify(&key, state),
            TableChange::Entry(key, Op::Delete) => self.delete(&key),
            TableChange::SetDefault { table_id, call, attachment, counter, meter } => {
                let bound = self.forwarding.binding.table(table_id)?;
                let table = bound.table;
                let action = call.map(|call| action_of(bound, call)).transpose()?;
                self.pipeline.set_default_entry(table, action).map_err(refused)?;
                self.forwarding.ledger.beside_default.insert(table, attachment);
                let loaded = self.pipeline.table_mut(table);
                if let Some(value) = counter {
                    loaded.set_default_counter(counter_of(value));
                }
                set_meter(loaded.default_meter(), meter, self.now);
                Ok(())
            }
        }
    }

    fn insert(&mut self, key: &EntryKey, mut state: EntryState) -> Result<(), Refusal> {
        let given = state.action.take();
        let given = given.ok_or_else(|| Refusal::invalid("an insert needs an action"))?;
        let (parts, priority, now) = (key.parts.clone(), priority_of(key), self.now);
        let idle_timeout = span_of(state.idle_timeout_ns);
        self.put(key.table_id, given, state, |pipeline, table, action| {
            let entry = pipeline::Entry { key: parts, priority, action, idle_timeout };
            pipeline.insert_entry(table, entry, now)
        })
    }

    /// A counter that is not given stays, a meter that is not given goes back to its default:
    /// specification, "Direct Resources".
    fn modify(&mut self, key: &EntryKey, mut state: EntryState) -> Result<(), Refusal> {
        let table = self.forwarding.binding.table(key.table_id)?.table;
        let id = self.find(key)?;
        let Some(given) = state.action.take() else {
            // Only direct cells change; const entries come here.
            return self.set_cells(table, id, state.counter, state.meter);
        };
        let (idle_timeout, now) = (span_of(state.idle_timeout_ns), self.now);
        self.put(key.table_id, given, state, |pipeline, table, action| {
            pipeline.modify_entry(table, id, action, idle_timeout, now).map(|()| id)
        })
    }

    /// Puts an entry that runs `given` into its table by `write`, and what P4Runtime knows of it
    /// beside it. A group that it brings along is made first, and removed again where the entry is
    /// refused or comes to bring another.
    fn put(
        &mut self,
        table_id: u32,
        given: EntryAction,
        state: EntryState,
        write: impl FnOnce(&mut Pipeline, usize, pipeline::EntryAction) -> Result<EntryId, TableError>,
    ) -> Result<(), Refusal> {
        let bound = self.forwarding.binding.table(table_id)?;
        let table = bound.table;
        let (action, one_shot) = match given {
            EntryAction::Call(call) => (action_of(bound, call)?, None),
            EntryAction::Member(id) => (pipeline::EntryAction::Member(id), None),
            EntryAction::Group(id) => (pipeline::EntryAction::Group(id), None),
            EntryAction::OneShot(choices) => {
                let group = one_shot::insert(self, table_id, choices)?;
                (pipeline::EntryAction::Group(group.group_id), Some(group))
            }
        };
        one_shot::check_style(self, table_id, &action, one_shot.is_some())?;
        let id = match write(self.pipeline, table, action) {
            Ok(id) => id,
            Err(error) => {
                one_shot.iter().for_each(|group| one_shot::remove(self, group));
                return Err(refused(error));
            }
        };
        let EntryState { attachment, idle_timeout_ns, counter, meter, .. } = state;
        let beside = Beside { attachment, idle_timeout_ns, one_shot };
        let before = self.forwarding.ledger.set_beside(table, id, beside);
        before.one_shot.iter().for_each(|group| one_shot::remove(self, group));
        self.set_cells(table, id, counter, meter)
    }

    fn delete(&mut self, key: &EntryKey) -> Result<(), Refusal> {
        let table = self.forwarding.binding.table(key.table_id)?.table;
        let deleted = self.pipeline.delete_entry_by_key(table, &key.parts, priority_of(key));
        let id = deleted.map_err(refused)?;
        let before = self.forwarding.ledger.set_beside(table, id, Beside::default());
        before.one_shot.iter().for_each(|group| one_shot::remove(self, group));
        Ok(())
    }

    /// Direct cells of an entry; that its table has them was checked against P4Info.
    fn set_cells(
        &mut self,
        table: usize,
        id: EntryId,
        counter: Option<CounterValue>,
        meter: Option<MeterRates>,
    ) -> Result<(), Refusal> {
        let loaded = self.pipeline.table_mut(table);
        if let Some(value) = counter
            && loaded.counter(id).map_err(refused)?.is_some()
        {
            loaded.set_counter(id, counter_of(value)).map_err(refused)?;
        }
        set_meter(loaded.meter(id).map_err(refused)?, meter, self.now);
        Ok(())
    }

    fn set_direct_counter(&mut self, entry: &EntryRef, value: CounterValue) -> Result<(), Refusal> {
        let table = self.forwarding.binding.table(entry.table_id())?.table;
        // That the table has direct counters was checked against P4Info.
        match entry {
            EntryRef::Default(_) => {
                self.pipeline.table_mut(table).set_default_counter(counter_of(value));
                Ok(())
            }
            EntryRef::Key(key) => {
                let id = self.find(key)?;
                self.pipeline.table_mut(table).set_counter(id, counter_of(value)).map_err(refused)
            }
        }
    }

    fn set_direct_meter(
        &mut self,
        entry: &EntryRef,
        rates: Option<MeterRates>,
    ) -> Result<(), Refusal> {
        let table = self.forwarding.binding.table(entry.table_id())?.table;
        let cell = match entry {
            EntryRef::Default(_) => self.pipeline.table_mut(table).default_meter(),
            EntryRef::Key(key) => {
                let id = self.find(key)?;
                self.pipeline.table_mut(table).meter(id).map_err(refused)?
            }
        };
        // As above: the table has direct meters.
        if let Some(cell) = cell {
            cell.configure(rates.map(meter_config), self.now);
        }
        Ok(())
    }

    fn set_counters(
        &mut self,
        id: u32,
        range: CellRange,
        value: CounterValue,
    ) -> Result<(), Refusal> {
        let array = self.forwarding.binding.counter(id)?;
        cells_in(self.pipeline.counters_mut(array), range)?.fill(counter_of(value));
        Ok(())
    }

    fn set_meters(
        &mut self,
        id: u32,
        range: CellRange,
        rates: Option<MeterRates>,
    ) -> Result<(), Refusal> {
        let array = self.forwarding.binding.meter(id)?;
        let config = rates.map(meter_config);
        for cell in cells_in(&mut self.pipeline.meters_mut(array).meters, range)? {
            cell.configure(config, self.now);
        }
        Ok(())
    }

    fn set_registers(
        &mut self,
        id: u32,
        range: CellRange,
        leaves: &[bits::Int],
    ) -> Result<(), Refusal> {
        let array = self.forwarding.binding.register(id)?;
        let cells = self.pipeline.registers_mut(array);
        let [value] = leaves else {
            return Err(Refusal::unimplemented("this switch has no registers of structs"));
        };
        // Registers hold bits; the sign of an int<N> is its highest.
        let value = value.truncate(cells.width_bits() as usize);
        for at in range.indexes() {
            if !cells.write(at, &value) {
                return Err(outside(at, cells.size()));
            }
        }
        Ok(())
    }

    fn apply_to_member(
        &mut self,
        profile_id: u32,
        member_id: u32,
        op: Op<ActionCall>,
    ) -> Result<(), Refusal> {
        one_shot::check_not_used(self, profile_id)?;
        let (call, new) = match op {
            Op::Insert(call) => (call, true),
            Op::Modify(call) => (call, false),
            Op::Delete => {
                let profile = self.forwarding.binding.profile(profile_id)?;
                return self.pipeline.delete_member(profile, member_id).map_err(refused);
            }
        };
        self.set_member(profile_id, member_id, call, new)
    }

    fn apply_to_group(
        &mut self,
        profile_id: u32,
        group_id: u32,
        op: Op<GroupState>,
    ) -> Result<(), Refusal> {
        one_shot::check_not_used(self, profile_id)?;
        let profile = self.forwarding.binding.profile(profile_id)?;
        let key = (profile_id, group_id);
        let (state, new) = match op {
            Op::Insert(state) => (state, true),
            Op::Modify(state) => {
                let before = self.forwarding.ledger.groups.get(&key);
                let before = before.map_or(state.max_size, |before| before.max_size);
                if before != state.max_size {
                    return Err(Refusal::invalid(format!(
                        "group {group_id} was made with max_size {before}; it cannot change"
                    )));
                }
                (state, false)
            }
            Op::Delete => {
                self.pipeline.delete_group(profile, group_id).map_err(refused)?;
                self.forwarding.ledger.groups.remove(&key);
                return Ok(());
            }
        };
        let members = watched_ports::weighted(&state, self.down);
        self.pipeline.set_group(profile, group_id, &members, new).map_err(refused)?;
        self.forwarding.ledger.groups.insert(key, state);
        Ok(())
    }

    fn apply_to_digest(&mut self, id: u32, op: Op<DigestConfig>) -> Result<(), Refusal> {
        let digests = &mut self.forwarding.ledger.digests;
        let is_on = digests.config(id).is_some();
        match (op, is_on) {
            (Op::Insert(config), false) | (Op::Modify(config), true) => {
                digests.configure(id, config);
                Ok(())
            }
            (Op::Insert(_), true) => {
                Err(Refusal::exists(format!("digest {id} is switched on already; modify it")))
            }
            (Op::Modify(_), false) | (Op::Delete, false) => {
                Err(Refusal::not_found(format!("digest {id} is not switched on; insert it first")))
            }
            (Op::Delete, true) => {
                digests.remove(id);
                Ok(())
            }
        }
    }
}

fn action_of(
    bound: &p4runtime::binding::TableBinding,
    call: ActionCall,
) -> Result<pipeline::EntryAction, Refusal> {
    let action = bound.action(call.action_id)?;
    Ok(pipeline::EntryAction::Action { action, data: call.args })
}

fn span_of(timeout_ns: u64) -> Option<Span> {
    (timeout_ns > 0).then(|| Span::from_ps(timeout_ns.saturating_mul(1000)))
}

/// Configures a direct meter, if there is one. It fills the buckets, so a meter that stays as it is
/// must be left alone.
fn set_meter(cell: Option<&mut Meter>, rates: Option<MeterRates>, now: Time) {
    let wanted = rates.map(meter_config);
    if let Some(cell) = cell.filter(|cell| cell.config() != wanted) {
        cell.configure(wanted, now);
    }
}

fn cells_in<T>(cells: &mut [T], range: CellRange) -> Result<&mut [T], Refusal> {
    let (size, end) = (cells.len(), range.first + range.count);
    let indexes = usize::try_from(range.first).ok().zip(usize::try_from(end).ok());
    let found = indexes.and_then(|(first, end)| cells.get_mut(first..end));
    found.ok_or_else(|| outside(end.saturating_sub(1), size))
}

fn outside(at: u64, size: usize) -> Refusal {
    Refusal::out_of_range(format!("index {at} is outside the array, which has {size} cells"))
}
