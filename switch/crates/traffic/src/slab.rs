//! Where packets wait: one slab for the whole router, and the linked lists through it.
//!
//! Every queue of the router, whether input, virtual output or output, is a [`Fifo`]: four
//! numbers that thread a list through the slab. Moving a packet from one queue to another
//! relinks it and copies nothing, an empty queue costs 32 bytes, and once the slab has grown to
//! the largest backlog seen, nothing is allocated any more.

use units::Bytes;

use crate::fate::{Residence, Waiting};

/// The end of a list.
const NIL: u32 = u32::MAX;

/// One packet in the router, and what the router remembers of it.
pub(crate) struct Slot<P> {
    /// Empty while the slot is on the free list.
    packet: Option<P>,
    /// The next packet of the same queue, or the next free slot.
    next: u32,
    /// Written by the scheduler when the packet enters an output queue: WFQ's finish tag.
    pub tag: u64,
    pub waiting: Waiting,
    pub residence: Residence,
}

/// The packets of all queues. See the module's comment.
pub(crate) struct Slab<P> {
    slots: Vec<Slot<P>>,
    free: u32,
}

/// Names a packet that is in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

impl<P> Slab<P> {
    pub fn new() -> Slab<P> {
        Slab { slots: Vec::new(), free: NIL }
    }

    /// Puts a packet into a slot of its own; it is in no queue yet.
    pub fn insert(&mut self, packet: P, waiting: Waiting, residence: Residence) -> Handle {
        if self.free == NIL {
            let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets wait");
            self.slots.push(Slot { packet: Some(packet), next: NIL, tag: 0, waiting, residence });
            return Handle(index);
        }
        let handle = Handle(self.free);
        let slot = &mut self.slots[self.free as usize];
        self.free = slot.next;
        *slot = Slot { packet: Some(packet), next: NIL, tag: 0, waiting, residence };
        handle
    }

    /// Takes a packet out; it must have been unlinked from its queue.
    pub fn remove(&mut self, handle: Handle) -> (P, Waiting, Residence) {
        let slot = &mut self.slots[handle.0 as usize];
        let packet = slot.packet.take().expect("a handle names a packet until it is removed");
        slot.next = self.free;
        self.free = handle.0;
        (packet, slot.waiting, slot.residence)
    }

    /// The packet itself.
    pub fn packet(&self, handle: Handle) -> &P {
        let packet = self.slots[handle.0 as usize].packet.as_ref();
        packet.expect("a handle names a packet until it is removed")
    }

    pub fn slot(&self, handle: Handle) -> &Slot<P> {
        &self.slots[handle.0 as usize]
    }

    pub fn slot_mut(&mut self, handle: Handle) -> &mut Slot<P> {
        &mut self.slots[handle.0 as usize]
    }
}

/// A first-in, first-out list of packets in the slab, with its length in packets and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
}

impl Default for Fifo {
    fn default() -> Fifo {
        Fifo { head: NIL, tail: NIL, packets: 0, bytes: 0 }
    }
}

impl Fifo {
    pub fn is_empty(&self) -> bool {
        self.head == NIL
    }

    pub fn packets(&self) -> u64 {
        u64::from(self.packets)
    }

    pub fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// The packet that has waited longest.
    pub fn head(&self) -> Option<Handle> {
        (self.head != NIL).then_some(Handle(self.head))
    }

    /// Links a packet to the end.
    pub fn enqueue<P>(&mut self, slab: &mut Slab<P>, handle: Handle) {
        let slot = slab.slot_mut(handle);
        slot.next = NIL;
        self.bytes += slot.waiting.length.count();
        self.packets += 1;
        if self.tail == NIL {
            self.head = handle.0;
        } else {
            slab.slots[self.tail as usize].next = handle.0;
        }
        self.tail = handle.0;
    }

