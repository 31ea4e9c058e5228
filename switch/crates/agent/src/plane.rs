//! [`DataPlane`]: the agent's requirements for the driver of the device.

use device::Device;
use p4runtime::Refusal;
use p4runtime::netdev::NetdevCounters;
use traffic::PortConfig;
use units::{PortId, Time};

use super::devices::Opened;

/// The agent's requirements for the device. All of it happens at [`DataPlane::now`].
pub trait DataPlane {
    /// The instant of the data plane.
    fn now(&self) -> Time;
    fn device(&mut self) -> &mut Device;
    /// A frame from the controller, controller header first, as if it came in on the CPU port.
    fn packet_out(&mut self, frame: Vec<u8>);
    /// The default configuration of a port.
    fn new_port(&self) -> PortConfig;
    /// The network device behind a port.
    fn netdev_of(&self, port: PortId) -> Option<String>;
    /// The counters between the router and the network device behind a port, if it has one.
    fn netdev_counters(&mut self, port: PortId) -> Option<NetdevCounters>;
    /// Refuses to have a port removed that has to stay.
    fn may_remove(&self, port: PortId) -> Result<(), Refusal> {
        match self.netdev_of(port) {
            Some(_) => Ok(()),
            None => Err(Refusal::precondition(format!("port {port} is the CPU port, which stays"))),
        }
    }
    /// Puts an opened network device behind a port.
    fn attach(&mut self, port: PortId, opened: Opened);
    /// Takes the network device of a port away.
    fn detach(&mut self, port: PortId) -> Option<Opened>;
    /// Nanoseconds since 1970 at the instant zero of the data plane, by the wall clock of now.
    fn epoch_offset_ns(&self) -> i64;
}
