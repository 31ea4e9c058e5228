//! [`Op`]: what an update does to the entity it names.

use messages::p4::v1::update::Type;

use crate::refusal::Refusal;

/// Insert, modify or delete, with the entity's new state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<T> {
    /// The entity must not exist yet.
    Insert(T),
    /// The entity must exist.
    Modify(T),
    /// The entity must exist.
    Delete,
}

impl<T> Op<T> {
    /// The operation of an update. A delete ignores the state, so `state` is not called for it.
    pub fn new(kind: Type, state: impl FnOnce() -> Result<T, Refusal>) -> Result<Self, Refusal> {
        match kind {
            Type::Insert => Ok(Op::Insert(state()?)),
            Type::Modify => Ok(Op::Modify(state()?)),
            Type::Delete => Ok(Op::Delete),
            Type::Unspecified => Err(super::unspecified()),
        }
    }

    pub fn is_insert(&self) -> bool {
        matches!(self, Op::Insert(_))
    }

    pub fn is_delete(&self) -> bool {
        matches!(self, Op::Delete)
    }

    /// The new state; `None` for a delete.
    pub fn state(&self) -> Option<&T> {
        match self {
            Op::Insert(state) | Op::Modify(state) => Some(state),
            Op::Delete => None,
        }
    }

    /// The new state; `None` for a delete.
    pub fn into_state(self) -> Option<T> {
        match self {
            Op::Insert(state) | Op::Modify(state) => Some(state),
            Op::Delete => None,
        }
    }
}
