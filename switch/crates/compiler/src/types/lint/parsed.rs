//! What the parser leaves: which headers can be valid together when it accepts.

use super::invalid::{Walk, kind_of};
use super::visit::{self, Node};
use super::worlds::Worlds;
use crate::types::tree::{
    Callee, Control, Id, InstanceKind, Parser, Program, StateTarget, Transition, Variable,
};

/// The parser, ingress and egress of a `V1Switch`, if `main` is one.
pub(super) fn blocks(program: &Program) -> Option<Blocks> {
    let main = &program.instances[program.main?];
    let InstanceKind::Package(package) = main.kind else { return None };
    if &*program.packages[package].name.text != "V1Switch" {
        return None;
    }
    let block = |at: usize| kind_of(program, main.arguments.get(at)?);
    match (block(0)?, block(2)?, block(3)?) {
        (
            InstanceKind::Parser(parser),
            InstanceKind::Control(ingress),
            InstanceKind::Control(egress),
        ) => Some(Blocks { parser, ingress, egress }),
        _ => None,
    }
}

/// The blocks that read headers.
pub(super) struct Blocks {
    pub parser: Id<Parser>,
    pub ingress: Id<Control>,
    pub egress: Id<Control>,
}

/// Whether the program makes clones, which come to egress without the changes of ingress.
pub(super) fn clones(program: &Program) -> bool {
    let mut found = false;
    visit::program(program, &mut |node| {
        if let Node::Call(call) = node
            && let Callee::ExternFunction(id) = call.callee
        {
            found |= program.extern_functions[id].name.text.starts_with("clone");
        }
    });
    found
}

/// Walks through the states until nothing new is learnt, then once more to report.
///
/// Before: `headers` is the parameter that the parser fills in, nothing in it is valid. After: the
/// worlds of the packets it accepts. A packet that ends too early is not counted: everything would
/// be invalid in it.
pub(super) fn worlds(walk: &mut Walk<'_, '_>, parser: Id<Parser>, headers: Id<Variable>) -> Worlds {
    let program = walk.program;
    let declaration = &program.parsers[parser];
    let place = (headers, Vec::new());
    walk.places.number_all(program, &program.variables[headers].ty, &place);
    let mut start = Worlds::unknown();
    for header in walk.places.inside(&place) {
        start.set(header, false);
    }
    let mut at_state = vec![Worlds::unreached(); declaration.states.len()];
    let mut accepted = Worlds::unreached();
    let mut open = Vec::new();
    let first = declaration.states.iter().position(|state| &*state.name.text == "start");
    let Some(first) = first else { return Worlds::unknown() };
    at_state[first] = start;
    open.push(first);
    walk.is_silent = true;
    while let Some(at) = open.pop() {
        walk.worlds = at_state[at].clone();
        for target in leave(walk, declaration, at) {
            match target {
                StateTarget::Accept => accepted.join(&walk.worlds, &Worlds::unreached()),
                StateTarget::Reject => {}
                StateTarget::State(next) => {
                    let before = at_state[next].clone();
                    at_state[next].join(&walk.worlds, &Worlds::unreached());
                    if at_state[next] != before {
                        open.push(next);
                    }
                }
            }
        }
    }
    walk.is_silent = false;
    for (at, worlds) in at_state.into_iter().enumerate() {
        walk.worlds = worlds;
        leave(walk, declaration, at);
    }
    accepted
}

/// Runs one state; where it can go.
fn leave<'t>(walk: &mut Walk<'t, '_>, parser: &'t Parser, at: usize) -> Vec<StateTarget> {
    let state = &parser.states[at];
    state.statements.iter().for_each(|statement| walk.statement(statement));
    match &state.transition {
        Transition::Direct(target) => vec![*target],
        Transition::Select(select) => {
            select.subjects.iter().for_each(|subject| walk.expression(subject));
            select.cases.iter().map(|case| case.target).collect()
        }
    }
}
