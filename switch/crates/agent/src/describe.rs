//! A Describe, some ports at a time.
//!
//! A router of up to [`PORTS_PER_INSTANT`] ports is described whole, at one instant. Of a larger
//! one that many ports at a time are, and packets pass in between: a port's numbers are still of
//! one instant, and so are those of the whole router, which come first.

use std::collections::{BTreeMap, VecDeque};

use p4runtime::router::counters::{Detail, Snapshot};
use traffic::Histogram;
use units::PortId;

use super::plane::DataPlane;
use super::request::Description;
use crate::exchange::{Reply, reply};

/// Ports that are read at one instant: with eight queues each some ten microseconds.
pub const PORTS_PER_INSTANT: usize = 16;

/// A port is copied as fast as this many entries.
const STEPS_PER_PORT: usize = 2;

#[derive(Debug)]
pub(super) struct DescribeJob {
    /// Ports that are still to be read, ascending.
    rest: VecDeque<PortId>,
    found: Box<Description>,
    reply: Reply<Box<Description>>,
}

impl DescribeJob {
    /// Reads the description of the whole router; `wanted`: the ports, ascending, all if there are
    /// none.
    pub fn new(
        plane: &mut impl DataPlane,
        mut wanted: Vec<PortId>,
        lags: Histogram,
        reply: Reply<Box<Description>>,
        left: &mut usize,
    ) -> Self {
        let (now, epoch_offset_ns) = (plane.now(), plane.epoch_offset_ns());
        let device = plane.device();
        let snapshot = Snapshot::of_fabric(device, now, &wanted, Detail::All);
        let config = device.traffic().config();
        if wanted.is_empty() {
            wanted = config.ports.keys().copied().collect();
        }
        let config = traffic::Config {
            ports: BTreeMap::new(),
            buffer: config.buffer,
            input: config.input.clone(),
        };
        let found = Box::new(Description {
            config,
            links: BTreeMap::new(),
            drop_mirror: device.drop_mirror(),
            devices: BTreeMap::new(),
            netdevs: BTreeMap::new(),
            snapshot,
            books: device.books().clone(),
            held: device.traffic().held(),
            balanced: device.whole_balances(),
            lags,
            epoch_offset_ns,
        });
        if wanted.len() > PORTS_PER_INSTANT {
            *left = 0;
        }
        Self { rest: wanted.into(), found, reply }
    }

    /// Reads some more ports. `None`: it has come to its end, and is answered.
    pub fn go_on(mut self, plane: &mut impl DataPlane, left: &mut usize) -> Option<Self> {
        let count = self.rest.len().min(PORTS_PER_INSTANT);
        *left = left.saturating_sub(1 + count * STEPS_PER_PORT);
        let portion: Vec<PortId> = self.rest.drain(..count).collect();
        let found = &mut *self.found;
        let named = portion.iter().filter_map(|port| Some((*port, plane.netdev_of(*port)?)));
        found.devices.extend(named);
        let counted =
            portion.iter().filter_map(|port| Some((*port, plane.netdev_counters(*port)?)));
        found.netdevs.extend(counted);
        let now = plane.now();
        let device = plane.device();
        let config = &device.traffic().config().ports;
        let configs = portion.iter().filter_map(|port| Some((*port, config.get(port)?.clone())));
        found.config.ports.extend(configs);
        found.links.extend(portion.iter().map(|port| (*port, device.link(*port))));
        found.snapshot.time = now;
        found.balanced &= portion.iter().all(|port| device.port_balances(*port));
        found.snapshot.ports.extend(Snapshot::ports_of(device, now, &portion, Detail::All));
        if self.rest.is_empty() {
            reply(self.reply, self.found);
            return None;
        }
        Some(self)
    }
}
