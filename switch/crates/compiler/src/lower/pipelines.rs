//! Ingress and egress as the switch's tables and conditionals.
//!
//! Before: steps of a control. After: a pipeline: P4 tables, a table with one action for each
//! straight sequence of primitives, a conditional for each branch.

use std::collections::{BTreeMap, BTreeSet};

use bmv2::{Conditional, DefaultEntry, DirectRegisters, NextTables, Pipeline, Table, TableKind};

use super::flat::{self, Flat, ObjectKind};
use super::graph::{AfterTable, Graph, Next, Node};
use super::primitives::primitives;
use super::step::Step;
use super::table::TABLE_SIZE_DEFAULT;
use super::{reapply, source_info};
use crate::types::tree::MatchKind;
use syntax::{Diagnostic, Diagnostics, SourceMap, Span};

/// Numbers given out over both pipelines.
#[derive(Default)]
pub struct Counters {
    table: u32,
    conditional: u32,
    node: u32,
}

/// One pipeline, and the actions it adds.
pub fn pipeline(
    flat: &mut Flat,
    index: usize,
    actions: &mut Vec<bmv2::Action>,
    counters: &mut Counters,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Pipeline {
    let mut graph = Graph::new(&flat.pipelines[index].steps);
    for mixed in reapply::join(&mut graph, &mut flat.storage) {
        let name = &flat.tables[mixed.table.0].name;
        let title =
            format!("`{name}` is applied in several places that ask it different questions");
        diagnostics.push(
            Diagnostic::error(super::lowering::TARGET, mixed.at, title)
                .hint("ask for hit everywhere or for the action everywhere"),
        );
    }
    if let Some(at) = graph.circle() {
        diagnostics.push(circle(flat, &graph.nodes[at]));
        return Pipeline::default();
    }
    let at = flat.pipelines[index].at;
    let mut writer = Writer { flat, sources, actions, counters, names: Vec::new() };
    let mut pipeline = Pipeline {
        name: ["ingress", "egress"][index].to_owned(),
        id: index as u32,
        source_info: at.and_then(|at| source_info::of(sources, at)),
        ..Pipeline::default()
    };
    writer.name_nodes(&graph);
    pipeline.init_table = writer.name(graph.entry);
    for at in graph.reachable() {
        writer.node(&graph, at, &mut pipeline);
    }
    pipeline.action_profiles = writer.action_profiles(index);
    pipeline
}

struct Writer<'a> {
    flat: &'a Flat,
    sources: &'a SourceMap,
    actions: &'a mut Vec<bmv2::Action>,
    counters: &'a mut Counters,
    /// The name of each node.
    names: Vec<String>,
}

