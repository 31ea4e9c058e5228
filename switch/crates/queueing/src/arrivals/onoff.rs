//! Bursts and silence.

use traffic::{Chance, Probability};
use units::Span;

#[derive(Clone, Debug)]
pub(super) struct OnOff {
    gap: Span,
    pause: Span,
    /// The chance that a packet is the last of its burst: 1 / mean burst.
    ends: Probability,
    in_burst: bool,
}

impl OnOff {
    pub fn new(gap: Span, burst: u32, pause: Span) -> OnOff {
        let ends = Probability::ratio(1, u64::from(burst)).unwrap_or(Probability::ALWAYS);
        OnOff { gap, pause, ends, in_burst: false }
    }

    pub fn gap(&mut self, chance: &mut Chance) -> Span {
        let gap = if self.in_burst { self.gap } else { chance.exponential(self.pause) };
        self.in_burst = !chance.occurs(self.ends);
        gap
    }
}
