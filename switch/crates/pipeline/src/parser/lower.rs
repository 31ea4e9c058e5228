//! States lowered to the words of a compiler to machine code.

use super::load::plain;
use super::{Ahead, Cases, Operation, Parser, PlainExtraction, State};
use crate::native::{self, Header, Lowering, StatePart};
use crate::place::Place;

impl Parser {
    /// The states; none in place of one that only the interpreter knows.
    pub fn lower(&self, lowering: &Lowering<'_>) -> impl Iterator<Item = Option<native::State>> {
        self.states.iter().map(|state| state.lower(lowering))
    }
}

impl State {
    /// A part for each extraction and then for each operation: by their number the interpreter finds
    /// where machine code has left the state.
    fn lower(&self, lowering: &Lowering<'_>) -> Option<native::State> {
        let Cases { key, cases } = self.short()?;
        let extractions = self.extractions.iter().map(|one| Some(extract(one)));
        let operations = self.operations.iter().map(|one| part(one, lowering));
        Some(native::State {
            parts: extractions.chain(operations).collect::<Option<_>>()?,
            key: key.into(),
            cases: cases.into(),
            default: self.default,
        })
    }
}

fn extract(extraction: &PlainExtraction) -> StatePart {
    let PlainExtraction { base, length, valid, .. } = *extraction;
    StatePart::Extract(Header { valid, base, length_bytes: length })
}

fn part(operation: &Operation, lowering: &Lowering<'_>) -> Option<StatePart> {
    Some(match operation {
        Operation::Extract(target) => extract(&plain(lowering.layout, target)?),
        Operation::Lookahead { to: Place::Cell(to), ahead: Ahead { offset, width } }
            if offset.is_multiple_of(8) && matches!(width, 8 | 16 | 32 | 64) =>
        {
            StatePart::LookAhead {
                to: *to,
                offset_bytes: u32::try_from(offset / 8).ok()?,
                length_bytes: *width as u32 / 8,
            }
        }
        Operation::Steps(routine) => StatePart::Set { stores: lowering.stores(routine)? },
        Operation::Verify { condition, .. } => StatePart::Verify(lowering.condition(condition)?),
        Operation::Advance(_)
        | Operation::ExtractSelfSized { .. }
        | Operation::ExtractVariable { .. }
        | Operation::Lookahead { .. } => return None,
    })
}
