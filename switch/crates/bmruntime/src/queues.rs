//! Depth and rate of egress queues, in simple_switch's units: packets, and packets a second.
//!
//! There a priority is a queue of a port, and the higher number is served first; so is a class here.

use std::sync::{Mutex, PoisonError};

use agent::front::Front;
use messages::vitrine::v1;
use p4runtime::Refusal;
use thrift::Struct;
use units::{CLASS_COUNT_MAX, PORT_NUMBER_MAX, PortId};

/// The result of a setting that cannot be made.
const FAILED: i32 = -1;

/// A setting.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// How many packets may wait.
    Depth(i64),
    /// How many packets may leave a second; 0 is any number.
    Rate(i64),
}

/// A setting and its place.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// None: all ports.
    port: Option<i32>,
    /// None: all classes.
    class: Option<i32>,
    wanted: Wanted,
}

/// The settings until now, in the order of the calls, for later ports: a queue has its settings by
/// the number of its port, whether a device is behind that or not.
#[derive(Debug, Default)]
pub struct Settings(Mutex<Vec<Setting>>);

impl Settings {
    /// Carries out a function of this name; `None` if it is another's.
    pub async fn call(
        &self,
        front: &Front,
        method: &str,
        arguments: &Struct,
    ) -> Option<Result<i32, Refusal>> {
        let setting = Setting::of(method, arguments)?;
        if !setting.can_be() {
            return Some(Ok(FAILED));
        }
        let done = set(front, setting).await;
        if matches!(done, Ok(0)) {
            self.keep(setting);
        }
        Some(done)
    }

    /// Sets the queues of a port that has come.
    pub async fn apply(&self, front: &Front, port: PortId) {
        let number = i32::from(port.0);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for setting in kept.into_iter().filter(|it| it.port.is_none_or(|port| port == number)) {
            // A port without the class that was meant keeps what it has.
            let _done = set(front, Setting { port: Some(number), ..setting }).await;
        }
    }

    /// A new setting takes the place of those it covers, so their number is bounded.
    fn keep(&self, setting: Setting) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|before| !setting.covers(before));
        kept.push(setting);
    }
}

impl Setting {
    /// The setting of the function of this name.
    fn of(method: &str, arguments: &Struct) -> Option<Setting> {
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
        Some(Setting { port, class, wanted })
    }

    /// Whether nothing is left of the other one where this was set after it.
    fn covers(&self, other: &Setting) -> bool {
        std::mem::discriminant(&self.wanted) == std::mem::discriminant(&other.wanted)
            && (self.port.is_none() || self.port == other.port)
            && (self.class.is_none() || self.class == other.class)
    }

    /// Whether there can be such a port and class, now or later, and such a depth or rate.
    fn can_be(&self) -> bool {
        self.port.is_none_or(|port| (0..=i32::from(PORT_NUMBER_MAX)).contains(&port))
            && self.class.is_none_or(|class| (0..CLASS_COUNT_MAX as i32).contains(&class))
            && queue(0, self.wanted).is_some()
    }
}

/// Sets the queues that are there.
async fn set(front: &Front, Setting { port, class, wanted }: Setting) -> Result<i32, Refusal> {
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
    let has_no_queue = |change: &v1::PortChange| {
        change.config.as_ref().is_none_or(|config| config.queues.is_empty())
    };
    if changes.iter().any(has_no_queue) {
        return Ok(FAILED);
    }
    if !changes.is_empty() {
        front.configure_ports(changes).await?;
    }
    Ok(0)
}

/// The change of one queue; `None` for values that no queue can have.
fn queue(class: u32, wanted: Wanted) -> Option<v1::QueueConfig> {
    let mut queue = v1::QueueConfig { class, ..v1::QueueConfig::default() };
    match wanted {
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
