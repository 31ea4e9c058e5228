//! How fast a queue or a port may send, apart from the speed of its line.

use units::{Bytes, PacketRate, Rate};

use super::ConfigError;

/// A token bucket: a long-term rate and how much may go at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaperConfig {
    /// Counts bytes of frames (without the line's overhead).
    Bits {
        /// The rate in the long run.
        rate: Rate,
        /// The bucket's size. A packet longer than the bucket leaves when the bucket is full, so
        /// zero means evenly spaced packets.
        burst: Bytes,
    },
    /// Counts packets, whatever their length: the meaning of simple_switch's `set_queue_rate`.
    Packets {
        /// The rate in the long run.
        rate: PacketRate,
        /// The bucket's size in packets, at least 1; 1 means evenly spaced packets.
        burst: u32,
    },
}

impl ShaperConfig {
    pub(crate) fn validate(&self, place: &str) -> Result<(), ConfigError> {
        match self {
            ShaperConfig::Packets { burst: 0, .. } => Err(ConfigError::new(
                format!("{place}, shaper"),
                "a burst of 0 packets would never send",
                "use 1 for evenly spaced packets",
            )),
            _ => Ok(()),
        }
    }
}
