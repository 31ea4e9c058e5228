//! The operations of the control plane: by index, with lookup by name.
//!
//! Every change is checked before anything is touched, so a refused change leaves no trace.

use bits::Int;
use bmv2::SourceInfo;
use tables::{
    ActionProfile, Counter, DefaultEntry, Entry, EntryAction, EntryId, KeyMatch, Member, Meter,
    NONE, Table, TableError, Target,
};
use units::Time;

use crate::action::Action;
use crate::hash::{Crc, CrcParameters, Hash};
use crate::memory::Memory;
use crate::pipeline::Pipeline;
use crate::place::Place;
use crate::state::{MeterArray, RegisterArray};
use crate::value_set::{ValueSet, ValueSetMember, size_bytes_of};

impl Action {
    /// Flattens action data to limbs after checking it.
    pub(crate) fn limbs_of(&self, data: &[Int]) -> Result<Vec<u64>, TableError> {
        let refuse = |message: String| TableError::Data { message };
        if data.len() != self.params.len() {
            let (name, expected, found) = (&self.name, self.params.len(), data.len());
            return Err(refuse(format!("action {name} has {expected} parameters, not {found}")));
        }
        let mut limbs = Vec::with_capacity(self.limbs);
        for (value, (name, width)) in data.iter().zip(&self.params) {
            if value.is_negative() || value.bit_length() > *width as usize {
                let action = &self.name;
                return Err(refuse(format!(
                    "action {action}: {value} does not fit parameter {name} of type bit<{width}>"
                )));
            }
            limbs.extend((0..width.div_ceil(64).max(1)).map(|limb| value.limb(limb as usize)));
        }
        Ok(limbs)
    }

    /// The values of flattened action data.
    pub(crate) fn values(&self, limbs: &[u64]) -> Vec<Int> {
        let mut at = 0;
        let widths = self.params.iter().map(|(_, width)| width.div_ceil(64).max(1) as usize);
        widths
            .map(|count| {
                at += count;
                Int::from_unsigned_limbs(&limbs[at - count..at])
            })
            .collect()
    }
}

/// An action's name and parameters.
#[derive(Clone, Copy, Debug)]
pub struct ActionInfo<'a> {
    pub name: &'a str,
    /// Names and widths in bits of its parameters.
    pub params: &'a [(String, u32)],
}

impl Pipeline {
    /// The names of all headers.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.program.layout.headers.iter().map(|header| header.name.as_str())
    }

    /// Names of a header's fields and their widths in bits, in the order of the wire; a field of
    /// variable length has none. Without such a header there are no fields.
    pub fn header_fields(&self, header: &str) -> impl Iterator<Item = (&str, Option<u32>)> {
        let layout = &self.program.layout;
        let found = layout.headers.iter().find(|candidate| candidate.name == header);
        let fields = found.into_iter().flat_map(|header| &layout.kinds[header.kind].fields);
        fields.map(|field| match field.place {
            Place::Variable(_) => (field.name.as_str(), None),
            place => (field.name.as_str(), Some(place.width())),
        })
    }
}

