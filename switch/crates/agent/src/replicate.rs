//! Multicast groups and clone sessions: kept as they were written, and told to the replication
//! engine in its own words.

use p4runtime::refusal::Refusal;
use p4runtime::translate::op::Op;
use p4runtime::translate::replication::{CloneSession, MulticastGroup};
use pipeline::{Node, Replica as Copy};

use super::target::Target;

/// Carries out a change to a multicast group.
pub(super) fn apply_to_group(
    target: &mut Target<'_>,
    id: u32,
    op: Op<MulticastGroup>,
) -> Result<(), Refusal> {
    let ledger = &mut target.forwarding.ledger;
    check("multicast group", id, &op, ledger.multicast.contains_key(&id))?;
    let group = op.into_state();
    let nodes = group.as_ref().map(|group| {
        let replicas = group.replicas.iter();
        replicas
            .map(|replica| Node {
                rid: replica.instance,
                ports: vec![replica.port],
                lags: Vec::new(),
            })
            .collect()
    });
    target.pipeline.replication.set_group(id, nodes);
    match group {
        Some(group) => drop(ledger.multicast.insert(id, group)),
        None => drop(ledger.multicast.remove(&id)),
    }
    Ok(())
}

/// Carries out a change to a clone session.
pub(super) fn apply_to_session(
    target: &mut Target<'_>,
    id: u32,
    op: Op<CloneSession>,
) -> Result<(), Refusal> {
    let ledger = &mut target.forwarding.ledger;
    check("clone session", id, &op, ledger.sessions.contains_key(&id))?;
    let session = op.into_state();
    let config = session.as_ref().map(|session| pipeline::CloneSession {
        group: None,
        port: None,
        replicas: session
            .replicas
            .iter()
            .map(|replica| Copy { port: replica.port, rid: replica.instance })
            .collect(),
        class: session.class,
        length_bytes_max: session.length_bytes_max.unwrap_or(0),
    });
    target.pipeline.replication.set_session(id, config);
    match session {
        Some(session) => drop(ledger.sessions.insert(id, session)),
        None => drop(ledger.sessions.remove(&id)),
    }
    Ok(())
}

fn check<T>(what: &str, id: u32, op: &Op<T>, exists: bool) -> Result<(), Refusal> {
    match (op.is_insert(), exists) {
        (true, true) => {
            Err(Refusal::exists(format!("{what} {id} exists already; modify it instead")))
        }
        (false, false) => {
            Err(Refusal::not_found(format!("there is no {what} {id}; insert it first")))
        }
        (true, false) | (false, true) => Ok(()),
    }
}
