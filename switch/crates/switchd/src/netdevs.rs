//! The switch's ports as netdevs: frames in with their port, frames out in batches.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use device::{Frame, Seal};
use p4runtime::netdev::NetdevCounters;
use ports::{LinkWatch, PacketSocket, Piece, ReceiveBatch, ReceivedPacket, SendBatch};
use units::{PortId, Time};

use crate::link::Link;
use crate::settings::DeviceUse;

/// All netdevs of the switch.
pub struct Netdevs {
    /// In the order of port numbers, which is the order of everything at one instant.
    links: Vec<Link>,
    watch: LinkWatch,
    sending: SendBatch,
    /// The link that is served first in the next round, so that none starves another.
    first: usize,
    /// The request to the kernel for every link.
    devices: DeviceUse,
    /// Links were added or removed since the last look.
    have_changed: bool,
}

/// Whether a port takes more frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Not before the kernel has room again.
    Full,
    /// It does.
    More,
}

impl Netdevs {
    /// Takes over opened sockets.
    pub fn new(sockets: BTreeMap<PortId, PacketSocket>, devices: DeviceUse) -> io::Result<Netdevs> {
        let links = sockets.into_iter();
        Ok(Netdevs {
            links: links.map(|(port, socket)| Link::new(port, socket, devices)).collect(),
            watch: LinkWatch::new()?,
            sending: SendBatch::new(),
            first: 0,
            devices,
            have_changed: false,
        })
    }

    /// Puts an opened device behind a port that has none.
    pub fn add(&mut self, port: PortId, socket: PacketSocket) {
        if let Err(index) = self.position(port) {
            self.links.insert(index, Link::new(port, socket, self.devices));
            self.have_changed = true;
        }
    }

    /// Takes the device of a port away; frames that wait for it go to `recycle`.
    pub fn remove(&mut self, port: PortId, recycle: impl FnMut(Frame)) -> Option<PacketSocket> {
        let mut link = self.links.remove(self.position(port).ok()?);
        self.have_changed = true;
        link.close(recycle)
    }

    /// The name of the device behind a port.
    pub fn name_of(&self, port: PortId) -> Option<&str> {
        self.position(port).ok().map(|index| self.links[index].name())
    }

