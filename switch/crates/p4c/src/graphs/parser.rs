//! A parser: a node for each state, an edge for each transition.

use super::dot::{Graph, Kind};
use super::text;
use compiler::SourceMap;
use compiler::types::tree::{KeysetElement, Parser, Select, StateTarget, Transition};

pub fn graph(parser: &Parser, sources: &SourceMap) -> Graph {
    let mut graph = Graph::new(&parser.name.text);
    let first = graph.node(Kind::End, "__START__");
    let states: Vec<usize> = parser
        .states
        .iter()
        .map(|state| {
            let mut lines = vec![state.name.text.to_string()];
            lines.extend(state.statements.iter().map(|each| text(sources, each.span)));
            graph.node(Kind::Step, lines.join("\n"))
        })
        .collect();
    let accept = graph.node(Kind::End, "accept");
    let reject = graph.node(Kind::End, "reject");
    let node = |target: StateTarget| match target {
        StateTarget::Accept => accept,
        StateTarget::Reject => reject,
        StateTarget::State(at) => states[at],
    };
    if let Some(start) = parser.states.iter().position(|state| &*state.name.text == "start") {
        graph.edge(first, states[start], "");
    }
    for (state, from) in parser.states.iter().zip(&states) {
        match &state.transition {
            Transition::Direct(target) => graph.edge(*from, node(*target), ""),
            Transition::Select(select) => {
                for case in &select.cases {
                    graph.edge(*from, node(case.target), text(sources, case.keyset.span));
                }
                if !takes_all(select) {
                    graph.edge(*from, reject, "no match");
                }
            }
        }
    }
    graph.leaves_at(accept);
    graph
}

/// Whether a case fits whatever comes.
fn takes_all(select: &Select) -> bool {
    let is_any = |element: &KeysetElement| matches!(element, KeysetElement::Any);
    select.cases.iter().any(|case| case.keyset.elements.iter().all(is_any))
}
