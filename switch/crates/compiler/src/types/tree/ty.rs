//! Types of values and objects.

use super::{Annotation, Control, DerivedKind, Extern, Id, Name, Package, Parser, Text, Value};
use syntax::Span;

/// A type. Equal exactly when P4 says the types are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// An action's name, where one is a value: a label of a `switch` on `action_run`.
    Action,
    /// `bit<width>`.
    Bit(u32),
    Bool,
    /// A control with a body.
    Control(Id<Control>),
    /// A control type without a body, by name and type arguments; only parameters of packages and
    /// constructors have it.
    ControlType(Text, Vec<Type>),
    /// An enum, with or without underlying type.
    Enum(Id<Enum>),
    Error,
    /// An extern object.
    Extern(Id<Extern>),
    /// `int<width>`.
    Int(u32),
    /// `int`: compile-time integers of any size.
    Integer,
    /// `list<element>`.
    List(Box<Type>),
    MatchKind,
    /// `type`.
    New(Id<NewType>),
    Package(Id<Package>),
    /// A parser with a body.
    Parser(Id<Parser>),
    /// A parser type without a body, by name and type arguments.
    ParserType(Text, Vec<Type>),
    /// The value of a struct expression whose struct is not known: names and types of its fields.
    /// Only as an argument of a generic extern (`digest(1, {a = x})`).
    Record(Vec<(Text, Type)>),
    /// A stack of headers or header unions (or array of anything).
    Stack(Box<Type>, u32),
    String,
    /// A struct, header or header union.
    Struct(Id<Struct>),
    /// The type of `table.apply()`.
    TableResult(Id<super::Table>),
    /// `tuple<...>`, and the value of a list expression whose type is not known otherwise.
    Tuple(Vec<Type>),
    /// `varbit<width_max>`.
    Varbit(u32),
    /// A type parameter. Found only while a generic declaration itself is checked and in the
    /// parameters of generic [`super::ExternFunction`]s and [`super::Method`]s.
    Variable(Text),
    Void,
    /// The type of something that has been reported already; fits everything.
    Wrong,
}

/// A struct, header or header union, its type parameters filled in.
#[derive(Clone, Debug)]
pub struct Struct {
    pub annotations: Vec<Annotation>,
    /// Which of the three.
    pub kind: DerivedKind,
    /// As declared.
    pub name: Name,
    /// The type arguments of this use; empty when it is not generic.
    pub type_arguments: Vec<Type>,
    /// In order of declaration.
    pub fields: Vec<Field>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub ty: Type,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// `bit<N>` or `int<N>` (possibly through `type`) for a serialisable enum.
    pub underlying: Option<Type>,
    /// In order of declaration.
    pub members: Vec<Enumerator>,
    pub span: Span,
}

/// One member of an enum.
#[derive(Clone, Debug)]
pub struct Enumerator {
    pub name: Name,
    /// Its value, exactly when the enum has an underlying type.
    pub value: Option<Value>,
}

/// A type made with `type`.
#[derive(Clone, Debug)]
pub struct NewType {
    /// Annotations, `@p4runtime_translation` among them.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Its underlying type; may be a new type again.
    pub original: Type,
    pub span: Span,
}
