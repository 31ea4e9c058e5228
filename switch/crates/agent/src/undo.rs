//! What was there before, as changes that bring it back: for batches that are all or nothing, and
//! for carrying forwarding state over to another program.

use p4runtime::found::Found;
use p4runtime::index::Index;
use p4runtime::refusal::Refusal;
use p4runtime::translate::action::EntryAction;
use p4runtime::translate::cells::CellRange;
use p4runtime::translate::change::{Change, DigestChange, EntryRef};
use p4runtime::translate::profile::{GroupChange, MemberChange};
use p4runtime::translate::query::{Cells, DirectCells, Query};
use p4runtime::translate::replication::NumberedChange;
use p4runtime::translate::table::{EntryKey, EntryState, FoundEntry, TableChange, TableQuery};

use super::look::{Cursor, View};
use super::target::Target;

/// How something that was found is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// It will not be there: insert it.
    Absent,
    /// It will be there in another state: modify it.
    Present,
}

/// The changes that put things back after `change`, in the order in which they are to be made.
/// Must be asked before the change is carried out.
pub(super) fn inverse(target: &mut Target<'_>, change: &Change) -> Vec<Change> {
    let (query, writing) = match change {
        Change::Table(TableChange::Insert(key, _)) => {
            return vec![Change::Table(TableChange::Delete(key.clone()))];
        }
        Change::Member(profile, id, MemberChange::Insert(_)) => {
            return vec![Change::Member(*profile, *id, MemberChange::Delete)];
        }
        Change::Group(profile, id, GroupChange::Insert(_)) => {
            return vec![Change::Group(*profile, *id, GroupChange::Delete)];
        }
        Change::MulticastGroup(NumberedChange::Insert(id, _)) => {
            return vec![Change::MulticastGroup(NumberedChange::Delete(*id))];
        }
        Change::CloneSession(NumberedChange::Insert(id, _)) => {
            return vec![Change::CloneSession(NumberedChange::Delete(*id))];
        }
        Change::Digest(id, DigestChange::Insert(_)) => {
            return vec![Change::Digest(*id, DigestChange::Delete)];
        }
        Change::Nothing => return Vec::new(),
        Change::Table(TableChange::Delete(key)) => (entry_query(key), Writing::Absent),
        Change::Table(TableChange::Modify(key, _)) => (entry_query(key), Writing::Present),
        Change::Table(TableChange::SetDefault { table_id, .. }) => {
            (default_query(Some(*table_id)), Writing::Present)
        }
        Change::Member(profile, id, change) => {
            let query = Query::Members(Some(*profile), Some(*id));
            (query, absent_if(*change == MemberChange::Delete))
        }
        Change::Group(profile, id, change) => {
            let query = Query::Groups(Some(*profile), Some(*id));
            (query, absent_if(*change == GroupChange::Delete))
        }
        Change::MulticastGroup(NumberedChange::Modify(id, _)) => {
            (Query::MulticastGroups(Some(*id)), Writing::Present)
        }
        Change::MulticastGroup(NumberedChange::Delete(id)) => {
            (Query::MulticastGroups(Some(*id)), Writing::Absent)
        }
        Change::CloneSession(NumberedChange::Modify(id, _)) => {
            (Query::CloneSessions(Some(*id)), Writing::Present)
        }
        Change::CloneSession(NumberedChange::Delete(id)) => {
            (Query::CloneSessions(Some(*id)), Writing::Absent)
        }
        Change::Digest(id, change) => {
            (Query::Digests(Some(*id)), absent_if(*change == DigestChange::Delete))
        }
        Change::Counter(id, range, _) => return cells_before(target, *id, *range, Query::Counters),
        Change::Meter(id, range, _) => return cells_before(target, *id, *range, Query::Meters),
        Change::Register(id, range, _) => {
            return cells_before(target, *id, *range, Query::Registers);
        }
        Change::ValueSet(id, _) => (Query::ValueSets(Some(*id)), Writing::Present),
        Change::DirectCounter(entry, _) => {
            (Query::DirectCounters(DirectCells::Entry(entry.clone())), Writing::Present)
        }
        Change::DirectMeter(entry, _) => {
            (Query::DirectMeters(DirectCells::Entry(entry.clone())), Writing::Present)
        }
    };
    // What is not there makes the change fail, so there is nothing to put back.
    found_by(target, &query)
        .map(|found| found.into_iter().filter_map(|it| change_of(it, writing)).collect())
        .unwrap_or_default()
}

/// What reads everything that was written to a program but its arrays, in an order in which each
/// finds what it refers to.
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

/// What puts some cells of an array back.
fn cells_before(
    target: &mut Target<'_>,
    id: u32,
    range: CellRange,
    query: fn(Cells) -> Query,
) -> Vec<Change> {
    let mut changes = Vec::new();
    for at in range.indexes() {
        // What is not there makes the change fail, so there is nothing to put back.
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

/// What the program declares and a controller cannot write.
fn is_fixed(index: &Index, found: &Found) -> bool {
    let Found::Table(id, entry) = found else { return false };
    let Ok(table) = index.table(*id) else { return false };
    match entry.key {
        Some(_) => entry.is_const,
        None => table.default_is_const || table.profile_id.is_some(),
    }
}

/// The change that writes something that was found. `None` for what cannot be written: a default
/// entry without action.
fn change_of(found: Found, writing: Writing) -> Option<Change> {
    let numbered = |id, state| match writing {
        Writing::Absent => NumberedChange::Insert(id, state),
        Writing::Present => NumberedChange::Modify(id, state),
    };
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
        Found::Member(profile, id, call) => {
            let change = match writing {
                Writing::Absent => MemberChange::Insert(call),
                Writing::Present => MemberChange::Modify(call),
            };
            Change::Member(profile, id, change)
        }
        Found::Group(profile, id, state) => {
            let change = match writing {
                Writing::Absent => GroupChange::Insert(state),
                Writing::Present => GroupChange::Modify(state),
            };
            Change::Group(profile, id, change)
        }
        Found::Counter(id, at, value) => Change::Counter(id, CellRange::one(at), value),
        Found::Meter(id, at, rates) => Change::Meter(id, CellRange::one(at), rates),
        Found::Register(id, at, leaves) => Change::Register(id, CellRange::one(at), leaves),
        Found::ValueSet(id, members) => Change::ValueSet(id, members),
        Found::Digest(id, config) => {
            let change = match writing {
                Writing::Absent => DigestChange::Insert(config),
                Writing::Present => DigestChange::Modify(config),
            };
            Change::Digest(id, change)
        }
        Found::MulticastGroup(id, group) => match writing {
            Writing::Absent => Change::MulticastGroup(NumberedChange::Insert(id, group)),
            Writing::Present => Change::MulticastGroup(NumberedChange::Modify(id, group)),
        },
        Found::CloneSession(id, session) => Change::CloneSession(numbered(id, session)),
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
    Some(match writing {
        Writing::Absent => TableChange::Insert(key, state),
        Writing::Present => TableChange::Modify(key, state),
    })
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

fn absent_if(deleted: bool) -> Writing {
    if deleted { Writing::Absent } else { Writing::Present }
}
