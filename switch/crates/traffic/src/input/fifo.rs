//! One queue for each input port. Only its first packet may request an output, so a packet for an
//! idle output waits behind one for a busy output: head-of-line blocking.

use units::PortId;

use super::Found;
use crate::fate::Depth;
use crate::slab::{Fifo, Handle, Slab};

pub(super) struct FifoQueues {
    queues: Vec<Fifo>,
}

impl FifoQueues {
    pub fn new(lane_count: usize) -> FifoQueues {
        FifoQueues { queues: vec![Fifo::default(); lane_count] }
    }

    pub fn enqueue<P>(
        &mut self,
        slab: &mut Slab<P>,
        input: usize,
        output: usize,
        handle: Handle,
    ) -> Found {
        let queue = &mut self.queues[input];
        let ahead = Depth { packets: queue.packets(), bytes: queue.bytes() };
        queue.enqueue(slab, handle);
        Found { ahead, asks: (ahead.packets == 0).then_some(output) }
    }

    pub fn head(&self, input: usize) -> Option<Handle> {
        self.queues[input].head()
    }

    /// Removes the first packet; the second value is the output that the next one requests.
    pub fn dequeue<P>(
        &mut self,
        slab: &mut Slab<P>,
        lane_of: &[Option<u8>],
        input: usize,
    ) -> Option<(Handle, Option<usize>)> {
        let queue = &mut self.queues[input];
        let handle = queue.dequeue(slab)?;
        let lane = |port: PortId| lane_of[port.index()].map(usize::from);
        let asks = queue.head().and_then(|head| lane(slab.slot(head).waiting.output));
        Some((handle, asks))
    }

    pub fn all<'a, P>(&'a self, slab: &'a Slab<P>) -> impl Iterator<Item = (usize, Handle)> + 'a {
        let lanes = self.queues.iter().enumerate();
        lanes.flat_map(|(lane, queue)| queue.iter(slab).map(move |handle| (lane, handle)))
    }
}
