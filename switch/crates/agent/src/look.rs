//! One [`Query`]: walks over its entities, a few steps at a time, and copies the results.
//!
//! A [`Cursor`] remembers where a walk stopped, so that packets pass between its parts. Writes do
//! not: the agent carries out one request after the other.

use std::ops::{ControlFlow, RangeInclusive};

use p4runtime::binding::TableBinding;
use p4runtime::found::Found;
use p4runtime::index::{Name, Profile, Table};
use p4runtime::refusal::Refusal;
use p4runtime::translate::action::EntryAction;
use p4runtime::translate::change::EntryRef;
use p4runtime::translate::matching::canonical;
use p4runtime::translate::query::{Cells, DirectCells, Query};
use p4runtime::translate::table::{EntryKey, FoundEntry, TableQuery};
use pipeline::{Entry, EntryId, KeyMatch, Pipeline};
use units::Time;

use super::forwarding::Forwarding;
use super::values::{counter_value, meter_rates, refused, value_set_member};

/// The state that a query reads.
pub(super) struct View<'a> {
    pub forwarding: &'a Forwarding,
    pub pipeline: &'a mut Pipeline,
    pub now: Time,
    /// Only entities of this role, if it is not empty.
    pub role: &'a str,
}

/// Where a walk goes on: the object's id, and the element in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    id: u32,
    at: u64,
}

/// Whether a walk has come to its end, and how many elements it may still look at.
struct Walk<'a> {
    cursor: &'a mut Cursor,
    left: &'a mut usize,
}

impl Walk<'_> {
    /// Runs `visit` for the elements from the cursor up to `count`, as far as the budget goes.
    fn elements(&mut self, count: u64, mut visit: impl FnMut(u64)) -> ControlFlow<()> {
        while self.cursor.at < count {
            if *self.left == 0 {
                return ControlFlow::Break(());
            }
            *self.left -= 1;
            visit(self.cursor.at);
            self.cursor.at += 1;
        }
        ControlFlow::Continue(())
    }

    /// Runs `visit` over what has numbers, ascending, from the cursor on: it takes the first one in
    /// the range that it is given, and returns its number. `only`: that number, if it is there.
    fn numbered(
        &mut self,
        only: Option<u32>,
        mut visit: impl FnMut(RangeInclusive<u32>) -> Option<u32>,
    ) -> ControlFlow<()> {
        let (first, last) = only.map_or((0, u32::MAX), |id| (id, id));
        loop {
            let from = u32::try_from(self.cursor.at).map(|at| at.max(first));
            let Some(from) = from.ok().filter(|from| *from <= last) else {
                return ControlFlow::Continue(());
            };
            if *self.left == 0 {
                return ControlFlow::Break(());
            }
            *self.left -= 1;
            match visit(from..=last) {
                Some(number) => self.cursor.at = u64::from(number) + 1,
                None => return ControlFlow::Continue(()),
            }
        }
    }

    /// Runs `visit` for the objects from the cursor on, as far as it lets; `ids` are ascending.
    fn objects(
        &mut self,
        ids: impl Iterator<Item = u32>,
        mut visit: impl FnMut(&mut Self, u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let from = self.cursor.id;
        for id in ids.filter(|id| *id >= from) {
            if self.cursor.id != id {
                *self.cursor = Cursor { id, at: 0 };
            }
            visit(self, id)?;
        }
        ControlFlow::Continue(())
    }
}

