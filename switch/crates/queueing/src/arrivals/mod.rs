//! When packets come, in continuous time: one process per file.

mod constant;
mod onoff;
mod poisson;

use traffic::Chance;
use units::Span;

use constant::Constant;
use onoff::OnOff;
use poisson::Poisson;

/// A description of an arrival process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// One packet every `gap`.
    Constant {
        /// From one packet to the next.
        gap: Span,
    },
    /// Bursts of back-to-back packets with exponential pauses between them.
    OnOff {
        /// Within a burst, from one packet to the next.
        gap: Span,
        /// Mean packets in a burst (geometrically distributed), at least 1.
        burst: u32,
        /// Mean pause between the last packet of a burst and the first of the next.
        pause: Span,
    },
    /// Exponential gaps: a Poisson process.
    Poisson {
        /// The mean gap.
        gap: Span,
    },
}

/// An arrival process with its own dice.
#[derive(Clone, Debug)]
pub struct ArrivalsInAction {
    process: Process,
    chance: Chance,
}

#[derive(Clone, Debug)]
enum Process {
    Constant(Constant),
    OnOff(OnOff),
    Poisson(Poisson),
}

impl Arrivals {
    /// Starts the process; `name` distinguishes its dice from all others of the run.
    pub fn start(self, seed: u64, name: &str) -> ArrivalsInAction {
        let process = match self {
            Arrivals::Constant { gap } => Process::Constant(Constant { gap }),
            Arrivals::OnOff { gap, burst, pause } => {
                Process::OnOff(OnOff::new(gap, burst.max(1), pause))
            }
            Arrivals::Poisson { gap } => Process::Poisson(Poisson { gap }),
        };
        ArrivalsInAction { process, chance: Chance::new(seed, name) }
    }
}

impl ArrivalsInAction {
    /// The time from the last packet (or the start) to the next one.
    pub fn gap(&mut self) -> Span {
        match &mut self.process {
            Process::Constant(process) => process.gap(),
            Process::OnOff(process) => process.gap(&mut self.chance),
            Process::Poisson(process) => process.gap(&mut self.chance),
        }
    }
}
