//! Tables from BMv2 JSON: keys, actions, what comes next. Entries follow when all is there (`entries`).

use bmv2::{NextTables, TableKind};
use tables::{KeyPart, KeyShape, MeterUnit, Table, TableAction, TableConfig};

use super::{Applied, DirectRegisters, KeyFields};
use crate::action::{Action, Names, action_number};
use crate::error::{LoadError, unknown};
use crate::nodes::NodeNames;
use crate::place::{Cell, Place};
use crate::profile::Chosen;
use crate::room::Room;

/// The things that the tables of a control refer to.
pub(crate) struct TableLoader<'a> {
    pub source: &'a bmv2::Program,
    pub names: &'a Names<'a>,
    pub actions: &'a [Action],
    pub nodes: &'a NodeNames,
    /// The action profiles of the control.
    pub profiles: &'a mut [Chosen],
    /// How many action profiles the program has before them.
    pub profiles_before: usize,
    /// The memory that is left for tables.
    pub room: &'a mut Room,
}

impl TableLoader<'_> {
    /// A table, without entries.
    pub fn load(&mut self, table: &bmv2::Table) -> Result<Applied, LoadError> {
        let names = self.nodes;
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
                let mut candidates = self.profiles.iter().map(|profile| profile.profile.name());
                let known = candidates.clone();
                let found = candidates.position(|name| name == *action_profile);
                let found =
                    found.ok_or_else(|| unknown("action profile", action_profile, known))?;
                let listed = actions.iter().map(|action| action.action);
                self.profiles[found].profile.allow(listed);
                Some(self.profiles_before + found)
            }
        };
        let data_limbs = actions.iter().map(|action| self.actions[action.action].limbs).max();
        let (shape, places) = self.key(table)?;
        let key = KeyFields::new(&shape, places);
        let (meter, color) = self.direct_meter(table)?.unzip();
        let size = table.size_max.max(table.entries.as_ref().map_or(0, Vec::len) as u32);
        let config = TableConfig {
            name: table.name.clone(),
            shape,
            size: size as usize,
            actions,
            miss_next,
            profile,
            with_counters: table.with_counters,
            meter,
            with_timeouts: table.support_timeout,
            data_limbs: data_limbs.unwrap_or(0),
        };
        let _size = self.room.take("/max_size", &config.name, size, config.entry_bytes())?;
        let registers = self.direct_registers(table)?;
        Ok(Applied { table: Table::new(config), key, color, registers })
    }

    /// Indexes of a table's actions: by id where the JSON has ids, else by name.
    fn table_actions(&self, table: &bmv2::Table) -> Result<Vec<usize>, LoadError> {
        if !table.action_ids.is_empty() {
            return table.action_ids.iter().map(|id| action_number(self.source, *id)).collect();
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

    /// The arrays of a table's direct registers, and the field for the number of the entry.
    fn direct_registers(&self, table: &bmv2::Table) -> Result<Option<DirectRegisters>, LoadError> {
        let Some(direct) = &table.direct_registers else { return Ok(None) };
        let arrays = direct.arrays.iter().map(|name| {
            let mut arrays = self.source.register_arrays.iter();
            let known = self.source.register_arrays.iter().map(|array| array.name.as_str());
            let found = arrays.position(|array| array.name == *name);
            found.ok_or_else(|| unknown("register array", name, known).under("/direct_registers"))
        });
        let arrays = arrays.collect::<Result<_, _>>()?;
        let number = self.names.layout.field(&direct.number);
        match number.map_err(|error| error.under("/direct_registers/number"))?.place {
            Place::Cell(number) => Ok(Some(DirectRegisters { number, arrays })),
            _ => {
                let message = "the number needs a field of at most 64 bits";
                Err(LoadError::new("/direct_registers/number", message))
            }
        }
    }

    /// The unit of a table's meters, and the field for their colour.
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
