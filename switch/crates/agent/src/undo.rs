//! The former state, as changes that bring it back: for batches that are all or nothing, and for
//! carrying forwarding state over to another program.

use p4runtime::found::Found;
use p4runtime::index::Index;
use p4runtime::refusal::Refusal;
use p4runtime::translate::action::EntryAction;
use p4runtime::translate::cells::CellRange;
use p4runtime::translate::change::{Change, EntryRef};
use p4runtime::translate::op::Op;
use p4runtime::translate::query::{Cells, DirectCells, Query};
use p4runtime::translate::table::{EntryKey, EntryState, FoundEntry, TableChange, TableQuery};

use super::look::{Cursor, View};
use super::target::Target;

/// How something that was found is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// It will not be there: insert it.
    Absent,
    /// It will be there in another state: modify it.
    Present,
}

impl Writing {
    fn op<T>(self, state: T) -> Op<T> {
        match self {
            Writing::Absent => Op::Insert(state),
            Writing::Present => Op::Modify(state),
        }
    }
}

/// The changes that undo `change`, in the order in which they are to be made. Must be called before
/// the change is applied.
pub(super) fn inverse(target: &mut Target<'_>, change: &Change) -> Vec<Change> {
    if let Some(delete) = delete_of_insert(change) {
        return vec![delete];
    }
    let query = match change {
        Change::Nothing => return Vec::new(),
        Change::Table(TableChange::Entry(key, _)) => entry_query(key),
        Change::Table(TableChange::SetDefault { table_id, .. }) => default_query(Some(*table_id)),
        Change::Member(profile, id, _) => Query::Members(Some(*profile), Some(*id)),
        Change::Group(profile, id, _) => Query::Groups(Some(*profile), Some(*id)),
        Change::MulticastGroup(id, _) => Query::MulticastGroups(Some(*id)),
        Change::CloneSession(id, _) => Query::CloneSessions(Some(*id)),
        Change::Digest(id, _) => Query::Digests(Some(*id)),
        Change::ValueSet(id, _) => Query::ValueSets(Some(*id)),
        Change::Counter(id, range, _) => return cells_before(target, *id, *range, Query::Counters),
        Change::Meter(id, range, _) => return cells_before(target, *id, *range, Query::Meters),
        Change::Register(id, range, _) => {
            return cells_before(target, *id, *range, Query::Registers);
        }
        Change::DirectCounter(entry, _) => Query::DirectCounters(DirectCells::Entry(entry.clone())),
        Change::DirectMeter(entry, _) => Query::DirectMeters(DirectCells::Entry(entry.clone())),
    };
    let writing = if change.is_delete() { Writing::Absent } else { Writing::Present };
    // The change fails if the entity does not exist, so there is nothing to undo.
    let found = found_by(target, &query).unwrap_or_default().into_iter();
    found.filter_map(|it| change_of(it, writing)).collect()
}

fn delete_of_insert(change: &Change) -> Option<Change> {
    Some(match change {
        Change::Table(TableChange::Entry(key, Op::Insert(_))) => {
            Change::Table(TableChange::Entry(key.clone(), Op::Delete))
        }
        Change::Member(profile, id, Op::Insert(_)) => Change::Member(*profile, *id, Op::Delete),
        Change::Group(profile, id, Op::Insert(_)) => Change::Group(*profile, *id, Op::Delete),
        Change::MulticastGroup(id, Op::Insert(_)) => Change::MulticastGroup(*id, Op::Delete),
        Change::CloneSession(id, Op::Insert(_)) => Change::CloneSession(*id, Op::Delete),
        Change::Digest(id, Op::Insert(_)) => Change::Digest(*id, Op::Delete),
        _ => return None,
    })
}

/// The queries for everything that was written to a program but its arrays, in an order in which
/// each entity follows those it refers to.
pub(super) fn everything() -> Vec<Query> {
    let entries = TableQuery { with_counter: true, with_meter: true, ..TableQuery::default() };
    vec![
        Query::Members(None, None),
        Query::Groups(None, None),
        Query::Table(entries),
        default_query(None),
        Query::ValueSets(None),
        Query::Digests(None),
        Query::MulticastGroups(None),
        Query::CloneSessions(None),
    ]
}

