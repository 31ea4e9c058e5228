//! Expressions: trees over fields, constants and action data, without bounds on their values.

use bits::Int;

/// A field of a header or metadata instance. The member `$valid$` of a header is its validity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldRef {
    /// The header instance.
    pub header: String,
    /// The field of its type.
    pub field: String,
}

impl FieldRef {
    /// `header.field`.
    pub fn new(header: impl Into<String>, field: impl Into<String>) -> FieldRef {
        FieldRef { header: header.into(), field: field.into() }
    }
}

/// A number, a truth value, a header, a stack or a union; which of them follows from the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// `left.right` where the header is computed; the field is an index into the header type.
    AccessField {
        /// Evaluates to a header.
        header: Box<Expression>,
        /// Index of the field.
        field: u32,
    },
    /// A member header of a union that is computed.
    AccessUnionHeader {
        /// Evaluates to a header union.
        union: Box<Expression>,
        /// Index of the member.
        member: u32,
    },
    /// An operator with two operands.
    Binary {
        /// Which operator.
        operator: BinaryOperator,
        /// Its left operand.
        left: Box<Expression>,
        /// Its right operand.
        right: Box<Expression>,
    },
    /// A truth value.
    Bool(bool),
    /// `condition ? if_true : if_false`.
    Conditional {
        /// Evaluates to a truth value.
        condition: Box<Expression>,
        /// The value where the condition holds.
        if_true: Box<Expression>,
        /// The value where it does not.
        if_false: Box<Expression>,
    },
    Field(FieldRef),
    /// A header instance.
    Header(String),
    /// A header stack.
    HeaderStack(String),
    /// A header union.
    HeaderUnion(String),
    /// A stack of header unions.
    HeaderUnionStack(String),
    Hex(Int),
    /// The action's parameter of this index.
    Local(u32),
    /// A cell of a register array.
    Register {
        array: String,
        /// Which cell.
        index: Box<Expression>,
    },
    /// A field of the last valid header of a stack.
    StackField {
        stack: String,
        field: String,
    },
    /// An operator with one operand.
    Unary {
        /// Which operator.
        operator: UnaryOperator,
        operand: Box<Expression>,
    },
}

/// Operators with one operand; BMv2 puts it in `right` and writes `left` as null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `~` on a number.
    BitNot,
    /// `b2d`: a truth value as 0 or 1.
    BoolToData,
    /// `d2b`: a number other than 0 is true.
    DataToBool,
    /// `last_stack_index`: of a stack, the index of its last valid header.
    LastStackIndex,
    /// `-` on a number.
    Negate,
    /// `not` on a truth value.
    Not,
    /// `+` on a number: the number.
    Plus,
    /// `size_stack`: how many headers of a stack are valid.
    SizeStack,
    /// `valid`: of a header.
    Valid,
    /// `valid_union`: of a header union.
    ValidUnion,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `+`.
    Add,
    /// `and` on truth values.
    And,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `dereference_header_stack`: the header of a stack at an index.
    DereferenceHeaderStack,
    /// `dereference_union_stack`: the union of a stack of unions at an index.
    DereferenceUnionStack,
    /// `/`.
    Divide,
    /// `==`.
    Equal,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `*`.
    Multiply,
    /// `!=`.
    NotEqual,
    /// `or` on truth values.
    Or,
    /// `%`.
    Remainder,
    /// `sat_cast`: clamps to `int<right>`.
    SaturateSigned,
    /// `usat_cast`: clamps to `bit<right>`.
    SaturateUnsigned,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `-`.
    Subtract,
    /// `two_comp_mod`: wraps to `int<right>`.
    WrapSigned,
}

/// The names in JSON, for reading and writing alike.
pub(crate) const BINARY_OPERATORS: [(&str, BinaryOperator); 24] = [
    ("+", BinaryOperator::Add),
    ("and", BinaryOperator::And),
    ("&", BinaryOperator::BitAnd),
    ("|", BinaryOperator::BitOr),
    ("^", BinaryOperator::BitXor),
    ("dereference_header_stack", BinaryOperator::DereferenceHeaderStack),
    ("dereference_union_stack", BinaryOperator::DereferenceUnionStack),
    ("/", BinaryOperator::Divide),
    ("==", BinaryOperator::Equal),
    (">", BinaryOperator::Greater),
    (">=", BinaryOperator::GreaterOrEqual),
    ("<", BinaryOperator::Less),
    ("<=", BinaryOperator::LessOrEqual),
    ("*", BinaryOperator::Multiply),
    ("!=", BinaryOperator::NotEqual),
    ("or", BinaryOperator::Or),
    ("%", BinaryOperator::Remainder),
    ("sat_cast", BinaryOperator::SaturateSigned),
    ("usat_cast", BinaryOperator::SaturateUnsigned),
    ("<<", BinaryOperator::ShiftLeft),
    (">>", BinaryOperator::ShiftRight),
    ("-", BinaryOperator::Subtract),
    ("two_comp_mod", BinaryOperator::WrapSigned),
    // Read only: an older spelling.
    ("dereference_stack", BinaryOperator::DereferenceHeaderStack),
];

/// The names in JSON, for reading and writing alike.
pub(crate) const UNARY_OPERATORS: [(&str, UnaryOperator); 10] = [
    ("~", UnaryOperator::BitNot),
    ("b2d", UnaryOperator::BoolToData),
    ("d2b", UnaryOperator::DataToBool),
    ("last_stack_index", UnaryOperator::LastStackIndex),
    ("-", UnaryOperator::Negate),
    ("not", UnaryOperator::Not),
    ("+", UnaryOperator::Plus),
    ("size_stack", UnaryOperator::SizeStack),
    ("valid", UnaryOperator::Valid),
    ("valid_union", UnaryOperator::ValidUnion),
];
