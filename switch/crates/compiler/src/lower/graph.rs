//! Steps as a graph of nodes, the form in which the switch runs controls and parsers.
//!
//! Before: steps with blocks, loops and leaves. After: nodes that name their successors; straight
//! sequences of primitives are one node; nothing unreachable is left.
//!
//! The graph is built from the end: what follows is known before what leads to it, so leaving a
//! block is just another successor, and only loops need a node reserved in advance.
//!
//! The switch walks a control forward only. A loop that applies no table is therefore kept as it
//! is, inside one node: there it becomes jumps of an action.

use std::collections::BTreeMap;

use bmv2::Expression;

use super::step::{Apply, Label, Outcome, Step, TableId};
use syntax::Span;

/// Index of a node; `None` is the end.
pub type Next = Option<usize>;

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Apply {
        table: TableId,
        next: AfterTable,
        at: Span,
    },
    /// One way or the other.
    Branch {
        condition: Expression,
        /// Where it holds.
        yes: Next,
        /// Where it does not.
        no: Next,
        at: Span,
    },
    /// Nothing; stands for its successor.
    Jump(Next),
    /// Primitives: steps of the kinds `Run` and `Parse`, and whole loops.
    Run {
        steps: Vec<Step>,
        next: Next,
    },
    /// Where the graph ends, for those who continue it (a parser state's transition).
    Tail,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AfterTable {
    /// By the action that ran: index in the table's list.
    ByAction {
        cases: Vec<(usize, Next)>,
        otherwise: Next,
    },
    ByHit {
        hit: Next,
        miss: Next,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub entry: Next,
    /// In no particular order; unreachable ones are never looked at.
    pub nodes: Vec<Node>,
    ends: BTreeMap<Label, Next>,
    /// Loops stay inside their nodes.
    keeps_loops: bool,
}

impl Graph {
    /// The graph of some steps that end the control.
    pub fn new(steps: &[Step]) -> Graph {
        Graph::before(steps, true, |_| None)
    }

    /// The graph of some steps of a parser, which may go round, that lead to a [`Node::Tail`].
    pub fn with_tail(steps: &[Step]) -> Graph {
        Graph::before(steps, false, |graph| Some(graph.add(Node::Tail)))
    }

    /// The graph of `steps`, followed by the result of `end`.
    fn before(steps: &[Step], keeps_loops: bool, end: impl FnOnce(&mut Graph) -> Next) -> Graph {
        let mut graph = Graph { keeps_loops, ..Graph::default() };
        let end = end(&mut graph);
        let entry = graph.build(steps, end);
        graph.entry = graph.resolve(entry);
        graph.resolve_all();
        graph.merge_runs();
        graph
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The node that runs `steps` and goes on at `next`.
    fn build(&mut self, steps: &[Step], mut next: Next) -> Next {
        let mut rest = steps;
        while let Some((last, before)) = rest.split_last() {
            rest = before;
            next = match last {
                Step::Apply(apply) => Some(self.apply(apply, next)),
                Step::Block { .. } if self.keeps_loops && is_loop(last) => {
                    Some(self.add(Node::Run { steps: vec![last.clone()], next }))
                }
                Step::Block { label, body } => {
                    self.ends.insert(*label, next);
                    self.build(body, next)
                }
                Step::Exit(_) => None,
                Step::If { condition, then, otherwise, at } => {
                    let yes = self.build(then, next);
                    let no = self.build(otherwise, next);
                    if yes == no {
                        yes
                    } else {
                        let condition = condition.clone();
                        Some(self.add(Node::Branch { condition, yes, no, at: *at }))
                    }
                }
                Step::Leave(label) => self.ends.get(label).copied().flatten(),
                Step::Loop(body) => {
                    let head = self.add(Node::Jump(None));
                    let first = self.build(body, Some(head));
                    self.nodes[head] = Node::Jump(first);
                    first
                }
                Step::Parse(_) | Step::Run(..) => {
                    let mut run = vec![last.clone()];
                    while let Some((step @ (Step::Parse(_) | Step::Run(..)), before)) =
                        rest.split_last()
                    {
                        run.push(step.clone());
                        rest = before;
                    }
                    run.reverse();
                    Some(self.add(Node::Run { steps: run, next }))
                }
            };
        }
        next
    }

    fn apply(&mut self, apply: &Apply, next: Next) -> usize {
        let next = match &apply.outcome {
            Outcome::Any => AfterTable::ByAction { cases: Vec::new(), otherwise: next },
            Outcome::ByAction { cases, otherwise } => AfterTable::ByAction {
                cases: cases
                    .iter()
                    .map(|(action, steps)| (*action, self.build(steps, next)))
                    .collect(),
                otherwise: self.build(otherwise, next),
            },
            Outcome::ByHit { hit, miss } => {
                AfterTable::ByHit { hit: self.build(hit, next), miss: self.build(miss, next) }
            }
        };
        self.add(Node::Apply { table: apply.table, next, at: apply.at })
    }

    /// The first node that is no jump. A loop without any step ends the control: nothing could
    /// ever leave it.
    fn resolve(&self, mut next: Next) -> Next {
        for _ in 0..=self.nodes.len() {
            match next.map(|at| &self.nodes[at]) {
                Some(Node::Jump(target)) => next = *target,
                _ => return next,
            }
        }
        None
    }

    /// Replaces jumps by where they lead.
    fn resolve_all(&mut self) {
        for at in 0..self.nodes.len() {
            let mut node = self.nodes[at].clone();
            for next in node.successors_mut() {
                *next = self.resolve(*next);
            }
            self.nodes[at] = node;
        }
    }

    /// Joins a run with the run behind it where no other node leads there.
    fn merge_runs(&mut self) {
        let mut counts = vec![0; self.nodes.len()];
        let reachable = self.reachable();
        for at in &reachable {
            for next in self.nodes[*at].successors().into_iter().flatten() {
                counts[next] += 1;
            }
        }
        for at in reachable {
            // The first of several runs takes all others, so that each step is moved once.
            while let Node::Run { next: Some(next), .. } = self.nodes[at]
                && counts[next] == 1
                && next != at
                && Some(next) != self.entry
                && matches!(self.nodes[next], Node::Run { .. })
            {
                let behind = std::mem::replace(&mut self.nodes[next], Node::Jump(None));
                if let (Node::Run { steps, next }, Node::Run { steps: behind, next: after }) =
                    (&mut self.nodes[at], behind)
                {
                    steps.extend(behind);
                    *next = after;
                }
            }
        }
    }

    /// A node on a circle, if there is one: a table where possible, to have something to point at.
    pub fn circle(&self) -> Option<usize> {
        let mut state = vec![Visit::New; self.nodes.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut todo: Vec<usize> = self.entry.into_iter().collect();
        while let Some(start) = todo.pop() {
            path.push((start, 0));
            state[start] = Visit::Open;
            while let Some((at, step)) = path.last_mut() {
                let successors = self.nodes[*at].successors();
                let Some(next) = successors.get(*step) else {
                    state[*at] = Visit::Done;
                    path.pop();
                    continue;
                };
                *step += 1;
                let Some(next) = *next else { continue };
                match state[next] {
                    Visit::New => {
                        state[next] = Visit::Open;
                        path.push((next, 0));
                    }
                    Visit::Open => {
                        let from = path.iter().position(|(at, _)| *at == next).unwrap_or(0);
                        let nodes = path[from..].iter().map(|(at, _)| *at);
                        let is_table = |at: &usize| matches!(self.nodes[*at], Node::Apply { .. });
                        return nodes.clone().find(is_table).or(Some(next));
                    }
                    Visit::Done => {}
                }
            }
        }
        None
    }

    /// Indexes of the nodes that can be reached, in order of discovery: depth first, the first
    /// successor first.
    pub fn reachable(&self) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        let mut todo: Vec<usize> = self.entry.into_iter().collect();
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            order.push(at);
            todo.extend(self.nodes[at].successors().into_iter().rev().flatten());
        }
        order
    }
}

/// How far a search has come with a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Done,
    New,
    Open,
}

