//! How fast a queue or a port may send, one message a kind.

use messages::vitrine::v1;
use traffic::ShaperConfig;
use units::{Bytes, PacketRate, Rate};
use v1::shaper::Kind;

use super::Problem;
use super::parts::problem;

/// The shaper of a message; `None` for a message with no kind. Mistakes are appended to `problems`.
pub(super) fn shaper_of(
    shaper: &v1::Shaper,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Option<ShaperConfig> {
    let config = match shaper.kind.as_ref()? {
        Kind::Bits(bits) => Rate::from_bps(bits.rate_bps)
            .map(|rate| ShaperConfig::Bits { rate, burst: Bytes(bits.burst_bytes) }),
        Kind::Packets(packets) => PacketRate::from_pps(packets.rate_pps).map(|rate| {
            let v1::PacketShaper { burst_packets: burst, catches_up, .. } = *packets;
            ShaperConfig::Packets { rate, burst, catches_up }
        }),
    };
    if config.is_none() {
        problems.push(problem(
            &format!("{place}, shaper"),
            "a rate of 0 would never send".to_owned(),
            "give a rate; to remove the shaper, set it with no kind",
        ));
    }
    config
}

/// The message for a shaper.
pub(super) fn shaper_message(shaper: Option<&ShaperConfig>) -> v1::Shaper {
    let kind = shaper.map(|shaper| match shaper {
        ShaperConfig::Bits { rate, burst } => {
            Kind::Bits(v1::BitShaper { rate_bps: rate.bps(), burst_bytes: burst.0 })
        }
        ShaperConfig::Packets { rate, burst, catches_up } => Kind::Packets(v1::PacketShaper {
            rate_pps: rate.pps(),
            burst_packets: *burst,
            catches_up: *catches_up,
        }),
    });
    v1::Shaper { kind }
}
