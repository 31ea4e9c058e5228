//! The flat program: no instances, calls or structured values are left, only what the switch has.
//!
//! Names here are control-plane names. Everything stands in the order in which the program is
//! elaborated: parser, checksum verification, ingress, egress, checksum update, deparser; inside
//! a control in the order of the text, with a sub-control at the place of its instance.

use std::collections::{BTreeMap, BTreeSet};

use bits::Int;
use bmv2::{Checksum, FieldRef, MatchKey, ParseValueSet, TransitionKey};

use super::step::Step;
use super::storage::Storage;
use super::value::{ObjectRef, ScopeId};
use crate::types::tree::{self, MatchKind};
use syntax::Span;

#[derive(Clone, Debug, Default)]
pub struct Flat {
    pub storage: Storage,
    /// Metadata that the switch itself reads and writes.
    pub intrinsic: Vec<Intrinsic>,
    /// The states of the parser that is being written.
    pub parser: Vec<State>,
    /// All parsers that are written.
    pub parsers: Vec<Parser>,
    /// The names of their states.
    pub state_names: StateNames,
    /// The order in which headers are emitted, and steps in between.
    pub deparsers: Vec<Deparser>,
    /// Ingress and egress.
    pub pipelines: [Pipeline; 2],
    /// Actions that tables may run.
    pub actions: Vec<Action>,
    /// Actions that are run by tables or called.
    pub used_actions: Vec<UsedAction>,
    /// Tables that are applied.
    pub tables: Vec<Table>,
    pub objects: Vec<Object>,
    /// Objects that only an extended switch has.
    pub foreign: Vec<bmv2::ExternInstance>,
    pub value_sets: Vec<ValueSet>,
    /// Checksums, with their calculations in `calculations`.
    pub checksums: Vec<Checksum>,
    /// Of hashes and checksums.
    pub calculations: Vec<bmv2::Calculation>,
    /// The fields that copies of a packet keep.
    pub field_lists: Vec<bmv2::FieldList>,
    /// The contents of digests.
    pub learn_lists: Vec<bmv2::FieldList>,
    /// Names the switch knows fields by.
    pub field_aliases: Vec<bmv2::FieldAlias>,
    /// Digests for the controller.
    pub digests: Vec<Digest>,
    /// Whether a control calls any extern function: p4c then writes an empty `type_info`.
    pub calls_extern_function: bool,
    /// The instances, for the controller's view.
    pub scopes: Vec<Scope>,
}

/// Names of parser states: all sub-parsers share one name space.
#[derive(Clone, Debug, Default)]
pub struct StateNames {
    taken: BTreeSet<String>,
    /// The next number behind a name; those before it are taken.
    next: BTreeMap<String, u32>,
}

impl StateNames {
    /// `wanted`, or with the first unused number behind it.
    pub fn unique(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let next = self.next.entry(wanted.to_owned()).or_default();
        loop {
            let name = format!("{wanted}_{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// One instantiation of a control or parser.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The control-plane prefix of its declarations.
    pub name: String,
    /// Which control or parser; `None` for the top level.
    pub of: Option<tree::InstanceKind>,
    pub parent: ScopeId,
    /// Its position among what `parent` declares: the instance.
    pub instance: Option<tree::Id<tree::Instance>>,
}

/// Metadata that the switch itself reads and writes.
#[derive(Clone, Debug)]
pub struct Intrinsic {
    /// The name by which the switch knows it.
    pub name: &'static str,
    /// The name of its type in BMv2 JSON.
    pub type_name: String,
    pub fields: Vec<super::storage::Field>,
}

#[derive(Clone, Debug)]
pub struct Parser {
    pub name: &'static str,
    /// Empty where no packet is parsed.
    pub states: Vec<State>,
}

#[derive(Clone, Debug)]
pub struct State {
    /// Its name, unique in the program.
    pub name: String,
    pub steps: Vec<Step>,
    pub next: Next,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// To one place.
    Always(Goal),
    /// By a key.
    Select {
        key: Vec<TransitionKey>,
        /// In order of priority.
        cases: Vec<Case>,
    },
}

/// A case of a parser's choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub matches: bmv2::TransitionMatch,
    pub goal: Goal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Index into [`Flat::parser`].
    State(usize),
    Stop,
}

#[derive(Clone, Debug, Default)]
pub struct Deparser {
    pub name: &'static str,
    /// Whether it may decide what it does before it emits.
    pub may_branch: bool,
    pub order: Vec<String>,
    /// Steps before emitting.
    pub steps: Vec<Step>,
    pub at: Option<Span>,
}

/// Ingress or egress.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    pub steps: Vec<Step>,
    pub at: Option<Span>,
}

/// An action of a table.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its control-plane name.
    pub name: String,
    pub of: tree::Id<tree::Action>,
    /// Names and widths of the control plane's arguments.
    pub parameters: Vec<(String, u32)>,
    pub steps: Vec<Step>,
}