/// Indexes by name. The loaded JSON's names are those of the P4 program, fully qualified.
impl Pipeline {
    /// The table of this name.
    pub fn table_index(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|it| it.table.name() == name)
    }

    /// The action profile of this name.
    pub fn profile_index(&self, name: &str) -> Option<usize> {
        self.profiles.iter().position(|it| it.profile.name() == name)
    }

    /// An action of this name that a table may run. Names are not unique; within a table they are.
    pub fn action_index(&self, table: usize, name: &str) -> Option<usize> {
        let mut listed = self.tables.get(table)?.table.action_indexes();
        listed.find(|action| self.program.actions[*action].name == name)
    }

    /// Where the condition of this name stands in the source, if the program's JSON says so.
    pub fn source_of_condition(&self, name: &str) -> Option<&SourceInfo> {
        let position = self.program.condition_names.iter().position(|it| it == name)?;
        self.program.condition_sources[position].as_ref()
    }

    /// The indirect counter array of this name.
    pub fn counter_index(&self, name: &str) -> Option<usize> {
        self.program.counter_names.iter().position(|candidate| candidate == name)
    }

    /// The indirect meter array of this name.
    pub fn meter_index(&self, name: &str) -> Option<usize> {
        self.program.meter_names.iter().position(|candidate| candidate == name)
    }

    /// The table whose entries have the direct meters of this name.
    pub fn table_of_meters(&self, name: &str) -> Option<usize> {
        self.program.direct_meters.iter().position(|it| it.as_deref() == Some(name))
    }

    /// The register array of this name.
    pub fn register_index(&self, name: &str) -> Option<usize> {
        self.program.register_names.iter().position(|(candidate, _)| candidate == name)
    }

    /// The parser value set of this name.
    pub fn value_set_index(&self, name: &str) -> Option<usize> {
        self.externs.value_sets.iter().position(|set| set.name == name)
    }

    /// How many bits each field of a digest has; none where there is no such digest.
    pub fn digest_widths(&self, id: u32) -> impl Iterator<Item = u32> {
        let list = self.program.digests.iter().find(|list| list.id == id);
        list.into_iter().flat_map(|list| list.fields.iter().map(|field| field.width()))
    }

    /// Id and name of each digest.
    pub fn digests(&self) -> impl Iterator<Item = (u32, &str)> {
        self.program.digests.iter().map(|list| (list.id, list.name.as_str()))
    }
}

/// Tables.
impl Pipeline {
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &Table> + Clone {
        self.tables.iter().map(|it| &it.table)
    }

    pub fn table(&self, table: usize) -> &Table {
        &self.tables[table].table
    }

    /// A table whose direct counters or meters are to be written.
    pub fn table_mut(&mut self, table: usize) -> &mut Table {
        &mut self.tables[table].table
    }