impl Writer<'_> {
    /// The name of the node that comes next.
    fn name(&self, next: Next) -> Option<String> {
        next.map(|at| self.names[at].clone())
    }

    /// Gives every node its name: a table its own, a sequence one from its place in the source, a
    /// branch a number.
    fn name_nodes(&mut self, graph: &Graph) {
        self.names = vec![String::new(); graph.nodes.len()];
        let mut taken = TakenNames::default();
        for action in &*self.actions {
            taken.names.insert(action.name.clone());
        }
        for at in graph.reachable() {
            self.counters.node += 1;
            self.names[at] = match &graph.nodes[at] {
                Node::Apply { table, .. } => self.flat.tables[table.0].name.clone(),
                Node::Run { steps, .. } => {
                    let name = taken.take(self.place_name(first_span(steps)));
                    format!("tbl_{name}")
                }
                Node::Branch { .. } | Node::Jump(_) | Node::Tail => {
                    format!("node_{}", self.counters.node)
                }
            };
        }
    }

    /// `basic123` for line 123 of basic.p4.
    fn place_name(&self, at: Span) -> String {
        if at == Span::NONE {
            return "act".to_owned();
        }
        let location = self.sources.location(at);
        let file = location.file.rsplit('/').next().unwrap_or("");
        let stem = file.split('.').next().unwrap_or("");
        let letters =
            stem.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_');
        format!("{}l{}", letters.collect::<String>(), location.line)
    }

    /// One node as what the switch has for it.
    fn node(&mut self, graph: &Graph, at: usize, pipeline: &mut Pipeline) {
        match &graph.nodes[at] {
            Node::Apply { table, next, .. } => {
                let table = self.table(table.0, next);
                pipeline.tables.push(table);
            }
            Node::Branch { condition, yes, no, at: span } => {
                pipeline.conditionals.push(Conditional {
                    name: self.names[at].clone(),
                    id: self.counters.conditional,
                    source_info: source_info::of(self.sources, *span),
                    expression: condition.clone(),
                    true_next: self.name(*yes),
                    false_next: self.name(*no),
                });
                self.counters.conditional += 1;
            }
            Node::Run { steps, next } => {
                let table = self.run(at, steps, *next);
                pipeline.tables.push(table);
            }
            Node::Jump(_) | Node::Tail => {}
        }
    }

    fn table_id(&mut self) -> u32 {
        self.counters.table += 1;
        self.counters.table - 1
    }

    /// A sequence of primitives: a table without keys whose default action is the sequence.
    fn run(&mut self, at: usize, steps: &[Step], next: Next) -> Table {
        let name = self.names[at].clone();
        let action_name = name.strip_prefix("tbl_").unwrap_or(&name).to_owned();
        let action_id = self.actions.len() as u32;
        self.actions.push(bmv2::Action {
            name: action_name.clone(),
            id: action_id,
            runtime_data: Vec::new(),
            primitives: primitives(steps, self.sources),
        });
        let next = self.name(next);
        Table {
            name,
            id: self.table_id(),
            source_info: source_info::of(self.sources, first_span(steps)),
            size_max: TABLE_SIZE_DEFAULT,
            action_ids: vec![action_id],
            actions: vec![action_name.clone()],
            base_default_next: next.clone(),
            next_tables: NextTables::ByAction(vec![(action_name, next)]),
            default_entry: Some(DefaultEntry {
                action_id,
                action_const: true,
                action_data: Vec::new(),
                action_entry_const: true,
            }),
            ..Table::default()
        }
    }

    /// A table of the program.
    fn table(&mut self, index: usize, next: &AfterTable) -> Table {
        let flat = self.flat;
        let table = &flat.tables[index];
        let names: Vec<String> =
            table.actions.iter().map(|action| flat.actions[*action].name.clone()).collect();
        let certain = certain_entry(table);
        let next = match next {
            AfterTable::ByHit { hit, .. } if certain.is_some() => {
                &AfterTable::ByHit { hit: *hit, miss: *hit }
            }
            next => next,
        };
        let (base_default_next, next_tables) = self.next_tables(&names, next);
        let kind = self.table_kind(table);
        let entries = table.entries.as_ref().filter(|_| certain.is_none());
        let entries = entries.map(|entries| self.entries(table, entries));
        let asked = table.size.filter(|size| *size > 0).unwrap_or(TABLE_SIZE_DEFAULT);
        // Const entries are all that there will be.
        let is_const = |entry: &flat::Entry| entry.is_const.is_none();
        let size = match &table.entries {
            Some(entries) if !entries.is_empty() && entries.iter().all(is_const) => {
                entries.len() as u32
            }
            Some(entries) => asked.max(entries.len() as u32),
            None => asked,
        };
        Table {
            name: table.name.clone(),
            id: self.table_id(),
            source_info: source_info::of(self.sources, table.at),
            key: table.keys.iter().filter_map(table_key).collect(),
            match_type: match_type(table),
            size_max: size,
            with_counters: table.counter.is_some(),
            support_timeout: table.support_timeout,
            direct_meters: table.meter.map(|meter| flat.objects[meter].name.clone()),
            direct_registers: table.registers.as_ref().map(direct_registers),
            action_ids: table.actions.iter().map(|action| *action as u32).collect(),
            actions: names,
            base_default_next,
            next_tables,
            default_entry: self.default_entry(table, &kind),
            entries,
            kind,
        }
    }

    /// Where to go after the table, by hit or by action.
    fn next_tables(&self, actions: &[String], next: &AfterTable) -> (Option<String>, NextTables) {
        match next {
            AfterTable::ByHit { hit, miss } => {
                (None, NextTables::HitMiss { hit: self.name(*hit), miss: self.name(*miss) })
            }
            AfterTable::ByAction { cases, otherwise } => {
                let after = |action: usize| {
                    let case = cases.iter().find(|(case, _)| *case == action);
                    self.name(case.map_or(*otherwise, |(_, next)| *next))
                };
                let by_action =
                    actions.iter().enumerate().map(|(at, name)| (name.clone(), after(at)));
                (self.name(*otherwise), NextTables::ByAction(by_action.collect()))
            }
        }
    }

    /// Whether entries name actions, members or groups.
    fn table_kind(&self, table: &flat::Table) -> TableKind {
        let Some(profile) = table.profile else { return TableKind::Simple };
        let object = &self.flat.objects[profile];
        let action_profile = object.name.clone();
        match &object.kind {
            ObjectKind::ActionProfile { selector: Some(_), .. } => {
                TableKind::IndirectWithSelector { action_profile }
            }
            _ => TableKind::Indirect { action_profile },
        }
    }

    /// Tables with an action profile have no default action of their own on this switch.
    fn default_entry(&self, table: &flat::Table, kind: &TableKind) -> Option<DefaultEntry> {
        if let Some(entry) = certain_entry(table) {
            return Some(DefaultEntry {
                action_id: table.actions[entry.action] as u32,
                action_const: true,
                action_data: entry.data.clone(),
                action_entry_const: true,
            });
        }
        let default = table.default_action.as_ref()?;
        (*kind == TableKind::Simple).then(|| DefaultEntry {
            action_id: table.actions[default.action] as u32,
            action_const: default.is_const,
            action_data: default.data.clone(),
            action_entry_const: default.is_const,
        })
    }

    fn entries(&self, table: &flat::Table, entries: &[flat::Entry]) -> Vec<bmv2::TableEntry> {
        let entry = |entry: &flat::Entry| bmv2::TableEntry {
            source_info: source_info::of(self.sources, entry.at),
            match_key: entry.keys.clone(),
            action_id: table.actions[entry.action] as u32,
            action_data: entry.data.clone(),
            priority: entry.priority,
            is_const: entry.is_const,
        };
        entries.iter().map(entry).collect()
    }

    /// The profiles of this pipeline's tables; one that both use is ingress's.
    fn action_profiles(&self, pipeline: usize) -> Vec<bmv2::ActionProfile> {
        let first_user = |profile: usize| {
            let users = self.flat.tables.iter().filter(|table| table.profile == Some(profile));
            users.map(|table| table.pipeline).min()
        };
        let mut profiles = Vec::new();
        let mut id = 0;
        for (index, object) in self.flat.objects.iter().enumerate() {
            let ObjectKind::ActionProfile { size, selector } = &object.kind else { continue };
            if first_user(index) == Some(pipeline) {
                profiles.push(bmv2::ActionProfile {
                    name: object.name.clone(),
                    id,
                    source_info: source_info::of(self.sources, object.at),
                    size_max: *size,
                    selector: selector.as_ref().map(|(algorithm, input)| bmv2::Selector {
                        algorithm: algorithm.clone(),
                        input: input.clone(),
                    }),
                });
            }
            id += 1;
        }
        profiles
    }
}

