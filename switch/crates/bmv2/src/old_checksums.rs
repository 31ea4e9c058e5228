//! Checksums of type `ipv4`, as compilers of P4_14 wrote them, in the form of today.
//!
//! Such a checksum names no calculation: it is the internet checksum of the header its target is
//! in, the target itself left out, and of packets that have that header.

use crate::node::ReadError;
use crate::room::Room;
use crate::{
    Calculation, CalculationInput, Checksum, Expression, FieldRef, FieldType, FieldWidth, Program,
    UnaryOperator,
};

/// The calculation that a checksum of type `ipv4` implies; its name cannot occur in P4.
pub(crate) fn name_for(checksum: &str) -> String {
    format!("ipv4 checksum {checksum}")
}

/// Adds the calculations that checksums imply, and when they are wanted.
pub(crate) fn spell_out(program: &mut Program) -> Result<(), ReadError> {
    let mut room = Room::for_what("fields that checksums of type ipv4 imply");
    for index in 0..program.checksums.len() {
        let checksum = &program.checksums[index];
        if checksum.calculation != name_for(&checksum.name) {
            continue;
        }
        let input = summed(program, &checksum.target).ok_or_else(|| ReadError {
            path: format!("/checksums/{index}/target"),
            expected: "a field of 16 bits at byte 10 of its header, where IPv4 has its checksum"
                .to_owned(),
            found: format!("the field {}.{}", checksum.target.header, checksum.target.field),
        })?;
        for field in &input {
            if let CalculationInput::Field(field) = field {
                let names = [&field.header, &field.field];
                room.take(&names).map_err(|error| error.at(format!("/checksums/{index}")))?;
            }
        }
        let highest = program.calculations.iter().map(|it| it.id).max();
        program.calculations.push(Calculation {
            name: checksum.calculation.clone(),
            id: highest.map_or(0, |id| id.saturating_add(1)),
            source_info: None,
            algorithm: "csum16".to_owned(),
            input,
        });
        only_if_valid(&mut program.checksums[index]);
    }
    Ok(())
}

/// The fields of the target's header without the target, if that is where IPv4 has its checksum:
/// the standard switch leaves out bytes 10 and 11, whatever the target.
fn summed(program: &Program, target: &FieldRef) -> Option<Vec<CalculationInput>> {
    let header = program.headers.iter().find(|header| header.name == target.header)?;
    let kind = program.header_types.iter().find(|kind| kind.name == header.header_type)?;
    let mut bits_before = 0u32;
    for field in &kind.fields {
        let FieldWidth::Bits(width) = field.width else { return None };
        if field.name == target.field {
            let others = kind.fields.iter().filter(|other| other.name != target.field);
            let input = |other: &FieldType| {
                CalculationInput::Field(FieldRef::new(&target.header, &other.name))
            };
            return (bits_before == 80 && width == 16).then(|| others.map(input).collect());
        }
        bits_before = bits_before.checked_add(width)?;
    }
    None
}

/// Adds to the condition of a checksum that its header is there.
fn only_if_valid(checksum: &mut Checksum) {
    if checksum.condition.is_none() {
        let operand = Box::new(Expression::Header(checksum.target.header.clone()));
        checksum.condition = Some(Expression::Unary { operator: UnaryOperator::Valid, operand });
    }
}
