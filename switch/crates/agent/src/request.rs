//! [`Request`]: what those who serve controllers ask of the data plane, as values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use device::{Books, LinkConfig, TraceFilter};
use messages::vitrine::v1;
use p4runtime::Refusal;
use p4runtime::config::Config;
use p4runtime::found::Found;
use p4runtime::netdev::NetdevCounters;
use p4runtime::router::counters::Snapshot;
use p4runtime::router::{Problem, config};
use p4runtime::translate::change::Change;
use p4runtime::translate::query::Query;
use p4runtime::watch::{Filter, Start};
use traffic::{Depth, Histogram};
use units::memory::Share;
use units::{PortId, Time};

use super::batch::{Atomicity, BatchResult};
use super::devices::Opened;
use super::exchange::Reply;
use super::feed::Feed;
use super::forwarding::Load;
use super::ports::NotAdded;
use super::visit::Visit;

/// A request to the data plane.
#[derive(Debug)]
pub enum Request {
    /// Puts a port in front of a network device.
    AddPort {
        port: PortId,
        /// The device's name.
        device: String,
        /// The settings that differ from a new port's defaults.
        settings: Box<v1::PortConfig>,
        opened: Opened,
        /// When it came into being, or why not.
        reply: Reply<Result<Time, NotAdded>>,
    },
    /// Puts a program in force: a new one, or the one that is saved. Forwarding state of a new one
    /// is what the program declares; of a saved one, what has been written to it.
    Commit {
        /// The new one.
        load: Option<Load>,
        /// When it is in force.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Changes ports, queues, the shared buffer, the input stage.
    Configure {
        /// The changes.
        changes: config::Changes,
        /// When it came into force, or what is wrong.
        reply: Reply<Result<Time, Vec<Problem>>>,
    },
    /// Reads configuration and numbers of ports.
    Describe {
        /// None: all.
        ports: Vec<PortId>,
        /// The description.
        reply: Reply<Box<Description>>,
    },
    /// A controller has acted on a list of digests.
    DigestAck {
        /// P4Info's id.
        digest_id: u32,
        /// The list's number.
        list_id: u64,
    },
    /// A controller sends a frame, controller header first.
    PacketOut { frame: Vec<u8> },
    /// Reads forwarding state.
    Read {
        /// The configuration that the queries refer to.
        config: Arc<Config>,
        /// One per entity asked for; those that are wrong already stay so.
        queries: Vec<Result<Query, Refusal>>,
        /// Only entities of this role, if it is not empty.
        role: String,
        /// A share of nothing, out of which comes what is found.
        memory: Share,
        /// The results.
        reply: Reply<ReadResult>,
    },
    /// Puts a program in force with the forwarding state of the one before.
    Reconcile {
        /// The new one.
        load: Load,
        /// When it is in force.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Takes a port away.
    RemovePort {
        port: PortId,
        /// When it went, and what was opened for it.
        reply: Reply<Result<(Time, Option<Opened>), Refusal>>,
    },
    /// Keeps a program to be committed; reads and writes go to it from now on.
    Save {
        /// The new one.
        load: Load,
        /// When it is kept.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Answered when all that was handed over before has been carried out.
    Settle { reply: Reply<()> },
    /// Tells a client the steps of packets, until it closes the feed.
    Trace {
        filters: Vec<TraceFilter>,
        /// The way to the reader.
        feed: Arc<Feed>,
        /// Whether it is.
        reply: Reply<Result<(), Refusal>>,
    },
    /// A request in another door's words.
    Visit { visit: Box<dyn Visit> },
    /// Sends events to a client until it closes the feed.
    Watch {
        /// The requested events.
        filter: Filter,
        /// The way to the reader.
        feed: Arc<Feed>,
        /// From when on.
        reply: Reply<Result<Start, Refusal>>,
    },
    /// Changes forwarding state.
    Write {
        /// The configuration that the changes refer to.
        config: Arc<Config>,
        /// One per update; those that are wrong already stay so.
        changes: Vec<Result<Change, Refusal>>,
        /// Ports that may be watched before they exist.
        awaited: BTreeSet<PortId>,
        /// How they stand to each other.
        atomicity: Atomicity,
        /// The result of the batch.
        reply: Reply<BatchResult>,
    },
}

/// Everything that can be read of the router; `describe.rs` says of which instants.
#[derive(Clone, Debug)]
pub struct Description {
    /// The configuration, of the requested ports.
    pub config: traffic::Config,
    /// The cables at those.
    pub links: BTreeMap<PortId, LinkConfig>,
    /// The clone session that drops are sent to.
    pub drop_mirror: Option<u32>,
    /// The network devices behind ports.
    pub devices: BTreeMap<PortId, String>,
    /// The counters between those and the router.
    pub netdevs: BTreeMap<PortId, NetdevCounters>,
    /// The numbers of some ports, or of all.
    pub snapshot: Snapshot,
    /// The counters of every frame's fate.
    pub books: Books,
    /// The depth of the queues.
    pub held: Depth,
    /// Whether the books balance: the device's, and those of every queue of the ports asked for.
    pub balanced: bool,
    /// By how much the model lagged the clock, each time that it was more than a millisecond.
    pub lags: Histogram,
    /// To the wall clock.
    pub epoch_offset_ns: i64,
}

/// The results of a Read; an error if it was not tried, or there was no memory for it.
pub type ReadResult = Result<Findings, Refusal>;

/// The results of a Read.
#[derive(Debug)]
pub struct Findings {
    /// In portions of some thousand.
    pub portions: Vec<Vec<Found>>,
    /// One per entity asked for.
    pub results: Vec<Result<(), Refusal>>,
    /// The memory of the portions, as long as they are not taken.
    pub memory: Share,
}