/// The switch walks a control forward: no node may lead back to itself.
fn circle(flat: &Flat, node: &Node) -> Diagnostic {
    match node {
        Node::Apply { table, at, .. } => {
            let name = &flat.tables[table.0].name;
            let title = format!("`{name}` would be applied again after it has been applied");
            Diagnostic::error(super::lowering::TARGET, *at, title)
                .label("this table is reached from itself")
                .hint(
                    "a packet meets each table once on this switch: apply a second table with the \
                     same actions",
                )
        }
        Node::Branch { at, .. } => {
            Diagnostic::error(super::lowering::TARGET, *at, "this loop cannot be left by a return")
                .hint("break out of the loop and return behind it")
        }
        Node::Jump(_) | Node::Run { .. } | Node::Tail => Diagnostic::error(
            super::lowering::TARGET,
            Span::NONE,
            "a control that goes round cannot run on this switch",
        ),
    }
}

/// The first place that the user wrote.
fn first_span(steps: &[Step]) -> Span {
    let spans = steps.iter().map(|step| match step {
        Step::Run(_, at) | Step::Exit(at) | Step::If { at, .. } => *at,
        Step::Block { body, .. } | Step::Loop(body) => first_span(body),
        Step::Apply(_) | Step::Leave(_) | Step::Parse(_) => Span::NONE,
    });
    spans.into_iter().find(|at| *at != Span::NONE).unwrap_or(Span::NONE)
}