impl View<'_> {
    /// Goes on with a query for at most `left` elements. `true`: it is answered.
    pub fn look(
        &mut self,
        query: &Query,
        cursor: &mut Cursor,
        left: &mut usize,
        found: &mut Vec<Found>,
    ) -> Result<bool, Refusal> {
        let mut walk = Walk { cursor, left };
        let flow = match query {
            Query::Table(query) => self.tables(query, &mut walk, found)?,
            Query::DirectCounters(cells) => self.direct_cells(cells, true, &mut walk, found)?,
            Query::DirectMeters(cells) => self.direct_cells(cells, false, &mut walk, found)?,
            Query::Counters(cells) => self.counters(*cells, &mut walk, found)?,
            Query::Meters(cells) => self.meters(*cells, &mut walk, found)?,
            Query::Registers(cells) => self.registers(*cells, &mut walk, found)?,
            Query::Members(profile_id, member_id) => {
                self.members(*profile_id, *member_id, &mut walk, found)
            }
            Query::Groups(profile_id, group_id) => {
                self.groups(*profile_id, *group_id, &mut walk, found)
            }
            Query::MulticastGroups(id) => walk.numbered(*id, |ids| {
                let (id, group) = self.forwarding.ledger.multicast.range(ids).next()?;
                found.push(Found::MulticastGroup(*id, group.clone()));
                Some(*id)
            }),
            Query::CloneSessions(id) => walk.numbered(*id, |ids| {
                let (id, session) = self.forwarding.ledger.sessions.range(ids).next()?;
                found.push(Found::CloneSession(*id, session.clone()));
                Some(*id)
            }),
            Query::Nothing => ControlFlow::Continue(()),
            // As many as the program declares, which is few: they are read in one step.
            Query::ValueSets(id) => self.value_sets(*id, found)?,
            Query::Digests(id) => self.digests(*id, found),
        };
        Ok(flow.is_continue())
    }

    fn sees(&self, name: &Name) -> bool {
        self.role.is_empty() || name.is_visible_to(self.role)
    }

    fn tables(
        &mut self,
        query: &TableQuery,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        if let (Some(table_id), Some(parts)) = (query.table_id, &query.key) {
            return self.entry_by_key(table_id, parts, query, walk, found);
        }
        let forwarding = self.forwarding;
        let tables = forwarding.config.index.tables();
        let wanted = tables
            .filter(|table| query.table_id.is_none_or(|id| id == table.name.id))
            .filter(|table| self.role.is_empty() || table.name.is_visible_to(self.role));
        let ids: Vec<u32> = wanted.map(|table| table.name.id).collect();
        Ok(walk.objects(ids.into_iter(), |walk, id| {
            let Ok((table, bound)) = table_of(forwarding, id) else {
                return ControlFlow::Continue(());
            };
            if query.default_entry {
                let entry =
                    self.default_entry(table, bound, query).filter(|entry| query.admits(entry));
                found.extend(entry.map(|entry| Found::Table(id, entry)));
                return ControlFlow::Continue(());
            }
            self.entries(table, bound, query, walk, |entry| found.push(Found::Table(id, entry)))
        }))
    }

    /// Visits the entries of a table that a query admits, from the cursor on.
    fn entries(
        &mut self,
        table: &Table,
        bound: &TableBinding,
        query: &TableQuery,
        walk: &mut Walk<'_>,
        mut visit: impl FnMut(FoundEntry),
    ) -> ControlFlow<()> {
        let count = self.pipeline.table(bound.table).entry_numbers();
        walk.elements(u64::from(count), |at| {
            let id = EntryId(at as u32);
            if let Some(entry) = self.entry(table, bound, id, query).filter(|it| query.admits(it)) {
                visit(entry);
            }
        })
    }

    fn entry_by_key(
        &mut self,
        table_id: u32,
        parts: &[KeyMatch],
        query: &TableQuery,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        let (table, bound) = table_of(self.forwarding, table_id)?;
        if !self.sees(&table.name) {
            return Ok(ControlFlow::Continue(()));
        }
        if query.priority != 0 || !table.needs_priority() {
            let priority = query.priority.cast_signed();
            // An entry that is not there is an empty answer, not an error.
            let id = self.pipeline.table(bound.table).find_entry(parts, priority);
            let entry = id.ok().and_then(|id| self.entry(table, bound, id, query));
            let entry = entry.filter(|entry| query.admits(entry));
            found.extend(entry.map(|entry| Found::Table(table_id, entry)));
            return Ok(ControlFlow::Continue(()));
        }
        // The same key with any priority: only a look at all entries can tell.
        Ok(self.entries(table, bound, query, walk, |entry| {
            if entry.key.as_ref().is_some_and(|key| key.parts == parts) {
                found.push(Found::Table(table_id, entry));
            }
        }))
    }

    /// Copies an entry, with the cells that a query wants.
    pub fn entry(
        &mut self,
        table: &Table,
        bound: &TableBinding,
        id: EntryId,
        query: &TableQuery,
    ) -> Option<FoundEntry> {
        let beside = self.forwarding.ledger.beside.get(&(bound.table, id));
        let loaded = self.pipeline.table_mut(bound.table);
        let entry = loaded.entry(id).ok()?;
        let action = match (beside.and_then(|beside| beside.one_shot.as_ref()), &entry.action) {
            (Some(group), _) => EntryAction::OneShot(group.choices.clone()),
            (None, action) => action_of(bound, action)?,
        };
        let mut copied = FoundEntry {
            key: Some(key_of(table, entry)),
            action: Some(action),
            attachment: beside.map(|beside| beside.attachment.clone()).unwrap_or_default(),
            idle_timeout_ns: beside.map_or(0, |beside| beside.idle_timeout_ns),
            is_const: table.is_const || loaded.is_fixed(id),
            counter: None,
            meter: None,
            since_hit_ns: None,
        };
        if query.with_counter {
            copied.counter = loaded.counter(id).ok().flatten().map(counter_value);
        }
        if query.with_meter {
            let cell = loaded.meter(id).ok().flatten();
            copied.meter = cell.and_then(|cell| cell.config()).map(meter_rates);
        }
        if query.with_since_hit && table.has_idle_timeout {
            let last = loaded.last_hit(id).ok();
            copied.since_hit_ns = last.map(|last| self.now.since(last).whole_ns());
        }
        Some(copied)
    }

    /// The default entry of a table, with the cells that a query wants.
    fn default_entry(
        &mut self,
        table: &Table,
        bound: &TableBinding,
        query: &TableQuery,
    ) -> Option<FoundEntry> {
        // P4Runtime fixes the default entry of tables with an action profile, too.
        let is_const = table.default_is_const || table.profile_id.is_some();
        let attachment = self.forwarding.ledger.beside_default.get(&bound.table);
        let loaded = self.pipeline.table_mut(bound.table);
        let counter = loaded.default_counter().filter(|_| query.with_counter);
        let meter = loaded.default_meter().filter(|_| query.with_meter);
        let meter = meter.and_then(|cell| cell.config()).map(meter_rates);
        let action = loaded.default_entry();
        Some(FoundEntry {
            key: None,
            action: action.and_then(|action| action_of(bound, action)),
            attachment: attachment.cloned().unwrap_or_default(),
            idle_timeout_ns: 0,
            is_const,
            counter: counter.map(counter_value),
            meter,
            since_hit_ns: None,
        })
    }

    fn direct_cells(
        &mut self,
        cells: &DirectCells,
        counters: bool,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        let wrap = if counters { Found::DirectCounter } else { Found::DirectMeter };
        let query =
            TableQuery { with_counter: counters, with_meter: !counters, ..TableQuery::default() };
        let only = match cells {
            DirectCells::Entry(EntryRef::Default(id)) => {
                let (table, bound) = table_of(self.forwarding, *id)?;
                let entry = self.default_entry(table, bound, &query);
                found.extend(entry.map(|entry| wrap(*id, entry)));
                return Ok(ControlFlow::Continue(()));
            }
            DirectCells::Entry(EntryRef::Key(key)) => {
                let (table, bound) = table_of(self.forwarding, key.table_id)?;
                let priority = key.priority.cast_signed();
                let id = self.pipeline.table(bound.table).find_entry(&key.parts, priority);
                let id = id.map_err(refused)?;
                let entry = self.entry(table, bound, id, &query);
                found.extend(entry.map(|entry| wrap(key.table_id, entry)));
                return Ok(ControlFlow::Continue(()));
            }
            DirectCells::Table(id) => Some(*id),
            DirectCells::All => None,
        };
        let forwarding = self.forwarding;
        let has_cells = |table: &Table| match counters {
            true => table.direct_counter_id.is_some(),
            false => table.direct_meter_id.is_some(),
        };
        let tables = forwarding.config.index.tables();
        let wanted = tables
            .filter(|table| has_cells(table) && only.is_none_or(|id| id == table.name.id))
            .filter(|table| self.sees(&table.name));
        let ids: Vec<u32> = wanted.map(|table| table.name.id).collect();
        Ok(walk.objects(ids.into_iter(), |walk, id| {
            let Ok((table, bound)) = table_of(forwarding, id) else {
                return ControlFlow::Continue(());
            };
            self.entries(table, bound, &query, walk, |entry| found.push(wrap(id, entry)))
        }))
    }

    fn counters(
        &self,
        cells: Cells,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        let names = self.forwarding.config.index.counters().map(|it| &it.name);
        let ids = self.wanted(cells, names);
        let binding = &self.forwarding.binding;
        arrays(
            ids,
            cells.at,
            walk,
            |id| {
                let array = self.pipeline.counters(binding.counter(id)?);
                let read = move |at: u64| {
                    let value = array.get(usize::try_from(at).ok()?)?;
                    Some(Found::Counter(id, at, counter_value(*value)))
                };
                Ok((array.len() as u64, read))
            },
            found,
        )
    }

    fn meters(
        &self,
        cells: Cells,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        let names = self.forwarding.config.index.meters().map(|it| &it.name);
        let ids = self.wanted(cells, names);
        let binding = &self.forwarding.binding;
        arrays(
            ids,
            cells.at,
            walk,
            |id| {
                let array = &self.pipeline.meters(binding.meter(id)?).meters;
                let read = move |at: u64| {
                    let cell = array.get(usize::try_from(at).ok()?)?;
                    Some(Found::Meter(id, at, cell.config().map(meter_rates)))
                };
                Ok((array.len() as u64, read))
            },
            found,
        )
    }

    fn registers(
        &self,
        cells: Cells,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        let names = self.forwarding.config.index.registers().map(|it| &it.name);
        let ids = self.wanted(cells, names);
        let binding = &self.forwarding.binding;
        arrays(
            ids,
            cells.at,
            walk,
            |id| {
                let array = self.pipeline.registers(binding.register(id)?);
                let read = move |at: u64| Some(Found::Register(id, at, vec![array.read(at)?]));
                Ok((array.size() as u64, read))
            },
            found,
        )
    }

    /// Ids of the arrays that a query and the role let through.
    fn wanted<'a>(&self, cells: Cells, names: impl Iterator<Item = &'a Name>) -> Vec<u32> {
        names
            .filter(|name| cells.array_id.is_none_or(|id| id == name.id) && self.sees(name))
            .map(|name| name.id)
            .collect()
    }

    fn members(
        &self,
        profile_id: Option<u32>,
        member_id: Option<u32>,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> ControlFlow<()> {
        let forwarding = self.forwarding;
        let ids = self.profiles(profile_id, |profile| {
            // Members of one-shot entries belong to those.
            !forwarding.ledger.has_one_shots(profile.name.id)
        });
        walk.objects(ids.into_iter(), |walk, id| {
            let Ok(profile) = forwarding.binding.profile(id) else {
                return ControlFlow::Continue(());
            };
            let bound = forwarding.config.index.profile(id).ok();
            let bound = bound.and_then(|profile| profile.table_ids.first());
            let Some(bound) = bound.and_then(|id| forwarding.binding.table(*id).ok()) else {
                return ControlFlow::Continue(());
            };
            walk.numbered(member_id, |ids| {
                let (at, member) = self.pipeline.profile(profile).members(ids).next()?;
                let call = bound.call(member.action, &member.data);
                found.extend(call.map(|call| Found::Member(id, at, call)));
                Some(at)
            })
        })
    }

    fn groups(
        &self,
        profile_id: Option<u32>,
        group_id: Option<u32>,
        walk: &mut Walk<'_>,
        found: &mut Vec<Found>,
    ) -> ControlFlow<()> {
        let groups = &self.forwarding.ledger.groups;
        let ids = self.profiles(profile_id, |_| true);
        walk.objects(ids.into_iter(), |walk, id| {
            walk.numbered(group_id, |ids| {
                let (first, last) = ids.into_inner();
                let ((_, at), state) = groups.range((id, first)..=(id, last)).next()?;
                found.push(Found::Group(id, *at, state.clone()));
                Some(*at)
            })
        })
    }

    /// Ids of the action profiles that a query and the role let through.
    fn profiles(&self, only: Option<u32>, wanted: impl Fn(&Profile) -> bool) -> Vec<u32> {
        let profiles = self.forwarding.config.index.profiles();
        profiles
            .filter(|profile| only.is_none_or(|id| id == profile.name.id))
            .filter(|profile| self.sees(&profile.name) && wanted(profile))
            .map(|profile| profile.name.id)
            .collect()
    }

    fn value_sets(
        &self,
        wanted: Option<u32>,
        found: &mut Vec<Found>,
    ) -> Result<ControlFlow<()>, Refusal> {
        for set in self.forwarding.config.index.value_sets() {
            let id = set.name.id;
            if wanted.is_none_or(|wanted| wanted == id) && self.sees(&set.name) {
                let values = self.pipeline.value_set(self.forwarding.binding.value_set(id)?);
                let members = values.iter().map(|value| value_set_member(&set.fields, value));
                found.push(Found::ValueSet(id, members.collect()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn digests(&self, wanted: Option<u32>, found: &mut Vec<Found>) -> ControlFlow<()> {
        for (id, config) in self.forwarding.ledger.digests.configs() {
            let name = self.forwarding.config.index.digest(id).map(|digest| &digest.name);
            if wanted.is_none_or(|wanted| wanted == id) && name.is_ok_and(|name| self.sees(name)) {
                found.push(Found::Digest(id, config));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Walks over the cells of arrays; `open` gives an array's size and how to read a cell.
fn arrays<R: Fn(u64) -> Option<Found>>(
    ids: Vec<u32>,
    only: Option<u64>,
    walk: &mut Walk<'_>,
    open: impl Fn(u32) -> Result<(u64, R), Refusal>,
    found: &mut Vec<Found>,
) -> Result<ControlFlow<()>, Refusal> {
    let mut failed = None;
    let flow = walk.objects(ids.into_iter(), |walk, id| match open(id) {
        Ok((size, read)) => match only {
            Some(at) => {
                found.extend(read(at));
                ControlFlow::Continue(())
            }
            None => walk.elements(size, |at| found.extend(read(at))),
        },
        Err(refusal) => {
            failed = Some(refusal);
            ControlFlow::Break(())
        }
    });
    failed.map_or(Ok(flow), Err)
}

fn table_of(forwarding: &Forwarding, id: u32) -> Result<(&Table, &TableBinding), Refusal> {
    Ok((forwarding.config.index.table(id)?, forwarding.binding.table(id)?))
}

fn key_of(table: &Table, entry: &Entry) -> EntryKey {
    let parts = table.fields.iter().zip(&entry.key).map(|(field, part)| canonical(field, part));
    let priority = if table.needs_priority() { entry.priority.max(0).cast_unsigned() } else { 0 };
    EntryKey { table_id: table.name.id, parts: parts.collect(), priority }
}

fn action_of(bound: &TableBinding, action: &pipeline::EntryAction) -> Option<EntryAction> {
    match action {
        pipeline::EntryAction::Action { action, data } => {
            bound.call(*action, data).map(EntryAction::Call)
        }
        pipeline::EntryAction::Group(id) => Some(EntryAction::Group(*id)),
        pipeline::EntryAction::Member(id) => Some(EntryAction::Member(*id)),
    }
}
