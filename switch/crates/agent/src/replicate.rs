//! Multicast groups and clone sessions: kept as they were written, and told to the replication
//! engine in its own words.

use p4runtime::refusal::Refusal;
use p4runtime::translate::replication::{CloneSession, MulticastGroup, NumberedChange};
use pipeline::{Node, Replica as Copy};

use super::target::Target;

/// Carries out a change to a multicast group.
pub(super) fn apply_to_group(
    target: &mut Target<'_>,
    change: NumberedChange<MulticastGroup>,
) -> Result<(), Refusal> {
    let ledger = &mut target.forwarding.ledger;
    let (id, group) = check("multicast group", change, |id| ledger.multicast.contains_key(&id))?;
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
    change: NumberedChange<CloneSession>,
) -> Result<(), Refusal> {
    let ledger = &mut target.forwarding.ledger;
    let (id, session) = check("clone session", change, |id| ledger.sessions.contains_key(&id))?;
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

/// What is to be set (`None`: removed), if the change fits what there is.
fn check<T>(
    what: &str,
    change: NumberedChange<T>,
    exists: impl Fn(u32) -> bool,
) -> Result<(u32, Option<T>), Refusal> {
    match change {
        NumberedChange::Insert(id, _) if exists(id) => {
            Err(Refusal::exists(format!("{what} {id} exists already; modify it instead")))
        }
        NumberedChange::Modify(id, _) | NumberedChange::Delete(id) if !exists(id) => {
            Err(Refusal::not_found(format!("there is no {what} {id}; insert it first")))
        }
        NumberedChange::Insert(id, state) | NumberedChange::Modify(id, state) => {
            Ok((id, Some(state)))
        }
        NumberedChange::Delete(id) => Ok((id, None)),
    }
}
