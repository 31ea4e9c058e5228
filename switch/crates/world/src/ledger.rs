//! Where every frame of a world is, counted: nothing vanishes.
//!
//! ```text
//!   sent by hosts + packet-outs and injected frames + copies made in routers + duplicates made by lines
//!     = received by hosts + packet-ins
//!     + dropped, by reason, in routers, on their lines and on cables
//!     + under way: in queues and on lines
//! ```
//!
//! The law counts frames, not bytes: a program may make them longer and shorter. It holds whenever
//! the world stands still. (A change of queues that drops what waits in them is in the books after
//! the next advance, even one by no time.)

use std::collections::BTreeMap;

use device::{Device, DropReason};
use traffic::LineCounters;
use units::PortId;

use crate::cable::CableDrop;
use crate::host::Host;
use crate::world::{Kind, Node, Router, World};

/// The reason why a frame did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// On a cable.
    Cable(CableDrop),
    /// The line of a port lost it: the configured loss.
    Line,
    /// The network card that a receive line emulates had no room for it.
    Card,
    /// It was in a router that was switched off.
    Restart,
    /// A router dropped it.
    Router(DropReason),
}

impl Loss {
    /// The reason as it is written in reports: `queue_limit`.
    pub const fn name(self) -> &'static str {
        match self {
            Loss::Cable(reason) => reason.name(),
            Loss::Card => "card_full",
            Loss::Line => "line_loss",
            Loss::Restart => "restart",
            Loss::Router(reason) => reason.name(),
        }
    }
}

/// The frames of a world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Sent by hosts.
    pub sent: u64,
    /// Packet-outs of controllers, and frames that came from nowhere.
    pub injected: u64,
    /// Made in routers, less the originals that multicast replaced.
    pub copied: i64,
    /// Made by lines that duplicate.
    pub duplicated: u64,
    /// Received by hosts.
    pub received: u64,
    /// Packet-ins to controllers.
    pub reported: u64,
    /// Dropped; without the reasons that did not occur.
    pub dropped: BTreeMap<Loss, u64>,
    /// In queues and on lines.
    pub under_way: u64,
}

impl Ledger {
    /// Whether nothing vanished and nothing came from nowhere.
    pub fn balances(&self) -> bool {
        let into = (self.sent + self.injected + self.duplicated) as i64 + self.copied;
        let dropped: u64 = self.dropped.values().sum();
        into == (self.received + self.reported + dropped + self.under_way) as i64
    }

    fn drop(&mut self, loss: Loss, count: u64) {
        if count > 0 {
            *self.dropped.entry(loss).or_default() += count;
        }
    }
}

/// The world's counts of a router, including devices that were in its place before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// Packet-outs, and frames that came from nowhere.
    pub injected: u64,
    /// Packet-ins.
    pub reported: u64,
    /// The packets in devices when they were switched off.
    pub restarted: u64,
    copied: i64,
    lines: Lines,
    dropped: BTreeMap<DropReason, u64>,
}

/// The books of lines, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    lost: u64,
    refused: u64,
    duplicated: u64,
}

impl Past {
    /// Adds the books of a device.
    pub fn add(&mut self, device: &Device) {
        self.copied += device.books().copied();
        for (_, books) in device.books().ports() {
            for (reason, tally) in &books.dropped {
                *self.dropped.entry(*reason).or_default() += tally.packets;
            }
        }
        for counters in line_counters(device) {
            self.lines.lost += counters.lost.packets;
            self.lines.refused += counters.refused.packets;
            self.lines.duplicated += counters.duplicated.packets;
        }
    }
}

/// Frames in the queues of a device and on its lines.
pub(crate) fn held_in(device: &Device) -> u64 {
    let ports = ports_of(device).map(|port| device.lines(port));
    let on_lines = ports.flat_map(|(receive, transmit)| [receive, transmit]);
    let on_lines: u64 = on_lines.map(|line| line.backlog.packets + line.under_way.packets).sum();
    device.traffic().held().packets + on_lines
}

fn line_counters(device: &Device) -> impl Iterator<Item = LineCounters> {
    let lines = ports_of(device).map(|port| device.lines(port));
    lines.flat_map(|(receive, transmit)| [receive.counters, transmit.counters])
}

/// All ports that a program can name: those that were removed may have had lines.
fn ports_of(_: &Device) -> impl Iterator<Item = PortId> {
    (0..1 << 9).map(PortId)
}

impl<H: Host> World<H> {
    /// Where all frames are.
    pub fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::default();
        for node in &self.nodes {
            let totals = || node.ports.iter().map(|port| &port.counters);
            for reason in CableDrop::ALL {
                let count = totals().map(|port| port.dropped_for(reason).packets).sum();
                ledger.drop(Loss::Cable(reason), count);
            }
            match &node.kind {
                Kind::Host(_) => {
                    ledger.sent += totals().map(|port| port.sent.packets).sum::<u64>();
                    ledger.received += totals().map(|port| port.received.packets).sum::<u64>();
                }
                Kind::Router(router) => ledger.add_router(router),
            }
        }
        ledger
    }

    /// Whether every frame is accounted for: in the world as a whole, on every cable, in every
    /// router and in every host.
    pub fn balances(&self) -> bool {
        self.ledger().balances()
            && self.cables_balance()
            && self.nodes.iter().all(|node| match &node.kind {
                Kind::Host(host) => {
                    let totals = || node.ports.iter().map(|port| &port.counters);
                    let received = totals().map(|port| port.received.packets).sum();
                    host.balances(received, totals().map(|port| port.sent.packets).sum())
                }
                Kind::Router(router) => router.device.balance(),
            })
    }

    /// Every frame that went onto a cable came out of it or was dropped there.
    fn cables_balance(&self) -> bool {
        let ports = self.nodes.iter().flat_map(|node: &Node<H>| &node.ports);
        ports.filter(|port| port.plug.is_some()).all(|port| {
            let far = port.plug.map(|plug| self.counters(plug.far)).unwrap_or_default();
            let dropped: u64 = port.counters.dropped.iter().map(|tally| tally.packets).sum();
            port.counters.sent.packets == far.received.packets + dropped
        })
    }
}

impl Ledger {
    fn add_router(&mut self, router: &Router) {
        let mut all = router.past.clone();
        all.add(&router.device);
        self.injected += all.injected;
        self.reported += all.reported;
        self.copied += all.copied;
        self.duplicated += all.lines.duplicated;
        self.drop(Loss::Line, all.lines.lost);
        self.drop(Loss::Card, all.lines.refused);
        self.drop(Loss::Restart, all.restarted);
        for (reason, count) in all.dropped {
            self.drop(Loss::Router(reason), count);
        }
        self.under_way += held_in(&router.device);
    }
}
