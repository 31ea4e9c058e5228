//! How much may wait at a place, whatever waits there: a queue, a port, an input, a cable.

use units::Bytes;

use crate::error::ConfigError;

/// A limit of a queue, in packets, in bytes or both. A packet on the line no longer counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// At most this many packets.
    pub packets: Option<u64>,
    /// At most this many bytes. A packet that does not fit in whole is dropped.
    pub bytes: Option<Bytes>,
}

impl Limit {
    /// No limit. Only for places where another limit holds or the input is finite.
    pub const NONE: Limit = Limit { packets: None, bytes: None };

    /// A limit in packets only.
    pub const fn packets(count: u64) -> Limit {
        Limit { packets: Some(count), bytes: None }
    }

    /// A limit in bytes only.
    pub const fn bytes(bytes: Bytes) -> Limit {
        Limit { packets: None, bytes: Some(bytes) }
    }

    /// Whether one more packet of `length` fits to `packets` and `bytes` that are there.
    #[inline]
    pub(crate) fn has_room(&self, packets: u64, bytes: Bytes, length: Bytes) -> bool {
        self.packets.is_none_or(|limit| packets < limit)
            && self.bytes.is_none_or(|limit| bytes + length <= limit)
    }

    /// Checks that something fits; `place` says whose limit it is.
    pub fn check(&self, place: &str) -> Result<(), ConfigError> {
        let zero = match (self.packets, self.bytes) {
            (Some(0), _) => "0 packets",
            (_, Some(Bytes(0))) => "0 bytes",
            _ => return Ok(()),
        };
        Err(ConfigError::new(
            format!("{place}, limit"),
            format!("a limit of {zero} would drop every packet"),
            "give at least one packet's worth, or no limit",
        ))
    }
}
