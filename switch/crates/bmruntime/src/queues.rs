//! Depth and rate of egress queues, in simple_switch's units: packets, and packets a second.
//!
//! There a priority is a queue of a port, and the higher number is served first; so is a class here.

use agent::front::Front;
use messages::vitrine::v1;
use p4runtime::Refusal;
use thrift::Struct;
use units::PortId;

/// What is returned for what cannot be done.
const FAILED: i32 = -1;

/// What is set.
enum Wanted {
    /// How many packets may wait.
    Depth(i64),
    /// How many packets may leave a second; 0 is any number.
    Rate(i64),
}

/// Carries out a function of this name; `None` if it is another's.
pub async fn call(front: &Front, method: &str, arguments: &Struct) -> Option<Result<i32, Refusal>> {
    let (port, class) = (Some(arguments.i32(1)), Some(arguments.i32(2)));
    let depth = |number: i16| Wanted::Depth(arguments.i32(number).into());
    let rate = |number: i16| Wanted::Rate(arguments.i64(number));
    let (port, class, wanted) = match method {
        "set_egress_priority_queue_depth" => (port, class, depth(3)),
        "set_egress_queue_depth" => (port, None, depth(2)),
        "set_all_egress_queue_depths" => (None, None, depth(1)),
        "set_egress_priority_queue_rate" => (port, class, rate(3)),
        "set_egress_queue_rate" => (port, None, rate(2)),
        "set_all_egress_queue_rates" => (None, None, rate(1)),
        _ => return None,
    };
    Some(set(front, port, class, &wanted).await)
}

/// Sets queues of this class, or of all, at this port, or at all.
async fn set(
    front: &Front,
    port: Option<i32>,
    class: Option<i32>,
    wanted: &Wanted,
) -> Result<i32, Refusal> {
    let found = front.described().await?;
    let is_meant = |number: PortId| port.is_none_or(|port| i32::from(number.0) == port);
    let mut changes = Vec::new();
    for (number, config) in found.config.ports.iter().filter(|(number, _)| is_meant(**number)) {
        let classes = 0..config.queues.len() as i32;
        let meant = classes.filter(|number| class.is_none_or(|class| class == *number));
        let Some(queues) = meant.map(|class| queue(class.cast_unsigned(), wanted)).collect() else {
            return Ok(FAILED);
        };
        let config = Some(v1::PortConfig { queues, ..v1::PortConfig::default() });
        changes.push(v1::PortChange { port: number.0.into(), config });
    }
    let is_nothing = changes
        .iter()
        .all(|change| change.config.as_ref().is_none_or(|config| config.queues.is_empty()));
    if is_nothing {
        return Ok(FAILED);
    }
    front.configure_ports(changes).await?;
    Ok(0)
}

/// The change of one queue; `None` for what no queue can be.
fn queue(class: u32, wanted: &Wanted) -> Option<v1::QueueConfig> {
    let mut queue = v1::QueueConfig { class, ..v1::QueueConfig::default() };
    match *wanted {
        Wanted::Depth(packets) => {
            let packets = u64::try_from(packets).ok().filter(|packets| *packets > 0)?;
            queue.limit = Some(v1::Limit { packets, bytes: 0 });
        }
        Wanted::Rate(rate_pps) => {
            let rate_pps = u64::try_from(rate_pps).ok()?;
            // Packets leave evenly, none at once after a pause; only what the line kept is behind.
            let shaper = v1::PacketShaper { rate_pps, burst_packets: 1, catches_up: true };
            let kind = (rate_pps > 0).then_some(v1::shaper::Kind::Packets(shaper));
            queue.shaper = Some(v1::Shaper { kind });
        }
    }
    Some(queue)
}
