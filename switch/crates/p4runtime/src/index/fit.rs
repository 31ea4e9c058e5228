//! Facts that only the loaded pipeline has: the width of a translated value in the data plane.
//!
//! P4Info gives the width that controllers see, and none for a string. The widths here are those of
//! the data plane, so they are looked up in the pipeline, place by place.

use pipeline::Pipeline;

use super::names::Translation;
use super::{Index, Param};
use crate::refusal::Refusal;

impl Index {
    /// Takes the widths of translated values from the pipeline. Where the two do not fit together,
    /// the binding says so.
    pub fn fit(&mut self, pipeline: &Pipeline) -> Result<(), Refusal> {
        if self.translations.is_empty() {
            return Ok(());
        }
        for table in self.tables.values_mut() {
            let Some(number) = pipeline.table_index(&table.name.name) else { continue };
            let widths = pipeline.table(number).keys().map(|(_, _, width)| width as usize);
            for (field, width) in table.fields.iter_mut().zip(widths) {
                fit(&mut field.width_bits, field.translation.as_ref(), width)?;
            }
            for reference in &table.actions {
                let Some(action) = self.actions.get_mut(&reference.id) else { continue };
                let found = pipeline.action_index(number, &action.name.name);
                let params = found.map_or(&[][..], |found| pipeline.action(found).params);
                for (param, (_, width)) in action.params.iter_mut().zip(params) {
                    fit(&mut param.width_bits, param.translation.as_ref(), *width as usize)?;
                }
            }
        }
        for set in self.value_sets.values_mut() {
            let Some(number) = pipeline.value_set_index(&set.name.name) else { continue };
            // Its members are one number, so one width at most can be found out.
            let is_known = |field: &&mut super::Field| field.translation.is_none();
            let (known, mut translated): (Vec<_>, Vec<_>) =
                set.fields.iter_mut().partition(is_known);
            let others: usize = known.iter().map(|field| field.width_bits).sum();
            if let [field] = translated.as_mut_slice() {
                let width = pipeline.value_set_width(number).saturating_sub(others);
                fit(&mut field.width_bits, field.translation.as_ref(), width)?;
            }
        }
        for register in self.registers.values() {
            if let super::Shape::Names(names) = &register.shape
                && let Some(number) = pipeline.register_index(&register.name.name)
            {
                names.learn_width(pipeline.registers(number).width_bits() as usize)?;
            }
        }
        for header in [&mut self.packet_in, &mut self.packet_out].into_iter().flatten() {
            fit_header(header, pipeline)?;
        }
        if let Some(names) = self.port_names() {
            names.learn_that_ports_are_named();
        }
        Ok(())
    }
}

/// P4Info does not say which header of the pipeline it means: it is the one with the same fields.
fn fit_header(fields: &mut [Param], pipeline: &Pipeline) -> Result<(), Refusal> {
    if fields.iter().all(|field| field.translation.is_none()) {
        return Ok(());
    }
    let is_it = |header: &&str| {
        let found = pipeline.header_fields(header).map(|(name, _)| name);
        found.eq(fields.iter().map(|field| field.name.as_str()))
    };
    let Some(header) = pipeline.headers().find(is_it) else {
        if fields.iter().all(|field| field.width_bits > 0) {
            return Ok(());
        }
        let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        return Err(Refusal::invalid(format!(
            "no header of p4_device_config has the fields of P4Info's controller header, {}; send \
             those of the same compilation",
            names.join(", ")
        )));
    };
    for (field, (_, width)) in fields.iter_mut().zip(pipeline.header_fields(header)) {
        fit(&mut field.width_bits, field.translation.as_ref(), width.unwrap_or(0) as usize)?;
    }
    Ok(())
}

fn fit(
    width_bits: &mut usize,
    translation: Option<&Translation>,
    found: usize,
) -> Result<(), Refusal> {
    match translation {
        None => return Ok(()),
        Some(Translation::Number) => {}
        Some(Translation::Names(names)) => names.learn_width(found)?,
    }
    *width_bits = found;
    Ok(())
}
