//! [`Visit`]: what others do on the data plane in words that are not P4Runtime's.
//!
//! A visit is a request like any other: it waits its turn, is carried out in slices, and meets the
//! program that reads and writes refer to. So two doors to one switch never see halves of each
//! other's changes. A visitor changes the pipeline by itself, but for the control plane's data
//! about entries: that goes through [`Site`].

use std::any::Any;
use std::fmt;

use p4runtime::translate::action::Watch;
use p4runtime::translate::profile::{GroupMember, GroupState};
use p4runtime::translate::replication;
use pipeline::{CloneSession, EntryAction, EntryId, Node, Pipeline, TableError};
use units::Time;
use units::memory::Exhausted;

use super::forwarding::Beside;
use super::learning::{Learner, Learning};
use super::one_shot;
use super::target::Target;

/// Work for the data plane that the agent does not know.
pub trait Visit: fmt::Debug + Send {
    /// Goes on for about `left` steps, a step being an entry or a cell, and takes them off. `true`:
    /// it has come to its end, and has answered its caller.
    fn go_on(&mut self, site: &mut Site<'_>, left: &mut usize) -> bool;
}

/// The state that a visit meets.
#[derive(Debug)]
pub struct Site<'a> {
    pub(super) target: Option<Target<'a>>,
    pub(super) now: Time,
    pub(super) epoch_offset_ns: i64,
    /// The receiver of digests from now on, if the visit has brought one.
    pub(super) learner: Option<Box<dyn Learner>>,
}

