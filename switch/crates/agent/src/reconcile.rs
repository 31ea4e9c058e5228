//! RECONCILE_AND_COMMIT: a program takes over the forwarding state of the one before.
//!
//! Everything is read out of the old program and written into the new one, by P4Info's ids, a slice
//! at a time, while packets go on with the old one; nothing else changes it meanwhile, because
//! requests are carried out one after the other. Then the new one is put in force.
//!
//! Counter, meter and register arrays that are alike in both programs change hands at that instant,
//! whole, so that no packet is forgotten. Packets counted at entries while the entries are carried
//! over are lost.

use std::collections::VecDeque;

use p4runtime::binding::Binding;
use p4runtime::found::Found;
use p4runtime::index::Name;
use p4runtime::refusal::Refusal;
use p4runtime::translate::change::Change;
use p4runtime::translate::query::{Cells, Query};
use pipeline::Pipeline;

use super::discard::Discard;
use super::forwarding::Forwarding;
use super::look::{Cursor, View};
use super::target::Target;
use super::undo;
use crate::exchange::Reply;

/// An array that changes hands: its kind and its id in P4Info.
type Twin = (Kind, u32);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Counter,
    Meter,
    Register,
}

#[derive(Debug)]
pub(super) struct Reconcile {
    /// The new program.
    pub forwarding: Forwarding,
    pub pipeline: Box<Pipeline>,
    /// The queries of the old one that are still to be read, and the progress of the first.
    queries: VecDeque<Query>,
    cursor: Cursor,
    /// The entities that have been read and not yet written.
    found: VecDeque<Found>,
    twins: Vec<Twin>,
    pub reply: Reply<Result<(), Refusal>>,
}

impl Reconcile {
    /// From the program of `old` to the other.
    pub fn new(
        old: &Target<'_>,
        (forwarding, pipeline): (Forwarding, Box<Pipeline>),
        reply: Reply<Result<(), Refusal>>,
    ) -> Self {
        let mut queries = VecDeque::from(undo::everything());
        let mut twins = Vec::new();
        for (kind, id) in arrays(old.forwarding) {
            let cells = Cells { array_id: Some(id), at: None };
            if kind.is_alike(id, old, (&forwarding.binding, &pipeline)) {
                twins.push((kind, id));
            } else {
                queries.push_back(kind.query(cells));
            }
        }
        let (cursor, found) = (Cursor::default(), VecDeque::new());
        let pipeline = without_initial_entries(old, &forwarding, pipeline);
        Self { forwarding, pipeline, queries, cursor, found, twins, reply }
    }

    /// Goes on for about `left` steps; `true`: the new program has everything. `Err`: it has no
    /// place for something.
    pub fn go_on(&mut self, old: &mut Target<'_>, left: &mut usize) -> Result<bool, Refusal> {
        while *left > 0 {
            if let Some(found) = self.found.pop_front() {
                for change in undo::carried_over(&old.forwarding.config.index, found) {
                    self.write(old, change, left)?;
                }
            } else if let Some(query) = self.queries.front() {
                let mut view = View {
                    forwarding: old.forwarding,
                    pipeline: old.pipeline,
                    now: old.now,
                    role: "",
                };
                let mut found = Vec::new();
                if view.look(query, &mut self.cursor, left, &mut found)? {
                    self.queries.pop_front();
                    self.cursor = Cursor::default();
                    *left = left.saturating_sub(1);
                }
                self.found = found.into();
            } else {
                self.take_arrays(old)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn write(&mut self, old: &Target<'_>, change: Change, left: &mut usize) -> Result<(), Refusal> {
        let Self { forwarding, pipeline, .. } = self;
        let mut target = Target { forwarding, pipeline, now: old.now, down: old.down };
        *left = left.saturating_sub(target.steps(&change));
        target.apply(change).map_err(|refusal| {
            Refusal::invalid(format!(
                "the forwarding state does not fit the new program: {}",
                refusal.message
            ))
        })
    }

    fn take_arrays(&mut self, old: &mut Target<'_>) -> Result<(), Refusal> {
        let (from, to) = (&old.forwarding.binding, &self.forwarding.binding);
        for (kind, id) in &self.twins {
            let _alike = match kind {
                Kind::Counter => {
                    let (own, other) = (to.counter(*id)?, from.counter(*id)?);
                    self.pipeline.adopt_counters(own, old.pipeline, other)
                }
                Kind::Meter => {
                    let (own, other) = (to.meter(*id)?, from.meter(*id)?);
                    self.pipeline.adopt_meters(own, old.pipeline, other)
                }
                Kind::Register => {
                    let (own, other) = (to.register(*id)?, from.register(*id)?);
                    self.pipeline.adopt_registers(own, old.pipeline, other)
                }
            };
        }
        Ok(())
    }

    /// It cannot be done: what was made is given up.
    pub fn give_up(self, discard: &Discard) -> Reply<Result<(), Refusal>> {
        let Self { forwarding, pipeline, queries, found, reply, .. } = self;
        discard.take((forwarding, pipeline, queries, found));
        reply
    }
}

impl Kind {
    fn query(self, cells: Cells) -> Query {
        match self {
            Kind::Counter => Query::Counters(cells),
            Kind::Meter => Query::Meters(cells),
            Kind::Register => Query::Registers(cells),
        }
    }

    /// Whether the new program has an array of this id, with as many cells of the same form.
    fn is_alike(self, id: u32, old: &Target<'_>, (to, new): (&Binding, &Pipeline)) -> bool {
        let (from, old) = (&old.forwarding.binding, &*old.pipeline);
        let both = |one: Result<usize, Refusal>, other: Result<usize, Refusal>| {
            Some((one.ok()?, other.ok()?))
        };
        match self {
            Kind::Counter => both(from.counter(id), to.counter(id))
                .is_some_and(|(a, b)| old.counters(a).len() == new.counters(b).len()),
            Kind::Meter => both(from.meter(id), to.meter(id)).is_some_and(|(a, b)| {
                let (a, b) = (old.meters(a), new.meters(b));
                (a.meters.len(), a.unit) == (b.meters.len(), b.unit)
            }),
            Kind::Register => both(from.register(id), to.register(id)).is_some_and(|(a, b)| {
                let (a, b) = (old.registers(a), new.registers(b));
                (a.size(), a.width_bits()) == (b.size(), b.width_bits())
            }),
        }
    }
}

/// Of tables that the old program has too, entries that come and go are those of the old one: whether
/// the program brought them or a controller wrote them, and also where none is left.
fn without_initial_entries(
    old: &Target<'_>,
    forwarding: &Forwarding,
    mut pipeline: Box<Pipeline>,
) -> Box<Pipeline> {
    let known = old.forwarding.config.index.tables().filter(|table| !table.is_const);
    for bound in known.filter_map(|table| forwarding.binding.table(table.name.id).ok()) {
        pipeline.table_mut(bound.table).reset();
    }
    pipeline
}

/// Every array of a program.
fn arrays(forwarding: &Forwarding) -> Vec<Twin> {
    let index = &forwarding.config.index;
    let of = |kind: Kind| move |name: &Name| (kind, name.id);
    let counters = index.counters().map(|it| &it.name).map(of(Kind::Counter));
    let meters = index.meters().map(|it| &it.name).map(of(Kind::Meter));
    let registers = index.registers().map(|it| &it.name).map(of(Kind::Register));
    counters.chain(meters).chain(registers).collect()
}
