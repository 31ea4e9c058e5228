//! How much connections and calls may have, so that all of them together fit the memory for them.
//!
//! About half of that memory is for connections: what HTTP/2 keeps of each, and what a client may send
//! of its calls before anybody reads it. The other half is for calls. Where there is little, the windows
//! become smaller and the connections fewer, but never so few that primaries of all roles take them all.

use p4runtime::arbitration::ROLE_COUNT_MAX;
use units::memory::{Budget, Purpose};

use crate::places::CONNECTION_COUNT_MAX;

/// Calls that one connection may have open at the same time, where there is memory for as many on all
/// connections.
pub const CALLS_PER_CONNECTION_MAX: u32 = 256;

/// The same where there is next to none: a controller's stream, and what it asks meanwhile.
const CALLS_PER_CONNECTION_MIN: u32 = 4;

/// The memory of an idle call, with a message that needs no memory of its own (`calls/intake.rs`).
const CALL_BYTES: u64 = 8 << 10;

/// The memory of an idle connection: buffers of HTTP/2 and, with TLS, its own.
const CONNECTION_BYTES: u64 = 64 << 10;

/// The bytes that a client may send of a call before they are read, and of all calls of its
/// connection. HTTP/2 begins with the least.
const CALL_WINDOW_BYTES_MAX: u32 = 128 << 10;
const CONNECTION_WINDOW_BYTES_MAX: u32 = 256 << 10;
const CONNECTION_WINDOW_BYTES_MIN: u32 = 64 << 10;

/// Each role's primary has one of its own; some are left for others.
const CONNECTION_COUNT_MIN: u64 = ROLE_COUNT_MAX as u64 + 16;

/// The limits for connections, and for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    pub connections: usize,
    /// Calls open on one.
    pub calls: u32,
    /// The unread bytes of all calls of one connection, and of one call.
    pub connection_window_bytes: u32,
    pub call_window_bytes: u32,
}

impl Capacity {
    /// As much as fits this memory.
    pub fn of(memory: Budget) -> Capacity {
        let all = memory.limit(Purpose::Calls).0;
        let least = CONNECTION_BYTES + u64::from(CONNECTION_WINDOW_BYTES_MIN);
        let connections =
            (all / 2 / least).clamp(CONNECTION_COUNT_MIN, CONNECTION_COUNT_MAX as u64);
        let window = (all / 2 / connections).saturating_sub(CONNECTION_BYTES);
        let window = u32::try_from(window).unwrap_or(u32::MAX);
        let window = window.clamp(CONNECTION_WINDOW_BYTES_MIN, CONNECTION_WINDOW_BYTES_MAX);
        let left = (all / connections).saturating_sub(CONNECTION_BYTES + u64::from(window));
        let calls = u32::try_from(left / CALL_BYTES).unwrap_or(u32::MAX);
        Capacity {
            connections: connections as usize,
            calls: calls.clamp(CALLS_PER_CONNECTION_MIN, CALLS_PER_CONNECTION_MAX),
            connection_window_bytes: window,
            call_window_bytes: window.min(CALL_WINDOW_BYTES_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    #[test]
    fn all_connections_with_their_calls_fit_the_memory_for_them() {
        for mebibytes in [128, 200, 256, 512, 1024, 8192] {
            let memory = Budget::new(Bytes(mebibytes << 20), Bytes(mebibytes << 18));
            let it = Capacity::of(memory);
            let each = CONNECTION_BYTES
                + u64::from(it.connection_window_bytes)
                + CALL_BYTES * u64::from(it.calls);
            let all = each * it.connections as u64;
            assert!(all <= memory.limit(Purpose::Calls).0, "{mebibytes} MiB: {it:?}");
        }
    }

    #[test]
    fn with_little_memory_there_are_fewer() {
        let of = |mebibytes: u64| {
            let it = Capacity::of(Budget::new(Bytes(mebibytes << 20), Bytes(mebibytes << 18)));
            (it.connections, it.calls, it.connection_window_bytes >> 10)
        };
        assert_eq!(of(128), (80, 9, 64));
        assert_eq!(of(256), (128, 16, 64));
        assert_eq!(of(8192), (256, 256, 256));
        assert_eq!(Capacity::of(Budget::UNLIMITED).connections, CONNECTION_COUNT_MAX);
    }
}
