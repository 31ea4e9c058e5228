//! Flat parser states as the switch's states.
//!
//! Before: states with steps. After: states with operations, a key and transitions. A state whose
//! steps branch becomes several; the branch is a transition on a field that holds the condition.

use bmv2::{
    Expression, Parameter, ParseState, ParserOperation, SetSource, Transition, TransitionKey,
    TransitionMatch,
};

use super::flat::{Flat, Goal, Next, State};
use super::graph::{Graph, Node};
use super::step::Step;
use super::storage::{Field, Leaf, SCALARS};
use super::value::number_of;

pub fn parsers(flat: &mut Flat) -> Vec<bmv2::Parser> {
    let mut parsers = Vec::new();
    let mut state_count = 0;
    for parser in std::mem::take(&mut flat.parsers) {
        let names: Vec<String> = parser.states.iter().map(|state| state.name.clone()).collect();
        let mut states = Vec::new();
        for state in &parser.states {
            Writer { flat, names: &names, state, states: &mut states }.write();
        }
        for (id, state) in (state_count..).zip(&mut states) {
            state.id = id;
        }
        state_count += states.len() as u32;
        parsers.push(bmv2::Parser {
            name: parser.name.to_owned(),
            id: parsers.len() as u32,
            init_state: names.first().cloned(),
            parse_states: states,
        });
    }
    parsers
}

struct Writer<'a> {
    flat: &'a mut Flat,
    names: &'a [String],
    state: &'a State,
    states: &'a mut Vec<ParseState>,
}

impl Writer<'_> {
    /// A state of the flat parser, and the states that branches inside of it need.
    fn write(&mut self) {
        let graph = Graph::with_tail(&self.state.steps);
        let order = graph.reachable();
        let mut counts = vec![0; graph.nodes.len()];
        for at in &order {
            graph.nodes[*at].successors().into_iter().flatten().for_each(|next| counts[next] += 1);
        }
        // A node that only one run leads to is part of that run's state.
        let mut heads = Vec::new();
        for at in &order {
            let follows_run = order.iter().any(|before| {
                matches!(graph.nodes[*before], Node::Run { next: Some(next), .. } if next == *at)
            });
            if Some(*at) == graph.entry || !follows_run || counts[*at] > 1 {
                heads.push(*at);
            }
        }
        if heads.is_empty() {
            let state = ParseState { name: self.state.name.clone(), ..accept_state() };
            return self.states.push(state);
        }
        let names = self.node_names(&heads, graph.entry, graph.nodes.len());
        for head in &heads {
            self.write_node(&graph, *head, &names);
        }
    }

    /// The state name of each head; the entry has the name of the P4 state.
    fn node_names(
        &self,
        heads: &[usize],
        entry: Option<usize>,
        count: usize,
    ) -> Vec<Option<String>> {
        let mut names = vec![None; count];
        let mut number = 0;
        for head in heads {
            names[*head] = Some(if Some(*head) == entry {
                self.state.name.clone()
            } else {
                number += 1;
                format!("{}${number}", self.state.name)
            });
        }
        names
    }

    /// One node as operations of the state being written.
    fn write_node(&mut self, graph: &Graph, head: usize, names: &[Option<String>]) {
        let name = names[head].clone().unwrap_or_default();
        let mut state = ParseState { name, ..ParseState::default() };
        let mut at = Some(head);
        let mut is_first = true;
        while let Some(node) = at {
            if !is_first && names[node].is_some() {
                state.transitions = vec![always(names[node].clone())];
                break;
            }
            is_first = false;
            match &graph.nodes[node] {
                Node::Run { steps, next } => {
                    state.operations.extend(steps.iter().filter_map(operation));
                    at = *next;
                    continue;
                }
                Node::Branch { condition, yes, no, .. } => {
                    let name_of = |next: Option<usize>| next.and_then(|next| names[next].clone());
                    self.branch(&mut state, condition.clone(), name_of(*yes), name_of(*no));
                }
                Node::Tail => self.transitions(&mut state),
                Node::Apply { .. } | Node::Jump(_) => {}
            }
            break;
        }
        if state.transitions.is_empty() {
            state.transitions = vec![always(None)];
        }
        self.states.push(state);
    }

    /// A condition in a state: BMv2 parsers branch between states only, by a key that holds the
    /// condition.
    fn branch(
        &mut self,
        state: &mut ParseState,
        condition: Expression,
        yes: Option<String>,
        no: Option<String>,
    ) {
        let name = self.flat.storage.unique_name("tmp");
        self.flat.storage.scalars.push(Field { name: name.clone(), kind: Leaf::Bool });
        let field = bmv2::FieldRef::new(SCALARS, name);
        state.operations.push(ParserOperation::Set {
            target: field.clone(),
            source: SetSource::Expression(number_of(condition)),
        });
        state.transition_key = vec![TransitionKey::Field(field)];
        let matches = TransitionMatch::Value { value: vec![1], mask: None };
        state.transitions = vec![Transition { matches, next_state: yes }, always(no)];
    }

    fn transitions(&mut self, state: &mut ParseState) {
        let goal_name = |goal: Goal| match goal {
            Goal::State(index) => self.names.get(index).cloned(),
            Goal::Stop => None,
        };
        match &self.state.next {
            Next::Always(goal) => state.transitions = vec![always(goal_name(*goal))],
            Next::Select { key, cases } => {
                state.transition_key = key.clone();
                let transition = |case: &super::flat::Case| Transition {
                    matches: case.matches.clone(),
                    next_state: goal_name(case.goal),
                };
                state.transitions = cases.iter().map(transition).collect();
            }
        }
    }
}

/// A state that only ends.
fn accept_state() -> ParseState {
    ParseState { transitions: vec![always(None)], ..ParseState::default() }
}

/// The only way out.
fn always(next_state: Option<String>) -> Transition {
    Transition { matches: TransitionMatch::Default, next_state }
}

/// A step as an operation of a parser. Assignments of numbers have a form of their own there.
fn operation(step: &Step) -> Option<ParserOperation> {
    match step {
        Step::Parse(operation) => Some(operation.clone()),
        Step::Run(call, _) => Some(match (&*call.operation, &call.parameters[..]) {
            (
                "assign",
                [Parameter::Expression(Expression::Field(target)), Parameter::Expression(source)],
            ) => ParserOperation::Set {
                target: target.clone(),
                source: SetSource::Expression(source.clone()),
            },
            _ => ParserOperation::Primitive(call.clone()),
        }),
        _ => None,
    }
}