impl Site<'_> {
    /// The instant of the data plane.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Nanoseconds since 1970 at the instant zero of the data plane.
    pub fn epoch_offset_ns(&self) -> i64 {
        self.epoch_offset_ns
    }

    /// The program, if there is one.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.target.as_ref().map(|target| &*target.pipeline)
    }

    /// The program, to be changed.
    pub fn pipeline_mut(&mut self) -> Option<&mut Pipeline> {
        self.target.as_mut().map(|target| &mut *target.pipeline)
    }

    /// Reports digests to this learner from now on, in place of the former one.
    pub fn tell(&mut self, learner: Box<dyn Learner>) {
        self.learner = Some(learner);
    }

    /// The collection of digests for a [`Learner`], if there is a program.
    pub fn learning(&mut self) -> Option<&mut Learning> {
        self.target.as_mut().map(|target| &mut target.forwarding.learning)
    }

    /// Gives an entry another action; its idle timeout stays.
    pub fn modify_entry(
        &mut self,
        table: usize,
        id: EntryId,
        action: EntryAction,
    ) -> Result<(), TableError> {
        let Some(target) = &mut self.target else { return Err(no_entry(id)) };
        let timeout = target.pipeline.table(table).entry(id)?.idle_timeout;
        target.pipeline.modify_entry(table, id, action, timeout, target.now)?;
        let ledger = &mut target.forwarding.ledger;
        let before = ledger.beside.get(&(table, id)).cloned().unwrap_or_default();
        let group = before.one_shot.clone();
        ledger.set_beside(table, id, Beside { one_shot: None, ..before });
        group.iter().for_each(|group| one_shot::remove(target, group));
        Ok(())
    }

    /// Removes an entry and all that belongs to it.
    pub fn delete_entry(&mut self, table: usize, id: EntryId) -> Result<(), TableError> {
        let Some(target) = &mut self.target else { return Err(no_entry(id)) };
        target.pipeline.delete_entry(table, id)?;
        let before = target.forwarding.ledger.set_beside(table, id, Beside::default());
        before.one_shot.iter().for_each(|group| one_shot::remove(target, group));
        Ok(())
    }

    /// Sets the time after which an entry that no packet hits is reported; 0 is never.
    pub fn set_idle_timeout(
        &mut self,
        table: usize,
        id: EntryId,
        timeout_ms: u32,
    ) -> Result<(), TableError> {
        let Some(target) = &mut self.target else { return Err(no_entry(id)) };
        let action = target.pipeline.table(table).entry(id)?.action.clone();
        let timeout = (timeout_ms > 0).then(|| units::Span::from_ms(timeout_ms.into()));
        target.pipeline.modify_entry(table, id, action, timeout, target.now)?;
        let ledger = &mut target.forwarding.ledger;
        let before = ledger.beside.get(&(table, id)).cloned().unwrap_or_default();
        let idle_timeout_ns = u64::from(timeout_ms) * 1_000_000;
        ledger.set_beside(table, id, Beside { idle_timeout_ns, ..before });
        Ok(())
    }

    /// Sets the members of a group, each as often as it is there; adds the group if `new`.
    pub fn set_group(
        &mut self,
        profile: usize,
        id: u32,
        members: &[u32],
        new: bool,
    ) -> Result<(), TableError> {
        let Some(target) = &mut self.target else { return Err(no_profile()) };
        target.pipeline.memory_mut().check()?;
        target.pipeline.set_group(profile, id, members, new)?;
        let Some(profile_id) = target.forwarding.binding.profile_id(profile) else {
            return Ok(());
        };
        let groups = &mut target.forwarding.ledger.groups;
        let before = groups.remove(&(profile_id, id));
        let max_size = before.as_ref().map_or(0, |group| group.max_size);
        let mut known = before.map(|group| group.members).unwrap_or_default();
        known.retain(|member| members.contains(&member.member_id));
        for member_id in members {
            if !known.iter().any(|member| member.member_id == *member_id) {
                known.push(GroupMember { member_id: *member_id, weight: 1, watch: Watch::None });
            }
        }
        groups.insert((profile_id, id), GroupState { max_size, members: known });
        Ok(())
    }

    /// Removes a group that no entry uses.
    pub fn delete_group(&mut self, profile: usize, id: u32) -> Result<(), TableError> {
        let Some(target) = &mut self.target else { return Err(no_profile()) };
        target.pipeline.delete_group(profile, id)?;
        if let Some(profile_id) = target.forwarding.binding.profile_id(profile) {
            target.forwarding.ledger.groups.remove(&(profile_id, id));
        }
        Ok(())
    }

    /// Sets the nodes of a multicast group; `None` removes it. P4Runtime sees the ports of its
    /// nodes, as numbers, which controllers of all its versions read.
    pub fn set_multicast_group(
        &mut self,
        id: u32,
        nodes: Option<Vec<Node>>,
    ) -> Result<(), Exhausted> {
        let Some(target) = &mut self.target else { return Ok(()) };
        if nodes.is_some() {
            target.pipeline.memory_mut().check()?;
        }
        let ledger = &mut target.forwarding.ledger;
        match &nodes {
            None => drop(ledger.multicast.remove(&id)),
            Some(nodes) => {
                let copies = nodes.iter().flat_map(|node| {
                    node.ports.iter().map(|port| replication::Replica {
                        port: *port,
                        instance: node.rid,
                        port_as_number: true,
                    })
                });
                let group = replication::MulticastGroup {
                    replicas: copies.collect(),
                    ..replication::MulticastGroup::default()
                };
                ledger.multicast.insert(id, group);
            }
        }
        target.pipeline.replication.set_group(id, nodes);
        Ok(())
    }

    /// Sets a clone session; `None` removes it. P4Runtime sees its port, as a number.
    pub fn set_clone_session(
        &mut self,
        id: u32,
        session: Option<CloneSession>,
    ) -> Result<(), Exhausted> {
        let Some(target) = &mut self.target else { return Ok(()) };
        if session.is_some() {
            target.pipeline.memory_mut().check()?;
        }
        let sessions = &mut target.forwarding.ledger.sessions;
        match &session {
            None => drop(sessions.remove(&id)),
            Some(session) => {
                let copies = session.port.iter().map(|port| replication::Replica {
                    port: *port,
                    instance: 0,
                    port_as_number: true,
                });
                let seen = replication::CloneSession {
                    replicas: copies.collect(),
                    ..replication::CloneSession::default()
                };
                sessions.insert(id, seen);
            }
        }
        target.pipeline.replication.set_session(id, session);
        Ok(())
    }

    /// A visitor's data with the program, which it finds again until the program is replaced, if
    /// not longer ([`Keeps::Copies`](crate::Keeps)).
    pub fn kept<T: Any + Clone + Default + Send>(&mut self) -> Option<&mut T> {
        self.target.as_mut()?.forwarding.ledger.kept.of()
    }
}

fn no_profile() -> TableError {
    TableError::NotFound { what: "program".to_owned() }
}

fn no_entry(id: EntryId) -> TableError {
    TableError::NotFound { what: format!("entry {}: no program is loaded", id.0) }
}