/// An action of the program that something uses.
#[derive(Clone, Debug)]
pub struct UsedAction {
    /// Its control-plane name.
    pub name: String,
    pub of: tree::Id<tree::Action>,
    pub scope: ScopeId,
    /// The control that uses it: `scope` itself, unless the action stands at the top level.
    pub user: ScopeId,
    /// Whether a table has it; one that is only called gets nothing from the control plane.
    pub in_table: bool,
}

#[derive(Clone, Debug)]
pub struct Table {
    /// Its control-plane name.
    pub name: String,
    pub of: tree::Id<tree::Table>,
    pub scope: ScopeId,
    /// 0 for ingress, 1 for egress.
    pub pipeline: usize,
    /// Its keys; those with the match kind `selector` are in the selector instead.
    pub keys: Vec<Key>,
    /// Indexes into [`Flat::actions`], in the order of the declaration's list.
    pub actions: Vec<usize>,
    /// The action on a miss.
    pub default_action: Option<DefaultAction>,
    pub entries: Option<Vec<Entry>>,
    /// `size`, if said.
    pub size: Option<u32>,
    /// Index into [`Flat::objects`]: the action profile or selector.
    pub profile: Option<usize>,
    /// Index into [`Flat::objects`]: the direct counter.
    pub counter: Option<usize>,
    /// Index into [`Flat::objects`]: the direct meter.
    pub meter: Option<usize>,
    /// Tofino's direct registers.
    pub registers: Option<DirectRegisters>,
    /// The selector keys that are no fields, by their index in the declaration, and the fields that
    /// hold them.
    pub selector_inputs: Vec<(usize, FieldRef)>,
    pub support_timeout: bool,
    pub at: Span,
}

/// Registers whose cells belong to the entries of a table.
#[derive(Clone, Debug)]
pub struct DirectRegisters {
    /// Where the switch puts the number of the entry that a packet hits.
    pub number: FieldRef,
    /// Their arrays.
    pub arrays: Vec<String>,
}

/// A key of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its control-plane name.
    pub name: String,
    pub match_kind: MatchKind,
    /// The field that the switch compares; none for a `bit<0>`, which has one value and always
    /// matches. Controllers see the key nevertheless.
    pub target: Option<FieldRef>,
    /// Index into the declaration's keys.
    pub index: usize,
}

/// The default action of a table.
#[derive(Clone, Debug)]
pub struct DefaultAction {
    /// Index into [`Table::actions`].
    pub action: usize,
    /// The control plane's arguments.
    pub data: Vec<Int>,
    pub is_const: bool,
}

/// An entry of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    pub keys: Vec<MatchKey>,
    /// Index into [`Table::actions`].
    pub action: usize,
    /// The control plane's arguments.
    pub data: Vec<Int>,
    /// As the program says it, if it does.
    pub priority: i32,
    /// Whether it is const, in a table whose entries are not.
    pub is_const: Option<bool>,
    pub at: Span,
}

#[derive(Clone, Debug)]
pub struct Object {
    /// Its control-plane name.
    pub name: String,
    pub of: ObjectRef,
    pub kind: ObjectKind,
    pub at: Span,
}

/// The kind of an extern object.
#[derive(Clone, Debug)]
pub enum ObjectKind {
    /// `action_profile` or `action_selector`.
    ActionProfile {
        size: u32,
        /// The algorithm of a selector, and what it hashes once a table says so.
        selector: Option<(String, Vec<FieldRef>)>,
    },
    /// Messages of programs to controllers.
    Digest {
        /// The type of a message.
        element: tree::Type,
    },
    /// An extern instance of the switch.
    Instance,
    /// `counter`.
    Counter {
        size: u32,
        /// Its unit: the name of the enumerator.
        unit: String,
    },
    /// `direct_counter`.
    DirectCounter { unit: String, table: Option<usize> },
    /// `direct_meter`.
    DirectMeter {
        unit: String,
        table: Option<usize>,
        /// Where its result goes.
        result: Option<FieldRef>,
    },
    /// `meter`.
    Meter { size: u32, unit: String },
    /// `register`.
    Register {
        size: u32,
        /// The type of a cell.
        element: tree::Type,
        /// The initial value of the cells.
        initial: Int,
    },
}

#[derive(Clone, Debug)]
pub struct ValueSet {
    /// As the switch has it.
    pub set: ParseValueSet,
    pub of: tree::Id<tree::ValueSet>,
}

/// A digest for the controller.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Its control-plane name.
    pub name: String,
    pub ty: tree::Type,
}

#[cfg(test)]
mod tests {
    use super::StateNames;

    #[test]
    fn states_of_one_name_are_numbered_around_those_that_have_numbers() {
        let mut names = StateNames::default();
        let wanted = ["start", "start", "start_1", "start", "start_1"];
        let given = wanted.map(|name| names.unique(name));
        assert_eq!(given, ["start", "start_0", "start_1", "start_2", "start_1_0"]);
    }
}
