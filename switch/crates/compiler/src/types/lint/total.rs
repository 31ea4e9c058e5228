//! Selects that leave something out.

use crate::types::tree::{ExpressionKind, KeysetElement, Program, Select, Transition, Type, Value};
use std::collections::BTreeSet;
use syntax::{Diagnostic, Diagnostics};

/// Beyond this many bits a list of all values is unrealistic.
const LISTED_BITS_MAX: u32 = 8;

/// Selects without a `default` whose cases do not cover everything: what fits none ends the parser.
pub(super) fn selects(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, parser) in program.parsers.iter() {
        for state in &parser.states {
            if let Transition::Select(select) = &state.transition
                && !is_total(program, select)
            {
                let title = "the parser stops with error.NoMatch where none of these cases fits";
                diagnostics.push(
                    Diagnostic::warning("select-default", select.span, title)
                        .hint("say what then: `default: accept;` or `default: reject;`"),
                );
            }
        }
    }
}

/// Whether a case is for everything, or the cases of a single subject list all of its values.
fn is_total(program: &Program, select: &Select) -> bool {
    let takes_all = |element: &KeysetElement| matches!(element, KeysetElement::Any);
    if select.cases.iter().any(|case| case.keyset.elements.iter().all(takes_all)) {
        return true;
    }
    let [subject] = select.subjects.as_slice() else { return false };
    let Some(count) = value_count(program, &subject.ty) else { return false };
    let listed: BTreeSet<String> = (select.cases.iter())
        .filter_map(|case| match case.keyset.elements.as_slice() {
            [KeysetElement::Value(value)] => match &value.kind {
                ExpressionKind::Constant(value) => Some(text(value)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    listed.len() as u64 >= count
}

/// How many values a type has, if they are few enough to list.
fn value_count(program: &Program, ty: &Type) -> Option<u64> {
    match ty {
        Type::Bool => Some(2),
        Type::Bit(width) | Type::Int(width) if *width <= LISTED_BITS_MAX => Some(1 << width),
        Type::Enum(id) if program.enums[*id].underlying.is_none() => {
            Some(program.enums[*id].members.len() as u64)
        }
        Type::New(id) => value_count(program, &program.new_types[*id].original),
        _ => None,
    }
}

/// Equal for equal values only.
fn text(value: &Value) -> String {
    format!("{value:?}")
}
