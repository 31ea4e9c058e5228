//! Multicast groups and clone sessions. Specification: "PacketReplicationEngineEntry".

use messages::p4::v1 as p4;
use messages::p4::v1::replica::PortKind;
use messages::p4::v1::update::Type;
use prost::bytes::Bytes;
use units::{ClassId, PortId};

use super::op::Op;
use crate::index::names::Names;
use crate::index::shape::hex;
use crate::refusal::Refusal;

/// Largest `instance` of a copy: v1model's `egress_rid` is `bit<16>`.
const INSTANCE_MAX: u32 = 0xffff;
/// Largest group: v1model's `mcast_grp` is `bit<16>`.
pub const GROUP_ID_MAX: u32 = 0xffff;
/// Largest session, as in simple_switch.
pub const SESSION_ID_MAX: u32 = 0x7fff;
/// The most copies that a group or session makes of a packet.
pub const REPLICA_COUNT_MAX: usize = 1024;
/// v1model's ports are `bit<9>`.
const PORT_WIDTH_BITS: usize = 9;
/// Classes are those of v1model's `bit<3>` priority.
const CLASS_MAX: u32 = 7;

/// One copy that replication makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// Where the copy leaves.
    pub port: PortId,
    /// The copy's `egress_rid`.
    pub instance: u16,
    /// Whether the port was given in the older, numeric field.
    pub port_as_number: bool,
}

/// A multicast group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MulticastGroup {
    /// The copies, in the order given.
    pub replicas: Vec<Replica>,
    /// The controller's own, returned unchanged.
    pub metadata: Bytes,
}

/// A clone session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// The copies, in the order given.
    pub replicas: Vec<Replica>,
    /// The queue of the copies.
    pub class: ClassId,
    /// Copies are cut to this length; `None`: not cut.
    pub length_bytes_max: Option<u32>,
}

/// The operation on an entity whose id is between 1 and `id_max`.
fn op_of<T>(
    kind: Type,
    id: u32,
    id_max: u32,
    state: impl FnOnce() -> Result<T, Refusal>,
) -> Result<Op<T>, Refusal> {
    if !(1..=id_max).contains(&id) {
        return Err(Refusal::invalid(format!("id {id} is not between 1 and {id_max}")));
    }
    Op::new(kind, state)
}

/// An update's operation on a multicast group.
pub fn multicast_op_of(
    ports: Option<&Names>,
    kind: Type,
    entry: &p4::MulticastGroupEntry,
) -> Result<Op<MulticastGroup>, Refusal> {
    let id = entry.multicast_group_id;
    let state = || {
        let replicas = replicas_of(ports, &entry.replicas)?;
        Ok(MulticastGroup { replicas, metadata: super::own(&entry.metadata) })
    };
    op_of(kind, id, GROUP_ID_MAX, state)
        .map_err(|refusal| refusal.within(format!("multicast group {id}")))
}

/// The message for a multicast group.
pub fn multicast_message(
    ports: Option<&Names>,
    id: u32,
    group: &MulticastGroup,
) -> p4::MulticastGroupEntry {
    p4::MulticastGroupEntry {
        multicast_group_id: id,
        replicas: replicas_message(ports, &group.replicas),
        metadata: group.metadata.clone(),
    }
}

/// An update's operation on a clone session.
pub fn clone_op_of(
    ports: Option<&Names>,
    kind: Type,
    entry: &p4::CloneSessionEntry,
) -> Result<Op<CloneSession>, Refusal> {
    let id = entry.session_id;
    let state = || {
        let replicas = replicas_of(ports, &entry.replicas)?;
        let class = u8::try_from(entry.class_of_service)
            .ok()
            .filter(|class| u32::from(*class) <= CLASS_MAX)
            .ok_or_else(|| {
                Refusal::invalid(format!(
                    "class_of_service {} is not between 0 and {CLASS_MAX}",
                    entry.class_of_service
                ))
            })?;
        let length = u32::try_from(entry.packet_length_bytes).map_err(|_| {
            Refusal::invalid(format!(
                "packet_length_bytes {} is negative",
                entry.packet_length_bytes
            ))
        })?;
        let length_bytes_max = (length > 0).then_some(length);
        Ok(CloneSession { replicas, class: ClassId(class), length_bytes_max })
    };
    op_of(kind, id, SESSION_ID_MAX, state)
        .map_err(|refusal| refusal.within(format!("clone session {id}")))
}

