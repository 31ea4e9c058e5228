//! Tables that are applied in several places.
//!
//! Before: a control's graph, a table possibly in several nodes. After: each table in one node.
//! The switch knows one successor for each outcome of a table; where the places go on differently,
//! a metadata field remembers which place applied the table, and tests behind it lead back.

use std::collections::BTreeMap;

use bmv2::{BinaryOperator, Expression, FieldRef, Parameter, PrimitiveCall};

use super::graph::{AfterTable, Graph, Next, Node};
use super::step::{Step, TableId};
use super::storage::{Field, Leaf, SCALARS, Storage};
use super::value::{binary, hex};
use syntax::Span;

/// The reason why a table's places cannot be joined: one uses hit or miss, another the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixedOutcomes {
    pub table: TableId,
    /// One of the places.
    pub at: Span,
}

/// Leaves one node for each table.
pub fn join(graph: &mut Graph, storage: &mut Storage) -> Vec<MixedOutcomes> {
    let mut places: BTreeMap<TableId, Vec<usize>> = BTreeMap::new();
    for at in graph.reachable() {
        if let Node::Apply { table, .. } = graph.nodes[at] {
            places.entry(table).or_default().push(at);
        }
    }
    let mut errors = Vec::new();
    for (table, nodes) in places {
        if nodes.len() > 1 && !join_equal(graph, &nodes) {
            errors.extend(join_table(graph, storage, table, &nodes));
        }
    }
    errors
}

/// Places with the same successors are one node.
fn join_equal(graph: &mut Graph, nodes: &[usize]) -> bool {
    let after = |at: usize| match &graph.nodes[at] {
        Node::Apply { next, .. } => Some(next.clone()),
        _ => None,
    };
    let first = after(nodes[0]);
    if nodes.iter().any(|at| after(*at) != first) {
        return false;
    }
    for other in &nodes[1..] {
        redirect(graph, *other, nodes[0]);
    }
    true
}

/// Lets every way to one node lead to another.
fn redirect(graph: &mut Graph, from: usize, to: usize) {
    if graph.entry == Some(from) {
        graph.entry = Some(to);
    }
    for node in &mut graph.nodes {
        for next in node.successors_mut() {
            if *next == Some(from) {
                *next = Some(to);
            }
        }
    }
}

/// All applications of one table become one node; their successors are distinguished behind it.
fn join_table(
    graph: &mut Graph,
    storage: &mut Storage,
    table: TableId,
    nodes: &[usize],
) -> Option<MixedOutcomes> {
    let mut afters = Vec::new();
    let mut first_at = Span::NONE;
    for at in nodes.iter().rev() {
        if let Node::Apply { next, at, .. } = &graph.nodes[*at] {
            afters.push(next.clone());
            first_at = *at;
        }
    }
    afters.reverse();
    let name = storage.unique_name("applied_by");
    let kind = Leaf::Number { width: 16, is_signed: false };
    storage.scalars.push(Field { name: name.clone(), kind });
    let field = FieldRef::new(SCALARS, name);

    let asks_hit = afters.iter().any(|after| matches!(after, AfterTable::ByHit { .. }));
    let asks_action = afters
        .iter()
        .any(|after| matches!(after, AfterTable::ByAction { cases, .. } if !cases.is_empty()));
    if asks_hit && asks_action {
        return Some(MixedOutcomes { table, at: first_at });
    }
    let next = if asks_hit {
        let side = |is_hit: bool| afters.iter().map(move |after| after_hit(after, is_hit));
        AfterTable::ByHit {
            hit: dispatch(graph, &field, side(true).collect()),
            miss: dispatch(graph, &field, side(false).collect()),
        }
    } else {
        by_action(graph, &field, &afters)
    };
    graph.nodes.push(Node::Apply { table, next, at: first_at });
    let joined = graph.nodes.len() - 1;
    for (number, at) in nodes.iter().enumerate() {
        let target = Parameter::Expression(Expression::Field(field.clone()));
        let value = Parameter::Expression(hex(number as u64));
        let call = PrimitiveCall {
            operation: "assign".to_owned(),
            parameters: vec![target, value],
            source_info: None,
        };
        graph.nodes[*at] = Node::Run { steps: vec![Step::Run(call, first_at)], next: Some(joined) };
    }
    None
}

/// Where a hit or miss leads.
fn after_hit(after: &AfterTable, is_hit: bool) -> Next {
    match after {
        AfterTable::ByAction { otherwise, .. } => *otherwise,
        AfterTable::ByHit { hit, miss } => *(if is_hit { hit } else { miss }),
    }
}

/// Behind the joined table, by the action that ran; `field` says which application it was.
fn by_action(graph: &mut Graph, field: &FieldRef, afters: &[AfterTable]) -> AfterTable {
    let after_action = |after: &AfterTable, action: Option<usize>| match after {
        AfterTable::ByAction { cases, otherwise } => cases
            .iter()
            .find(|(case, _)| Some(*case) == action)
            .map_or(*otherwise, |(_, next)| *next),
        AfterTable::ByHit { miss, .. } => *miss,
    };
    let mut actions: Vec<usize> = Vec::new();
    for after in afters {
        if let AfterTable::ByAction { cases, .. } = after {
            actions.extend(cases.iter().map(|(action, _)| *action));
        }
    }
    actions.sort_unstable();
    actions.dedup();
    let targets = |action: Option<usize>| -> Vec<Next> {
        afters.iter().map(|after| after_action(after, action)).collect()
    };
    let cases = actions
        .into_iter()
        .map(|action| (action, dispatch(graph, field, targets(Some(action)))))
        .collect();
    AfterTable::ByAction { cases, otherwise: dispatch(graph, field, targets(None)) }
}

/// A chain of tests that leads to the target of the place remembered in `field`.
fn dispatch(graph: &mut Graph, field: &FieldRef, targets: Vec<Next>) -> Next {
    let mut next = targets.last().copied().flatten();
    for (number, target) in targets.iter().enumerate().rev().skip(1) {
        if *target == next {
            continue;
        }
        let condition =
            binary(BinaryOperator::Equal, Expression::Field(field.clone()), hex(number as u64));
        let node = Node::Branch { condition, yes: *target, no: next, at: Span::NONE };
        graph.nodes.push(node);
        next = Some(graph.nodes.len() - 1);
    }
    next
}
