//! Which queue of a port is served next.

use units::ClassId;

use super::{NodeConfig, PortConfig};
use crate::error::ConfigError;
use crate::schedule::Discipline;

/// Which queue goes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchedulerConfig {
    /// Strict priority between groups of classes, and a discipline inside each: the first group
    /// that has a packet to send is served. Every class of the port is a member of exactly one.
    Groups(Vec<GroupConfig>),
    /// A tree of classes with rate, ceil and borrowing; every class of the port is a leaf.
    Hierarchy(NodeConfig),
}

/// Classes that share what the groups before them leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// How they share.
    pub discipline: Discipline,
    /// The classes and their weights.
    pub members: Vec<Member>,
}

/// A class in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The class.
    pub class: ClassId,
    /// Its weight against the other members, at least 1.
    pub weight: u32,
}

impl SchedulerConfig {
    /// Strict priority over `class_count` classes, the highest first.
    pub fn strict(class_count: usize) -> SchedulerConfig {
        SchedulerConfig::Groups(
            (0..class_count)
                .rev()
                .map(|class| GroupConfig::new(Discipline::Wrr, &[(class as u8, 1)]))
                .collect(),
        )
    }

    /// One group with this discipline and a weight for each class, class 0 first.
    pub fn shared(discipline: Discipline, weights: &[u32]) -> SchedulerConfig {
        let members: Vec<(u8, u32)> = (0..).zip(weights.iter().copied()).collect();
        SchedulerConfig::Groups(vec![GroupConfig::new(discipline, &members)])
    }

    /// Whether a packet is tagged when it enters its queue, and so has to leave in that order.
    pub(crate) fn tags_packets(&self) -> bool {
        match self {
            SchedulerConfig::Groups(groups) => {
                groups.iter().any(|group| group.discipline == Discipline::Wfq)
            }
            SchedulerConfig::Hierarchy(_) => false,
        }
    }

    pub(crate) fn validate(&self, port: &PortConfig, place: &str) -> Result<(), ConfigError> {
        let place = format!("{place}, scheduler");
        let groups = match self {
            SchedulerConfig::Groups(groups) => groups,
            SchedulerConfig::Hierarchy(root) => return root.validate(port, &place),
        };
        let mut seen = vec![false; port.queues.len()];
        for group in groups {
            group.validate(port, &place)?;
            for member in &group.members {
                match seen.get_mut(member.class.index()) {
                    Some(seen) if !*seen => *seen = true,
                    Some(_) => {
                        return Err(ConfigError::new(
                            place,
                            format!("class {} is in two groups", member.class),
                            "name each class once",
                        ));
                    }
                    None => {
                        return Err(ConfigError::new(
                            place,
                            format!("class {} has no queue", member.class),
                            format!("the port has classes 0 to {}", port.queues.len() - 1),
                        ));
                    }
                }
            }
        }
        match seen.iter().position(|seen| !seen) {
            Some(class) => Err(ConfigError::new(
                place,
                format!("class {class} is in no group and would never be served"),
                "put every class into a group",
            )),
            None => Ok(()),
        }
    }
}

impl GroupConfig {
    /// A group of `(class, weight)` members.
    pub fn new(discipline: Discipline, members: &[(u8, u32)]) -> GroupConfig {
        let members =
            members.iter().map(|&(class, weight)| Member { class: ClassId(class), weight });
        GroupConfig { discipline, members: members.collect() }
    }

    fn validate(&self, port: &PortConfig, place: &str) -> Result<(), ConfigError> {
        if let Some(member) = self.members.iter().find(|member| member.weight == 0) {
            return Err(ConfigError::new(
                place,
                format!("class {} has weight 0 and would never be served", member.class),
                "weights are at least 1",
            ));
        }
        let fits = self.discipline.check(port);
        fits.map_err(|(found, advice)| ConfigError::new(place, found, advice))
    }
}
