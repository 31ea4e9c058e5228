//! Checksums from BMv2 JSON, and the short form of those that have one.

use super::{Checksum, PlainChecksum, Wanted};
use crate::action::Names;
use crate::calculation::{NamedCalculation, Recipe};
use crate::error::{LoadError, unknown};
use crate::expression::Condition;
use crate::expression::load::Scope;
use crate::place::Place;

impl PlainChecksum {
    /// The short form of a checksum, if it has one. `valid` is the validity byte of the header it
    /// goes to.
    fn new(condition: Option<&Condition>, recipe: &Recipe, valid: u32) -> Option<PlainChecksum> {
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
