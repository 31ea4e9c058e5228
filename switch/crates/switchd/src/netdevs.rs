//! The switch's ports as netdevs: frames in with their port, frames out in batches.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, RawFd};

use device::Queued;
use ports::{PacketSocket, ReceiveBatch, ReceivedPacket, SendBatch, segment};
use units::PortId;

/// Frames that are collected before they are given to the kernel together: some super-packets' worth,
/// few enough to stay in the processor's cache.
const SEND_BATCH_SIZE: usize = 256;

/// All netdevs of the switch.
pub struct Netdevs {
    /// In the order of port numbers, which is the order of everything at one instant.
    links: Vec<Link>,
    sending: SendBatch,
    /// Headers of the frame being made, and the whole frame.
    scratch: (Vec<u8>, Vec<u8>),
    /// The link that is served first in the next round, so that none starves another.
    first: usize,
}

/// One netdev and what waits to be sent on it.
struct Link {
    port: PortId,
    socket: PacketSocket,
    outgoing: Vec<Queued>,
    counters: LinkCounters,
}

/// What happened between the netdev and the router, outside the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that the kernel lost before we took them: the process was late.
    pub overrun: u64,
    /// Super-packets of a kind that cannot be split, or whose headers contradict themselves.
    pub malformed: u64,
    /// Frames that the kernel did not take: the device is down, or the frame exceeds its MTU.
    pub refused: u64,
}

impl Netdevs {
    /// Takes over opened sockets.
    pub fn new(sockets: BTreeMap<PortId, PacketSocket>) -> Netdevs {
        let link = |(port, socket)| Link {
            port,
            socket,
            outgoing: Vec::with_capacity(SEND_BATCH_SIZE),
            counters: LinkCounters::default(),
        };
        Netdevs {
            links: sockets.into_iter().map(link).collect(),
            sending: SendBatch::new(),
            scratch: Default::default(),
            first: 0,
        }
    }

    /// What to poll, in the order in which links are counted.
    pub fn descriptors(&self) -> Vec<RawFd> {
        self.links.iter().map(|link| link.socket.as_raw_fd()).collect()
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
        if let Err(error) = self.links[index].socket.receive(batch) {
            // A device that is down says so once a poll; it may come back.
            tracing::debug!(port = self.links[index].port.0, %error, "cannot receive");
        }
    }

    /// Hands on the frames of one received packet, in order; one that cannot become frames is
    /// counted.
    pub fn split(
        &mut self,
        index: usize,
        packet: ReceivedPacket<'_>,
        mut frame: impl FnMut(PortId, &[u8]),
    ) {
        let link = &mut self.links[index];
        let (head_scratch, whole) = &mut self.scratch;
        let (offload, bytes) = packet;
        let split = offload
            .map_err(|unknown| format!("kind {} of super-packet", unknown.0))
            .and_then(|offload| {
                segment::split(bytes, offload, head_scratch, |head, payload| {
                    whole.clear();
                    whole.extend_from_slice(head);
                    whole.extend_from_slice(payload);
                    frame(link.port, whole);
                })
                .map_err(|error| format!("{error:?}"))
            });
        if let Err(reason) = split {
            link.counters.malformed += 1;
            tracing::debug!(port = link.port.0, reason, "a packet cannot become frames");
        }
    }

    /// Collects a packet to be sent; packets that are done with go to `recycle`. Gives it back if
    /// no netdev is behind `port`.
    pub fn send(
        &mut self,
        port: PortId,
        packet: Queued,
        recycle: impl FnMut(Queued),
    ) -> Result<(), Queued> {
        let Ok(index) = self.links.binary_search_by_key(&port, |link| link.port) else {
            return Err(packet);
        };
        let link = &mut self.links[index];
        link.outgoing.push(packet);
        if link.outgoing.len() == SEND_BATCH_SIZE {
            link.flush(&mut self.sending, recycle);
        }
        Ok(())
    }

    /// Gives everything that is collected to the kernel.
    pub fn flush(&mut self, mut recycle: impl FnMut(Queued)) {
        let Netdevs { links, sending, .. } = self;
        links.iter_mut().for_each(|link| link.flush(sending, &mut recycle));
    }

    /// The counters of each link, those that the kernel keeps included.
    pub fn counters(&mut self) -> impl Iterator<Item = (PortId, LinkCounters)> {
        self.links.iter_mut().map(|link| {
            link.counters.overrun += link.socket.take_lost_count().unwrap_or(0);
            (link.port, link.counters)
        })
    }
}

impl Link {
    fn flush(&mut self, sending: &mut SendBatch, recycle: impl FnMut(Queued)) {
        let outcome = self.socket.send(&self.outgoing, sending);
        self.counters.refused += outcome.refused as u64;
        if let Some(error) = outcome.error {
            tracing::debug!(port = self.port.0, %error, "the kernel refused a frame");
        }
        self.outgoing.drain(..).for_each(recycle);
    }
}
