//! Parser loops without progress: states that lead back to themselves and neither read nor change
//! anything, so that a packet that comes there never leaves.

use crate::types::tree::{Parser, Program, StateTarget, Transition};
use syntax::{Diagnostic, Diagnostics};

/// Circles of states without statements.
pub(super) fn circles(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, parser) in program.parsers.iter() {
        let Some(at) = (0..parser.states.len()).find(|at| leads_back(parser, *at)) else {
            continue;
        };
        let name = &parser.states[at].name;
        let title = format!("state `{}` leads back to itself without reading anything", name.text);
        diagnostics.push(
            Diagnostic::warning("parser-loop", name.span, title)
                .hint("extract a header or call advance() in it, so that the packet gets shorter"),
        );
    }
}

/// Whether a state is reached from itself through states that do nothing.
fn leads_back(parser: &Parser, from: usize) -> bool {
    let mut seen = vec![false; parser.states.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        let state = &parser.states[at];
        if !state.statements.is_empty() {
            continue;
        }
        let targets: Vec<StateTarget> = match &state.transition {
            Transition::Direct(target) => vec![*target],
            Transition::Select(select) => select.cases.iter().map(|case| case.target).collect(),
        };
        for target in targets {
            let StateTarget::State(next) = target else { continue };
            if next == from {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.push(next);
            }
        }
    }
    false
}
