//! The effect of a table on a packet, and the events for observers.

use bits::Int;
use tables::{EntryId, INDIRECT, Member, NONE, Table, Target};

use super::{Machine, Step};
use crate::expression::is_valid;
use crate::externs::Externs;
use crate::observe::{Event, Observe};
use crate::profile::Chosen;
use crate::table::Applied;

/// The outcome of a table: an action's first step, its data, and the node after it.
pub(super) struct Ran<'a> {
    pub start: u32,
    pub params: &'a [u64],
    pub next: u32,
}

impl<'a, O: Observe> Machine<'a, O> {
    /// Enters the action of the entry that a packet hits, or of none.
    #[inline(always)]
    pub(super) fn apply(&mut self, applied: &'a Applied, entry: u32) -> Ran<'a> {
        let Applied { table, color: meter, registers, .. } = applied;
        if let Some(registers) = registers {
            registers.number.store(&mut self.packet.area, entry.into());
        }
        if O::ENABLED {
            self.observer.event(|| table_event(applied, &self.packet.area, entry));
        }
        if entry == NONE {
            if let Some(color) = table.miss(self.packet.ingress_length, self.now)
                && let Some(result) = meter
            {
                result.store(&mut self.packet.area, color as u64);
            }
            let default = table.default();
            return match default.target {
                Some(Target::Action(position)) => {
                    let action = &table.actions()[position as usize];
                    self.enter(action.action, &default.data);
                    Ran { start: action.start, params: &default.data, next: action.next[1] }
                }
                // The default entry of an indirect table names no member.
                Some(_) | None => nothing(table.miss_next()),
            };
        }
        if table.notes_hits() {
            let color = table.hit(entry, self.packet.ingress_length, self.now);
            if let (Some(color), Some(result)) = (color, meter) {
                result.store(&mut self.packet.area, color as u64);
            }
        }
        let (run, params) = table.run(entry);
        if run.start == INDIRECT {
            return self.choose(table, table.target(entry));
        }
        if O::ENABLED
            && let Target::Action(position) = table.target(entry)
        {
            self.enter(table.actions()[position as usize].action, params);
        }
        Ran { start: run.start, params, next: run.next }
    }

    /// The action of a member of the table's action profile, or of one that a hash chooses.
    #[inline(never)]
    fn choose(&mut self, table: &'a Table, target: Target) -> Ran<'a> {
        let chosen = table.profile().and_then(|profile| self.profiles.get(profile));
        let member: Option<&'a Member> = match (target, chosen) {
            (Target::Member(id), Some(Chosen { profile, .. })) => profile.find_member(id),
            (Target::Group(id), Some(Chosen { profile, selector })) => {
                let hash = selector.as_ref().map_or(0, |selector| {
                    let Externs { hash_input, hashes, .. } = &mut *self.externs;
                    let layout = &self.program.layout;
                    let payload = self.packet.behind(self.parsed);
                    selector.recipe.gather(layout, &self.packet.area, payload, hash_input);
                    hashes[selector.hash].of(hash_input)
                });
                profile.select(id, hash)
            }
            _ => None,
        };
        // A group without members is a miss.
        let Some(member) = member else { return nothing(table.miss_next()) };
        let listed = table.actions().iter().find(|action| action.action == member.action);
        let next = listed.map_or(table.miss_next(), |action| action.next[0]);
        self.enter(member.action, &member.limbs);
        let start = self.program.actions[member.action].start;
        Ran { start, params: &member.limbs, next }
    }

    /// An action begins.
    #[inline(always)]
    pub(super) fn enter(&mut self, action: usize, data: &[u64]) {
        if O::ENABLED {
            self.externs.before.clear();
            self.externs.before.extend_from_slice(&self.packet.area);
            let action = &self.program.actions[action];
            let names = action.params.iter().map(|(name, _)| name.clone());
            let data = names.zip(action.values(data)).collect();
            self.observer.event(|| Event::Action { name: action.name.clone(), data });
        }
    }

    /// A step is next; in an action it is a primitive, or the last few of them.
    pub(super) fn note_primitives(&mut self, at: u32, step: &Step) {
        let program = self.program;
        let actions = &program.actions;
        let Some(action) = actions.get(actions.partition_point(|action| action.end <= at)) else {
            return;
        };
        let count = match step {
            Step::Finish { moves } => moves.len(),
            Step::Return => 0,
            _ => 1,
        };
        for source in action.primitives.iter().skip((at - action.start) as usize).take(count) {
            self.observer.primitive(|| Event::Primitive { source: source.clone() });
        }
    }

    /// An action has ended.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        if O::ENABLED {
            let before = std::mem::take(&mut self.externs.before);
            if !before.is_empty() {
                self.report_changes(&before);
            }
        }
    }

    /// A condition was decided, if it was.
    #[inline(always)]
    pub(super) fn note_condition(&mut self, name: u32, holds: Option<bool>) {
        let names = &self.program.condition_names;
        if let (true, Some(holds)) = (O::ENABLED, holds) {
            self.observer.event(|| Event::Condition { name: names[name as usize].clone(), holds });
        }
    }

    /// Reports every field whose value is not what it was.
    fn report_changes(&mut self, before: &[u8]) {
        let layout = &self.program.layout;
        for (index, header) in layout.headers.iter().enumerate() {
            let valid = |area: &[u8]| Int::from(u32::from(is_valid(layout, area, index as u32)));
            let name = format!("{}.$valid$", header.name);
            self.report_change(name, valid(before), valid(&self.packet.area));
            for field in &layout.kinds[header.kind].fields {
                let place = field.place.at(header.base);
                let name = format!("{}.{}", header.name, field.name);
                self.report_change(name, place.load(before), place.load(&self.packet.area));
            }
        }
    }

    fn report_change(&mut self, field: String, before: Int, after: Int) {
        if before != after {
            self.observer.event(|| Event::FieldChanged { field, before, after });
        }
    }
}

/// No action: on to the next node. There is no step at `u32::MAX`, which ends the control.
fn nothing(next: u32) -> Ran<'static> {
    Ran { start: next, params: &[], next }
}

fn table_event(applied: &Applied, area: &[u8], entry: u32) -> Event {
    let Applied { table, key, .. } = applied;
    let parts = table.shape().parts().iter().zip(&key.places);
    let id = EntryId(entry);
    let hit = table.entry(id).ok();
    Event::Table {
        table: table.name().to_owned(),
        key: parts.map(|(part, place)| (part.name.clone(), place.load(area))).collect(),
        entry: (entry != NONE).then_some(entry),
        handle: hit.map_or(0, |_| table.handle(id)),
        matches: hit.map(|hit| hit.key.clone()).unwrap_or_default(),
        priority: hit.map_or(0, |hit| hit.priority),
    }
}
