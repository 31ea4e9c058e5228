//! Ports that come and go while the switch runs.

use agent::devices::Opened;
use agent::front::Front;
use p4runtime::Refusal;
use thrift::{Map, Struct, Type, Value};
use units::{PORT_NUMBER_MAX, PortId};

use crate::codes::Thrown;

/// DevMgrErrorCode has one.
pub const ERROR: Thrown = Thrown(1);

/// The port with the number in this argument.
pub fn port_of(arguments: &Struct, number: i16) -> Result<PortId, Thrown> {
    let port = u16::try_from(arguments.i32(number)).ok();
    port.filter(|port| *port <= PORT_NUMBER_MAX).map(PortId).ok_or(ERROR)
}

/// Adds a port with a device that has been opened.
pub async fn add(
    front: &Front,
    port: PortId,
    device: String,
    opened: Opened,
) -> Result<(), Thrown> {
    front.attach_port(port, device, opened).await.map_err(|_| ERROR)
}

/// Removes a port; returns its device, to be closed where that may take its time.
pub async fn remove(front: &Front, port: PortId) -> Result<Option<Opened>, Thrown> {
    front.detach_port(port).await.map_err(|_| ERROR)
}

/// All ports with network devices, as DevMgrPortInfo.
pub async fn list(front: &Front) -> Result<Value, Refusal> {
    let found = front.described().await?;
    let ports = found.snapshot.ports.iter().filter_map(|port| {
        let device = found.devices.get(&port.port)?;
        let info = Struct::default()
            .with(1, Value::I32(port.port.0.into()))
            .with(2, Value::text(device.as_str()))
            .with(3, Value::Bool(port.is_up))
            .with(4, Value::Map(Map { types: (Type::Binary, Type::Binary), pairs: Vec::new() }));
        Some(Value::Struct(info))
    });
    Ok(Value::List(Type::Struct, ports.collect()))
}
