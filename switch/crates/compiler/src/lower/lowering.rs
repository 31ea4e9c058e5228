//! State shared by the flattening passes. In four parts, so that it is clear who may change what:
//! [`Input`] is only read; [`Flat`] and the diagnostics are only written; [`Made`] maps
//! declarations to their parts of the flat program; [`Local`] holds one block of the architecture,
//! and is gone with it.
//!
//! This file is the bottom layer: it allocates, and appends steps. The meaning of values, places
//! and calls is in the files that add methods to [`Lowering`].

use std::collections::{BTreeMap, BTreeSet};

use bmv2::{FieldRef, Parameter, ParserOperation, PrimitiveCall};

use super::flat::{Flat, Scope};
use super::local::Local;
use super::step::{Label, Step, TableId};
use super::storage::{Leaf, SCALARS, STACK_SIZE_MAX, StorageError, leaf};
use super::value::{ObjectRef, ScopeId, Value};
use crate::architecture::{BlockKind, Passed};
use crate::types::tree::{self, Id, Type};
use syntax::{Diagnostic, Diagnostics, SourceMap, Span};

/// A program that needs more steps than this once everything is inlined is refused: nested
/// functions can double it with every level.
const STEP_COUNT_MAX: usize = 500_000;

/// The code for P4 that simple_switch cannot run.
pub const TARGET: &str = "target";

/// A parameter of one instance.
pub type ParameterOf = (ObjectRef, Id<tree::Variable>);

pub struct Input<'a> {
    pub program: &'a tree::Program,
    /// The program's text, for source places.
    pub sources: &'a SourceMap,
    /// Functions that v1model does not know are passed on to the switch.
    pub emits_externs: bool,
    /// Parameters that get different arguments in different places, as earlier rounds of
    /// flattening found out, and so are copied.
    pub copied: &'a BTreeSet<ParameterOf>,
    /// Instances that belong to no control or parser: those declared at the top level, and the
    /// blocks given to the package.
    pub top_level: BTreeSet<Id<tree::Instance>>,
}

/// The parts of the flat program that belong to each declaration.
#[derive(Default)]
pub struct Made {
    /// Where declared variables live; kept when a body is inlined again, because only one copy of
    /// a body is live at a time.
    pub places: BTreeMap<Id<tree::Variable>, Value>,
    /// The instantiations of controls and parsers.
    pub scopes: BTreeMap<ObjectRef, ScopeId>,
    /// Indexes into [`Flat::objects`].
    pub objects: BTreeMap<ObjectRef, usize>,
    /// The fields of Tofino's parser counters.
    pub parser_counters: BTreeMap<ObjectRef, bmv2::FieldRef>,
    /// The fields in which the cells of Tofino's direct registers are numbered.
    pub cell_numbers: BTreeMap<ObjectRef, bmv2::FieldRef>,
    pub tables: BTreeMap<(ScopeId, Id<tree::Table>), TableId>,
    /// Actions without arguments of their own, by scope, declaration and pipeline.
    pub actions: BTreeMap<(ScopeId, Id<tree::Action>, usize), usize>,
    /// Lists of fields by their number in `@field_list`.
    pub field_lists: BTreeMap<u32, u32>,
    /// The data that blocks share, and its type.
    pub shared: Vec<(Passed, tree::Type, Value)>,
    /// The argument of each parameter of an instance when it was first applied.
    pub passed_before: BTreeMap<ParameterOf, Value>,
    /// Parameters that turned out to get something else later. If any is not in [`Input::copied`],
    /// the program is flattened again.
    pub differing: BTreeSet<ParameterOf>,
    label_count: usize,
    step_count: usize,
}

pub struct Lowering<'a> {
    pub input: Input<'a>,
    pub flat: Flat,
    pub diagnostics: &'a mut Diagnostics,
    pub made: Made,
    pub local: Local,
}

impl<'a> Input<'a> {
    pub fn new(
        program: &'a tree::Program,
        sources: &'a SourceMap,
        emits_externs: bool,
        copied: &'a BTreeSet<ParameterOf>,
    ) -> Input<'a> {
        let declared = program.top_level.iter().filter_map(|declaration| match declaration {
            tree::LocalDeclaration::Instance(instance) => Some(*instance),
            _ => None,
        });
        let blocks = program.architecture().map_or(&[][..], |architecture| architecture.blocks);
        let blocks = blocks.iter().filter_map(|block| program.instance_at(block.position));
        let top_level = declared.chain(blocks).collect();
        Input { program, sources, emits_externs, copied, top_level }
    }
}

