//! Packets that know nothing of each other.

use traffic::Chance;
use units::Span;

#[derive(Clone, Debug)]
pub(super) struct Poisson {
    pub gap: Span,
}

impl Poisson {
    pub fn gap(&self, chance: &mut Chance) -> Span {
        chance.exponential(self.gap)
    }
}