    /// Whether links were added or removed since the last call: then there are other descriptors.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.have_changed)
    }

    fn position(&self, port: PortId) -> Result<usize, usize> {
        self.links.binary_search_by_key(&port, |link| link.port)
    }

    /// The descriptors to poll: the links, in the order in which they are counted, and behind them
    /// the kernel's news of devices.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let links = self.links.iter().map(Link::descriptor);
        links.chain([self.watch.as_raw_fd()]).collect()
    }

    /// Where in [`Netdevs::descriptors`] the news stand.
    pub fn news_position(&self) -> usize {
        self.links.len()
    }

    /// Follows all netdevs to their present state; `changed` hears of ports that went up or down.
    /// Afterwards there may be other descriptors to poll.
    pub fn follow(&mut self, mut changed: impl FnMut(PortId, bool)) {
        self.watch.take_changes();
        for link in &mut self.links {
            if let Some(up) = link.follow(self.watch.state(link.name())) {
                changed(link.port, up);
            }
        }
    }

    /// Whether some netdev is there and could not be opened, for want of descriptors perhaps: it is
    /// worth another try, a while later.
    pub fn are_unusable(&self) -> bool {
        self.links.iter().any(Link::is_unusable)
    }

    /// The links in the order of this round: each round begins with another one, so that none
    /// starves the others.
    pub fn next_round(&mut self) -> impl Iterator<Item = usize> + use<> {
        let (count, first) = (self.links.len(), self.first);
        self.first = (first + 1) % count.max(1);
        (0..count).map(move |step| (first + step) % count)
    }

    /// Takes what has arrived at a link, at most one batch.
    pub fn receive(&mut self, index: usize, batch: &mut ReceiveBatch) {
        self.links[index].receive(batch);
    }

    /// Hands on the frames of one packet received at a link, in order, as many as the budget allows.
    pub fn split(
        &mut self,
        index: usize,
        packet: ReceivedPacket<'_>,
        budget: &mut usize,
        mut frame: impl FnMut(PortId, &Piece<'_>, Option<Seal>),
    ) {
        let link = &mut self.links[index];
        let port = link.port;
        link.split(packet, budget, |piece, seal| frame(port, piece, seal));
    }

    /// The same with the rest of a link's last turn. Returns whether there is still a rest.
    pub fn split_unfinished(
        &mut self,
        index: usize,
        budget: &mut usize,
        mut frame: impl FnMut(PortId, &Piece<'_>, Option<Seal>),
    ) -> bool {
        let link = &mut self.links[index];
        let port = link.port;
        link.split_unfinished(budget, |piece, seal| frame(port, piece, seal));
        link.is_unfinished()
    }

    /// Whether the frames of some link were too many for its turn.
    pub fn are_unfinished(&self) -> bool {
        self.links.iter().any(Link::is_unfinished)
    }

    /// Collects a frame to be sent; frames that are done with go to `recycle`. Says whether the
    /// port takes more, or gives the frame back if no netdev is behind it.
    pub fn send(
        &mut self,
        now: Time,
        port: PortId,
        frame: Frame,
        recycle: impl FnMut(Frame),
    ) -> Result<Room, Frame> {
        let Ok(index) = self.position(port) else { return Err(frame) };
        let link = &mut self.links[index];
        if link.send(frame) {
            link.flush(now, &mut self.sending, recycle);
        }
        Ok(if link.is_stalled() { Room::Full } else { Room::More })
    }

    /// Gives the kernel the frames that need not wait for more; `stalled` is called for ports whose
    /// frames it has no room for.
    pub fn flush(
        &mut self,
        now: Time,
        mut recycle: impl FnMut(Frame),
        mut stalled: impl FnMut(PortId),
    ) {
        let Netdevs { links, sending, .. } = self;
        for link in links {
            // A stalled link is tried again when there is room, not at every wake.
            if !link.is_stalled() && link.gathers_until(now).is_none() {
                link.flush(now, sending, &mut recycle);
                link.settle();
                if link.is_stalled() {
                    stalled(link.port);
                }
            }
        }
    }

    /// Until when the first of the links that collect frames at `now` does so, and the first of those
    /// that have some.
    pub fn gathers_until(&self, now: Time) -> (Option<Time>, Option<Time>) {
        let gathering = self.links.iter().filter(|link| !link.is_stalled());
        let until = |link: &Link| link.gathers_until(now);
        let holding = gathering.clone().filter(|link| link.holds_frames());
        (gathering.filter_map(until).min(), holding.filter_map(until).min())
    }

    /// There is room again behind a link. Returns its port if nothing waits there any more.
    pub fn resume(
        &mut self,
        now: Time,
        index: usize,
        recycle: impl FnMut(Frame),
    ) -> Option<PortId> {
        let link = &mut self.links[index];
        link.flush(now, &mut self.sending, recycle);
        (!link.is_stalled()).then_some(link.port)
    }

    /// For each link whether frames wait for room, in the order of [`Netdevs::descriptors`].
    pub fn stalls(&self) -> impl Iterator<Item = bool> {
        self.links.iter().map(Link::is_stalled)
    }

    /// The counters of the link behind a port, if there is one.
    pub fn counters_of(&mut self, port: PortId) -> Option<NetdevCounters> {
        self.position(port).ok().map(|index| self.links[index].counters())
    }

    /// The counters of each link, those that the kernel keeps included.
    pub fn counters(&mut self) -> impl Iterator<Item = (PortId, NetdevCounters)> {
        self.links.iter_mut().map(|link| (link.port, link.counters()))
    }
}