impl<'a> Lowering<'a> {
    /// Nothing flattened yet.
    pub fn new(input: Input<'a>, diagnostics: &'a mut Diagnostics) -> Lowering<'a> {
        let root = Scope { name: String::new(), of: None, parent: ScopeId(0), instance: None };
        Lowering {
            input,
            flat: Flat { scopes: vec![root], ..Flat::default() },
            diagnostics,
            made: Made::default(),
            local: Local::new(BlockKind::Parser),
        }
    }

    /// Says that simple_switch cannot do something, and what to do instead.
    pub fn unsupported(&mut self, at: Span, title: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(TARGET, at, title).hint(hint));
    }

    /// The name of a new block end.
    pub fn new_label(&mut self) -> Label {
        self.made.label_count += 1;
        Label(self.made.label_count)
    }

    /// Adds a step, unless the program has become too large.
    pub fn push(&mut self, step: Step) {
        if self.charge(1) {
            self.local.steps.push(step);
        }
    }

    /// Charges this many steps; false once the program has become too large.
    pub fn charge(&mut self, step_count: usize) -> bool {
        let was_exhausted = self.is_exhausted();
        self.made.step_count = self.made.step_count.saturating_add(step_count);
        if self.is_exhausted() && !was_exhausted {
            self.unsupported(
                Span::NONE,
                "the program is too large once its calls are inlined",
                format!(
                    "more than {STEP_COUNT_MAX} steps are needed; functions that call functions \
                     several times multiply"
                ),
            );
        }
        !self.is_exhausted()
    }

    /// Whether the limit on steps has been reached; inlining must then come to an end.
    pub fn is_exhausted(&self) -> bool {
        self.made.step_count >= STEP_COUNT_MAX
    }

    /// The steps that `write` adds, apart.
    pub fn steps_of(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Step> {
        let outer = std::mem::take(&mut self.local.steps);
        self.local.nesting += 1;
        write(self);
        self.local.nesting -= 1;
        std::mem::replace(&mut self.local.steps, outer)
    }

    pub fn run(&mut self, operation: &str, parameters: Vec<Parameter>, at: Span) {
        let source_info = super::source_info::of(self.input.sources, at);
        let call = PrimitiveCall { operation: operation.to_owned(), parameters, source_info };
        self.push(Step::Run(call, at));
    }

    pub fn parse(&mut self, operation: ParserOperation) {
        self.push(Step::Parse(operation));
    }

    /// Allocates a place for a variable. A type that cannot be stored is reported and has no place.
    pub fn allocate(&mut self, name: &str, ty: &Type, at: Span) -> Value {
        match self.flat.storage.allocate(self.input.program, name, ty) {
            Ok(place) => place,
            Err(error) => {
                self.storage_error(error, at);
                Value::Void
            }
        }
    }

    /// Reports what cannot be stored.
    pub fn storage_error(&mut self, error: StorageError, at: Span) {
        match error {
            StorageError::TooManyHeaders => self.unsupported(
                at,
                "the program needs too many headers",
                "make the header stacks smaller, or use fewer of them",
            ),
            StorageError::StackTooLong(size) => self.unsupported(
                at,
                format!("a stack of {size} headers is too long for this switch"),
                format!("a stack has at most {STACK_SIZE_MAX} elements"),
            ),
            // A type that was reported by the front end already.
            StorageError::Type(Type::Wrong) => {}
            StorageError::Type(_) => self.unsupported(
                at,
                "values of this type cannot be stored on this switch",
                "use bit, int, bool, varbit, enum, error, or headers and structs of these",
            ),
        }
    }

    /// A new place for an intermediate value.
    pub fn temporary(&mut self, ty: &Type, at: Span) -> Value {
        self.allocate("tmp", ty, at)
    }

    /// A new field for a number of this kind.
    pub fn temporary_field(&mut self, kind: Leaf) -> FieldRef {
        let name = self.flat.storage.unique_name("tmp");
        self.flat.storage.scalars.push(super::storage::Field { name: name.clone(), kind });
        FieldRef::new(SCALARS, name)
    }

    /// The kind of field for values of a type; a bit for types already reported.
    pub fn leaf_of(&self, ty: &Type) -> Leaf {
        leaf(self.input.program, ty).unwrap_or(Leaf::Bool)
    }
}
