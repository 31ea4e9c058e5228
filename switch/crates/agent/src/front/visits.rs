//! Requests by another door of the same process: it has no streams and no primary, and full rights.

use std::sync::Arc;

use ::p4runtime::Refusal;
use ::p4runtime::config::Config;
use ::p4runtime::router::{Problem, config};
use messages::vitrine::v1;
use units::PortId;

use super::Front;
use crate::devices::Opened;
use crate::exchange::Reply;
use crate::forwarding::Load;
use crate::ports::NotAdded;
use crate::programs::Programs;
use crate::request::{Description, Request};
use crate::visit::Visit;

impl Front {
    /// Which programs there are.
    pub fn programs(&self) -> Programs {
        self.programs.now()
    }

    /// Has the data plane visited by the result of `make`, built around a reply slot.
    pub async fn visit<T>(
        &self,
        make: impl FnOnce(Reply<T>) -> Box<dyn Visit>,
    ) -> Result<T, Refusal> {
        self.plane.ask(|reply| Request::Visit { visit: make(reply) }).await
    }

    /// Puts a program in force: this one, or the one that is saved.
    pub async fn put_in_force(&self, load: Option<Load>) -> Result<(), Refusal> {
        self.plane.ask(|reply| Request::Commit { load, reply }).await?
    }

    /// Keeps a program to be put in force.
    pub async fn save(&self, load: Load) -> Result<(), Refusal> {
        self.plane.ask(|reply| Request::Save { load, reply }).await?
    }

    /// Configures ports; returns what is wrong, if something is, and then nothing is changed.
    pub async fn configure_ports(&self, ports: Vec<v1::PortChange>) -> Result<(), Refusal> {
        let changes = config::Changes { ports, buffer: None, input: None, drop_mirror: None };
        let configured = self.plane.ask(|reply| Request::Configure { changes, reply }).await?;
        configured.map(drop).map_err(|problems| refused(&problems))
    }

    /// All that can be read of the router.
    pub async fn described(&self) -> Result<Box<Description>, Refusal> {
        self.plane.ask(|reply| Request::Describe { ports: Vec::new(), reply }).await
    }

    /// Puts a port in front of a network device that has been opened.
    pub async fn attach_port(
        &self,
        port: PortId,
        device: String,
        opened: Opened,
    ) -> Result<(), Refusal> {
        let settings = Box::default();
        let add = |reply| Request::AddPort { port, device, settings, opened, reply };
        self.plane.ask(add).await?.map(drop).map_err(|not_added| match not_added {
            NotAdded::Problems(problems) => refused(&problems),
            NotAdded::Refused(refusal) => refusal,
        })
    }

    /// Takes a port away; returns its network device, which the caller closes where it may wait.
    pub async fn detach_port(&self, port: PortId) -> Result<Option<Opened>, Refusal> {
        let removed = self.plane.ask(|reply| Request::RemovePort { port, reply }).await?;
        removed.map(|(_, opened)| opened)
    }

    /// The program that reads and writes refer to.
    pub fn current(&self) -> Option<Arc<Config>> {
        self.programs().current().ok()
    }
}

/// The first of the problems.
fn refused(problems: &[Problem]) -> Refusal {
    let first = problems.first().map(ToString::to_string);
    Refusal::invalid(first.unwrap_or_default())
}
