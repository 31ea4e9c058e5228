//! Declarations: variables, actions, functions, controls, externs, packages, instances.

use super::{
    Argument, Block, Direction, Expression, Id, MethodKind, Name, Parser, Table, Text, Type, Value,
    ValueSet,
};
use crate::architecture;
use syntax::Span;

#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The name behind the `@`.
    pub name: Name,
    /// The contents of its brackets.
    pub body: AnnotationBody,
    pub span: Span,
}

/// The contents of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationBody {
    /// `@name`.
    Empty,
    /// `@name[key = value, ...]`.
    KeyValues(Vec<(Name, AnnotationValue)>),
    /// `@name[value, ...]`.
    List(Vec<AnnotationValue>),
    /// `@name(...)`.
    Unstructured {
        /// The tokens as written, string literals with their quotes.
        tokens: Vec<Text>,
        /// The same read as a list of values, where every one is constant or a name; otherwise
        /// empty. `@name("a.b")` has one text, `@field_list(1, 2)` two integers, `@match(lpm)` one
        /// name.
        values: Vec<AnnotationValue>,
    },
}

/// A value in an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationValue {
    /// A name that stands for no constant.
    Name(Text),
    Value(Value),
}

/// A variable or parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub ty: Type,
    pub kind: VariableKind,
    pub span: Span,
}

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Parameter of a parser's, control's or package's constructor.
    ConstructorParameter,
    /// Declared in a body.
    Local,
    /// Parameter of an action, function, or of a parser's or control's `apply`.
    Parameter(Direction),
}

/// A named constant. Uses of it are folded.
#[derive(Clone, Debug)]
pub struct Constant {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Its value, an aggregate for structs, lists and tuples.
    pub value: Expression,
    pub span: Span,
}

/// A declaration inside a control or parser, or at the top level.
#[derive(Clone, Debug)]
pub enum LocalDeclaration {
    Action(Id<Action>),
    Instance(Id<Instance>),
    Table(Id<Table>),
    /// A value set.
    ValueSet(Id<ValueSet>),
    /// A variable: set anew whenever the control or parser is applied.
    Variable {
        variable: Id<Variable>,
        /// Its first value.
        value: Option<Expression>,
    },
}

#[derive(Clone, Debug)]
pub struct Action {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Those with a direction come first, then the control plane's ([`Direction::None`]).
    pub parameters: Vec<Id<Variable>>,
    /// Its body.
    pub body: Block,
    pub span: Span,
}

/// A function with a body, its type parameters filled in.
#[derive(Clone, Debug)]
pub struct Function {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// The type arguments of this use; empty when it is not generic.
    pub type_arguments: Vec<Type>,
    /// Its parameters; [`Direction::None`] means `in`.
    pub parameters: Vec<Id<Variable>>,
    /// Its return type.
    pub return_type: Type,
    /// Its body.
    pub body: Block,
    pub span: Span,
}

/// A control with a body.
#[derive(Clone, Debug)]
pub struct Control {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Parameters of `apply`.
    pub parameters: Vec<Id<Variable>>,
    /// Parameters of the constructor.
    pub constructor_parameters: Vec<Id<Variable>>,
    /// In order of the text.
    pub locals: Vec<LocalDeclaration>,
    /// `apply { ... }`.
    pub body: Block,
    pub span: Span,
}

/// A parameter of something without a body.
#[derive(Clone, Debug)]
pub struct ParameterInfo {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub direction: Direction,
    /// Its type; a [`Type::Variable`] where it depends on a call's type arguments.
    pub ty: Type,
    /// Whether an argument may be left out without there being a default value.
    pub is_optional: bool,
    /// Its value when no argument is given; calls have it filled in already.
    pub default: Option<Expression>,
}

/// A function the target provides.
#[derive(Clone, Debug)]
pub struct ExternFunction {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Names of its type parameters.
    pub type_parameters: Vec<Text>,
    pub parameters: Vec<ParameterInfo>,
    /// Its return type.
    pub return_type: Type,
    /// The target's meaning of a call, if it is a function of the target's.
    pub(crate) known: Option<&'static architecture::Function>,
    pub span: Span,
}

/// An extern object type, its type parameters filled in.
#[derive(Clone, Debug)]
pub struct Extern {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// The type arguments of this use.
    pub type_arguments: Vec<Type>,
    /// Constructors included.
    pub methods: Vec<Method>,
    /// The target's object of this name.
    pub(crate) known: Option<&'static architecture::Object>,
    pub span: Span,
}

/// A method of an extern object.
#[derive(Clone, Debug)]
pub struct Method {
    pub annotations: Vec<Annotation>,
    /// Constructor, method or abstract method.
    pub kind: MethodKind,
    pub name: Name,
    /// Names of its own type parameters.
    pub type_parameters: Vec<Text>,
    pub parameters: Vec<ParameterInfo>,
    /// Its return type.
    pub return_type: Type,
    /// The target's meaning of a call, if it is a method of the target's.
    pub(crate) known: Option<&'static architecture::Function>,
}

/// A package, its type parameters filled in.
#[derive(Clone, Debug)]
pub struct Package {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// The type arguments of this use.
    pub type_arguments: Vec<Type>,
    /// Parameters of the constructor.
    pub parameters: Vec<ParameterInfo>,
    pub span: Span,
}

/// An instance of an extern, control, parser or package.
#[derive(Clone, Debug)]
pub struct Instance {
    pub annotations: Vec<Annotation>,
    /// `None` for a constructor call inside an expression. The type's name for `Type.apply()`.
    pub name: Option<Name>,
    /// The kind of the instance.
    pub kind: InstanceKind,
    /// One for each parameter of the constructor: constants, instances, constructor parameters of
    /// the declaration around it, or expressions of these.
    pub arguments: Vec<Argument>,
    /// Bodies of abstract methods, by name.
    pub methods: Vec<Id<Function>>,
    /// Whether it was made by `Type.apply()` without an instantiation.
    pub is_direct: bool,
    /// The declaration or constructor call.
    pub span: Span,
}

/// The kind of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceKind {
    Control(Id<Control>),
    /// An extern object; the constructor is the method of this index.
    Extern {
        of: Id<Extern>,
        /// Index into [`Extern::methods`]; `None` where an extern has no constructor declared.
        constructor: Option<usize>,
    },
    Package(Id<Package>),
    Parser(Id<Parser>),
}
