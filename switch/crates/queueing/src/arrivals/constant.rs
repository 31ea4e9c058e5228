//! Evenly spaced packets.

use units::Span;

#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub gap: Span,
}

impl Constant {
    pub fn gap(&self) -> Span {
        self.gap
    }
}