/// Whether a step is or holds a loop that can stay inside one action: it applies no table, and
/// everything it leaves is inside it.
fn is_loop(step: &Step) -> bool {
    let mut has_loop = false;
    is_closed(step, &mut Vec::new(), &mut has_loop) && has_loop
}

/// Whether the step is done by primitives alone: no table in it, no way out of the loop.
fn is_closed(step: &Step, inside: &mut Vec<Label>, has_loop: &mut bool) -> bool {
    let mut all = |steps: &[Step], inside: &mut Vec<Label>| {
        steps.iter().all(|step| is_closed(step, inside, has_loop))
    };
    match step {
        Step::Apply(_) | Step::Parse(_) => false,
        Step::Block { label, body } => {
            inside.push(*label);
            let is_closed = all(body, inside);
            inside.pop();
            is_closed
        }
        Step::Exit(_) | Step::Run(..) => true,
        Step::If { then, otherwise, .. } => all(then, inside) && all(otherwise, inside),
        Step::Leave(label) => inside.contains(label),
        Step::Loop(body) => {
            *has_loop = true;
            body.iter().all(|step| is_closed(step, inside, has_loop))
        }
    }
}

impl Node {
    pub fn successors(&self) -> Vec<Next> {
        self.clone().successors_mut().into_iter().map(|next| *next).collect()
    }

