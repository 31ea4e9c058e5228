//! The typed tree: the program as it is meant. The front end makes it, the back end lowers it.
//!
//! Everything lives in the arenas of [`Program`] and is named by an [`Id`]: a variable, a table or
//! a parser is the same thing exactly when its id is the same. Names are kept for output only.
//!
//! # The front end's work
//!
//! * Names are resolved; every [`Expression`] has its type; places (`Span`) are kept everywhere.
//! * Generics are gone: each use of a generic struct, header, extern or function with other type
//!   arguments has its own [`Struct`], [`Extern`] or [`Function`]. `typedef`s are gone; `type`s stay
//!   ([`Type::New`]), because the control plane sees them.
//! * Overloads are picked. The arguments of every call stand in the order of the parameters, one
//!   each: named arguments are sorted, defaults filled in, left-out optional ones are
//!   [`Argument::Omitted`], `_` is [`Argument::DontCare`].
//! * Implicit casts are [`ExpressionKind::Cast`]s or, on constants, done. `{...}` is a
//!   [`ExpressionKind::Aggregate`] of the type it is used as, with every field present and in
//!   order (`...` filled with default values; `{#}` is [`ExpressionKind::InvalidHeader`]).
//! * Constants are folded wherever all operands are known: `const` names, literals, sizes of
//!   types, `minSizeInBits()`, `stack.size`. No expression of type [`Type::Integer`] is left
//!   outside of constants and constructor parameters.
//! * `x op= y` is `x = x op y` (an index with side effects is kept in a variable first);
//!   `Type.apply(...)` applies an anonymous instance ([`Instance::is_direct`]); a constructor call
//!   as an argument is an instance without a name.
//! * A `select` case has one [`Keyset`] a subject, a `switch` label is a value or an action, an
//!   entry has one keyset a key. A missing `transition` goes to `reject`. A table without
//!   `default_action` has `NoAction` as its default and in its list
//!   ([`TableAction::is_implied`]); without a `size` none is invented.
//! * Semantic checks are done: a program without errors needs none of them again.
//!
//! # The back end's work
//!
//! * Instances are not elaborated: a control's body exists once, however often it is instantiated.
//!   Constructor parameters are [`VariableKind::ConstructorParameter`] variables; substitute the
//!   arguments of the [`Instance`] and fold again (`types::constant`).
//! * Calls are not inlined; copy-in/copy-out is not spelled out; order of evaluation is left to
//!   right; short-circuit operators and conditional expressions stay; loops are not unrolled.
//! * Nothing is known about BMv2: limits of simple_switch are the back end's to check.
//! * Qualified and control-plane names: instance path plus `@name`.

mod declaration;
mod expression;
mod id;
mod parser;
mod statement;
mod table;
mod ty;

use crate::architecture::{Architecture, BlockKind};
use std::rc::Rc;
use syntax::Span;

pub use declaration::{
    Action, Annotation, AnnotationBody, AnnotationValue, Constant, Control, Extern, ExternFunction,
    Function, Instance, InstanceKind, LocalDeclaration, Method, Package, ParameterInfo, Variable,
    VariableKind,
};
pub use expression::{
    Argument, BinaryOperator, Builtin, Call, Callee, Expression, ExpressionKind, TableResult,
    UnaryOperator, Value,
};
pub use id::{Arena, Id};
pub use parser::{
    Keyset, KeysetElement, Parser, Select, SelectCase, State, StateTarget, Transition, ValueSet,
};
pub use statement::{
    Block, For, ForCollection, ForIn, Link, Statement, StatementKind, Switch, SwitchCase,
    SwitchLabel,
};
pub use syntax::tree::{DerivedKind, Direction, MethodKind, Name};
pub use table::{
    ActionCall, DefaultAction, Entries, Entry, Key, MatchKind, Property, PropertyValue, Table,
    TableAction,
};
pub use ty::{Enum, Enumerator, Field, NewType, Struct, Type};

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Actions, at the top level and in controls; `NoAction` of core.p4 is one of them.
    pub actions: Arena<Action>,
    /// Constants, for those who want to show them; their uses are folded already.
    pub constants: Arena<Constant>,
    /// Controls with a body.
    pub controls: Arena<Control>,
    /// Enums, with and without underlying type.
    pub enums: Arena<Enum>,
    /// Extern object types, one for each list of type arguments.
    pub externs: Arena<Extern>,
    /// Extern functions, generic ones once; a call has the type arguments.
    pub extern_functions: Arena<ExternFunction>,
    /// Functions with a body, one for each list of type arguments; bodies of abstract methods too.
    pub functions: Arena<Function>,
    /// Instances of externs, controls, parsers and packages, with and without name.
    pub instances: Arena<Instance>,
    /// Types made with `type`.
    pub new_types: Arena<NewType>,
    /// Packages, one for each list of type arguments.
    pub packages: Arena<Package>,
    /// Parsers with a body.
    pub parsers: Arena<Parser>,
    /// Structs, headers and header unions, one for each list of type arguments.
    pub structs: Arena<Struct>,
    pub tables: Arena<Table>,
    /// Parser value sets.
    pub value_sets: Arena<ValueSet>,
    /// Variables and parameters of every kind.
    pub variables: Arena<Variable>,
    /// Members of `error`, in order of declaration; [`Value::Error`] is an index into it.
    pub errors: Vec<Name>,
    /// Members of `match_kind`, in order of declaration.
    pub match_kinds: Vec<Name>,
    /// Top-level declarations of instances and actions in the order of the text.
    pub top_level: Vec<LocalDeclaration>,
    /// The package instance called `main`; `None` only in a program with errors or a library.
    pub main: Option<Id<Instance>>,
    /// The architecture whose file the program includes.
    pub(crate) declared_architecture: Option<&'static Architecture>,
}

/// The built-in name by which the front end and messages know a thing.
pub type Text = Rc<str>;

/// A name for things that the user did not write.
pub fn synthetic_name(text: &str) -> Name {
    Name { text: text.into(), span: Span::NONE }
}

impl Program {
    /// The architecture whose package `main` is.
    pub(crate) fn architecture(&self) -> Option<&'static Architecture> {
        let declared = self.declared_architecture?;
        match self.instances[self.main?].kind {
            InstanceKind::Package(package) => {
                (*self.packages[package].name.text == *declared.package).then_some(declared)
            }
            _ => None,
        }
    }

    /// The instance that the package got as one of the architecture's blocks.
    pub(crate) fn block(&self, kind: BlockKind) -> Option<Id<Instance>> {
        self.instance_at(self.architecture()?.position(kind)?)
    }

    /// The instance at a place among the arguments of the package, and of the packages in it.
    pub(crate) fn instance_at(&self, position: &[usize]) -> Option<Id<Instance>> {
        position.iter().try_fold(self.main?, |package, at| {
            match self.instances[package].arguments.get(*at)? {
                Argument::Expression(Expression { kind: ExpressionKind::Instance(id), .. }) => {
                    Some(*id)
                }
                _ => None,
            }
        })
    }
}