/// The message for a clone session.
pub fn clone_message(
    ports: Option<&Names>,
    id: u32,
    session: &CloneSession,
) -> p4::CloneSessionEntry {
    p4::CloneSessionEntry {
        session_id: id,
        replicas: replicas_message(ports, &session.replicas),
        class_of_service: u32::from(session.class.0),
        packet_length_bytes: session.length_bytes_max.map_or(0, u32::cast_signed),
    }
}

fn replicas_of(ports: Option<&Names>, given: &[p4::Replica]) -> Result<Vec<Replica>, Refusal> {
    if given.len() > REPLICA_COUNT_MAX {
        return Err(Refusal::exhausted(format!(
            "{} replicas are given; this switch makes {REPLICA_COUNT_MAX} copies of a packet",
            given.len()
        )));
    }
    let mut replicas: Vec<Replica> = Vec::with_capacity(given.len());
    let mut seen = std::collections::BTreeSet::new();
    for replica in given {
        let replica = replica_of(ports, replica)?;
        if !seen.insert((replica.port, replica.instance)) {
            return Err(Refusal::invalid(format!(
                "port {} with instance {} is there twice; give each copy its own instance",
                replica.port, replica.instance
            )));
        }
        replicas.push(replica);
    }
    Ok(replicas)
}

fn replica_of(ports: Option<&Names>, replica: &p4::Replica) -> Result<Replica, Refusal> {
    if !replica.backup_replicas.is_empty() {
        return Err(Refusal::unimplemented(
            "backup_replicas are set, which this switch does not have: give a replica for each port, \
             and modify the entry when a port goes down",
        ));
    }
    let (number, port_as_number) = match &replica.port_kind {
        Some(PortKind::EgressPort(number)) => (u16::try_from(*number).ok(), true),
        Some(PortKind::Port(bytes)) => match ports {
            Some(names) => {
                let number = names.number_of(bytes)?.to_u64();
                (number.and_then(|number| u16::try_from(number).ok()), false)
            }
            None => (port_of(bytes), false),
        },
        None => return Err(Refusal::invalid("a replica has no port")),
    };
    let port = number.filter(|number| *number < 1 << PORT_WIDTH_BITS).ok_or_else(|| {
        let given = match &replica.port_kind {
            Some(PortKind::EgressPort(number)) => number.to_string(),
            Some(PortKind::Port(bytes)) => hex(bytes),
            None => String::new(),
        };
        Refusal::invalid(format!("port {given} is not a number of {PORT_WIDTH_BITS} bits"))
    })?;
    let instance = u16::try_from(replica.instance).map_err(|_| {
        Refusal::invalid(format!(
            "instance {} is above {INSTANCE_MAX}, the largest egress_rid",
            replica.instance
        ))
    })?;
    Ok(Replica { port: PortId(port), instance, port_as_number })
}

/// The port in a byte string, if it is one.
pub fn port_of(bytes: &[u8]) -> Option<u16> {
    let value = bits::from_canonical(bytes, PORT_WIDTH_BITS).ok()?;
    u16::try_from(value.to_u64()?).ok()
}

