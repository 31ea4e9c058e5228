//! What the flattening passes share: the program, the storage, the bindings of variables, and the
//! steps being written.
//!
//! Variables are bound by id in one map. That is enough because P4 has no recursion: while a body
//! is being inlined, none of its variables can be in use by an enclosing copy of the same body.

use std::collections::{BTreeMap, BTreeSet};

use bmv2::{Expression, FieldRef, Parameter, ParserOperation, PrimitiveCall};

use super::flat::{Flat, Scope};
use super::place::Target;
use super::step::{Label, Step, TableId};
use super::storage::{HeaderId, Leaf, SCALARS, StorageError, leaf};
use super::value::{HeaderRef, ObjectRef, ScopeId, UnionRef, Value, number_of};
use crate::types::tree::{self, Id, Type};
use syntax::{Diagnostic, Diagnostics, SourceMap, Span};

/// A program that needs more steps than this once everything is inlined is refused: nested
/// functions can double it with every level.
const STEP_COUNT_MAX: usize = 500_000;

/// The code for what P4 allows and simple_switch cannot do.
pub const TARGET: &str = "target";

/// The block of the architecture that is being flattened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Writes checksums.
    ComputeChecksum,
    /// Emits headers.
    Deparser,
    /// Behind the queues.
    Egress,
    /// In front of the queues.
    Ingress,
    /// Reads headers.
    Parser,
    /// Checks checksums.
    VerifyChecksum,
}

/// What surrounds the steps of one body.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The end of the body.
    pub end: Option<Label>,
    /// Where the result of a function goes.
    pub result: Option<Value>,
    /// Ends and continuations of the loops around, innermost last.
    pub loops: Vec<(Label, Label)>,
}

/// The state of flattening.
pub struct Lowering<'a> {
    /// The typed program.
    pub program: &'a tree::Program,
    /// Its text, for source places.
    pub sources: &'a SourceMap,
    /// Messages.
    pub diagnostics: &'a mut Diagnostics,
    /// What has been made so far.
    pub flat: Flat,
    /// What variables, parameters and constructor parameters stand for.
    pub bindings: BTreeMap<Id<tree::Variable>, Value>,
    /// Where declared variables live; kept when a body is inlined again, because only one copy of
    /// a body is live at a time.
    pub places: BTreeMap<Id<tree::Variable>, Value>,
    /// The steps of the block being written.
    pub steps: Vec<Step>,
    /// The block of the architecture.
    pub block: BlockKind,
    /// The instantiation whose body is being flattened.
    pub scope: ScopeId,
    /// Instances declared at the top level.
    pub top_level: BTreeSet<Id<tree::Instance>>,
    /// The instantiations of controls and parsers, by instance.
    pub scopes: BTreeMap<ObjectRef, ScopeId>,
    /// Extern objects, by instance.
    pub objects: BTreeMap<ObjectRef, usize>,
    /// Tables already made.
    pub tables: BTreeMap<(ScopeId, Id<tree::Table>), TableId>,
    /// Actions already made, those without arguments of their own.
    pub actions: BTreeMap<(ScopeId, Id<tree::Action>, usize), usize>,
    /// The body around.
    pub frame: Frame,
    /// What must be copied to callers before `exit`, outermost call first.
    pub copies_out: Vec<Vec<(Target, Value, Type)>>,
    /// Members of `field_list` annotations by number.
    pub field_lists: BTreeMap<u32, u32>,
    /// Whether places being evaluated are used later than at once, so that a variable index has
    /// to be kept apart from its variable.
    pub pins_indexes: bool,
    /// What holds where the checksum functions being flattened are called.
    pub checksum_condition: Expression,
    /// Names of the headers emitted so far.
    pub emitted: Vec<String>,
    /// Functions that v1model does not know are passed on to the switch.
    pub emits_externs: bool,
    /// Parameters of instances that get different arguments in different places, and so are copied.
    /// Grows while flattening; a program that made it grow is flattened again.
    pub copied: BTreeSet<(ObjectRef, Id<tree::Variable>)>,
    /// What each parameter of an instance was given when it was first applied.
    pub passed_before: BTreeMap<(ObjectRef, Id<tree::Variable>), Value>,
    /// Standard metadata, as all blocks share it.
    pub standard_metadata: Value,
    /// How many actions, one called by the other, are being written.
    pub action_depth: usize,
    /// How many nested blocks of steps are being written.
    pub nesting: usize,
    /// The states of the parser being flattened; see `parser`.
    pub parsing: super::parser::Parsing,
    label_count: usize,
    step_count: usize,
}