    /// Where it can lead, to be changed.
    pub fn successors_mut(&mut self) -> Vec<&mut Next> {
        match self {
            Node::Apply { next: AfterTable::ByAction { cases, otherwise }, .. } => {
                let cases = cases.iter_mut().map(|(_, next)| next);
                cases.chain([otherwise]).collect()
            }
            Node::Apply { next: AfterTable::ByHit { hit, miss }, .. } => vec![hit, miss],
            Node::Branch { yes, no, .. } => vec![yes, no],
            Node::Jump(next) | Node::Run { next, .. } => vec![next],
            Node::Tail => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bmv2::PrimitiveCall;

    fn run(operation: &str) -> Step {
        let call = PrimitiveCall { operation: operation.into(), ..PrimitiveCall::default() };
        Step::Run(call, Span::NONE)
    }

    fn condition() -> Expression {
        Expression::Header("h".into())
    }

    fn operations(graph: &Graph, mut next: Next) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(Node::Run { steps, next: after }) = next.map(|at| &graph.nodes[at]) {
            for step in steps {
                if let Step::Run(call, _) = step {
                    found.push(call.operation.clone());
                }
            }
            next = *after;
        }
        found
    }

    #[test]
    fn leaving_a_block_skips_the_rest_of_it() {
        let body = vec![run("a"), Step::Leave(Label(1)), run("never")];
        let graph = Graph::new(&[Step::Block { label: Label(1), body }, run("b")]);
        assert_eq!(operations(&graph, graph.entry), ["a", "b"]);
    }

    #[test]
    fn runs_behind_each_other_become_one_and_no_step_is_copied() {
        let block = |number: usize| {
            let body = vec![run(&number.to_string()), Step::Leave(Label(number))];
            Step::Block { label: Label(number), body }
        };
        let graph = Graph::new(&(0..100).map(block).collect::<Vec<_>>());
        assert_eq!(operations(&graph, graph.entry).len(), 100);
        let held = graph.nodes.iter().map(|node| match node {
            Node::Run { steps, .. } => steps.len(),
            _ => 0,
        });
        assert_eq!(held.sum::<usize>(), 100);
    }

    #[test]
    fn exit_ends_everything() {
        let graph = Graph::new(&[run("a"), Step::Exit(Span::NONE), run("never")]);
        assert_eq!(operations(&graph, graph.entry), ["a"]);
    }

    #[test]
    fn a_loop_leads_back_to_its_head() {
        // loop { if (c) leave; a }
        let leave = vec![Step::Leave(Label(1))];
        let test =
            Step::If { condition: condition(), then: leave, otherwise: vec![], at: Span::NONE };
        let body = vec![Step::Loop(vec![test, run("a")])];
        let graph = Graph::with_tail(&[Step::Block { label: Label(1), body }, run("b")]);
        let Some(Node::Branch { yes, no, .. }) = graph.entry.map(|at| &graph.nodes[at]) else {
            panic!("the loop starts with its test");
        };
        assert_eq!(operations(&graph, *yes), ["b"]);
        let Some(Node::Run { next, .. }) = no.map(|at| &graph.nodes[at]) else {
            panic!("the round runs when the test fails");
        };
        assert_eq!(*next, graph.entry);
    }

    #[test]
    fn a_loop_without_tables_stays_in_one_node() {
        let body = vec![Step::Loop(vec![run("a"), Step::Leave(Label(1))])];
        let graph = Graph::new(&[Step::Block { label: Label(1), body }, run("b")]);
        assert_eq!(graph.reachable().len(), 1);
        assert_eq!(graph.circle(), None);
    }

    #[test]
    fn a_table_in_a_loop_is_on_a_circle() {
        let apply = Apply { table: TableId(0), outcome: Outcome::Any, at: Span::NONE };
        let graph = Graph::new(&[Step::Loop(vec![Step::Apply(Box::new(apply))])]);
        assert_eq!(graph.circle(), graph.entry);
    }

    #[test]
    fn a_branch_that_does_not_matter_is_no_branch() {
        let test =
            Step::If { condition: condition(), then: vec![], otherwise: vec![], at: Span::NONE };
        let graph = Graph::new(&[test, run("a")]);
        assert_eq!(operations(&graph, graph.entry), ["a"]);
    }

    #[test]
    fn an_empty_endless_loop_is_the_end() {
        assert_eq!(Graph::new(&[Step::Loop(vec![])]).entry, None);
    }
}
