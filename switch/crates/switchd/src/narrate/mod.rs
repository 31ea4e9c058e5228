//! The life of every packet as lines of the log, for who reads logs to understand a program.
//!
//! The number in front is the packet's; copies have numbers of their own. Steps are at level debug,
//! values at level trace, what the program itself says with `log_msg` at level info.
//!
//! ```text
//!   ours.rs   in our words
//!   bmv2.rs   in those of simple_switch, for the scripts and courses that look for them
//! ```

mod bmv2;
mod ours;

use device::{Device, TraceFilter, TraceRecord};
use pipeline::Pipeline;
use tracing::warn;

use crate::logging::{Logging, Style};

/// Tells the log what becomes of packets.
pub struct Narrator {
    is_on: bool,
    style: Style,
    lost: u64,
}

impl Narrator {
    /// One that speaks, or one that does not.
    pub fn new(logging: &Logging) -> Narrator {
        Narrator { is_on: logging.follows_packets, style: logging.style, lost: 0 }
    }

    /// Follows every packet of `device` from now on.
    pub fn begin(&self, device: &mut Device) {
        if self.is_on {
            device.trace(vec![TraceFilter::default()]);
        }
    }

    /// Writes what has happened since the last call.
    pub fn tell(&mut self, device: &mut Device) {
        if !self.is_on {
            return;
        }
        while let Some(TraceRecord { packet, event, .. }) = device.poll_trace() {
            match self.style {
                Style::Bmv2 => bmv2::tell(packet, &event, device.pipeline()),
                Style::Structured => ours::tell(packet, &event),
            }
        }
        let lost = device.trace_lost();
        if lost > self.lost {
            warn!("{} steps of packets found no room in the log's queue", lost - self.lost);
            self.lost = lost;
        }
    }
}

/// How many bits each key of a table has; none if the table is of a program that is gone.
fn key_widths(pipeline: Option<&Pipeline>, table: &str) -> Vec<u32> {
    let found = pipeline.and_then(|it| it.table_index(table).map(|number| it.table(number)));
    found.map(|table| table.keys().map(|(_, _, width)| width).collect()).unwrap_or_default()
}
