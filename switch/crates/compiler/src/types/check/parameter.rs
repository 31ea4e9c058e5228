//! Parameters as calls see them, whatever is called.

use crate::types::tree::{Expression, ParameterInfo, Text, Type};
use syntax::Span;
use syntax::tree::Direction;

/// A parameter, of whatever.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub name: Text,
    pub direction: Direction,
    pub ty: Type,
    pub is_optional: bool,
    pub default: Option<Expression>,
    pub span: Span,
    /// Its name where it is declared.
    pub declared: Span,
    /// The argument must be known at compile time.
    pub is_constant: bool,
}

impl Parameter {
    /// A parameter of something without a body. Without a direction it wants a compile-time value.
    pub fn from_info(info: &ParameterInfo) -> Parameter {
        Parameter {
            name: info.name.text.clone(),
            direction: info.direction,
            ty: info.ty.clone(),
            is_optional: info.is_optional,
            default: info.default.clone(),
            span: info.name.span,
            declared: info.name.span,
            is_constant: info.direction == Direction::None,
        }
    }

    /// Whether a call may leave it out.
    pub fn may_be_missing(&self) -> bool {
        self.is_optional || self.default.is_some()
    }
}
