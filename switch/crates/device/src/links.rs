//! Ports that are up, and ports that are not.
//!
//! A port is up unless the driver of the device says otherwise. While it is down nothing gets in by
//! it, and nothing gets into its queues; packets already in them depart in their time and are lost,
//! as on a line whose far end has gone. All of it is counted as [`DropReason::PortDown`]. Action
//! selectors leave out members that watch the port.

use std::collections::BTreeSet;

use units::{DropReason, PortId, Time};

use crate::device::Device;
use crate::watch::Event;

impl Device {
    /// A port went up or down. Telling what is known already changes nothing.
    pub fn set_port_up(&mut self, now: Time, port: PortId, up: bool) {
        let changed = if up { self.down.remove(&port) } else { self.down.insert(port) };
        if changed {
            self.log.note(Event::Port { at: now, port, up });
        }
    }

    /// Whatever takes the frames of a port has no room for more, or has room again. Packets wait in
    /// the port's queues meanwhile, where they can be seen.
    pub fn set_port_stalled(&mut self, now: Time, port: PortId, stalled: bool) {
        self.traffic.set_stalled(now, port, stalled);
    }

    /// The ports that are down.
    pub fn ports_down(&self) -> &BTreeSet<PortId> {
        &self.down
    }

    /// Whether a port is up; one that nothing was said about is.
    #[inline]
    pub fn port_is_up(&self, port: PortId) -> bool {
        // The set is empty as a rule, and that costs nothing to find out.
        !self.down.contains(&port)
    }

    /// `PortDown` for a port that is.
    #[inline]
    pub(crate) fn check_port(&self, port: PortId) -> Result<(), DropReason> {
        if self.port_is_up(port) { Ok(()) } else { Err(DropReason::PortDown) }
    }
}
