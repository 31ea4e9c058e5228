//! Declarations as written.

use super::{
    Annotation, Argument, BlockStatement, Expression, Name, ParserState, TableDeclaration, TypeRef,
};
use crate::Span;

/// The production `declaration`.
#[derive(Clone, Debug)]
pub enum Declaration {
    Action(ActionDeclaration),
    Constant(ConstantDeclaration),
    /// `control` with a body.
    Control(ControlDeclaration),
    /// `control` without a body: a type.
    ControlType(Signature),
    /// `struct`, `header`, `header_union`.
    Derived(DerivedTypeDeclaration),
    Enum(EnumDeclaration),
    /// `error { ... }`.
    Error(Vec<Name>),
    /// `extern name { ... }`.
    Extern(ExternDeclaration),
    /// `extern` in front of a function.
    ExternFunction {
        /// In front of `extern`.
        annotations: Vec<Annotation>,
        prototype: FunctionPrototype,
    },
    /// A function with a body.
    Function(FunctionDeclaration),
    /// An instance of an extern, control, parser or package.
    Instantiation(Instantiation),
    /// `match_kind { ... }`.
    MatchKind(Vec<Name>),
    Package(PackageTypeDeclaration),
    /// `parser` with a body.
    Parser(ParserDeclaration),
    /// `parser` without a body: a type.
    ParserType(Signature),
    /// `typedef` or `type`.
    Typedef(TypedefDeclaration),
    /// A variable; P4 allows none at the top level, which the type checker says.
    Variable(VariableDeclaration),
}

/// `const type name = value;`
#[derive(Clone, Debug)]
pub struct ConstantDeclaration {
    /// In front of `const`.
    pub annotations: Vec<Annotation>,
    pub type_ref: TypeRef,
    pub name: Name,
    pub value: Expression,
    /// The whole declaration.
    pub span: Span,
}

/// `type name;` or `type name = value;`
#[derive(Clone, Debug)]
pub struct VariableDeclaration {
    /// In front of the type.
    pub annotations: Vec<Annotation>,
    pub type_ref: TypeRef,
    pub name: Name,
    /// Its first value.
    pub initializer: Option<Expression>,
    /// The whole declaration.
    pub span: Span,
}

/// Which way a parameter's value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `in`: copied in.
    In,
    /// `inout`: copied in and out.
    InOut,
    /// Nothing written: known at compile time, or given by the control plane (actions).
    None,
    /// `out`: copied out.
    Out,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    /// In front of the direction (`@optional`, ...).
    pub annotations: Vec<Annotation>,
    pub direction: Direction,
    pub type_ref: TypeRef,
    pub name: Name,
    /// Its value when no argument is given.
    pub default: Option<Expression>,
    /// The whole parameter.
    pub span: Span,
}

/// `parser name<T>(parameters)` or `control name<T>(parameters)`.
#[derive(Clone, Debug)]
pub struct Signature {
    /// In front of the keyword.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub type_parameters: Vec<Name>,
    /// Parameters of `apply`.
    pub parameters: Vec<Parameter>,
    /// The whole signature.
    pub span: Span,
}

/// A parser with a body.
#[derive(Clone, Debug)]
pub struct ParserDeclaration {
    /// Name and parameters.
    pub signature: Signature,
    /// Parameters of the constructor.
    pub constructor_parameters: Vec<Parameter>,
    /// In front of the states.
    pub locals: Vec<ParserLocalElement>,
    /// In written order.
    pub states: Vec<ParserState>,
    /// The whole declaration.
    pub span: Span,
}

/// A declaration inside a parser.
#[derive(Clone, Debug)]
pub enum ParserLocalElement {
    Constant(ConstantDeclaration),
    /// An extern object or sub-parser.
    Instantiation(Instantiation),
    ValueSet(ValueSetDeclaration),
    Variable(VariableDeclaration),
}

/// `value_set<type>(size) name;`
#[derive(Clone, Debug)]
pub struct ValueSetDeclaration {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    /// The element type of the set.
    pub type_ref: TypeRef,
    /// How many values the control plane may put in.
    pub size: Expression,
    pub name: Name,
    /// The whole declaration.
    pub span: Span,
}

/// A control with a body.
#[derive(Clone, Debug)]
pub struct ControlDeclaration {
    /// Name and parameters.
    pub signature: Signature,
    /// Parameters of the constructor.
    pub constructor_parameters: Vec<Parameter>,
    /// In front of `apply`.
    pub locals: Vec<ControlLocalDeclaration>,
    /// `apply { ... }`.
    pub body: BlockStatement,
    /// The whole declaration.
    pub span: Span,
}

/// A declaration inside a control.
#[derive(Clone, Debug)]
pub enum ControlLocalDeclaration {
    Action(ActionDeclaration),
    Constant(ConstantDeclaration),
    /// An extern object or sub-control.
    Instantiation(Instantiation),
    Table(TableDeclaration),
    Variable(VariableDeclaration),
}

