//! Network devices behind ports, as far as the agent knows of them: not at all.

use std::any::Any;
use std::fmt;

use p4runtime::{Code, Refusal};
use units::PortId;

/// An opened network device; only who opened it knows what is inside.
pub struct Opened(pub Box<dyn Any + Send>);

/// Opens network devices by their names, on a thread that may wait.
pub trait Devices: Send + Sync {
    /// Opens the device that is to be behind `port`.
    fn open(&self, port: PortId, device: &str) -> Result<Opened, Refusal>;
}

/// A switch whose ports are those it was started with.
#[derive(Debug)]
pub struct NoDevices;

impl Devices for NoDevices {
    fn open(&self, port: PortId, _device: &str) -> Result<Opened, Refusal> {
        let message =
            format!("port {port}: the ports of this switch are those it was started with");
        Err(Refusal::new(Code::Unimplemented, message))
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opened")
    }
}

impl fmt::Debug for dyn Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Devices")
    }
}
