//! Checksums: compared after parsing, written before deparsing.

use units::Time;

use crate::action::Names;
use crate::calculation::{NamedCalculation, Recipe, Words};
use crate::error::{LoadError, unknown};
use crate::expression::load::Scope;
use crate::expression::{Condition, Decision};
use crate::externs::Externs;
use crate::observe::{Event, Observe};
use crate::packet::Body;
use crate::pipeline::machine;
use crate::place::{Cell, Place};
use crate::program::Program;

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
    pub wanted: Wanted,
    pub words: Words,
}

/// When a plain checksum is wanted.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Always,
    If(Decision),
    /// While the header is valid whose validity is this byte: nearly always what is asked.
    WhileValid(u32),
}

impl PlainChecksum {
    /// The short form of a checksum, if it has one. `valid` is the validity byte of the header it
    /// goes to.
    pub fn new(
        condition: Option<&Condition>,
        recipe: &Recipe,
        valid: u32,
    ) -> Option<PlainChecksum> {
        let words = recipe.words()?.clone();
        let wanted = match condition {
            None => Wanted::Always,
            Some(Condition::Decision(decision)) if decision.is_validity(valid) => {
                Wanted::WhileValid(valid)
            }
            Some(Condition::Decision(decision)) => Wanted::If(decision.clone()),
            Some(_) => return None,
        };
        Some(PlainChecksum { wanted, words })
    }

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
        let mut machine = machine(program, externs, packet, now, observer);
        let condition = self.condition.as_ref();
        let wanted = condition.is_none_or(|condition| machine.holds(condition, &[]));
        wanted.then(|| machine.hash(self.calculation))
    }
}

/// Checksums to verify, and checksums to update.
pub(crate) fn load_checksums(
    names: &Names<'_>,
    calculations: &[NamedCalculation],
    source: &bmv2::Program,
) -> Result<(Vec<Checksum>, Vec<Checksum>), LoadError> {
    let (mut verified, mut updated) = (Vec::new(), Vec::new());
    let scope = Scope { layout: names.layout, params: &[], registers: names.registers };
    for (index, checksum) in source.checksums.iter().enumerate() {
        let path = format!("/checksums/{index}");
        let at = |member: &'static str| {
            let path = format!("{path}/{member}");
            move |error: LoadError| error.under(&path)
        };
        let field = names.layout.field(&checksum.target).map_err(at("target"))?;
        let Place::Cell(target) = field.place else {
            let message = "a checksum has at most 64 bits";
            return Err(LoadError::new(format!("{path}/target"), message));
        };
        let name = &checksum.calculation;
        let calculation = names.calculations.iter().position(|candidate| candidate == name);
        let known = names.calculations.iter().map(String::as_str);
        let calculation = calculation
            .ok_or_else(|| unknown("calculation", name, known))
            .map_err(at("calculation"))?;
        let condition = checksum.condition.as_ref().map(|condition| scope.condition(condition));
        let condition = condition.transpose().map_err(at("if_cond"))?;
        let valid = names.layout.headers[field.header as usize].valid;
        let recipe = &calculations[calculation].recipe;
        let loaded = Checksum {
            name: checksum.name.clone(),
            valid,
            target,
            calculation: calculation as u32,
            plain: PlainChecksum::new(condition.as_ref(), recipe, valid),
            condition,
        };
        if checksum.verify {
            verified.push(loaded.clone());
        }
        if checksum.update {
            updated.push(loaded);
        }
    }
    Ok((verified, updated))
}