    /// Links a packet behind the last one whose rank is not higher. A packet of the highest rank so
    /// far costs no more than in a queue in the order of arrival, another one a step for each packet
    /// in front of it.
    pub fn enqueue_by_rank<P>(&mut self, slab: &mut Slab<P>, handle: Handle) {
        let rank = slab.slot(handle).waiting.rank;
        let rank_at = |slab: &Slab<P>, at: u32| slab.slots[at as usize].waiting.rank;
        if self.tail == NIL || rank_at(slab, self.tail) <= rank {
            return self.enqueue(slab, handle);
        }
        let (mut before, mut next) = (NIL, self.head);
        while rank_at(slab, next) <= rank {
            (before, next) = (next, slab.slots[next as usize].next);
        }
        let slot = slab.slot_mut(handle);
        slot.next = next;
        self.bytes += slot.waiting.length.count();
        self.packets += 1;
        match before {
            NIL => self.head = handle.0,
            before => slab.slots[before as usize].next = handle.0,
        }
    }

    /// Links the packets anew, by their ranks.
    pub fn sort_by_rank<P>(&mut self, slab: &mut Slab<P>) {
        let handles: Vec<Handle> = self.iter(slab).collect();
        *self = Fifo::default();
        handles.into_iter().for_each(|handle| self.enqueue_by_rank(slab, handle));
    }

    /// Unlinks the last packet, a step for each packet in front of it.
    pub fn dequeue_last<P>(&mut self, slab: &mut Slab<P>) -> Option<Handle> {
        let last = (self.tail != NIL).then_some(Handle(self.tail))?;
        let before = self.iter(slab).find(|handle| slab.slot(*handle).next == last.0);
        self.bytes -= slab.slot(last).waiting.length.count();
        self.packets -= 1;
        match before {
            Some(before) => {
                slab.slot_mut(before).next = NIL;
                self.tail = before.0;
            }
            None => *self = Fifo::default(),
        }
        Some(last)
    }

    /// Unlinks the packet that has waited longest.
    pub fn dequeue<P>(&mut self, slab: &mut Slab<P>) -> Option<Handle> {
        let handle = self.head()?;
        let slot = slab.slot(handle);
        self.bytes -= slot.waiting.length.count();
        self.packets -= 1;
        self.head = slot.next;
        if self.head == NIL {
            self.tail = NIL;
        }
        Some(handle)
    }

    /// The packets from the head to the tail.
    pub fn iter<'a, P>(&self, slab: &'a Slab<P>) -> impl Iterator<Item = Handle> + 'a {
        let mut next = self.head;
        std::iter::from_fn(move || {
            let handle = (next != NIL).then_some(Handle(next))?;
            next = slab.slot(handle).next;
            Some(handle)
        })
    }
}

#[cfg(test)]
mod tests {
    use units::{ClassId, PortId};

    use super::*;

    fn waiting(length: u64) -> Waiting {
        Waiting {
            length: Bytes(length),
            input: PortId(0),
            output: PortId(0),
            class: ClassId(0),
            ecn: wire::Ecn::NotEct,
            precedence: 0,
            rank: 0,
            sequence: 0,
            number: 0,
        }
    }

    #[test]
    fn a_queue_gives_back_what_it_got_in_order_and_slots_are_used_again() {
        let mut slab = Slab::new();
        let mut queue = Fifo::default();
        for round in 0..3 {
            for packet in 0..4u64 {
                let handle = slab.insert(packet, waiting(100 + packet), Residence::default());
                queue.enqueue(&mut slab, handle);
            }
            // 100 + 101 + 102 + 103 bytes.
            assert_eq!((queue.packets(), queue.bytes()), (4, Bytes(406)));
            for packet in 0..4 {
                let handle = queue.dequeue(&mut slab).expect("four packets wait");
                assert_eq!(slab.remove(handle).0, packet, "round {round}");
            }
            assert!(queue.is_empty() && queue.dequeue(&mut slab).is_none());
            assert_eq!(slab.slots.len(), 4, "round {round} takes no new slot");
        }
    }
}
