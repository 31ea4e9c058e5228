//! Tables from BMv2 JSON: keys, actions, what comes next; then the entries that the program brings.

use bmv2::{NextTables, TableKind};
use tables::{
    Entry, EntryAction, KeyMatch, KeyPart, KeyShape, MeterUnit, Table, TableAction, TableConfig,
    TableError,
};
use units::Time;

use super::{Applied, KeyFields};
use crate::control::{Controls, NodeNames};
use crate::error::{LoadError, unknown};
use crate::pipeline::Pipeline;
use crate::place::{Cell, Place};

/// BMv2's lowest number wins, P4Runtime's highest: one is this less the other.
const PRIORITY_SUM: i32 = i32::MAX;

impl Controls<'_> {
    /// A table, without entries.
    pub fn table(
        &mut self,
        table: &bmv2::Table,
        names: &NodeNames,
        profiles_before: usize,
    ) -> Result<Applied, LoadError> {
        let mut actions = Vec::new();
        for (index, name) in self.table_actions(table)?.into_iter().enumerate() {
            let path = format!("/actions/{index}");
            let next = match &table.next_tables {
                NextTables::HitMiss { hit, miss } => [names.next(hit)?, names.next(miss)?],
                NextTables::ByAction(nexts) => {
                    let action = &self.actions[name].name;
                    let next = nexts.iter().find(|(candidate, _)| candidate == action);
                    let next = next.ok_or_else(|| {
                        let message = format!("next_tables has no member \"{action}\"");
                        LoadError::new(path, message)
                    })?;
                    [names.next(&next.1)?; 2]
                }
            };
            actions.push(TableAction { action: name, start: self.actions[name].start, next });
        }
        let miss_next = match &table.next_tables {
            NextTables::HitMiss { miss, .. } => names.next(miss)?,
            NextTables::ByAction(_) => names.next(&table.base_default_next)?,
        };
        let profile = match &table.kind {
            TableKind::Simple => None,
            TableKind::Indirect { action_profile }
            | TableKind::IndirectWithSelector { action_profile } => {
                let candidates = self.profiles.iter().skip(profiles_before);
                let known = candidates.clone().map(|profile| profile.profile.name());
                let mut candidates = candidates;
                let found =
                    candidates.position(|profile| profile.profile.name() == *action_profile);
                let found = found.ok_or_else(|| unknown("action profile", action_profile, known));
                let profile = profiles_before + found?;
                let listed = actions.iter().map(|action| action.action);
                self.profiles[profile].profile.allow(listed);
                Some(profile)
            }
        };
        let data_limbs = actions.iter().map(|action| self.actions[action.action].limbs).max();
        let (shape, places) = self.key(table)?;
        let key = KeyFields::new(&shape, places);
        let (meter, color) = self.direct_meter(table)?.unzip();
        let table = Table::new(TableConfig {
            name: table.name.clone(),
            shape,
            size: (table.size_max as usize).max(table.entries.as_ref().map_or(0, Vec::len)),
            actions,
            miss_next,
            profile,
            with_counters: table.with_counters,
            meter,
            with_timeouts: table.support_timeout,
            data_limbs: data_limbs.unwrap_or(0),
        });
        Ok(Applied { table, key, color })
    }

    /// Indexes of a table's actions: by id where the JSON has ids, else by name.
    fn table_actions(&self, table: &bmv2::Table) -> Result<Vec<usize>, LoadError> {
        if !table.action_ids.is_empty() {
            return table.action_ids.iter().map(|id| self.action(*id)).collect();
        }
        let by_name = |name: &String| {
            let position = self.actions.iter().position(|action| action.name == *name);
            let known = self.actions.iter().map(|action| action.name.as_str());
            position.ok_or_else(|| unknown("action", name, known).under("/actions"))
        };
        table.actions.iter().map(by_name).collect()
    }

    /// The shape of a table's key, and where a packet has its parts.
    fn key(&self, table: &bmv2::Table) -> Result<(KeyShape, Vec<Place>), LoadError> {
        let (mut parts, mut places) = (Vec::new(), Vec::new());
        for (index, key) in table.key.iter().enumerate() {
            let refuse = |message: &str| LoadError::new(format!("/key/{index}"), message);
            let target = key.target.as_ref().ok_or_else(|| refuse("expected a target"))?;
            let field = self.names.layout.field(target);
            let place = field.map_err(|error| error.under(&format!("/key/{index}/target")))?.place;
            let width = place.width();
            if width == 0 {
                return Err(refuse("a key has at least one bit"));
            }
            if key.match_type == bmv2::MatchType::Range && width > 64 {
                return Err(refuse("a range key has at most 64 bits"));
            }
            let all = &bits::Int::one().shift_left(width as usize) - &bits::Int::one();
            let name = format!("{}.{}", target.header, target.field);
            let name = key.name.clone().unwrap_or(name);
            let mask = key.mask.as_deref().map_or(all, bits::Int::from_be_bytes);
            parts.push(KeyPart::new(name, key.match_type, width, mask));
            places.push(place);
        }
        let with = |kind| parts.iter().any(|part| part.match_type == kind);
        let kinds = [bmv2::MatchType::Ternary, bmv2::MatchType::Range];
        let is_ternary = kinds.into_iter().any(|kind| with(kind) || table.match_type == kind);
        let prefixes = parts.iter().filter(|part| part.match_type == bmv2::MatchType::Lpm).count();
        if prefixes > 1 && !is_ternary {
            return Err(LoadError::new("/key", "a table has at most one lpm key"));
        }
        Ok((KeyShape::new(parts, is_ternary), places))
    }

    /// What a table's meters count, and where their colour goes.
    fn direct_meter(&self, table: &bmv2::Table) -> Result<Option<(MeterUnit, Cell)>, LoadError> {
        let Some(name) = &table.direct_meters else { return Ok(None) };
        let array = self.source.meter_arrays.iter().find(|array| array.name == *name);
        let known = self.names.meters.iter().map(String::as_str);
        let array =
            array.ok_or_else(|| unknown("meter array", name, known).under("/direct_meters"))?;
        let result = array.result_target.as_ref().map(|target| self.names.layout.field(target));
        match result.transpose()?.map(|field| field.place) {
            Some(Place::Cell(result)) => Ok(Some((array.unit.into(), result))),
            _ => Err(LoadError::new("/direct_meters", "the meter has no result_target")),
        }
    }
}