    pub fn action(&self, action: usize) -> ActionInfo<'_> {
        let action = &self.program.actions[action];
        ActionInfo { name: &action.name, params: &action.params }
    }

    pub fn insert_entry(
        &mut self,
        table: usize,
        entry: Entry,
        now: Time,
    ) -> Result<EntryId, TableError> {
        self.memory.check()?;
        let (target, limbs) = self.target(table, &entry.action)?;
        let profile = self.table(table).profile();
        let action = profile.map(|_| entry.action.clone());
        let id = self.write_table(table, |it| it.insert(entry, target, &limbs, now))?;
        if let (Some(profile), Some(action)) = (profile, action) {
            self.profiles[profile].profile.note_use(&action);
        }
        for array in self.tables[table].registers.iter().flat_map(|direct| &direct.arrays) {
            self.externs.registers[*array].reset_cell(id.0.into());
        }
        Ok(id)
    }

    /// Gives an entry another action and idle time-out; its key and priority stay.
    pub fn modify_entry(
        &mut self,
        table: usize,
        id: EntryId,
        action: EntryAction,
        idle_timeout: Option<units::Span>,
        now: Time,
    ) -> Result<(), TableError> {
        let (target, limbs) = self.target(table, &action)?;
        let Some(profile) = self.table(table).profile() else {
            return self.tables[table].table.modify(id, action, idle_timeout, target, &limbs, now);
        };
        let before = self.tables[table].table.entry(id)?.action.clone();
        self.tables[table].table.modify(id, action.clone(), idle_timeout, target, &limbs, now)?;
        self.profiles[profile].profile.note_use(&action);
        self.profiles[profile].profile.forget_use(&before);
        Ok(())
    }

    /// Removes an entry and returns it.
    pub fn delete_entry(&mut self, table: usize, id: EntryId) -> Result<Entry, TableError> {
        let entry = self.write_table(table, |it| it.delete(id))?;
        self.forget_use(table, &entry);
        Ok(entry)
    }

    /// Deletes the entry with exactly this key and priority.
    pub fn delete_entry_by_key(
        &mut self,
        table: usize,
        key: &[KeyMatch],
        priority: i32,
    ) -> Result<EntryId, TableError> {
        let (id, entry) = self.write_table(table, |it| it.delete_by_key(key, priority))?;
        self.forget_use(table, &entry);
        Ok(id)
    }

    fn forget_use(&mut self, table: usize, entry: &Entry) {
        if let Some(profile) = self.table(table).profile() {
            self.profiles[profile].profile.forget_use(&entry.action);
        }
    }

    /// Sets the default entry; `None` puts the program's back.
    pub fn set_default_entry(
        &mut self,
        table: usize,
        action: Option<EntryAction>,
    ) -> Result<(), TableError> {
        self.table(table).check_default(action.as_ref())?;
        let Some(entry) = action else {
            self.replace_default(table, None);
            return Ok(());
        };
        let (target, data) = self.target(table, &entry)?;
        let default = DefaultEntry { entry: Some(entry), target: Some(target), data };
        self.replace_default(table, Some(default));
        Ok(())
    }

    fn replace_default(&mut self, table: usize, default: Option<DefaultEntry>) {
        let loaded = &mut self.tables[table].table;
        let before = loaded.default_entry().cloned();
        loaded.set_default(default);
        let after = loaded.default_entry().cloned();
        let Some(profile) = loaded.profile() else { return };
        let profile = &mut self.profiles[profile].profile;
        after.iter().for_each(|action| profile.note_use(action));
        before.iter().for_each(|action| profile.forget_use(action));
    }

    pub(crate) fn set_initial_default(
        &mut self,
        table: usize,
        entry: EntryAction,
    ) -> Result<(), TableError> {
        let (target, data) = self.target(table, &entry)?;
        let default = DefaultEntry { entry: Some(entry), target: Some(target), data };
        self.tables[table].table.set_initial_default(default);
        Ok(())
    }

    /// Checks an action against a table.
    fn target(&self, table: usize, entry: &EntryAction) -> Result<(Target, Vec<u64>), TableError> {
        let loaded = self.table(table);
        let wrong_kind = |what: &str| TableError::Data {
            message: format!("table {} takes {what}", loaded.name()),
        };
        let profile = loaded.profile().map(|profile| self.profile(profile));
        match (entry, profile) {
            (EntryAction::Action { action, data }, None) => {
                let mut actions = loaded.action_indexes();
                let position = actions.position(|candidate| candidate == *action);
                let not_listed = || TableError::ActionNotInTable {
                    table: loaded.name().to_owned(),
                    action: *action,
                };
                let position = position.ok_or_else(not_listed)?;
                let limbs = self.program.actions[*action].limbs_of(data)?;
                Ok((Target::Action(position as u32), limbs))
            }
            (EntryAction::Member(id), Some(profile)) => {
                let _ = profile.member(*id)?;
                Ok((Target::Member(*id), Vec::new()))
            }
            (EntryAction::Group(id), Some(profile)) => {
                let _ = profile.group(*id)?;
                Ok((Target::Group(*id), Vec::new()))
            }
            (EntryAction::Action { .. }, Some(_)) => {
                Err(wrong_kind("members or groups of its action profile, not actions"))
            }
            (_, None) => Err(wrong_kind("actions: it has no action profile")),
        }
    }
}

/// Action profiles.
impl Pipeline {
    pub fn profiles(&self) -> impl ExactSizeIterator<Item = &ActionProfile> + Clone {
        self.profiles.iter().map(|it| &it.profile)
    }

    pub fn profile(&self, profile: usize) -> &ActionProfile {
        &self.profiles[profile].profile
    }

    /// Adds a member, or changes one.
    pub fn set_member(
        &mut self,
        profile: usize,
        id: u32,
        action: usize,
        data: Vec<Int>,
        new: bool,
    ) -> Result<(), TableError> {
        self.memory.check()?;
        let loaded = &self.profiles[profile].profile;
        if !loaded.actions().contains(&action) {
            let table = format!("(action profile) {}", loaded.name());
            return Err(TableError::ActionNotInTable { table, action });
        }
        let limbs = self.program.actions[action].limbs_of(&data)?;
        let member = Member { action, data, limbs };
        self.write_profile(profile, |it| {
            if new { it.insert_member(id, member) } else { it.modify_member(id, member) }
        })
    }

