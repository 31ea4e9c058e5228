//! Cells for a slotted router: when each input has one, and for which output.

use traffic::{Chance, Probability};
use units::{Span, Time};

use super::Experiment;
use crate::pattern::PatternInAction;

/// When cells come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellArrivals {
    /// In each slot one cell or none, whatever happened before.
    Bernoulli,
    /// Bursts of cells for one output, with geometric lengths and geometric pauses.
    OnOff {
        /// Mean cells in a burst, at least 1.
        burst: u32,
    },
    /// At any instant: exponential gaps.
    Poisson,
}

/// All inputs with their dice.
pub(super) struct Sources {
    inputs: Vec<Input>,
    pattern: PatternInAction,
    arrivals: CellArrivals,
    slot: Span,
    /// The chance of a cell in a slot (Bernoulli), or of a burst to begin (OnOff).
    begins: Probability,
    /// The chance that a cell is the last of its burst.
    ends: Probability,
    /// The mean gap of Poisson arrivals.
    gap: Span,
}

struct Input {
    chance: Chance,
    /// The output of the burst under way.
    burst_to: Option<usize>,
    /// When the next Poisson cell comes.
    next: Time,
}

impl Sources {
    pub fn new(experiment: &Experiment, slot: Span) -> Sources {
        let load = experiment.load.clamp(0.0, 1.0);
        let share = |of_one: f64| Probability::from_raw((of_one * (1u64 << 32) as f64) as u64);
        let (begins, ends) = match experiment.arrivals {
            CellArrivals::Bernoulli | CellArrivals::Poisson => (share(load), Probability::ALWAYS),
            CellArrivals::OnOff { burst } => {
                // A pause of k idle slots, k = 0, 1, ..., has mean (1 - begins) / begins; load is
                // burst / (burst + pause).
                let burst = f64::from(burst.max(1));
                let pause = burst * (1.0 - load) / load.max(1e-9);
                (share(1.0 / (1.0 + pause)), share(1.0 / burst))
            }
        };
        let gap = Span::from_ps((slot.ps() as f64 / load.max(1e-9)).round() as u64);
        let input = |number: usize| {
            let mut chance = Chance::new(experiment.seed, &format!("cells/{number}"));
            let next = Time::ZERO + chance.exponential(gap);
            Input { chance, burst_to: None, next }
        };
        Sources {
            inputs: (0..experiment.port_count).map(input).collect(),
            pattern: experiment.pattern.start(experiment.port_count),
            arrivals: experiment.arrivals,
            slot,
            begins,
            ends,
            gap,
        }
    }

    /// The cells of the slot that begins at `start`, as `(instant, input, output)` in the order
    /// in which they come.
    pub fn cells_of_slot(&mut self, start: Time, cells: &mut Vec<(Time, usize, usize)>) {
        cells.clear();
        for (number, input) in self.inputs.iter_mut().enumerate() {
            match self.arrivals {
                CellArrivals::Bernoulli => {
                    if input.chance.occurs(self.begins) {
                        cells.push((start, number, self.pattern.draw(number, &mut input.chance)));
                    }
                }
                CellArrivals::OnOff { .. } => {
                    if input.burst_to.is_none() && input.chance.occurs(self.begins) {
                        input.burst_to = Some(self.pattern.draw(number, &mut input.chance));
                    }
                    if let Some(output) = input.burst_to {
                        cells.push((start, number, output));
                        if input.chance.occurs(self.ends) {
                            input.burst_to = None;
                        }
                    }
                }
                CellArrivals::Poisson => {
                    while input.next < start + self.slot {
                        let output = self.pattern.draw(number, &mut input.chance);
                        cells.push((input.next.max(start), number, output));
                        input.next += input.chance.exponential(self.gap);
                    }
                }
            }
        }
        if self.arrivals == CellArrivals::Poisson {
            cells.sort_unstable();
        }
    }
}