/// Names in use. Macros put thousands of statements on one line, which all want the same name, so
/// each name remembers the number to try next.
#[derive(Default)]
struct TakenNames {
    names: BTreeSet<String>,
    next: BTreeMap<String, usize>,
}

impl TakenNames {
    /// The name, or with the lowest number behind it that makes it free.
    fn take(&mut self, wanted: String) -> String {
        let next = self.next.entry(wanted.clone()).or_default();
        let mut name = wanted.clone();
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{next}");
            *next += 1;
        }
        name
    }
}

/// The entry that every packet hits, where a table has entries but no key that the switch looks at.
/// simple_switch takes no entries without a key, so this one is the table's default entry.
fn certain_entry(table: &flat::Table) -> Option<&flat::Entry> {
    let has_key = table.keys.iter().any(|key| key.target.is_some());
    let entries = table.entries.as_ref().filter(|_| !has_key)?;
    entries.iter().min_by_key(|entry| entry.priority)
}

/// A key as the switch compares it, if it does.
fn table_key(key: &flat::Key) -> Option<bmv2::TableKey> {
    let target = key.target.clone()?;
    Some(bmv2::TableKey {
        match_type: key_match_type(key.match_kind),
        name: Some(key.name.clone()),
        target: Some(target),
        mask: None,
    })
}

/// The switch has no optional keys; a ternary key with all bits or none says the same.
fn key_match_type(kind: MatchKind) -> bmv2::MatchType {
    match kind {
        MatchKind::Exact => bmv2::MatchType::Exact,
        MatchKind::Lpm => bmv2::MatchType::Lpm,
        MatchKind::Optional | MatchKind::Ternary => bmv2::MatchType::Ternary,
        MatchKind::Range => bmv2::MatchType::Range,
    }
}

fn direct_registers(direct: &flat::DirectRegisters) -> DirectRegisters {
    DirectRegisters { number: direct.number.clone(), arrays: direct.arrays.clone() }
}

/// The kind of lookup a table needs: that of the most general key that the switch looks at.
fn match_type(table: &flat::Table) -> bmv2::MatchType {
    let seen = || table.keys.iter().filter(|key| key.target.is_some());
    let has = |kind: MatchKind| seen().any(|key| key.match_kind == kind);
    if has(MatchKind::Range) {
        bmv2::MatchType::Range
    } else if has(MatchKind::Ternary) || has(MatchKind::Optional) {
        bmv2::MatchType::Ternary
    } else if has(MatchKind::Lpm) {
        bmv2::MatchType::Lpm
    } else {
        bmv2::MatchType::Exact
    }
}

#[cfg(test)]
mod tests {
    use super::TakenNames;

    #[test]
    fn names_of_one_line_are_found_in_linear_time() {
        let mut taken = TakenNames::default();
        taken.names.insert("l1_1".to_owned());
        let names: Vec<String> = (0..1000).map(|_| taken.take("l1".to_owned())).collect();
        assert_eq!(names[..4], ["l1", "l1_0", "l1_2", "l1_3"]);
        assert_eq!(names[999], "l1_999");
        // No number was tried twice.
        assert_eq!(taken.next["l1"], 1000);
    }
}
