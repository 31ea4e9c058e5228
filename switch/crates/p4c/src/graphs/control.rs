//! A control: nodes for its tables, its questions and the statements between them. Controls that it
//! applies are drawn where they are applied.

use super::dot::{Graph, Kind};
use super::text;
use compiler::SourceMap;
use compiler::types::tree::{
    Block, Callee, Control, Expression, ExpressionKind, For, ForCollection, ForIn, Id, Link,
    Program, Statement, StatementKind, Switch, SwitchLabel, Table, TableResult, UnaryOperator,
};

/// More statements in a row are counted.
const LINES_MAX: usize = 8;
/// Controls applied again and again can double a graph with each line: beyond this many nodes they
/// are drawn as one.
const NODES_MAX: usize = 10_000;

pub fn graph(program: &Program, control: &Control, sources: &SourceMap) -> Graph {
    let graph = Graph::new(&control.name.text);
    let mut walk =
        Walk { program, sources, graph, exits: Vec::new(), loops: Vec::new(), returns: Vec::new() };
    let start = walk.graph.node(Kind::End, "__START__");
    let mut ends = walk.statements(&control.body.statements, vec![End::of(start)]);
    ends.append(&mut walk.returns);
    ends.append(&mut walk.exits);
    let exit = walk.node(Kind::End, "__EXIT__", ends);
    walk.graph.leaves_at(exit);
    walk.graph
}

/// An edge whose other end is not there yet.
#[derive(Clone, Debug)]
struct End {
    from: usize,
    label: String,
}

impl End {
    fn of(from: usize) -> End {
        End { from, label: String::new() }
    }

    fn named(from: usize, label: impl Into<String>) -> End {
        End { from, label: label.into() }
    }
}

/// Where the `break` and `continue` of a loop lead.
#[derive(Default)]
struct Loop {
    breaks: Vec<End>,
    continues: Vec<End>,
}

struct Walk<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    graph: Graph,
    /// From each `exit`.
    exits: Vec<End>,
    /// From each `return` of the control that is being drawn.
    returns: Vec<End>,
    /// The loops around the statement, outermost first.
    loops: Vec<Loop>,
}