fn replicas_message(ports: Option<&Names>, replicas: &[Replica]) -> Vec<p4::Replica> {
    let message = |replica: &Replica| {
        let number = u32::from(replica.port.0);
        let bytes = || match ports {
            Some(names) => names.bytes_of(&bits::Int::from(number)),
            None => Bytes::from(bits::canonical(&bits::Int::from(number))),
        };
        let port_kind = if replica.port_as_number {
            PortKind::EgressPort(number)
        } else {
            PortKind::Port(bytes())
        };
        let instance = u32::from(replica.instance);
        p4::Replica { instance, port_kind: Some(port_kind), ..p4::Replica::default() }
    };
    replicas.iter().map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(port: &'static [u8], instance: u32) -> p4::Replica {
        let port_kind = Some(PortKind::Port(Bytes::from_static(port)));
        p4::Replica { instance, port_kind, ..p4::Replica::default() }
    }

    fn session(replicas: Vec<p4::Replica>) -> p4::CloneSessionEntry {
        p4::CloneSessionEntry {
            session_id: 100,
            replicas,
            class_of_service: 2,
            packet_length_bytes: 128,
        }
    }

    #[test]
    fn a_clone_session_comes_back_as_it_was_sent() {
        let port_kind = Some(PortKind::EgressPort(3));
        let older = p4::Replica { instance: 2, port_kind, ..p4::Replica::default() };
        let sent = session(vec![replica(b"\x01\xfe", 1), older]);
        let Ok(Op::Insert(state)) = clone_op_of(None, Type::Insert, &sent) else {
            panic!("an insert was asked for");
        };
        assert_eq!(state.replicas[0].port, PortId(510));
        assert_eq!(clone_message(None, sent.session_id, &state), sent);
    }

    #[test]
    fn a_multicast_group_keeps_order_and_metadata() {
        let sent = p4::MulticastGroupEntry {
            multicast_group_id: 1,
            replicas: vec![replica(b"\x05", 1), replica(b"\x02", 1), replica(b"\x05", 2)],
            metadata: Bytes::from_static(b"mine"),
        };
        let Ok(Op::Modify(state)) = multicast_op_of(None, Type::Modify, &sent) else {
            panic!("a modify was asked for");
        };
        assert_eq!(multicast_message(None, 1, &state), sent);
    }

    #[test]
    fn each_broken_rule_is_named() {
        let wide_class = p4::CloneSessionEntry { class_of_service: 8, ..session(Vec::new()) };
        let negative = p4::CloneSessionEntry { packet_length_bytes: -1, ..session(Vec::new()) };
        let no_id = p4::CloneSessionEntry { session_id: 0, ..session(Vec::new()) };
        let no_port = p4::Replica::default();
        let cases = [
            (session(vec![replica(b"\x02\x00", 0)]), "port 0x0200 is not a number of 9 bits"),
            (session(vec![replica(b"\x01", 0x1_0000)]), "instance 65536 is above 65535"),
            (session(vec![replica(b"\x01", 1), replica(b"\x01", 1)]), "is there twice"),
            (session(vec![no_port]), "no port"),
            (wide_class, "class_of_service 8"),
            (negative, "packet_length_bytes -1"),
            (no_id, "id 0 is not between 1 and 32767"),
        ];
        for (sent, expected) in cases {
            let refusal = clone_op_of(None, Type::Insert, &sent).unwrap_err();
            assert_eq!(refusal.code, crate::code::Code::InvalidArgument);
            assert!(refusal.message.contains(expected), "{}", refusal.message);
        }
    }

    #[test]
    fn backup_replicas_are_refused_rather_than_lost() {
        let backup = p4::BackupReplica { port: Bytes::from_static(b"\x02"), instance: 1 };
        let guarded = p4::Replica { backup_replicas: vec![backup], ..replica(b"\x01", 1) };
        let refusal = clone_op_of(None, Type::Insert, &session(vec![guarded])).unwrap_err();
        assert_eq!(refusal.code, crate::code::Code::Unimplemented);
        assert!(refusal.message.contains("backup_replicas"), "{}", refusal.message);
    }

    #[test]
    fn a_deletion_looks_at_nothing_but_the_id() {
        let sent = session(vec![replica(b"\x02\x00", 0)]);
        assert_eq!(clone_op_of(None, Type::Delete, &sent), Ok(Op::Delete));
    }
}