    /// Removes a member that no group and no entry uses.
    pub fn delete_member(&mut self, profile: usize, id: u32) -> Result<(), TableError> {
        self.write_profile(profile, |it| it.delete_member(id))
    }

    /// Adds a group, or changes its members; repetitions weigh. A group that is there changes whether
    /// there is memory or not: it has to follow its ports.
    pub fn set_group(
        &mut self,
        profile: usize,
        id: u32,
        members: &[u32],
        new: bool,
    ) -> Result<(), TableError> {
        if new {
            self.memory.check()?;
        }
        self.write_profile(profile, |it| it.set_group(id, members, new))
    }

    /// Removes a group that no entry uses.
    pub fn delete_group(&mut self, profile: usize, id: u32) -> Result<(), TableError> {
        self.write_profile(profile, |it| it.delete_group(id))
    }
}

/// Counters, meters, registers, value sets, hashes.
impl Pipeline {
    /// An indirect counter array.
    pub fn counters(&self, array: usize) -> &[Counter] {
        &self.externs.counters[array]
    }

    /// An indirect counter array to write.
    pub fn counters_mut(&mut self, array: usize) -> &mut [Counter] {
        &mut self.externs.counters[array]
    }

    /// An indirect meter array.
    pub fn meters(&self, array: usize) -> &MeterArray {
        &self.externs.meters[array]
    }

    /// An indirect meter array to configure.
    pub fn meters_mut(&mut self, array: usize) -> &mut MeterArray {
        &mut self.externs.meters[array]
    }

    pub fn registers(&self, array: usize) -> &RegisterArray {
        &self.externs.registers[array]
    }

    /// A register array to write.
    pub fn registers_mut(&mut self, array: usize) -> &mut RegisterArray {
        &mut self.externs.registers[array]
    }

    /// Takes over the cells of an indirect counter array of another program, if that has as many.
    pub fn adopt_counters(&mut self, array: usize, from: &mut Pipeline, other: usize) -> bool {
        let (own, others) = (&mut self.externs.counters[array], &mut from.externs.counters[other]);
        let fits = own.len() == others.len();
        if fits {
            std::mem::swap(own, others);
        }
        fits
    }

    /// The same for an indirect meter array; its unit must be the same too.
    pub fn adopt_meters(&mut self, array: usize, from: &mut Pipeline, other: usize) -> bool {
        let (own, others) = (&mut self.externs.meters[array], &mut from.externs.meters[other]);
        let fits = own.meters.len() == others.meters.len() && own.unit == others.unit;
        if fits {
            std::mem::swap(own, others);
        }
        fits
    }

    /// The same for a register array; its cells must be as wide.
    pub fn adopt_registers(&mut self, array: usize, from: &mut Pipeline, other: usize) -> bool {
        let own = &mut self.externs.registers[array];
        let others = &mut from.externs.registers[other];
        let fits = own.size() == others.size() && own.width_bits() == others.width_bits();
        if fits {
            std::mem::swap(own, others);
        }
        fits
    }

    /// Members of a parser value set.
    pub fn value_set(&self, set: usize) -> &[ValueSetMember] {
        &self.externs.value_sets[set].members
    }

    /// How many bits a member of a parser value set has.
    pub fn value_set_width(&self, set: usize) -> usize {
        self.externs.value_sets[set].width
    }

    /// Replaces the members of a parser value set.
    pub fn set_value_set(
        &mut self,
        set: usize,
        members: Vec<ValueSetMember>,
    ) -> Result<(), TableError> {
        let loaded = &mut self.externs.value_sets[set];
        for number in members.iter().flat_map(|it| [Some(&it.value), it.mask.as_ref()]).flatten() {
            if number.is_negative() || number.bit_length() > loaded.width {
                let message = format!(
                    "{number} does not fit value set {} of bit<{}>",
                    loaded.name, loaded.width
                );
                return Err(TableError::Data { message });
            }
        }
        let (before, after) = (loaded.size_bytes(), size_bytes_of(&members));
        if after > before {
            self.memory.check()?;
        }
        loaded.members = members;
        self.memory.note(before, after);
        Ok(())
    }

