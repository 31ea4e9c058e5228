//! The effects of a line on its frames.

use units::{Bytes, Rate, Span};

use crate::error::ConfigError;
use crate::limit::Limit;
use chance::Probability;

/// The effects of a cable on its frames, besides carrying them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// Propagation: from the last bit in to the last bit out.
    pub delay: Span,
    /// The variation on top of the delay.
    pub jitter: Jitter,
    /// Occasional pauses on top of that.
    pub stalls: Stalls,
    /// Which frames never arrive.
    pub loss: Loss,
    /// The share of frames that arrive with one bit flipped.
    pub corruption: Probability,
    /// The share of frames that arrive twice.
    pub duplication: Probability,
}

/// One direction of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineConfig {
    /// How fast the line takes frames in. A receive line has the sender's rate; a transmit line has
    /// none, because the port has serialised its frames already.
    pub rate: Option<Rate>,
    /// Added to every frame's length while it is serialised; see
    /// [`PortConfig::overhead`](crate::PortConfig::overhead).
    pub overhead: Bytes,
    /// The frames that may wait to be sent. That queue is the sender's, not the router's: it models
    /// the sender's network card.
    pub backlog: Limit,
    /// The impairments on the way.
    pub impairment: Impairment,
}

/// Delay that differs from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter {
    /// Evenly distributed from zero to this.
    pub max: Span,
    /// Whether a frame may overtake another. If not, it arrives no earlier than the one before.
    pub reorder: bool,
}

/// A neighbour that is mostly prompt and sometimes busy with something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// The share of frames that come later still.
    pub share: Probability,
    /// By how much: evenly distributed from zero to this.
    pub max: Span,
}

/// Which frames get lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loss {
    /// In bursts: the model of Gilbert (1960) and Elliott (1963). The line is good or bad, and
    /// before each frame it may change.
    Bursty {
        /// The chance to turn bad while good.
        turns_bad: Probability,
        /// The chance to turn good while bad; its inverse is the mean length of a bad spell.
        turns_good: Probability,
        /// The share lost while good.
        while_good: Probability,
        /// The share lost while bad.
        while_bad: Probability,
    },
    /// Each frame on its own.
    Independent(Probability),
    /// None.
    #[default]
    Never,
}

impl LineConfig {
    /// Checks every value.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.backlog.check("line, backlog")?;
        self.impairment.check("line")
    }

    /// Whether frames on the line arrive at once and as they are.
    pub fn is_transparent(&self) -> bool {
        self.rate.is_none() && self.only_serialises()
    }

    /// Whether frames arrive as they are, and as soon as the line's rate allows.
    pub(crate) fn only_serialises(&self) -> bool {
        self.impairment == Impairment::default()
    }
}

impl Impairment {
    /// Checks every value; `place` says which line it is.
    pub fn check(&self, place: &str) -> Result<(), ConfigError> {
        match self.loss {
            Loss::Bursty { turns_good: Probability::NEVER, turns_bad, .. }
                if turns_bad != Probability::NEVER =>
            {
                Err(ConfigError::new(
                    format!("{place}, loss"),
                    "a line that turns bad and never good again",
                    "give `turns_good` a chance, such as 1 in 10",
                ))
            }
            _ => Ok(()),
        }
    }
}
