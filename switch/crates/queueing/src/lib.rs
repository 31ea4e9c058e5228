//! Experiments of queueing theory in virtual time: parts of a router under random traffic.
//!
//! A whole network in virtual time is the crate `world`; here packets are lengths, and what stands
//! between source and line is the traffic manager alone, so that its queues can be compared with
//! theory and with the literature.
//!
//! * [`Agenda`] is the event heap of an experiment.
//! * [`Arrivals`] and [`Lengths`] describe continuous traffic, packet by packet.
//! * [`one_port`] runs one output port under such traffic.
//! * [`Pattern`] spreads cells over outputs; [`slotted`] runs an N x N router under them.
//! * [`Series`] turns observations into a mean with its confidence interval.
//!
//! Nothing here reads a clock or draws from the machine's randomness; the same description and
//! seed give the same result everywhere.

mod agenda;
mod arrivals;
mod lengths;
pub mod one_port;
mod pattern;
mod series;
pub mod slotted;
mod stop;

pub use agenda::Agenda;
pub use arrivals::{Arrivals, ArrivalsInAction};
pub use lengths::Lengths;
pub use pattern::{Pattern, PatternInAction};
pub use series::{Estimate, Series};
pub use stop::Stop;
