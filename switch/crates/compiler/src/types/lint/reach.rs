//! Parser states that nothing leads to.

use crate::types::tree::{Parser, Program, StateTarget, Transition};
use syntax::{Diagnostic, Diagnostics};

/// States that cannot be reached from `start`.
pub(super) fn states(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, parser) in program.parsers.iter() {
        for (state, is_reached) in parser.states.iter().zip(reached(parser)) {
            if !is_reached {
                let title = format!("no transition leads to state `{}`", state.name.text);
                diagnostics.push(
                    Diagnostic::warning("unreachable-state", state.name.span, title)
                        .hint("name it in a `transition`, or leave it out"),
                );
            }
        }
    }
}

fn reached(parser: &Parser) -> Vec<bool> {
    let mut reached = vec![false; parser.states.len()];
    let start = parser.states.iter().position(|state| &*state.name.text == "start");
    let mut open: Vec<StateTarget> = start.map(StateTarget::State).into_iter().collect();
    while let Some(target) = open.pop() {
        let StateTarget::State(at) = target else { continue };
        let (Some(state), Some(seen)) = (parser.states.get(at), reached.get_mut(at)) else {
            continue;
        };
        if std::mem::replace(seen, true) {
            continue;
        }
        match &state.transition {
            Transition::Direct(next) => open.push(*next),
            Transition::Select(select) => open.extend(select.cases.iter().map(|case| case.target)),
        }
    }
    reached
}
