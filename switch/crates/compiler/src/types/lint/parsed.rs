//! The parser's result: the headers that can be valid together when it accepts.

use super::visit::{self, Node};
use super::walk::Walk;
use super::worlds::Worlds;
use crate::architecture::BlockKind;
use crate::types::tree::{
    Callee, Control, Expression, ExpressionKind, Id, InstanceKind, KeysetElement, Parser, Program,
    Select, StateTarget, Transition, Value, Variable,
};

/// The parser, ingress and egress of the architecture, if `main` is a package of one.
pub(super) fn blocks(program: &Program) -> Option<Blocks> {
    // Egress reads its headers anew: what ingress leaves says nothing about them.
    if program.block(BlockKind::EgressParser).is_some() {
        return None;
    }
    let block = |kind| Some(program.instances[program.block(kind)?].kind);
    match (block(BlockKind::Parser)?, block(BlockKind::Ingress)?, block(BlockKind::Egress)?) {
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
            let known = program.extern_functions[id].known;
            found |= known.is_some_and(|function| function.copies_packet());
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
        if walk.is_exhausted() {
            walk.is_silent = false;
            return Worlds::unknown();
        }
        for (target, worlds) in leave(walk, declaration, at) {
            match target {
                StateTarget::Accept => accepted.join(&worlds, &Worlds::unreached()),
                StateTarget::Reject => {}
                StateTarget::State(next) => {
                    let before = at_state[next].clone();
                    at_state[next].join(&worlds, &Worlds::unreached());
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

/// Runs one state: where it can go, and what is known there.
fn leave<'t>(walk: &mut Walk<'t, '_>, parser: &'t Parser, at: usize) -> Vec<(StateTarget, Worlds)> {
    let state = &parser.states[at];
    state.statements.iter().for_each(|statement| walk.statement(statement));
    match &state.transition {
        Transition::Direct(target) => vec![(*target, walk.worlds.clone())],
        Transition::Select(select) => {
            select.subjects.iter().for_each(|subject| walk.expression(subject));
            cases(walk, select)
        }
    }
}

/// The cases of a `select`, which can be by `isValid()`: a case sees what no earlier one took.
fn cases(walk: &mut Walk<'_, '_>, select: &Select) -> Vec<(StateTarget, Worlds)> {
    let mut rest = walk.worlds.clone();
    let mut taken = Vec::new();
    for case in &select.cases {
        let elements = select.subjects.iter().zip(&case.keyset.elements);
        let tests: Vec<(&Expression, bool)> =
            elements.filter_map(|(subject, element)| Some((subject, truth(element)?))).collect();
        let mut here = rest.clone();
        for (subject, holds) in &tests {
            walk.assume(&mut here, subject, *holds);
        }
        taken.push((case.target, here));
        let is_any = |element: &&KeysetElement| matches!(element, KeysetElement::Any);
        let any_count = case.keyset.elements.iter().filter(is_any).count();
        match tests.as_slice() {
            [(subject, holds)] if any_count + 1 == case.keyset.elements.len() => {
                walk.assume(&mut rest, subject, !holds);
            }
            [] if any_count == case.keyset.elements.len() => rest = Worlds::unreached(),
            _ => {}
        }
    }
    taken
}

/// The truth value that an element compares with.
fn truth(element: &KeysetElement) -> Option<bool> {
    match element {
        KeysetElement::Value(Expression {
            kind: ExpressionKind::Constant(Value::Bool(truth)),
            ..
        }) => Some(*truth),
        _ => None,
    }
}
