//! The settings of the cables at the ports, and changes that reach them together with the ports.

use std::collections::BTreeMap;

use traffic::{ConfigError, Impairment, Limit, LineConfig, PortConfig};
use units::{PortId, Rate};

/// A change of a device's ports, queues and cables; the settings it does not name stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The traffic manager's part.
    pub traffic: traffic::Change,
    /// How the cables at these ports are to be. The cable of a port that goes goes with it.
    pub links: BTreeMap<PortId, LinkConfig>,
}

impl Change {
    /// Leaves the first `count` ports in the change, with the settings of the router as a whole,
    /// and returns the rest: for applying a large change a few ports at a time.
    pub fn split_off(&mut self, count: usize) -> Change {
        let Some(next) = self.traffic.ports.keys().nth(count).copied() else {
            return Change::default();
        };
        let ports = self.traffic.ports.split_off(&next);
        let traffic = traffic::Change { ports, ..traffic::Change::default() };
        Change { traffic, links: self.links.split_off(&next) }
    }
}

impl From<traffic::Change> for Change {
    fn from(traffic: traffic::Change) -> Change {
        Change { traffic, links: BTreeMap::new() }
    }
}

/// The cable of a port, both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkConfig {
    /// The neighbour at the other end, as far as it sends.
    pub sender: SenderConfig,
    /// The impairment of frames on their way from the neighbour.
    pub receive: Impairment,
    /// The impairment of frames on their way to the neighbour.
    pub transmit: Impairment,
}

/// The neighbour's network card: how fast it puts frames on the line, and what waits in it.
///
/// A host on a virtual link hands over 64 KB in no time; a host on a wire cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// How fast it sends.
    pub rate: SenderRate,
    /// How much may wait in it; what does not fit is the sender's loss, not the router's.
    pub backlog: Limit,
}

/// The default queue of a Linux host's network card (`txqueuelen`).
const BACKLOG_PACKETS: u64 = 1000;

impl Default for SenderConfig {
    /// A cable is no queue: frames beyond the line's rate are lost, and do not turn up seconds
    /// later.
    fn default() -> Self {
        let backlog = Limit { packets: Some(BACKLOG_PACKETS), bytes: None };
        Self { rate: SenderRate::default(), backlog }
    }
}

/// How fast a neighbour sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderRate {
    /// As fast as it hands frames over.
    Unlimited,
    /// At the rate of the port that it is connected to, whatever that becomes.
    #[default]
    OfPort,
    /// At a rate of its own.
    Own(Rate),
}

impl LinkConfig {
    /// Checks every value; `place` says which port it is.
    pub fn check(&self, place: &str) -> Result<(), ConfigError> {
        self.sender.backlog.check(&format!("{place}, sender, backlog"))?;
        self.receive.check(&format!("{place}, receive line"))?;
        self.transmit.check(&format!("{place}, transmit line"))
    }

    /// The line from the neighbour to `port`.
    pub(crate) fn receive_line(&self, port: &PortConfig) -> LineConfig {
        let rate = match self.sender.rate {
            SenderRate::OfPort => port.line_rate,
            SenderRate::Own(rate) => Some(rate),
            SenderRate::Unlimited => None,
        };
        LineConfig {
            rate,
            overhead: port.overhead,
            backlog: self.sender.backlog,
            impairment: self.receive,
        }
    }

    /// The line from the port to the neighbour. The port has serialised the frames already.
    pub(crate) fn transmit_line(&self) -> LineConfig {
        LineConfig { impairment: self.transmit, ..LineConfig::default() }
    }
}