/// Sets default entries and const entries.
pub(crate) fn fill_tables(
    pipeline: &mut Pipeline,
    source: &bmv2::Program,
) -> Result<(), LoadError> {
    let mut number = 0;
    for name in ["ingress", "egress"] {
        let position = source.pipelines.iter().position(|control| control.name == name);
        let Some(position) = position else { continue };
        for (index, table) in source.pipelines[position].tables.iter().enumerate() {
            let path = format!("/pipelines/{position}/tables/{index}");
            fill_table(pipeline, number, source, table).map_err(|error| error.under(&path))?;
            number += 1;
        }
    }
    Ok(())
}

fn fill_table(
    pipeline: &mut Pipeline,
    number: usize,
    source: &bmv2::Program,
    table: &bmv2::Table,
) -> Result<(), LoadError> {
    let action = |id: u32| {
        let position = source.actions.iter().position(|action| action.id == id);
        position.ok_or_else(|| LoadError::new("/action_id", format!("no action has the id {id}")))
    };
    let refused = |error: TableError| LoadError::new("", error.to_string());
    if let Some(default) = &table.default_entry {
        let under = |error: LoadError| error.under("/default_entry");
        let action = action(default.action_id).map_err(under)?;
        let entry = EntryAction::Action { action, data: default.action_data.clone() };
        pipeline.set_initial_default(number, entry).map_err(|error| under(refused(error)))?;
        let only = default.action_const.then_some(action);
        pipeline.tables[number].table.fix_default(default.action_entry_const, only);
    }
    for (index, entry) in table.entries.iter().flatten().enumerate() {
        let path = format!("/entries/{index}");
        let under = |error: LoadError| error.under(&path);
        let action = action(entry.action_id).map_err(under)?;
        let is_ternary = pipeline.tables[number].table.shape().is_ternary();
        let key = entry.match_key.iter().map(|key| match key {
            bmv2::MatchKey::Exact { key } => KeyMatch::Exact(key.clone()),
            bmv2::MatchKey::Lpm { key, prefix_length } => {
                KeyMatch::Lpm { value: key.clone(), length_bits: *prefix_length }
            }
            bmv2::MatchKey::Range { start, end } => {
                KeyMatch::Range { low: start.clone(), high: end.clone() }
            }
            bmv2::MatchKey::Ternary { key, mask } => {
                KeyMatch::Ternary { value: key.clone(), mask: mask.clone() }
            }
            bmv2::MatchKey::Valid { key } => KeyMatch::Exact(u64::from(*key).into()),
        });
        let entry = Entry {
            key: key.collect(),
            priority: if is_ternary { PRIORITY_SUM.saturating_sub(entry.priority) } else { 0 },
            action: EntryAction::Action { action, data: entry.action_data.clone() },
            idle_timeout: None,
        };
        let inserted = pipeline.insert_entry(number, entry, Time::ZERO);
        let _ = inserted.map_err(|error| under(refused(error)))?;
    }
    if table.entries.is_some() {
        pipeline.tables[number].table.fix_entries();
    }
    Ok(())
}
