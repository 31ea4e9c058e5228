//! A tree of classes with guarantees, ceilings and borrowing: what Linux's HTB does.

use units::{Bytes, ClassId, Rate};

use super::PortConfig;
use crate::error::ConfigError;

/// A node of the tree. The root stands for the whole port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeConfig {
    /// Its name in reports and errors.
    pub name: String,
    /// The guaranteed rate; the children's guarantees must fit into it.
    pub rate: Rate,
    /// The highest rate, including borrowed bandwidth.
    pub ceil: Rate,
    /// How much it may send at once after a pause, against its rate.
    pub burst: Bytes,
    /// How much it may send at once after a pause, against its ceil.
    pub ceil_burst: Bytes,
    /// Inner node or leaf.
    pub kind: NodeKind,
}

/// A node's place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The nodes below it; at least one.
    Inner(Vec<NodeConfig>),
    /// One queue.
    Leaf {
        /// The queue's class.
        class: ClassId,
        /// Among leaves that may send from the same level, the higher priority goes first.
        priority: u8,
        /// Among those, bytes a round: what is borrowed is shared in this proportion.
        quantum: Bytes,
    },
}

/// How many levels a tree may have.
pub const HIERARCHY_DEPTH_MAX: usize = 8;

impl NodeConfig {
    /// A leaf of priority 0 and an Ethernet frame's quantum and bursts.
    pub fn leaf(name: &str, class: u8, rate: Rate, ceil: Rate) -> NodeConfig {
        let kind = NodeKind::Leaf { class: ClassId(class), priority: 0, quantum: ETHERNET_FRAME };
        NodeConfig::new(name, rate, ceil, kind)
    }

    /// An inner node with an Ethernet frame's bursts.
    pub fn inner(name: &str, rate: Rate, ceil: Rate, children: Vec<NodeConfig>) -> NodeConfig {
        NodeConfig::new(name, rate, ceil, NodeKind::Inner(children))
    }

    /// Sets a leaf's quantum; an inner node has none.
    pub fn set_quantum(&mut self, bytes: Bytes) {
        if let NodeKind::Leaf { quantum, .. } = &mut self.kind {
            *quantum = bytes;
        }
    }

    fn new(name: &str, rate: Rate, ceil: Rate, kind: NodeKind) -> NodeConfig {
        let (burst, ceil_burst) = (ETHERNET_FRAME, ETHERNET_FRAME);
        NodeConfig { name: name.to_owned(), rate, ceil, burst, ceil_burst, kind }
    }

    /// Checks the tree as the scheduler of `port`.
    pub(crate) fn validate(&self, port: &PortConfig, place: &str) -> Result<(), ConfigError> {
        let mut classes = Vec::new();
        self.validate_node(place, 1, &mut classes)?;
        classes.sort_unstable();
        let all: Vec<usize> = (0..port.queues.len()).collect();
        if classes != all {
            return Err(ConfigError::new(
                place,
                format!("the leaves are for classes {classes:?} of a port with classes {all:?}"),
                "give every class exactly one leaf",
            ));
        }
        Ok(())
    }

    fn validate_node(
        &self,
        place: &str,
        depth: usize,
        classes: &mut Vec<usize>,
    ) -> Result<(), ConfigError> {
        let place = format!("{place}, node {}", self.name);
        let refuse =
            |found: String, advice: &str| Err(ConfigError::new(place.clone(), found, advice));
        if depth > HIERARCHY_DEPTH_MAX {
            return refuse(
                format!("more than {HIERARCHY_DEPTH_MAX} levels"),
                "use fewer inner nodes",
            );
        }
        if self.rate > self.ceil {
            return refuse(
                format!("a rate of {} above its ceil of {}", self.rate, self.ceil),
                "raise the ceil or lower the rate",
            );
        }
        let children = match &self.kind {
            NodeKind::Leaf { quantum: Bytes(0), .. } => {
                return refuse("a quantum of 0 bytes".to_owned(), "use a frame's length");
            }
            NodeKind::Leaf { class, .. } => {
                classes.push(class.index());
                return Ok(());
            }
            NodeKind::Inner(children) if children.is_empty() => {
                return refuse("an inner node without children".to_owned(), "make it a leaf");
            }
            NodeKind::Inner(children) => children,
        };
        let promised: u128 = children.iter().map(|child| u128::from(child.rate.bps())).sum();
        if promised > u128::from(self.rate.bps()) {
            return refuse(
                format!("its children are guaranteed {promised} b/s of its {}", self.rate),
                "guarantee less, or raise the node's rate",
            );
        }
        if let Some(child) = children.iter().find(|child| child.ceil > self.ceil) {
            return refuse(
                format!(
                    "its child {} has a ceil of {} above {}",
                    child.name, child.ceil, self.ceil
                ),
                "lower the child's ceil",
            );
        }
        children.iter().try_for_each(|child| child.validate_node(&place, depth + 1, classes))
    }
}

/// The longest frame on standard Ethernet, without its check sequence.
const ETHERNET_FRAME: Bytes = Bytes(1514);