/// `action name(parameters) { ... }`.
#[derive(Clone, Debug)]
pub struct ActionDeclaration {
    /// In front of `action`.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// With a direction: bound where the action is called. Without: given by the control plane.
    pub parameters: Vec<Parameter>,
    /// Its body.
    pub body: BlockStatement,
    /// The whole declaration.
    pub span: Span,
}

/// `type(arguments) name;`, possibly `= { ... }`.
#[derive(Clone, Debug)]
pub struct Instantiation {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    /// The type of the instance.
    pub type_ref: TypeRef,
    /// For the constructor.
    pub arguments: Vec<Argument>,
    pub name: Name,
    /// Bodies of abstract methods; `None` when no `= { ... }` is written.
    pub initializer: Option<Vec<ObjDeclaration>>,
    /// The whole declaration.
    pub span: Span,
}

/// Inside an instance's initializer.
#[derive(Clone, Debug)]
pub enum ObjDeclaration {
    /// A method's body.
    Function(FunctionDeclaration),
    /// An object of its own.
    Instantiation(Instantiation),
}

impl ObjDeclaration {
    /// Where it is: at its name.
    pub fn span(&self) -> Span {
        match self {
            ObjDeclaration::Function(function) => function.prototype.name.span,
            ObjDeclaration::Instantiation(instantiation) => instantiation.name.span,
        }
    }
}

/// `type name<T>(parameters)`.
#[derive(Clone, Debug)]
pub struct FunctionPrototype {
    /// Its return type.
    pub return_type: TypeRef,
    pub name: Name,
    pub type_parameters: Vec<Name>,
    pub parameters: Vec<Parameter>,
    /// The whole prototype.
    pub span: Span,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct FunctionDeclaration {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    /// Name, parameters, result.
    pub prototype: FunctionPrototype,
    /// Its body.
    pub body: BlockStatement,
}

/// `extern name<T> { methods }`.
#[derive(Clone, Debug)]
pub struct ExternDeclaration {
    /// In front of `extern`.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub type_parameters: Vec<Name>,
    /// In written order.
    pub methods: Vec<MethodPrototype>,
    /// The whole declaration.
    pub span: Span,
}

/// A method of an extern object.
#[derive(Clone, Debug)]
pub struct MethodPrototype {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    /// Constructor, method or abstract method.
    pub kind: MethodKind,
    /// For a constructor: no type parameters, and the return type is `void`.
    pub prototype: FunctionPrototype,
}

/// The kind of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// Its body is given with the instance.
    Abstract,
    /// It has the extern's name and no return type.
    Constructor,
    /// The target provides it.
    Method,
}

/// `package name<T>(parameters);`
#[derive(Clone, Debug)]
pub struct PackageTypeDeclaration {
    /// In front of `package`.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub type_parameters: Vec<Name>,
    /// Parameters of the constructor.
    pub parameters: Vec<Parameter>,
    /// The whole declaration.
    pub span: Span,
}

/// Which of the three types made of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DerivedKind {
    /// `header`: fields that go over the wire, and a validity bit.
    Header,
    /// `header_union`: headers of which at most one is valid.
    HeaderUnion,
    Struct,
}

/// `struct`, `header` or `header_union` with its fields.
#[derive(Clone, Debug)]
pub struct DerivedTypeDeclaration {
    /// In front of the keyword.
    pub annotations: Vec<Annotation>,
    pub kind: DerivedKind,
    pub name: Name,
    pub type_parameters: Vec<Name>,
    /// In written order.
    pub fields: Vec<StructField>,
    /// The whole declaration.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct StructField {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    pub type_ref: TypeRef,
    pub name: Name,
    /// The whole field.
    pub span: Span,
}

/// `enum name { ... }`, or `enum type name { ... }`.
#[derive(Clone, Debug)]
pub struct EnumDeclaration {
    /// In front of `enum`.
    pub annotations: Vec<Annotation>,
    /// `bit<N>` or `int<N>` for one whose values are given.
    pub underlying: Option<TypeRef>,
    pub name: Name,
    /// In written order.
    pub members: Vec<Enumerator>,
    /// The whole declaration.
    pub span: Span,
}

/// One name of an `enum`.
#[derive(Clone, Debug)]
pub struct Enumerator {
    pub name: Name,
    /// Its value, where the enum has an underlying type.
    pub value: Option<Expression>,
}

/// `typedef type name;` or `type type name;`
#[derive(Clone, Debug)]
pub struct TypedefDeclaration {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    /// `type`: a type of its own; `typedef`: another name.
    pub is_new_type: bool,
    /// The type that it names.
    pub type_ref: TypeRef,
    /// A type declared inside (`typedef struct S { } T;`); `type_ref` is then its name.
    pub derived: Option<Box<Declaration>>,
    /// The new name.
    pub name: Name,
    /// The whole declaration.
    pub span: Span,
}