    /// The present CRC of a calculation; `None` if it is none.
    pub fn crc(&self, calculation: &str) -> Result<Option<CrcParameters>, TableError> {
        let found = self.program.calculations.iter().find(|named| named.name == calculation);
        let found =
            found.ok_or(TableError::NotFound { what: format!("calculation {calculation}") })?;
        Ok(match &self.externs.hashes[found.hash] {
            Hash::Crc(crc) => Some(crc.parameters()),
            _ => None,
        })
    }

    /// Gives a calculation that uses a `*_custom` CRC other parameters.
    pub fn set_crc(
        &mut self,
        calculation: &str,
        parameters: CrcParameters,
    ) -> Result<(), TableError> {
        let found = self.program.calculations.iter().find(|named| named.name == calculation);
        let found =
            found.ok_or(TableError::NotFound { what: format!("calculation {calculation}") })?;
        let hash = &mut self.externs.hashes[found.hash];
        match hash {
            Hash::Crc(_) => {
                *hash = Hash::Crc(Crc::new(parameters));
                Ok(())
            }
            _ => Err(TableError::Data { message: format!("calculation {calculation} is no CRC") }),
        }
    }

    /// Takes over the members of value sets and the parameters of CRCs from a pipeline of the same
    /// program.
    pub fn adopt_settings(&mut self, other: &Pipeline) -> Result<(), TableError> {
        for (set, others) in other.externs.value_sets.iter().enumerate() {
            self.set_value_set(set, others.members.clone())?;
        }
        for (own, others) in self.externs.hashes.iter_mut().zip(&other.externs.hashes) {
            if let (Hash::Crc(_), Hash::Crc(crc)) = (&*own, others) {
                *own = Hash::Crc(Crc::new(crc.parameters()));
            }
        }
        Ok(())
    }

    /// Empties tables, profiles, groups, counters and registers: the state after loading.
    pub fn reset(&mut self) {
        self.tables.iter_mut().for_each(|it| it.table.reset());
        self.profiles.iter_mut().for_each(|it| it.profile.reset());
        self.externs.registers.iter_mut().for_each(RegisterArray::reset);
        self.externs.counters.iter_mut().for_each(|array| array.fill(Counter::default()));
        for array in &mut self.externs.meters {
            array.meters.fill(Meter::default());
        }
        self.replication.reset();
    }
}

/// The memory.
impl Pipeline {
    /// Changes the entries of a table.
    fn write_table<T>(&mut self, table: usize, write: impl FnOnce(&mut Table) -> T) -> T {
        let table = &mut self.tables[table].table;
        let before_bytes = table.size_bytes();
        let result = write(table);
        self.memory.note(before_bytes, table.size_bytes());
        result
    }

    /// Changes the members or groups of a profile.
    fn write_profile<T>(
        &mut self,
        profile: usize,
        write: impl FnOnce(&mut ActionProfile) -> T,
    ) -> T {
        let profile = &mut self.profiles[profile].profile;
        let before_bytes = profile.size_bytes();
        let result = write(profile);
        self.memory.note(before_bytes, profile.size_bytes());
        result
    }

    /// The program's share of the memory.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Gives back the memory of removed entries, members and groups that will not be put back.
    /// `beside_bytes` is the memory that others keep for them.
    pub fn settle_memory(&mut self, beside_bytes: u64) {
        let tables = self.tables.iter().map(|it| it.table.size_bytes());
        let profiles = self.profiles.iter().map(|it| it.profile.size_bytes());
        let sets = self.externs.value_sets.iter().map(ValueSet::size_bytes);
        let kept = tables.chain(profiles).chain(sets);
        self.memory.settle(beside_bytes + kept.sum::<u64>());
    }
}

/// For tests and tools.
impl Pipeline {
    /// The entry of a table that a packet would hit as its fields are now.
    pub fn find(&mut self, table: usize, packet: &crate::packet::Packet) -> Option<EntryId> {
        let entry = self.tables[table].find(&packet.area, &mut self.key_scratch);
        (entry != NONE).then_some(EntryId(entry))
    }
}