impl<'a> Lowering<'a> {
    /// Nothing flattened yet.
    pub fn new(
        program: &'a tree::Program,
        sources: &'a SourceMap,
        diagnostics: &'a mut Diagnostics,
    ) -> Lowering<'a> {
        let top_level = program.top_level.iter().filter_map(|declaration| match declaration {
            tree::LocalDeclaration::Instance(instance) => Some(*instance),
            _ => None,
        });
        let root = Scope { name: String::new(), of: None, parent: ScopeId(0), instance: None };
        Lowering {
            program,
            sources,
            diagnostics,
            flat: Flat { scopes: vec![root], ..Flat::default() },
            bindings: BTreeMap::new(),
            places: BTreeMap::new(),
            steps: Vec::new(),
            block: BlockKind::Parser,
            scope: ScopeId(0),
            top_level: top_level.collect(),
            scopes: BTreeMap::new(),
            objects: BTreeMap::new(),
            tables: BTreeMap::new(),
            actions: BTreeMap::new(),
            frame: Frame::default(),
            copies_out: Vec::new(),
            field_lists: BTreeMap::new(),
            pins_indexes: false,
            checksum_condition: Expression::Bool(true),
            emitted: Vec::new(),
            emits_externs: false,
            copied: BTreeSet::new(),
            passed_before: BTreeMap::new(),
            standard_metadata: Value::Void,
            action_depth: 0,
            nesting: 0,
            parsing: super::parser::Parsing::default(),
            label_count: 0,
            step_count: 0,
        }
    }

    /// Says that simple_switch cannot do something, and what to do instead.
    pub fn unsupported(&mut self, at: Span, title: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(TARGET, at, title).hint(hint));
    }

    /// The name of a new block end.
    pub fn new_label(&mut self) -> Label {
        self.label_count += 1;
        Label(self.label_count)
    }

    /// Adds a step, unless the program has become too large.
    pub fn push(&mut self, step: Step) {
        self.step_count += 1;
        if self.step_count < STEP_COUNT_MAX {
            self.steps.push(step);
        } else if self.step_count == STEP_COUNT_MAX {
            self.unsupported(
                Span::NONE,
                "the program is too large once its calls are inlined",
                format!(
                    "more than {STEP_COUNT_MAX} steps are needed; functions that call functions \
                     several times multiply"
                ),
            );
        }
    }

    /// Whether the limit on steps has been reached; inlining must then come to an end.
    pub fn is_exhausted(&self) -> bool {
        self.step_count >= STEP_COUNT_MAX
    }

    /// The steps that `write` adds, apart.
    pub fn steps_of(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Step> {
        let outer = std::mem::take(&mut self.steps);
        self.nesting += 1;
        write(self);
        self.nesting -= 1;
        std::mem::replace(&mut self.steps, outer)
    }

    /// Calls a primitive.
    pub fn run(&mut self, operation: &str, parameters: Vec<Parameter>, at: Span) {
        let source_info = super::source_info::of(self.sources, at);
        let call = PrimitiveCall { operation: operation.to_owned(), parameters, source_info };
        self.push(Step::Run(call, at));
    }

    /// Reads the packet.
    pub fn parse(&mut self, operation: ParserOperation) {
        self.push(Step::Parse(operation));
    }

    /// Allocates a place for a variable. What cannot be stored is reported and stands for nothing.
    pub fn allocate(&mut self, name: &str, ty: &Type, at: Span) -> Value {
        match self.flat.storage.allocate(self.program, name, ty) {
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

    /// What kind of field holds values of a type; a bit for what was reported already.
    pub fn leaf_of(&self, ty: &Type) -> Leaf {
        leaf(self.program, ty).unwrap_or(Leaf::Bool)
    }

    /// Copies a value so that later steps cannot change it.
    pub fn freeze(&mut self, value: Value, ty: &Type, at: Span) -> Value {
        if value.is_constant() {
            return value;
        }
        let copy = self.temporary(ty, at);
        self.assign_value(&copy, &value, ty, at);
        copy
    }

    /// The values of a header's fields.
    pub fn header_fields(&self, header: &HeaderRef) -> Vec<Value> {
        let ty = self.flat.storage.type_of(header);
        let mut leaves = ty.fields.iter().enumerate().map(|(at, field)| {
            let place = self.header_field(header, at as u32, &field.name);
            match (field.kind, place) {
                (Leaf::Varbit { .. }, Expression::Field(field)) => Value::Varbit(field),
                (Leaf::Bool, place) => Value::Bool(super::value::truth_of(place)),
                (_, place) => Value::Number(place),
            }
        });
        let fields = &self.program.structs[ty.of].fields;
        fields.iter().map(|field| self.shape(&field.ty, &mut leaves)).collect()
    }

    /// A field of a header, however the header is named.
    fn header_field(&self, header: &HeaderRef, index: u32, name: &str) -> Expression {
        match header {
            HeaderRef::Instance(id) => {
                Expression::Field(FieldRef::new(self.flat.storage.header_name(*id), name))
            }
            HeaderRef::Last(stack) => Expression::StackField {
                stack: self.flat.storage.stacks[stack.0].name.clone(),
                field: name.to_owned(),
            },
            HeaderRef::At { .. } | HeaderRef::Next(_) | HeaderRef::OfUnion { .. } => {
                Expression::AccessField {
                    header: Box::new(self.header_expression(header)),
                    field: index,
                }
            }
        }
    }

    /// Puts leaves together in the shape of a type.
    fn shape(&self, ty: &Type, leaves: &mut impl Iterator<Item = Value>) -> Value {
        match ty {
            Type::New(id) => self.shape(&self.program.new_types[*id].original, leaves),
            Type::Struct(id) => {
                let fields = &self.program.structs[*id].fields;
                Value::Struct(fields.iter().map(|field| self.shape(&field.ty, leaves)).collect())
            }
            _ => leaves.next().unwrap_or(Value::Void),
        }
    }

    /// A header as an operand.
    pub fn header_expression(&self, header: &HeaderRef) -> Expression {
        let storage = &self.flat.storage;
        match header {
            HeaderRef::At { stack, index } => super::value::binary(
                bmv2::BinaryOperator::DereferenceHeaderStack,
                Expression::HeaderStack(storage.stacks[stack.0].name.clone()),
                super::place::bounded(index, storage.stacks[stack.0].elements.len()),
            ),
            HeaderRef::Instance(id) => Expression::Header(storage.header_name(*id).to_owned()),
            HeaderRef::Last(stack) | HeaderRef::Next(stack) => {
                let found = &storage.stacks[stack.0];
                let stack = Expression::HeaderStack(found.name.clone());
                let is_next = matches!(header, HeaderRef::Next(_));
                let index = super::place::end_index(&stack, is_next, found.elements.len());
                super::value::binary(bmv2::BinaryOperator::DereferenceHeaderStack, stack, index)
            }
            HeaderRef::OfUnion { union, member } => Expression::AccessUnionHeader {
                union: Box::new(self.union_expression(union)),
                member: *member as u32,
            },
        }
    }

    /// A union as an operand.
    pub fn union_expression(&self, union: &UnionRef) -> Expression {
        let storage = &self.flat.storage;
        let (stack, index) = match union {
            UnionRef::Instance(id) => {
                return Expression::HeaderUnion(storage.unions[id.0].name.clone());
            }
            UnionRef::At { stack, index } => {
                let size = storage.union_stacks[stack.0].elements.len();
                (stack, super::place::bounded(index, size))
            }
            UnionRef::Last(stack) | UnionRef::Next(stack) => {
                let found = &storage.union_stacks[stack.0];
                let name = Expression::HeaderUnionStack(found.name.clone());
                let is_next = matches!(union, UnionRef::Next(_));
                (stack, super::place::end_index(&name, is_next, found.elements.len()))
            }
        };
        let name = storage.union_stacks[stack.0].name.clone();
        super::value::binary(
            bmv2::BinaryOperator::DereferenceUnionStack,
            Expression::HeaderUnionStack(name),
            index,
        )
    }

    /// The member of a union.
    pub fn union_member(&self, union: &UnionRef, member: usize) -> HeaderRef {
        match union {
            UnionRef::Instance(id) => {
                HeaderRef::Instance(self.flat.storage.unions[id.0].members[member])
            }
            union => HeaderRef::OfUnion { union: Box::new(union.clone()), member },
        }
    }

    /// Element 0 first.
    pub fn stack_elements(&self, stack: super::storage::StackId) -> Vec<HeaderId> {
        self.flat.storage.stacks[stack.0].elements.clone()
    }
}

/// An expression as the argument of a primitive.
pub fn parameter(expression: Expression) -> Parameter {
    match expression {
        Expression::Local(index) => Parameter::RuntimeData(index),
        expression => Parameter::Expression(expression),
    }
}

/// A value as the argument of a primitive; truth values as numbers.
pub fn data_parameter(value: Value) -> Parameter {
    match value {
        Value::Bool(truth) => parameter(number_of(truth)),
        Value::Number(number) => parameter(number),
        Value::Text(text) => Parameter::String(text.to_string()),
        Value::Varbit(field) => parameter(Expression::Field(field)),
        _ => parameter(super::value::hex(0)),
    }
}
