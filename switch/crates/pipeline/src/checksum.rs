//! Checksums: compared after parsing, written before deparsing.

use units::Time;

use crate::calculation::{Recipe, Words};
use crate::expression::{Condition, Decision};
use crate::externs::Externs;
use crate::load::Program;
use crate::observe::{Event, Observe};
use crate::packet::Body;
use crate::pipeline::machine;
use crate::place::Cell;

/// A checksum.
#[derive(Clone, Debug)]
pub(crate) struct Checksum {
    pub name: String,
    /// The byte that says whether the header of the target is valid.
    pub valid: u32,
    pub target: Cell,
    pub calculation: u32,
    pub condition: Option<Condition>,
    /// What [`Self::compute`] comes to for the internet checksum of whole words.
    pub plain: Option<PlainChecksum>,
}

/// The internet checksum of words of headers, wanted or not by a test of fields.
#[derive(Clone, Debug)]
pub(crate) struct PlainChecksum {
    decision: Option<Decision>,
    words: Words,
}

impl PlainChecksum {
    /// The short form of a checksum, if it has one.
    pub fn new(condition: Option<&Condition>, recipe: &Recipe) -> Option<PlainChecksum> {
        let words = recipe.words()?.clone();
        match condition {
            None => Some(PlainChecksum { decision: None, words }),
            Some(Condition::Decision(decision)) => {
                Some(PlainChecksum { decision: Some(decision.clone()), words })
            }
            Some(_) => None,
        }
    }

    /// The checksum, if it is wanted.
    #[inline(always)]
    fn compute(&self, packet: &Body) -> Option<u64> {
        let wanted = self.decision.as_ref().is_none_or(|decision| decision.holds(&packet.area));
        wanted.then(|| {
            let payload = &packet.frame[packet.at..packet.end()];
            self.words.checksum16(&packet.area, payload).into()
        })
    }
}

impl Checksum {
    /// Whether the packet carries it and it is wrong.
    #[inline]
    pub fn is_wrong<O: Observe>(
        &self,
        program: &Program,
        externs: &mut Externs,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) -> bool {
        if packet.area[self.valid as usize] == 0 {
            return false;
        }
        let computed = match &self.plain {
            Some(plain) => plain.compute(packet),
            None => self.compute(program, externs, packet, now, observer),
        };
        let Some(computed) = computed else { return false };
        let found = self.target.load(&packet.area);
        let name = || self.name.clone();
        observer.event(|| Event::Checksum { name: name(), verified: true, computed, found });
        computed != found
    }

    /// Writes it, if the packet is to carry it.
    #[inline]
    pub fn update<O: Observe>(
        &self,
        program: &Program,
        externs: &mut Externs,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) {
        let computed = match &self.plain {
            Some(plain) => plain.compute(packet),
            None => self.compute(program, externs, packet, now, observer),
        };
        let Some(computed) = computed else { return };
        if O::ENABLED {
            let (name, found) = (self.name.clone(), self.target.load(&packet.area));
            observer.event(|| Event::Checksum { name, verified: false, computed, found });
        }
        self.target.store(&mut packet.area, computed);
    }

    /// The checksum, if its condition holds.
    #[inline(never)]
    fn compute<O: Observe>(
        &self,
        program: &Program,
        externs: &mut Externs,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) -> Option<u64> {
        let mut machine = machine(program, externs, packet, now, observer);
        let condition = self.condition.as_ref();
        let wanted = condition.is_none_or(|condition| machine.holds(condition, &[]));
        wanted.then(|| machine.hash(self.calculation))
    }
}
