//! The units of the router as types, so that the compiler refuses to add bytes to nanoseconds.
//!
//! * [`Time`] is an instant, [`Span`] a length of time; both count picoseconds in a `u64`. A byte
//!   at 1, 10, 25, 40, 100 or 400 Gb/s takes a whole number of picoseconds (64 bytes at 10 Gb/s
//!   take 51.2 ns, which nanoseconds cannot say), and 2^64 ps are 213 days.
//! * [`Rate`] is bits a second, [`PacketRate`] packets a second, [`Bytes`] a length.
//! * [`PortId`] and [`ClassId`] are numbers that must not be mixed up with counts or each other.
//! * [`DropReason`] is why a packet ended, in the program, in a queue or between them; [`Fault`] is
//!   what a decider from outside did wrong.
//! * [`memory`] is the budget that everything comes out of which clients and programs make.
//!
//! Arithmetic is exact integer arithmetic; nothing here (or in any crate above) uses floating
//! point for time. Quotients that are not whole are rounded up, so a link never runs faster than
//! its rate; the error is under one picosecond a packet.

mod fault;
mod ids;
mod length;
pub mod memory;
mod rate;
mod ratio;
mod reason;
mod time;

pub use fault::Fault;
pub use ids::{CLASS_COUNT_MAX, ClassId, PORT_NUMBER_MAX, PortId};
pub use length::{Bytes, Distance, HasLength};
pub use rate::{PacketRate, ParseRateError, Rate};
pub use ratio::Ratio;
pub use reason::DropReason;
pub use time::{Span, Time};
