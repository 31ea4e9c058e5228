//! A packet's checksums.

use units::Time;

use super::{Checksum, PlainChecksum, Wanted};
use crate::action::Machine;
use crate::externs::Externs;
use crate::observe::{Event, Observe};
use crate::packet::Body;
use crate::program::Program;

impl PlainChecksum {
    /// The checksum, if it is wanted.
    #[inline(always)]
    fn compute(&self, packet: &Body) -> Option<u64> {
        let area = &packet.area[..];
        let wanted = match &self.wanted {
            Wanted::Always => true,
            Wanted::If(decision) => decision.holds(area),
            Wanted::WhileValid(valid) => area[*valid as usize] != 0,
        };
        wanted.then(|| self.words.checksum16(area, || packet.behind(0)).into())
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
        let mut machine = Machine::new(program, externs, packet, now, observer);
        let condition = self.condition.as_ref();
        let wanted = condition.is_none_or(|condition| machine.holds(condition, &[]));
        wanted.then(|| machine.hash(self.calculation))
    }
}
