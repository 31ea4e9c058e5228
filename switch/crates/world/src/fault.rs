//! Faults in a network: cables that are cut, routers that restart.
//!
//! Each of these happens at the present instant, as everything between two advances does.

use device::Device;

use crate::cable::{CableId, End};
use crate::host::Host;
use crate::ledger::held_in;
use crate::world::{Kind, NodeId, World};

impl<H: Host> World<H> {
    /// Cuts a cable: what comes to it from now on is lost as [`CableDrop::Cut`], and routers at its
    /// ends see their ports go down. Frames that a port's line emulates as on their way are lost
    /// where they come out: at a port that is down, or onto the cut cable.
    ///
    /// [`CableDrop::Cut`]: crate::CableDrop::Cut
    pub fn cut(&mut self, cable: CableId) {
        self.set_cut(cable, true);
    }

    /// Mends a cable; the ports at its ends come up again.
    pub fn mend(&mut self, cable: CableId) {
        self.set_cut(cable, false);
    }

    fn set_cut(&mut self, cable: CableId, cut: bool) {
        let now = self.now;
        for end in self.ends(cable) {
            if let Some(plug) = &mut self.port_mut(end).plug {
                plug.cut = cut;
            }
            if let Kind::Router(router) = &mut self.nodes[end.node.index()].kind {
                router.device.set_port_up(now, end.port, !cut);
            }
            self.refresh(end.node.index());
        }
    }

    /// Whether a cable is cut.
    pub fn is_cut(&self, cable: CableId) -> bool {
        self.ends(cable).first().is_some_and(|end| {
            let plug = &self.nodes[end.node.index()].ports[end.port.index()].plug;
            plug.is_some_and(|plug| plug.cut)
        })
    }

    /// Both ends of a cable; none if there is no such cable.
    pub fn ends(&self, cable: CableId) -> Vec<End> {
        let ends_of = |(node, ports): (usize, &Vec<crate::cable::Port>)| {
            let node = NodeId(node as u32);
            let numbered = (0..).zip(ports).map(move |(number, port)| (node.port(number), port));
            let plugged = numbered.filter(|(_, port)| port.plug.is_some_and(|p| p.cable == cable));
            plugged.map(|(end, _)| end).collect::<Vec<End>>()
        };
        self.nodes.iter().map(|node| &node.ports).enumerate().flat_map(ends_of).collect()
    }

    /// Replaces a router by another one, whose ports, tables and program its maker has set. Packets
    /// in the old one, its lines included, are lost and counted as `restart`; a port whose cable is
    /// cut is down.
    ///
    /// # Panics
    ///
    /// If the node is a host.
    pub fn restart(&mut self, node: NodeId, device: Device) {
        let now = self.now;
        let ports = &self.nodes[node.index()].ports;
        let is_cut = |port: &crate::cable::Port| port.plug.is_some_and(|plug| plug.cut);
        let down = (0..).zip(ports).filter(|(_, port)| is_cut(port));
        let down: Vec<End> = down.map(|(number, _)| node.port(number)).collect();
        let router = self.router_mut(node);
        let before = std::mem::replace(&mut router.device, device);
        router.past.add(&before);
        router.past.restarted += held_in(&before);
        for end in down {
            router.device.set_port_up(now, end.port, false);
        }
        self.refresh(node.index());
    }
}
