//! Virtual time: what happens when, and experiments that need no clock.
//!
//! * [`Agenda`] is the event heap: the one place where virtual time is kept.
//! * [`Arrivals`] and [`Lengths`] describe continuous traffic, packet by packet.
//! * [`one_port`] runs one output port under such traffic.
//! * [`Pattern`] spreads cells over outputs; [`slotted`] runs an N x N router under them.
//! * [`script`] runs timing scripts: packets in, exact departures out.
//! * [`Series`] turns observations into a mean with its confidence interval.
//!
//! Nothing here reads a clock or draws from the machine's randomness; the same description and
//! seed give the same result everywhere.

mod agenda;
mod arrivals;
mod lengths;
pub mod one_port;
mod pattern;
pub mod script;
mod series;
pub mod slotted;

pub use agenda::Agenda;
pub use arrivals::{Arrivals, ArrivalsInAction};
pub use lengths::Lengths;
pub use pattern::{Pattern, PatternInAction};
pub use series::{Estimate, Series};
