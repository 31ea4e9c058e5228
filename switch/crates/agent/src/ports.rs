//! Ports that come and go while the switch runs.
//!
//! A network device is opened, and let go of, on a thread that may wait: the kernel takes
//! milliseconds for either. The data plane only puts what was opened into place.

use messages::vitrine::v1;
use p4runtime::refusal::Refusal;
use p4runtime::router::Problem;
use p4runtime::router::config::Draft;
use traffic::Change;
use units::{PortId, Time};

use super::devices::Opened;
use super::plane::DataPlane;

/// Why a port was not added.
#[derive(Debug)]
pub enum NotAdded {
    /// Its configuration is wrong.
    Problems(Vec<Problem>),
    /// It cannot be a port.
    Refused(Refusal),
}

impl From<Refusal> for NotAdded {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Adds a port at this instant, or changes nothing.
pub(super) fn add(
    plane: &mut impl DataPlane,
    port: PortId,
    device: &str,
    settings: v1::PortConfig,
    opened: Opened,
) -> Result<Time, NotAdded> {
    let now = plane.now();
    check_free(plane, port, device)?;
    let mut draft = Draft::default();
    draft.add_port(port, plane.new_port());
    let settings = v1::PortChange { port: port.0.into(), config: Some(settings) };
    draft.edit_port(plane.device(), &settings);
    let change = draft.finish().map_err(NotAdded::Problems)?;
    let changed = plane.device().change(now, change);
    changed.map_err(|problem| NotAdded::Problems(vec![problem]))?;
    // It may have been a port before, and gone; whether its device carries is found out now.
    plane.device().set_port_up(now, port, true);
    plane.attach(port, opened);
    Ok(now)
}

fn check_free(plane: &mut impl DataPlane, port: PortId, device: &str) -> Result<(), Refusal> {
    if port == plane.device().program_config().drop_port {
        return Err(Refusal::invalid(format!("port {port} means \"drop\": take another number")));
    }
    let ports: Vec<PortId> = plane.device().traffic().config().ports.keys().copied().collect();
    if ports.contains(&port) {
        return Err(Refusal::exists(format!(
            "the switch has a port {port} already; remove it first"
        )));
    }
    match ports.into_iter().find(|port| plane.netdev_of(*port).as_deref() == Some(device)) {
        Some(other) => {
            Err(Refusal::exists(format!("device {device} is behind port {other} already")))
        }
        None => Ok(()),
    }
}

/// Removes a port at this instant; what was opened for it is to be dropped where waiting is allowed.
pub(super) fn remove(
    plane: &mut impl DataPlane,
    port: PortId,
) -> Result<(Time, Option<Opened>), Refusal> {
    let now = plane.now();
    if !plane.device().traffic().config().ports.contains_key(&port) {
        return Err(Refusal::not_found(format!("the switch has no port {port}")));
    }
    plane.may_remove(port)?;
    // Watchers of the port see it go down; nothing gets into it from now on.
    plane.device().set_port_up(now, port, false);
    let change = Change { ports: [(port, None)].into(), ..Change::default() };
    plane.device().change(now, change.into()).map_err(|problem| {
        Refusal::precondition(format!("the router needs port {port}: {problem}"))
    })?;
    Ok((now, plane.detach(port)))
}
