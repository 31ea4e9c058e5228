//! Clone sessions, which the interface calls mirroring.

use agent::visit::Site;
use pipeline::CloneSession;
use thrift::{Struct, Value};
use units::{PORT_NUMBER_MAX, PortId};

use crate::codes::{Thrown, mirroring};
use crate::job::{Outcome, Run};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("mirroring_session_add", Run::Once(add)),
    ("mirroring_session_delete", Run::Once(delete)),
    ("mirroring_session_get", Run::Once(get)),
    ("mirroring_mapping_add", Run::Once(add_mapping)),
    ("mirroring_mapping_delete", Run::Once(delete_mapping)),
    ("mirroring_mapping_get_egress_port", Run::Once(mapping)),
];

/// Programs clone to sessions below this.
const SESSION_COUNT_MAX: u32 = 1 << 15;

/// The result of the oldest functions: done, and for a port, none.
const DONE: i32 = 1;
const NOT_DONE: i32 = 0;
const NO_PORT: i32 = -1;

/// The fields of MirroringSessionConfig.
const PORT: i16 = 1;
const GROUP: i16 = 2;

fn session_of(arguments: &Struct) -> Result<u32, Thrown> {
    let session = u32::try_from(arguments.i32(1)).ok();
    session.filter(|session| *session < SESSION_COUNT_MAX).ok_or(mirroring::NOT_FOUND)
}

fn port_of(number: i32) -> Option<PortId> {
    let number = u16::try_from(number).ok()?;
    (number <= PORT_NUMBER_MAX).then_some(PortId(number))
}

/// The session, if it exists.
fn found<'a>(site: &'a Site<'_>, session: u32) -> Result<&'a CloneSession, Thrown> {
    let pipeline = site.pipeline().ok_or(mirroring::NOT_FOUND)?;
    pipeline.replication.session(session).ok_or(mirroring::NOT_FOUND)
}

fn set(site: &mut Site<'_>, id: u32, session: CloneSession) -> Result<(), Thrown> {
    site.set_clone_session(id, Some(session)).map_err(|_no_room| mirroring::NO_ROOM)
}

/// A session that exists already becomes what is given.
fn add(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let id = session_of(arguments)?;
    let config = arguments.structure(2).cloned().unwrap_or_default();
    let group = config.is_set(GROUP).then(|| u32::try_from(config.i32(GROUP)).ok()).flatten();
    let port = config.is_set(PORT).then(|| port_of(config.i32(PORT))).flatten();
    let session = CloneSession { group, port, ..CloneSession::default() };
    set(site, id, session)?;
    Ok(None)
}

fn delete(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let id = session_of(arguments)?;
    let _there = found(site, id)?;
    site.set_clone_session(id, None).map_err(|_no_room| mirroring::NO_ROOM)?;
    Ok(None)
}

fn get(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let session = found(site, session_of(arguments)?)?;
    let mut config = Struct::default();
    if let Some(port) = port_of_session(session) {
        config.set(PORT, Value::I32(port.0.into()));
    }
    if let Some(group) = session.group {
        config.set(GROUP, Value::I32(group.cast_signed()));
    }
    Ok(Some(Value::Struct(config)))
}

/// Its port; of a session that P4Runtime has made, the first.
fn port_of_session(session: &CloneSession) -> Option<PortId> {
    session.port.or_else(|| session.replicas.first().map(|copy| copy.port))
}

fn add_mapping(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let (Ok(id), Some(port)) = (session_of(arguments), port_of(arguments.i32(2))) else {
        return Ok(Some(Value::I32(NOT_DONE)));
    };
    let session = CloneSession { port: Some(port), ..CloneSession::default() };
    let is_set = set(site, id, session).is_ok();
    Ok(Some(Value::I32(if is_set { DONE } else { NOT_DONE })))
}

fn delete_mapping(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let deleted = delete(site, arguments);
    Ok(Some(Value::I32(if deleted.is_ok() { DONE } else { NOT_DONE })))
}

fn mapping(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let session = session_of(arguments).and_then(|id| found(site, id));
    let port = session.ok().and_then(port_of_session);
    Ok(Some(Value::I32(port.map_or(NO_PORT, |port| port.0.into()))))
}
