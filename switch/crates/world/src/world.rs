//! The network: nodes, cables and the passing of time.

use std::collections::VecDeque;

use device::{Device, Frame, Output};
use units::{HasLength, PortId, Time};

use crate::cable::{CableDrop, CableId, Crossing, End, Plug, Port, PortCounters};
use crate::capture::{Captured, Direction};
use crate::due::Due;
use crate::host::Host;
use crate::ledger::Past;
use crate::report::Report;
use frames::Pool;

/// How many rounds one instant has. No path of routers is that long, so what is still on its way
/// then runs in a circle that takes no time, and is dropped.
pub const ROUNDS_MAX: u32 = 1000;

/// The number of a node, in the order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The port `number` of this node.
    pub const fn port(self, number: u16) -> End {
        End { node: self, port: PortId(number) }
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Routers and hosts, joined by cables, in virtual time.
///
/// # Driving contract
///
/// 1. Add nodes and connect them.
/// 2. [`advance`](World::advance) to an instant: everything that is due until then happens, that
///    instant included.
/// 3. Take what routers have for their controllers ([`poll_report`](World::poll_report)) and what
///    was captured ([`poll_capture`](World::poll_capture)).
/// 4. Between two advances the world stands still at [`now`](World::now). Whatever is done to it
///    there (tables and queues of routers, applications of hosts, cables cut) happens at that
///    instant, after all packets of that instant. Go to 2.
///
/// The result depends on the nodes, their seeds and the instants of actions; not on the steps in
/// which time passes.
///
/// # The order of one instant
///
/// An instant runs in rounds, as the delta cycles of hardware simulators do. In a round first all
/// nodes that are due let go what leaves (departures), then all nodes get what was sent to them
/// (arrivals), each node by port and then in the order of sending. If that makes a node due at the
/// same instant, as a host that answers or a port without a rate, another round follows. Crossbars
/// arbitrate when the instant is over, as devices do by themselves, and control comes last. No node
/// sees in which order others had their turn.
///
/// # Cost
///
/// A node that is alone at its instant, as nearly always, goes on by itself to the instant at which
/// another one could reach it, or to its first output. Frames are moved, memory is used again, and
/// who is next is found in a number of steps that grows with the logarithm of the number of nodes.
pub struct World<H> {
    pub(crate) now: Time,
    pub(crate) nodes: Vec<Node<H>>,
    cable_count: u32,
    due: Due,
    /// The frames that cross cables in this round.
    crossings: Vec<Crossing>,
    /// How many rounds the instant `now` has had.
    rounds: u32,
    pub(crate) frames: Pool,
    pub(crate) reports: VecDeque<Report>,
    pub(crate) captured: VecDeque<Captured>,
}

/// A node and its ports.
pub(crate) struct Node<H> {
    pub kind: Kind<H>,
    /// By port number.
    pub ports: Vec<Port>,
}

pub(crate) enum Kind<H> {
    Host(H),
    Router(Box<Router>),
}

/// A router and what the world remembers of it.
pub(crate) struct Router {
    pub device: Device,
    /// Frames that leave here are for the controller.
    pub cpu_port: Option<PortId>,
    pub past: Past,
}

impl<H: Host> Default for World<H> {
    fn default() -> World<H> {
        World::new()
    }
}

impl<H: Host> World<H> {
    /// Nothing, at the instant zero.
    pub fn new() -> World<H> {
        World {
            now: Time::ZERO,
            nodes: Vec::new(),
            cable_count: 0,
            due: Due::new(),
            crossings: Vec::new(),
            rounds: 0,
            frames: Pool::default(),
            reports: VecDeque::new(),
            captured: VecDeque::new(),
        }
    }

    // ---- building ------------------------------------------------------------------------------

    /// Adds a host. Its network cards are its ports, from 0.
    pub fn add_host(&mut self, host: H) -> NodeId {
        self.add(Kind::Host(host))
    }

    /// Adds a router. Packets that its program sends to `cpu_port` are for the controller.
    pub fn add_router(&mut self, device: Device, cpu_port: Option<PortId>) -> NodeId {
        self.add(Kind::Router(Box::new(Router { device, cpu_port, past: Past::default() })))
    }

    fn add(&mut self, kind: Kind<H>) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { kind, ports: Vec::new() });
        self.due.add(node.index());
        self.refresh(node.index());
        node
    }

    /// Plugs a cable in at two ends that are free.
    ///
    /// # Panics
    ///
    /// If one of them is not.
    pub fn connect(&mut self, one: End, other: End) -> CableId {
        let cable = CableId(self.cable_count);
        self.cable_count += 1;
        for (near, far) in [(one, other), (other, one)] {
            let port = self.port_mut(near);
            assert!(port.plug.is_none(), "{near:?} has a cable already");
            port.plug = Some(Plug { cable, far, cut: false });
        }
        cable
    }

    /// The port at `end`.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub(crate) fn port_mut(&mut self, end: End) -> &mut Port {
        let ports = &mut self.nodes[end.node.index()].ports;
        if ports.len() <= end.port.index() {
            ports.resize_with(end.port.index() + 1, Port::default);
        }
        &mut ports[end.port.index()]
    }

    // ---- looking and steering ------------------------------------------------------------------

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When something happens next, if nothing is done before.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| at)
    }

    /// A host.
    ///
    /// # Panics
    ///
    /// If the node is a router.
    pub fn host(&self, node: NodeId) -> &H {
        match &self.nodes[node.index()].kind {
            Kind::Host(host) => host,
            Kind::Router(_) => panic!("node {} is a router", node.0),
        }
    }

    /// A router.
    ///
    /// # Panics
    ///
    /// If the node is a host.
    pub fn router(&self, node: NodeId) -> &Device {
        match &self.nodes[node.index()].kind {
            Kind::Router(router) => &router.device,
            Kind::Host(_) => panic!("node {} is a host", node.0),
        }
    }

    /// Does something to a host at the present instant: starts an application, changes a setting.
    ///
    /// # Panics
    ///
    /// If the node is a router.
    pub fn with_host<T>(&mut self, node: NodeId, act: impl FnOnce(&mut H, Time) -> T) -> T {
        let Kind::Host(host) = &mut self.nodes[node.index()].kind else {
            panic!("node {} is a router", node.0)
        };
        let done = act(host, self.now);
        self.refresh(node.index());
        done
    }

    /// Does something to a router at the present instant: tables, queues, programs, traces. Frames
    /// are handed in by [`packet_out`](World::packet_out) and [`inject`](World::inject) only, or the
    /// ledger does not balance.
    ///
    /// # Panics
    ///
    /// If the node is a host.
    pub fn with_router<T>(&mut self, node: NodeId, act: impl FnOnce(&mut Device, Time) -> T) -> T {
        let now = self.now;
        let done = act(&mut self.router_mut(node).device, now);
        self.refresh(node.index());
        done
    }

    /// A controller sends a frame, its header first, as if it came in by the CPU port.
    ///
    /// # Panics
    ///
    /// If the node is a host, or a router without a CPU port.
    pub fn packet_out(&mut self, node: NodeId, bytes: &[u8]) {
        let (now, frame) = (self.now, self.frames.frame_of([bytes, &[]]));
        let router = self.router_mut(node);
        let port = router.cpu_port.expect("a router that takes packets has a CPU port");
        router.past.injected += 1;
        router.device.handle_owned_frame(now, port, frame);
        self.refresh(node.index());
    }

    /// A frame comes in by a port of a router from nowhere. The cable there has not carried it, so
    /// its books do not count it.
    ///
    /// # Panics
    ///
    /// If the node is a host.
    pub fn inject(&mut self, at: End, bytes: &[u8]) {
        let (now, frame) = (self.now, self.frames.frame_of([bytes, &[]]));
        if self.port_mut(at).captured {
            self.record(at, Direction::Received, &frame);
        }
        let router = self.router_mut(at.node);
        router.past.injected += 1;
        router.device.handle_owned_frame(now, at.port, frame);
        self.refresh(at.node.index());
    }

    /// The counters of a port.
    pub fn counters(&self, end: End) -> PortCounters {
        let port = self.nodes[end.node.index()].ports.get(end.port.index());
        port.map_or_else(PortCounters::default, |port| port.counters)
    }

    pub(crate) fn router_mut(&mut self, node: NodeId) -> &mut Router {
        match &mut self.nodes[node.index()].kind {
            Kind::Router(router) => router,
            Kind::Host(_) => panic!("node {} is a host", node.0),
        }
    }

    /// Something happened to a node: it may be due at another instant.
    #[inline]
    pub(crate) fn refresh(&mut self, node: usize) {
        let due = match &self.nodes[node].kind {
            Kind::Host(host) => host.next_due(),
            Kind::Router(router) => router.device.next_due(),
        };
        // A late event, such as a drop caused by control, happens now.
        self.due.set(node, due.map_or(Time::MAX, |due| due.max(self.now)));
    }

    // ---- time ----------------------------------------------------------------------------------

    /// Lets time pass up to `until`, that instant included.
    ///
    /// # Panics
    ///
    /// If `until` lies in the past.
    pub fn advance(&mut self, until: Time) {
        let arrived = self.advance_some(until, usize::MAX);
        debug_assert!(arrived, "nothing else stops it");
    }

    /// Lets time pass up to `until` as [`advance`](World::advance) does, but stops after about this
    /// many turns of nodes, at an instant whose events have all happened. Returns whether it is
    /// `until` now.
    ///
    /// # Panics
    ///
    /// If `until` lies in the past.
    pub fn advance_some(&mut self, until: Time, turns: usize) -> bool {
        self.advance_while(until, turns, |_| true)
    }

    /// Lets time pass as [`advance_some`](World::advance_some) does, but also comes to a stand after
    /// the first turn after which `goes_on` does not hold any more, once all of its instant has
    /// happened.
    ///
    /// # Panics
    ///
    /// If `until` lies in the past.
    pub fn advance_while(
        &mut self,
        until: Time,
        turns: usize,
        mut goes_on: impl FnMut(&World<H>) -> bool,
    ) -> bool {
        assert!(until >= self.now, "{until} is over: it is {}", self.now);
        let mut left = turns;
        while let Some((at, node)) = self.due.first().filter(|(at, _)| *at <= until) {
            if at > self.now && left < turns && (left == 0 || !goes_on(self)) {
                return false;
            }
            left = left.saturating_sub(1);
            let others = self.due.first_beside(node);
            if at < others {
                // Before the instant of any other node's next event, no other node can reach this
                // one.
                let horizon = Time::from_ps(others.ps() - 1).min(until);
                self.let_go(node, at, horizon);
                self.refresh(node);
            } else {
                while let Some((_, node)) = self.due.first().filter(|(due, _)| *due == at) {
                    self.let_go(node, at, at);
                    self.refresh_past(node, at);
                }
            }
            self.hand_over();
        }
        // The last event may be the one that the caller waits for, though nothing follows it.
        if until > self.now && left < turns && !goes_on(self) {
            return false;
        }
        self.begin_instant(until);
        true
    }

    /// [`refresh`](World::refresh) of a node that has let go all it had at `at`: it has its next
    /// turn in the next round at the earliest.
    fn refresh_past(&mut self, node: usize, at: Time) {
        self.refresh(node);
        debug_assert!(
            self.due.first_is_not((at, node)),
            "node {node} is due at {at}, where it had nothing more to say"
        );
    }

    /// It is `at` now.
    #[inline]
    fn begin_instant(&mut self, at: Time) {
        if at > self.now {
            (self.now, self.rounds) = (at, 0);
        }
    }

    /// Lets a node that is due at `at` let go everything of one instant: of the first at which it
    /// has something, up to `horizon`.
    fn let_go(&mut self, node: usize, at: Time, horizon: Time) {
        match &mut self.nodes[node].kind {
            Kind::Host(host) => {
                host.handle_time(at);
                self.begin_instant(at);
                while let Kind::Host(host) = &mut self.nodes[node].kind
                    && let Some((port, frame)) = host.poll_transmit(at, &mut self.frames)
                {
                    self.send(End { node: NodeId(node as u32), port }, frame);
                }
            }
            Kind::Router(router) => {
                let Some(first) = router.device.poll_output(horizon) else { return };
                self.begin_instant(instant_of(&first));
                self.put_out(node, first);
                while let Kind::Router(router) = &mut self.nodes[node].kind
                    && let Some(output) = router.device.poll_output(self.now)
                {
                    self.put_out(node, output);
                }
                // Frames that hosts made end here too: their memory is wanted there.
                if let Kind::Router(router) = &mut self.nodes[node].kind {
                    router.device.share_frames(&mut self.frames);
                }
            }
        }
    }

    /// A router's output goes to the cable or to the controller.
    #[inline]
    fn put_out(&mut self, node: usize, output: Output) {
        let id = NodeId(node as u32);
        match output {
            Output::Transmit { port, frame, .. } => {
                let router = self.router_mut(id);
                if router.cpu_port == Some(port) {
                    router.past.reported += 1;
                    let bytes = frame.bytes().to_vec();
                    self.reports.push_back(Report::PacketIn { router: id, at: self.now, bytes });
                    return self.frames.recycle(frame);
                }
                self.send(End { node: id, port }, frame);
            }
            Output::Digest { at, list, values } => {
                self.reports.push_back(Report::Digest { router: id, at, list, values });
            }
        }
    }

    /// A frame leaves a port.
    #[inline]
    fn send(&mut self, from: End, frame: Frame) {
        let length = frame.length();
        let no_time_passes = self.rounds >= ROUNDS_MAX;
        let port = self.port_mut(from);
        port.counters.sent.add(length);
        let fate = match port.plug {
            None => Err(CableDrop::Unplugged),
            Some(Plug { cut: true, .. }) => Err(CableDrop::Cut),
            Some(_) if no_time_passes => Err(CableDrop::NoTimePasses),
            Some(Plug { far, .. }) => Ok(far),
        };
        if let Err(reason) = fate {
            port.counters.count_drop(reason, length);
        }
        if port.captured {
            self.record(from, Direction::Sent, &frame);
        }
        match fate {
            Ok(to) => {
                let sequence = self.crossings.len() as u32;
                self.crossings.push(Crossing { to, sequence, frame });
            }
            Err(_) => self.frames.recycle(frame),
        }
    }

    /// The second half of a round: what was sent arrives.
    #[inline]
    fn hand_over(&mut self) {
        if self.crossings.is_empty() {
            return;
        }
        self.rounds += 1;
        let mut crossings = std::mem::take(&mut self.crossings);
        if crossings.len() > 1 {
            crossings.sort_unstable_by_key(|crossing| (crossing.to, crossing.sequence));
        }
        let mut before = None;
        for Crossing { to, frame, .. } in crossings.drain(..) {
            if let Some(before) = before.replace(to.node)
                && before != to.node
            {
                self.refresh(before.index());
            }
            self.receive(to, frame);
        }
        self.crossings = crossings;
        if let Some(last) = before {
            self.refresh(last.index());
        }
    }

    /// A frame comes to a port.
    #[inline]
    fn receive(&mut self, to: End, frame: Frame) {
        let port = self.port_mut(to);
        port.counters.received.add(frame.length());
        if port.captured {
            self.record(to, Direction::Received, &frame);
        }
        match &mut self.nodes[to.node.index()].kind {
            Kind::Host(host) => host.handle_frame(self.now, to.port, frame, &mut self.frames),
            Kind::Router(router) => router.device.handle_owned_frame(self.now, to.port, frame),
        }
    }
}

fn instant_of(output: &Output) -> Time {
    let (Output::Digest { at, .. } | Output::Transmit { at, .. }) = output;
    *at
}
