//! Multicast groups and clone sessions: where copies of a packet go.
//!
//! The model is simple_switch's replication engine: a group has nodes, a node has a replication id
//! and ports, and perhaps link aggregation groups, of which one member port gets the copy.
//! P4Runtime's replicas are nodes with one port each.

use std::collections::BTreeMap;

use units::{ClassId, PortId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replica {
    pub port: PortId,
    /// The value of `egress_rid` in egress.
    pub rid: u16,
}

/// Copies with one replication id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The value of `egress_rid` in egress.
    pub rid: u16,
    /// Each of these ports gets a copy.
    pub ports: Vec<PortId>,
    /// One member of each of these link aggregation groups gets a copy.
    pub lags: Vec<u16>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// Each member of this multicast group gets a copy, before the single port does.
    pub group: Option<u32>,
    /// This port gets a copy.
    pub port: Option<PortId>,
    /// Copies of P4Runtime sessions, after those above.
    pub replicas: Vec<Replica>,
    /// The class the copies wait in.
    pub class: ClassId,
    /// Copies are cut to this length; 0 leaves them whole.
    pub length_bytes_max: u32,
}

/// All groups and sessions.
#[derive(Clone, Debug, Default)]
pub struct Replication {
    groups: BTreeMap<u32, Vec<Node>>,
    lags: BTreeMap<u16, Vec<PortId>>,
    sessions: BTreeMap<u32, CloneSession>,
}

/// simple_switch's stand-in for a hash over the packet when it picks a member of a group.
const LAG_HASH: usize = 0xff;

impl Replication {
    /// Sets the nodes of a multicast group; `None` removes it.
    pub fn set_group(&mut self, group: u32, nodes: Option<Vec<Node>>) {
        match nodes {
            Some(nodes) => drop(self.groups.insert(group, nodes)),
            None => drop(self.groups.remove(&group)),
        }
    }

    /// Nodes of a multicast group, if it exists.
    pub fn group(&self, group: u32) -> Option<&[Node]> {
        self.groups.get(&group).map(Vec::as_slice)
    }

    /// All groups in the order of their numbers.
    pub fn groups(&self) -> impl Iterator<Item = (u32, &[Node])> {
        self.groups.iter().map(|(group, nodes)| (*group, nodes.as_slice()))
    }

    /// Sets the member ports of a link aggregation group.
    pub fn set_lag(&mut self, lag: u16, mut ports: Vec<PortId>) {
        ports.sort();
        self.lags.insert(lag, ports);
    }

    /// Sets a clone session; `None` removes it.
    pub fn set_session(&mut self, session: u32, config: Option<CloneSession>) {
        match config {
            Some(config) => drop(self.sessions.insert(session, config)),
            None => drop(self.sessions.remove(&session)),
        }
    }

    /// A clone session, if it exists. Cloning to one that does not exist does nothing.
    pub fn session(&self, session: u32) -> Option<&CloneSession> {
        self.sessions.get(&session)
    }

    /// All sessions in the order of their numbers.
    pub fn sessions(&self) -> impl Iterator<Item = (u32, &CloneSession)> {
        self.sessions.iter().map(|(session, config)| (*session, config))
    }

    /// Appends the copies of a multicast group: by node, ports in ascending order, then one port
    /// of each aggregation group. An unknown group has none.
    pub fn replicate(&self, group: u32, replicas: &mut Vec<Replica>) {
        for node in self.groups.get(&group).into_iter().flatten() {
            let start = replicas.len();
            replicas.extend(node.ports.iter().map(|port| Replica { port: *port, rid: node.rid }));
            replicas[start..].sort_by_key(|replica| replica.port);
            for lag in &node.lags {
                let members = self.lags.get(lag).map_or(&[][..], Vec::as_slice);
                if let Some(port) = members.get(LAG_HASH % members.len().max(1)) {
                    replicas.push(Replica { port: *port, rid: node.rid });
                }
            }
        }
    }

    /// Appends the copies of a clone session.
    pub fn replicate_clone(&self, session: &CloneSession, replicas: &mut Vec<Replica>) {
        if let Some(group) = session.group {
            self.replicate(group, replicas);
        }
        replicas.extend(session.port.map(|port| Replica { port, rid: 0 }));
        replicas.extend_from_slice(&session.replicas);
    }

    pub fn reset(&mut self) {
        *self = Replication::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_follow_nodes_then_ports_then_aggregation_groups() {
        let mut replication = Replication::default();
        let ports = |ports: &[u16]| ports.iter().copied().map(PortId).collect::<Vec<PortId>>();
        replication.set_lag(9, ports(&[6, 4, 5]));
        replication.set_group(
            1,
            Some(vec![
                Node { rid: 10, ports: ports(&[3, 1]), lags: vec![9] },
                Node { rid: 11, ports: ports(&[2]), lags: vec![] },
            ]),
        );
        let mut replicas = Vec::new();
        replication.replicate(1, &mut replicas);
        let found: Vec<(u16, u16)> = replicas.iter().map(|copy| (copy.port.0, copy.rid)).collect();
        // 0xff % 3 = 0: the first member in ascending order, port 4.
        assert_eq!(found, [(1, 10), (3, 10), (4, 10), (2, 11)]);
        replicas.clear();
        replication.replicate(2, &mut replicas);
        assert_eq!(replicas, []);
    }
}
