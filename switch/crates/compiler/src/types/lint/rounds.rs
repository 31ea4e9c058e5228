//! Parser loops without end: states that lead back to themselves, read nothing off the packet and
//! change nothing that decides where they lead.
//!
//! `select` chooses the same state in each round if it reads only values that no state of the loop
//! writes, or that its own state has just computed from such values. The packet stays as it is, so
//! `lookahead` and `length` are such values, too.

use super::places::{Place, kind};
use super::visit::{self, Node};
use crate::architecture::{Meaning, PacketMethod};
use crate::types::tree::{
    Argument, Builtin, Call, Callee, DerivedKind, Expression, ExpressionKind, KeysetElement,
    Parser, Program, State, StateTarget, Statement, StatementKind, Transition, Type, Value,
};
use syntax::{Diagnostic, Diagnostics};

/// The first loop of each parser.
pub(super) fn circles(program: &Program, diagnostics: &mut Diagnostics) {
    for (_, parser) in program.parsers.iter() {
        let writes: Vec<Option<Vec<Place>>> =
            parser.states.iter().map(|state| writes_of(program, state)).collect();
        let Some(at) =
            (0..parser.states.len()).find(|at| is_endless(program, parser, &writes, *at))
        else {
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

/// Whether a state is reached from itself through states that lead to the same ones in each round.
/// `writes` is `None` for states that may shorten the packet.
fn is_endless(
    program: &Program,
    parser: &Parser,
    writes: &[Option<Vec<Place>>],
    from: usize,
) -> bool {
    let stays = |at: usize| writes[at].is_some();
    let ahead = reached(parser, from, stays);
    if !ahead[from] {
        return false;
    }
    let is_round = |at: usize| ahead[at] && reached(parser, at, stays)[from];
    let round: Vec<usize> = (0..parser.states.len()).filter(|at| is_round(*at)).collect();
    let written: Vec<Place> = round.iter().filter_map(|at| writes[*at].clone()).flatten().collect();
    let repeats =
        |at: usize| round.contains(&at) && leads_to_the_same(program, &parser.states[at], &written);
    reached(parser, from, repeats)[from]
}

/// The states that are reached from one, itself excluded unless a way leads back, by leaving only
/// states with a property.
fn reached(parser: &Parser, from: usize, may_leave: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut seen = vec![false; parser.states.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if !may_leave(at) {
            continue;
        }
        let targets: Vec<StateTarget> = match &parser.states[at].transition {
            Transition::Direct(target) => vec![*target],
            Transition::Select(select) => select.cases.iter().map(|case| case.target).collect(),
        };
        for target in targets {
            if let StateTarget::State(next) = target
                && !std::mem::replace(&mut seen[next], true)
            {
                open.push(next);
            }
        }
    }
    seen
}

/// The places that a state may write to; `None` if it may shorten the packet, or does something
/// of unknown effect.
fn writes_of(program: &Program, state: &State) -> Option<Vec<Place>> {
    let mut found = Some(Vec::new());
    let mut see = |node: Node<'_>| {
        let Some(list) = &mut found else { return };
        match effect(program, node) {
            Some(places) => list.extend(places),
            None => found = None,
        }
    };
    state.statements.iter().for_each(|statement| visit::statement(statement, &mut see));
    decisions(state).into_iter().for_each(|value| visit::expression(value, &mut see));
    found
}

/// The places that one node writes to by itself, `None` as for [`writes_of`].
fn effect(program: &Program, node: Node<'_>) -> Option<Vec<Place>> {
    let place_of = |target| place(program, target).map(|(place, _)| vec![place]);
    match node {
        Node::Call(call) => effect_of_call(program, call),
        Node::Expression(_) => Some(Vec::new()),
        Node::Statement(statement) => match &statement.kind {
            StatementKind::Assign { target, .. } => place_of(target),
            StatementKind::Declare { variable, .. } => Some(vec![(*variable, Vec::new())]),
            StatementKind::Block(_) | StatementKind::Call(_) => Some(Vec::new()),
            // A `verify` that only some packets come to may end the loop.
            StatementKind::If { links, otherwise } => {
                let blocks = links.iter().map(|link| &link.then).chain(otherwise);
                let mut inner = blocks.flat_map(|block| &block.statements);
                inner.all(|each| !may_end(program, each)).then(Vec::new)
            }
            _ => None,
        },
    }
}

fn effect_of_call(program: &Program, call: &Call) -> Option<Vec<Place>> {
    match &call.callee {
        Callee::Builtin(Builtin::IsValid, _) => return Some(Vec::new()),
        Callee::Builtin(_, base) => return place(program, base).map(|(place, _)| vec![place]),
        _ => {}
    }
    let argument = match call.arguments.first() {
        Some(Argument::Expression(value)) => Some(&value.kind),
        _ => None,
    };
    let is_harmless = match (meaning(program, call)?, argument) {
        (Meaning::Packet(PacketMethod::Length | PacketMethod::Lookahead), _) => true,
        (
            Meaning::Packet(PacketMethod::Advance),
            Some(ExpressionKind::Constant(Value::Integer(length))),
        ) => length.to_u32() == Some(0),
        (Meaning::Verify, test) => {
            !matches!(test, Some(ExpressionKind::Constant(Value::Bool(false))))
        }
        (Meaning::Nothing | Meaning::StaticAssert, _) => true,
        (Meaning::Primitive(primitive), _) => primitive.name == "log_msg",
        _ => false,
    };
    is_harmless.then(Vec::new)
}

/// The effect of a call of a function or method of the target.
fn meaning(program: &Program, call: &Call) -> Option<Meaning> {
    let known = match &call.callee {
        Callee::ExternFunction(id) => program.extern_functions[*id].known,
        Callee::Method { object, method } => {
            let Type::Extern(of) = object.ty else { return None };
            program.externs[of].methods.get(*method)?.known
        }
        _ => None,
    };
    known.map(|function| function.meaning)
}

/// Whether the statement, or one inside of it, may end the parser.
fn may_end(program: &Program, statement: &Statement) -> bool {
    let mut found = false;
    visit::statement(statement, &mut |node| {
        if let Node::Call(call) = node {
            found |= matches!(meaning(program, call), Some(Meaning::Verify));
        }
    });
    found
}

/// The values that decide where a state leads, besides those of its statements.
fn decisions(state: &State) -> Vec<&Expression> {
    let Transition::Select(select) = &state.transition else { return Vec::new() };
    let sets = select.cases.iter().flat_map(|case| &case.keyset.elements);
    let values = sets.flat_map(|element| match element {
        KeysetElement::Any | KeysetElement::ValueSet(_) => Vec::new(),
        KeysetElement::Mask(one, other) | KeysetElement::Range(one, other) => vec![one, other],
        KeysetElement::Value(value) => vec![value],
    });
    select.subjects.iter().chain(values).collect()
}

/// Whether a state of a loop decides in each round as in the one before. `written`: the places
/// that the loop writes to.
fn leads_to_the_same(program: &Program, state: &State, written: &[Place]) -> bool {
    // Those that have the same value in each round again.
    let mut computed: Vec<Place> = Vec::new();
    let is_same = |computed: &[Place], value: &Expression| {
        let mut reads = reads(program, value).into_iter();
        reads.all(|place| {
            computed.iter().any(|known| is_inside(&place, known))
                || !written.iter().any(|other| overlap(&place, other))
        })
    };
    let mut statements: Vec<&Statement> = state.statements.iter().rev().collect();
    while let Some(statement) = statements.pop() {
        let (place, value) = match &statement.kind {
            StatementKind::Assign { target, value } => (place(program, target), value),
            StatementKind::Declare { variable, value: Some(value) } => {
                (Some(((*variable, Vec::new()), true)), value)
            }
            StatementKind::Block(inner) => {
                statements.extend(inner.statements.iter().rev());
                continue;
            }
            StatementKind::Call(call) => {
                if let (Some(Meaning::Verify), Some(Argument::Expression(test))) =
                    (meaning(program, call), call.arguments.first())
                    && !is_same(&computed, test)
                {
                    return false;
                }
                computed.retain(|_| !matches!(call.callee, Callee::Builtin(..)));
                continue;
            }
            _ => {
                computed.clear();
                continue;
            }
        };
        let Some((place, is_whole)) = place else { return false };
        let stays = is_whole && is_same(&computed, value);
        computed.retain(|known| !overlap(known, &place));
        computed.extend(stays.then_some(place));
    }
    decisions(state).into_iter().all(|value| is_same(&computed, value))
}

/// The places that a value is computed from.
fn reads(program: &Program, value: &Expression) -> Vec<Place> {
    let mut found = Vec::new();
    // The base of a field or element is walked through right behind it, and is part of its place.
    let mut is_base = false;
    visit::expression(value, &mut |node| {
        let Node::Expression(expression) = node else { return };
        if !is_base {
            found.extend(place(program, expression).map(|(place, _)| place));
        }
        is_base = base_of(expression).is_some();
    });
    found
}

/// The place of an expression, and whether it is all of that place: elements of computed index
/// and members of unions are part of the stack or union.
fn place(program: &Program, expression: &Expression) -> Option<(Place, bool)> {
    if let ExpressionKind::Variable(id) = &expression.kind {
        return Some(((*id, Vec::new()), true));
    }
    let base = base_of(expression)?;
    let ((variable, mut way), is_whole) = place(program, base)?;
    let is_union = kind(program, &base.ty) == Some(DerivedKind::HeaderUnion);
    match &expression.kind {
        ExpressionKind::Field { field, .. } if is_whole && !is_union => {
            way.push(*field);
            Some(((variable, way), true))
        }
        _ => Some(((variable, way), false)),
    }
}

fn base_of(expression: &Expression) -> Option<&Expression> {
    match &expression.kind {
        ExpressionKind::Field { base, .. }
        | ExpressionKind::Index { base, .. }
        | ExpressionKind::Slice { base, .. }
        | ExpressionKind::SliceFrom { base, .. }
        | ExpressionKind::StackLast(base)
        | ExpressionKind::StackLastIndex(base)
        | ExpressionKind::StackNext(base) => Some(base),
        _ => None,
    }
}

fn is_inside((variable, way): &Place, (other, outer): &Place) -> bool {
    variable == other && way.starts_with(outer)
}

fn overlap(one: &Place, other: &Place) -> bool {
    is_inside(one, other) || is_inside(other, one)
}
