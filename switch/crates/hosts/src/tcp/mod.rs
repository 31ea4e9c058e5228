//! TCP (RFC 9293) with Linux's additions: SACK, RACK-TLP, PRR, F-RTO, pacing, autotuning.
//!
//! ```text
//!   handle_segment ─ input ─┬─ ack ──── rate_sample, rto, rack ── recovery ── prr, congestion ─┐
//!                           └─ receive_queue, ack_policy, receive_window ──────────┐           │
//!   handle_time ──── timers (timeout, tail probe, reordering, pacing, delayed ACK) ┴─ output ──┴─ Io::out
//! ```
//!
//! Numbers of segments are packets of the window, as in Linux; times are microseconds where Linux
//! measures and [`units::Time`] where something is to happen.

mod ack;
mod ack_policy;
mod connection;
mod input;
mod output;
mod pacing;
mod prr;
mod rack;
mod rate_sample;
mod receive_queue;
mod receive_window;
mod recovery;
mod rto;
mod scoreboard;
mod segment;
mod send_queue;
mod sequence;
mod settings;
mod snapshot;
mod state;
mod timers;

use units::Time;

pub use connection::Happened;
pub(crate) use connection::{Connection, Io, Route};
pub(crate) use input::Refusal;
pub(crate) use rate_sample::RateSample;
pub(crate) use segment::{Outgoing, Segment};
pub(crate) use send_queue::Stamp;
pub use settings::{EcnSetting, Memory, TcpSettings};
pub use snapshot::{Snapshot, WaitingFor};
pub use state::{RecoveryState, State};

/// RFC 7323's clock: milliseconds, never zero, as zero means "nothing to echo".
pub(crate) fn timestamp(now: Time) -> u32 {
    (now.whole_us() / 1000 + 1) as u32
}
