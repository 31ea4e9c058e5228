//! Schedulers: groups in strict priority, or a tree of classes that borrow.
//!
//! A discipline has the same name in messages as in the traffic manager, so none is named here.

use messages::vitrine::v1;
use traffic::{Discipline, GroupConfig, Member, NodeConfig, NodeKind, SchedulerConfig};
use units::{Bytes, ClassId, Rate};

use super::Problem;
use super::parts::problem;

/// How deep a tree of a message is looked into; the traffic manager takes fewer levels still.
const DEPTH_MAX: usize = 16;

/// The scheduler of a message. Mistakes are appended to `problems`, and the result is then of no
/// use.
pub(super) fn scheduler_of(
    scheduler: &v1::Scheduler,
    place: &str,
    problems: &mut Vec<Problem>,
) -> SchedulerConfig {
    let place = format!("{place}, scheduler");
    if let Some(root) = &scheduler.hierarchy {
        if !scheduler.groups.is_empty() {
            let found = "both groups and a hierarchy".to_owned();
            problems.push(problem(&place, found, "set one of them"));
        }
        if let Some(root) = node_of(root, &place, 1, problems) {
            return SchedulerConfig::Hierarchy(root);
        }
    }
    let groups = scheduler
        .groups
        .iter()
        .enumerate()
        .filter_map(|(idx, group)| group_of(group, &format!("{place}, group {idx}"), problems));
    SchedulerConfig::Groups(groups.collect())
}

fn group_of(group: &v1::Group, place: &str, problems: &mut Vec<Problem>) -> Option<GroupConfig> {
    let name = group.discipline().as_str_name().to_lowercase();
    let Some(discipline) = Discipline::named(&name, Bytes(group.quantum_bytes)) else {
        let found = format!("discipline {} is not known", group.discipline);
        let advice = format!("use one of {}", Discipline::NAMES.join(", ").to_uppercase());
        problems.push(problem(place, found, &advice));
        return None;
    };
    let members = group.members.iter().filter_map(|member| {
        let class = class_of(member.class, place, problems)?;
        Some(Member { class, weight: member.weight })
    });
    Some(GroupConfig { discipline, members: members.collect() })
}

fn node_of(
    node: &v1::Node,
    place: &str,
    depth: usize,
    problems: &mut Vec<Problem>,
) -> Option<NodeConfig> {
    let place = format!("{place}, node {}", node.name);
    if depth > DEPTH_MAX {
        let found = format!("a tree of more than {DEPTH_MAX} levels");
        problems.push(problem(&place, found, "make it flatter"));
        return None;
    }
    let mut rate = |what: &str, rate_bps| {
        let rate = Rate::from_bps(rate_bps);
        if rate.is_none() {
            let found = format!("{what} is 0");
            problems.push(problem(&place, found, "give a rate in bits a second"));
        }
        rate
    };
    let (rate, ceil) = (rate("rate_bps", node.rate_bps), rate("ceil_bps", node.ceil_bps));
    let kind = match &node.leaf {
        Some(leaf) => {
            let class = class_of(leaf.class, &place, problems)?;
            let Ok(priority) = u8::try_from(leaf.priority) else {
                let found = format!("priority {}", leaf.priority);
                problems.push(problem(&place, found, "priorities are 0 to 255"));
                return None;
            };
            NodeKind::Leaf { class, priority, quantum: Bytes(leaf.quantum_bytes) }
        }
        None => {
            let children = node.children.iter();
            let children = children.filter_map(|child| node_of(child, &place, depth + 1, problems));
            NodeKind::Inner(children.collect())
        }
    };
    Some(NodeConfig {
        name: node.name.clone(),
        rate: rate?,
        ceil: ceil?,
        burst: Bytes(node.burst_bytes),
        ceil_burst: Bytes(node.ceil_burst_bytes),
        kind,
    })
}

fn class_of(class: u32, place: &str, problems: &mut Vec<Problem>) -> Option<ClassId> {
    let small = u8::try_from(class).ok().map(ClassId);
    if small.is_none() {
        problems.push(problem(place, format!("class {class}"), "classes are 0 to 7"));
    }
    small
}

/// The message for a scheduler.
pub(super) fn scheduler_message(scheduler: &SchedulerConfig) -> v1::Scheduler {
    match scheduler {
        SchedulerConfig::Groups(groups) => {
            let groups = groups.iter().map(group_message).collect();
            v1::Scheduler { groups, hierarchy: None }
        }
        SchedulerConfig::Hierarchy(root) => {
            v1::Scheduler { groups: Vec::new(), hierarchy: Some(node_message(root)) }
        }
    }
}

fn group_message(group: &GroupConfig) -> v1::Group {
    let name = group.discipline.name().to_uppercase();
    let discipline = v1::Discipline::from_str_name(&name).unwrap_or_default();
    let quantum_bytes = group.discipline.quantum().map_or(0, Bytes::count);
    let members = group.members.iter();
    let members = members
        .map(|member| v1::Member { class: u32::from(member.class.0), weight: member.weight });
    v1::Group { discipline: discipline.into(), quantum_bytes, members: members.collect() }
}

fn node_message(node: &NodeConfig) -> v1::Node {
    let (children, leaf) = match &node.kind {
        NodeKind::Inner(children) => (children.iter().map(node_message).collect(), None),
        NodeKind::Leaf { class, priority, quantum } => {
            let leaf = v1::Leaf {
                class: u32::from(class.0),
                priority: u32::from(*priority),
                quantum_bytes: quantum.0,
            };
            (Vec::new(), Some(leaf))
        }
    };
    v1::Node {
        name: node.name.clone(),
        rate_bps: node.rate.bps(),
        ceil_bps: node.ceil.bps(),
        burst_bytes: node.burst.0,
        ceil_burst_bytes: node.ceil_burst.0,
        children,
        leaf,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each by its message and back; and no number of the proto file is left over.
    #[test]
    fn disciplines_have_the_names_of_the_proto_file() {
        for name in Discipline::NAMES {
            let discipline = Discipline::named(name, Bytes(1514)).expect("its own name");
            let group = GroupConfig::new(discipline, &[(0, 1), (1, 3)]);
            let mut problems = Vec::new();
            assert_eq!(group_of(&group_message(&group), "port 1", &mut problems), Some(group));
            assert!(problems.is_empty(), "{problems:?}");
        }
        let numbers = (1..100).filter(|number| v1::Discipline::try_from(*number).is_ok());
        assert_eq!(numbers.count(), Discipline::NAMES.len());
    }
}
