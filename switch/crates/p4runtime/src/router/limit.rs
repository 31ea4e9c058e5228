//! How much may wait.

use messages::vitrine::v1;
use traffic::Limit;
use units::Bytes;

/// The limit of a message; 0 is none of that kind.
pub(super) fn limit_of(limit: &v1::Limit) -> Limit {
    Limit {
        packets: (limit.packets > 0).then_some(limit.packets),
        bytes: (limit.bytes > 0).then_some(Bytes(limit.bytes)),
    }
}

/// The message for a limit.
pub(super) fn limit_message(limit: &Limit) -> v1::Limit {
    v1::Limit { packets: limit.packets.unwrap_or(0), bytes: limit.bytes.map_or(0, |bytes| bytes.0) }
}
