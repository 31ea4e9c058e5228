//! The traffic manager's configuration: one plain value, read back exactly as it was set.
//!
//! There are no setters for single parameters. To change something, take
//! [`Manager::config`](crate::Manager::config), edit the copy and pass it to
//! [`Manager::configure`](crate::Manager::configure), which checks the whole and applies either all
//! of it or nothing. So a batch of changes takes effect at one instant, and a controller reads the
//! same thing that it writes. For a small change of a large router, pass only the changed ports to
//! [`Manager::change`](crate::Manager::change).
//!
//! One file per part; this one holds the root, and `change` the check.

mod buffer;
mod change;
mod hierarchy;
mod input;
mod port;
mod scheduler;
mod simple_switch;

use std::collections::BTreeMap;

use units::PortId;

pub use buffer::{BufferConfig, BufferShare};
pub use change::Change;
pub use hierarchy::{HIERARCHY_DEPTH_MAX, NodeConfig, NodeKind};
pub use input::{FABRIC_PORT_COUNT_MAX, FabricConfig, FullOutput, InputConfig, InputQueueing};
pub use port::{PortConfig, QueueConfig, QueueOrder};
pub use scheduler::{GroupConfig, Member, SchedulerConfig};

/// Everything that can be set on a traffic manager.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The output ports. A packet for any other port is dropped as `UnknownPort`.
    pub ports: BTreeMap<PortId, PortConfig>,
    /// A memory that all output queues share; without, only their limits count.
    pub buffer: Option<BufferConfig>,
    /// Queues at the inputs and a crossbar behind them; without, the router is output-queued.
    pub input: Option<InputConfig>,
}