impl Walk<'_> {
    fn node(&mut self, kind: Kind, label: impl Into<String>, ends: Vec<End>) -> usize {
        let node = self.graph.node(kind, label);
        self.lead(ends, node);
        node
    }

    fn lead(&mut self, ends: Vec<End>, node: usize) {
        for End { from, label } in ends {
            self.graph.edge(from, node, label);
        }
    }

    /// Draws statements behind these ends; no ends: nothing gets there, and nothing is drawn.
    fn statements(&mut self, all: &[Statement], mut ends: Vec<End>) -> Vec<End> {
        let mut lines = Vec::new();
        for statement in all {
            if ends.is_empty() {
                return ends;
            }
            if self.is_plain(statement) {
                lines.push(text(self.sources, statement.span));
                continue;
            }
            ends = self.lines(&mut lines, ends);
            ends = self.statement(statement, ends);
        }
        self.lines(&mut lines, ends)
    }

    /// One node for statements without a choice.
    fn lines(&mut self, lines: &mut Vec<String>, ends: Vec<End>) -> Vec<End> {
        if lines.is_empty() || ends.is_empty() {
            return ends;
        }
        let more = lines.len().saturating_sub(LINES_MAX);
        lines.truncate(LINES_MAX);
        if more > 0 {
            lines.push(format!("{more} more"));
        }
        let node = self.node(Kind::Statements, lines.join("\n"), ends);
        lines.clear();
        vec![End::of(node)]
    }

    /// Whether a statement leads to the next one and applies nothing.
    fn is_plain(&self, statement: &Statement) -> bool {
        match &statement.kind {
            StatementKind::Assign { value, .. } => tables_in(value).is_empty(),
            StatementKind::Declare { value, .. } => {
                value.as_ref().is_none_or(|value| tables_in(value).is_empty())
            }
            StatementKind::Call(call) => {
                !matches!(call.callee, Callee::Table(_) | Callee::Control { .. })
            }
            _ => false,
        }
    }

    fn statement(&mut self, statement: &Statement, ends: Vec<End>) -> Vec<End> {
        match &statement.kind {
            StatementKind::Assign { value, .. }
            | StatementKind::Declare { value: Some(value), .. } => {
                let ends = self.tables(value, ends);
                self.lines(&mut vec![text(self.sources, statement.span)], ends)
            }
            StatementKind::Declare { value: None, .. } => ends,
            StatementKind::Block(block) => self.statements(&block.statements, ends),
            StatementKind::Call(call) => match &call.callee {
                Callee::Table(table) => vec![End::of(self.table(*table, ends))],
                Callee::Control { control, .. } => {
                    let label = text(self.sources, statement.span);
                    self.control(control.map(|id| &self.program.controls[id]), label, ends)
                }
                _ => self.lines(&mut vec![text(self.sources, statement.span)], ends),
            },
            StatementKind::If { links, otherwise } => self.choice(links, otherwise.as_ref(), ends),
            StatementKind::Switch(switch) => self.switch(switch, ends),
            StatementKind::For(each) => self.repeat(each, ends),
            StatementKind::ForIn(each) => self.repeat_in(each, ends),
            StatementKind::Exit => {
                self.exits.extend(ends);
                Vec::new()
            }
            StatementKind::Return(_) => {
                self.returns.extend(ends);
                Vec::new()
            }
            StatementKind::Break | StatementKind::Continue => {
                let is_break = matches!(statement.kind, StatementKind::Break);
                if let Some(around) = self.loops.last_mut() {
                    let kept = if is_break { &mut around.breaks } else { &mut around.continues };
                    kept.extend(ends);
                }
                Vec::new()
            }
        }
    }

    /// A control that is applied: its name, then what is in it.
    fn control(&mut self, control: Option<&Control>, label: String, ends: Vec<End>) -> Vec<End> {
        let node = self.node(Kind::Statements, label, ends);
        let ends = vec![End::of(node)];
        let Some(control) = control.filter(|_| self.graph.node_count() < NODES_MAX) else {
            return ends;
        };
        let returns = std::mem::take(&mut self.returns);
        let loops = std::mem::take(&mut self.loops);
        let mut ends = self.statements(&control.body.statements, ends);
        ends.append(&mut std::mem::replace(&mut self.returns, returns));
        self.loops = loops;
        ends
    }

    fn table(&mut self, table: Id<Table>, ends: Vec<End>) -> usize {
        let table = &self.program.tables[table];
        let mut lines = vec![table.name.text.to_string()];
        lines.extend(table.keys.iter().map(|key| {
            format!("{}: {}", text(self.sources, key.expression.span), key.match_kind.text)
        }));
        let actions: Vec<&str> = table
            .actions
            .iter()
            .map(|each| &*self.program.actions[each.call.action].name.text)
            .collect();
        lines.push(format!("→ {}", actions.join(", ")));
        self.node(Kind::Step, lines.join("\n"), ends)
    }

    /// The tables that an expression applies, one after the other.
    fn tables(&mut self, expression: &Expression, ends: Vec<End>) -> Vec<End> {
        tables_in(expression)
            .into_iter()
            .fold(ends, |ends, table| vec![End::of(self.table(table, ends))])
    }

    fn choice(&mut self, links: &[Link], otherwise: Option<&Block>, ends: Vec<End>) -> Vec<End> {
        let mut open = ends;
        let mut after = Vec::new();
        for link in links {
            let (yes, no) = self.question(&link.condition, open);
            after.extend(self.statements(&link.then.statements, yes));
            open = no;
        }
        after.extend(match otherwise {
            Some(block) => self.statements(&block.statements, open),
            None => open,
        });
        after
    }

    /// The ways on where a condition holds, and where it does not.
    fn question(&mut self, condition: &Expression, ends: Vec<End>) -> (Vec<End>, Vec<End>) {
        if let ExpressionKind::Unary { operator: UnaryOperator::Not, operand } = &condition.kind {
            let (yes, no) = self.question(operand, ends);
            return (no, yes);
        }
        if let ExpressionKind::TableResult { call, result } = &condition.kind
            && let Callee::Table(table) = call.callee
        {
            let node = self.table(table, ends);
            let (hit, miss) = (vec![End::named(node, "hit")], vec![End::named(node, "miss")]);
            return if *result == TableResult::Miss { (miss, hit) } else { (hit, miss) };
        }
        let ends = self.tables(condition, ends);
        let node = self.node(Kind::Condition, text(self.sources, condition.span), ends);
        (vec![End::named(node, "TRUE")], vec![End::named(node, "FALSE")])
    }

    fn switch(&mut self, switch: &Switch, ends: Vec<End>) -> Vec<End> {
        let node = if let ExpressionKind::TableResult { call, .. } = &switch.subject.kind
            && let Callee::Table(table) = call.callee
        {
            self.table(table, ends)
        } else {
            let ends = self.tables(&switch.subject, ends);
            self.node(Kind::Condition, text(self.sources, switch.subject.span), ends)
        };
        let mut after = Vec::new();
        for case in &switch.cases {
            let labels: Vec<String> = case.labels.iter().map(|label| self.label(label)).collect();
            after.extend(
                self.statements(&case.body.statements, vec![End::named(node, labels.join(", "))]),
            );
        }
        let is_default = |label: &SwitchLabel| matches!(label, SwitchLabel::Default);
        if !switch.cases.iter().flat_map(|case| &case.labels).any(is_default) {
            after.push(End::named(node, "default"));
        }
        after
    }

    fn label(&self, label: &SwitchLabel) -> String {
        match label {
            SwitchLabel::Action(action) => self.program.actions[*action].name.text.to_string(),
            SwitchLabel::Default => "default".into(),
            SwitchLabel::Value(value) => text(self.sources, value.span),
        }
    }

    fn repeat(&mut self, each: &For, ends: Vec<End>) -> Vec<End> {
        let ends = self.statements(&each.init, ends);
        let head = self.node(Kind::Condition, text(self.sources, each.condition.span), ends);
        let (round, mut after) = self.round(&each.body, End::named(head, "TRUE"));
        let round = self.statements(&each.update, round);
        self.lead(round, head);
        after.push(End::named(head, "FALSE"));
        after
    }

    fn repeat_in(&mut self, each: &ForIn, ends: Vec<End>) -> Vec<End> {
        let variable = &self.program.variables[each.variable].name.text;
        let collection = match &each.collection {
            ForCollection::Elements(list) => text(self.sources, list.span),
            ForCollection::Range { low, high } => {
                format!("{} .. {}", text(self.sources, low.span), text(self.sources, high.span))
            }
        };
        let head = self.node(Kind::Condition, format!("{variable} in {collection}"), ends);
        let (round, mut after) = self.round(&each.body, End::named(head, "next"));
        self.lead(round, head);
        after.push(End::named(head, "done"));
        after
    }

    /// The body of a loop: its ends, and those of its breaks.
    fn round(&mut self, body: &Block, first: End) -> (Vec<End>, Vec<End>) {
        self.loops.push(Loop::default());
        let mut ends = self.statements(&body.statements, vec![first]);
        let Loop { breaks, continues } = self.loops.pop().unwrap_or_default();
        ends.extend(continues);
        (ends, breaks)
    }
}

/// The tables that an expression applies, in the order of the text.
fn tables_in(expression: &Expression) -> Vec<Id<Table>> {
    let mut found = Vec::new();
    find_tables(expression, &mut found);
    found
}

fn find_tables(expression: &Expression, found: &mut Vec<Id<Table>>) {
    match &expression.kind {
        ExpressionKind::TableResult { call, .. } => {
            if let Callee::Table(table) = call.callee {
                found.push(table);
            }
        }
        ExpressionKind::Binary { left, right, .. } => {
            find_tables(left, found);
            find_tables(right, found);
        }
        ExpressionKind::Cast(operand) | ExpressionKind::Unary { operand, .. } => {
            find_tables(operand, found);
        }
        ExpressionKind::Conditional { condition, then, otherwise } => {
            for part in [condition, then, otherwise] {
                find_tables(part, found);
            }
        }
        _ => {}
    }
}