/// The changes that bring something to a fresh program. Of what the program itself declares `const`
/// these are its counters and meters only.
pub(super) fn carried_over(index: &Index, found: Found) -> Vec<Change> {
    if !is_fixed(index, &found) {
        return change_of(found, Writing::Absent).into_iter().collect();
    }
    let Found::Table(id, entry) = found else { return Vec::new() };
    let (counter, meter) = (entry.counter, entry.meter);
    let at = entry_ref(id, entry);
    let counter = counter.map(|value| Change::DirectCounter(at.clone(), value));
    let meter = meter.map(|rates| Change::DirectMeter(at, Some(rates)));
    counter.into_iter().chain(meter).collect()
}

/// The changes that put some cells of an array back.
fn cells_before(
    target: &mut Target<'_>,
    id: u32,
    range: CellRange,
    query: fn(Cells) -> Query,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for at in range.indexes() {
        // A change of a missing entity fails, so there is nothing to put back.
        let found = found_by(target, &query(Cells { array_id: Some(id), at: Some(at) }));
        let found = found.unwrap_or_default().into_iter();
        changes.extend(found.filter_map(|found| change_of(found, Writing::Present)));
    }
    changes
}

fn found_by(target: &mut Target<'_>, query: &Query) -> Result<Vec<Found>, Refusal> {
    let mut view = View {
        forwarding: target.forwarding,
        pipeline: target.pipeline,
        now: target.now,
        role: "",
    };
    let mut found = Vec::new();
    let (mut cursor, mut left) = (Cursor::default(), usize::MAX);
    view.look(query, &mut cursor, &mut left, &mut found)?;
    Ok(found)
}

/// Whether the program declares the entity so that a controller cannot write it.
fn is_fixed(index: &Index, found: &Found) -> bool {
    let Found::Table(id, entry) = found else { return false };
    let Ok(table) = index.table(*id) else { return false };
    match entry.key {
        Some(_) => entry.is_const,
        None => table.default_is_const || table.profile_id.is_some(),
    }
}

/// The change that writes a found entity. `None` for one that cannot be written: a default entry
/// without action.
fn change_of(found: Found, writing: Writing) -> Option<Change> {
    Some(match found {
        Found::Table(id, entry) => Change::Table(entry_change(id, entry, writing)?),
        Found::DirectCounter(id, entry) => {
            let value = entry.counter?;
            Change::DirectCounter(entry_ref(id, entry), value)
        }
        Found::DirectMeter(id, entry) => {
            let rates = entry.meter;
            Change::DirectMeter(entry_ref(id, entry), rates)
        }
        Found::Member(profile, id, call) => Change::Member(profile, id, writing.op(call)),
        Found::Group(profile, id, state) => Change::Group(profile, id, writing.op(state)),
        Found::Counter(id, at, value) => Change::Counter(id, CellRange::one(at), value),
        Found::Meter(id, at, rates) => Change::Meter(id, CellRange::one(at), rates),
        Found::Register(id, at, leaves) => Change::Register(id, CellRange::one(at), leaves),
        Found::ValueSet(id, members) => Change::ValueSet(id, members),
        Found::Digest(id, config) => Change::Digest(id, writing.op(config)),
        Found::MulticastGroup(id, group) => Change::MulticastGroup(id, writing.op(group)),
        Found::CloneSession(id, session) => Change::CloneSession(id, writing.op(session)),
    })
}

fn entry_change(table_id: u32, entry: FoundEntry, writing: Writing) -> Option<TableChange> {
    let FoundEntry { key, action, attachment, idle_timeout_ns, counter, meter, .. } = entry;
    let Some(key) = key else {
        let Some(EntryAction::Call(call)) = action else { return None };
        return Some(TableChange::SetDefault {
            table_id,
            call: Some(call),
            attachment,
            counter,
            meter,
        });
    };
    let state = EntryState { action, attachment, idle_timeout_ns, counter, meter };
    Some(TableChange::Entry(key, writing.op(state)))
}

fn entry_ref(table_id: u32, entry: FoundEntry) -> EntryRef {
    entry.key.map_or(EntryRef::Default(table_id), EntryRef::Key)
}

fn entry_query(key: &EntryKey) -> Query {
    Query::Table(TableQuery {
        table_id: Some(key.table_id),
        key: Some(key.parts.clone()),
        priority: key.priority,
        with_counter: true,
        with_meter: true,
        ..TableQuery::default()
    })
}

fn default_query(table_id: Option<u32>) -> Query {
    Query::Table(TableQuery {
        table_id,
        default_entry: true,
        with_counter: true,
        with_meter: true,
        ..TableQuery::default()
    })
}
