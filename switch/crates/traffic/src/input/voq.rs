//! Virtual output queues: one for each (input, output, class). No packet waits for another one's
//! output, and what limits throughput is only how well the arbiter matches.

use units::{Bytes, CLASS_COUNT_MAX};

use super::Found;
use crate::counters::Counters;
use crate::fate::Depth;
use crate::schedule::ClassSet;
use crate::slab::{Fifo, Handle, Slab};

/// One virtual output queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Voq {
    fifo: Fifo,
    pub counters: Counters,
    pub high_water: Depth,
}

impl Voq {
    pub fn depth(&self) -> Depth {
        Depth { packets: self.fifo.packets(), bytes: self.fifo.bytes() }
    }
}

/// The classes of one (input, output) pair that have packets, and all their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    backlog: ClassSet,
    bytes: Bytes,
}

pub(super) struct VoqQueues {
    lane_count: usize,
    /// By input, output, class.
    voqs: Vec<Voq>,
    /// By input, output.
    pairs: Vec<Pair>,
}

impl VoqQueues {
    pub fn new(lane_count: usize) -> VoqQueues {
        let pair_count = lane_count * lane_count;
        VoqQueues {
            lane_count,
            voqs: vec![Voq::default(); pair_count * CLASS_COUNT_MAX],
            pairs: vec![Pair::default(); pair_count],
        }
    }

    pub fn voq(&self, input: usize, output: usize, class: usize) -> &Voq {
        &self.voqs[self.pair(input, output) * CLASS_COUNT_MAX + class]
    }

    pub fn voq_mut(&mut self, input: usize, output: usize, class: usize) -> &mut Voq {
        let index = self.pair(input, output) * CLASS_COUNT_MAX + class;
        &mut self.voqs[index]
    }

    pub fn enqueue<P>(
        &mut self,
        slab: &mut Slab<P>,
        input: usize,
        output: usize,
        class: usize,
        handle: Handle,
    ) -> Found {
        let length = slab.slot(handle).waiting.length;
        let voq = self.voq_mut(input, output, class);
        let ahead = voq.depth();
        voq.fifo.enqueue(slab, handle);
        voq.counters.offered.add(length);
        voq.counters.enqueued.add(length);
        voq.high_water.packets = voq.high_water.packets.max(voq.fifo.packets());
        voq.high_water.bytes = voq.high_water.bytes.max(voq.fifo.bytes());
        let pair = self.pair(input, output);
        let pair = &mut self.pairs[pair];
        let asks = pair.backlog.is_empty().then_some(output);
        pair.backlog.insert(class);
        pair.bytes += length;
        Found { ahead, asks }
    }

    /// The first packet of each class, the highest class first.
    pub fn heads(&self, input: usize, output: usize) -> impl Iterator<Item = Handle> + '_ {
        let backlog = self.pairs[self.pair(input, output)].backlog;
        backlog.iter_down().filter_map(move |class| self.voq(input, output, class).fifo.head())
    }

    /// All that waits at `input` for `output`.
    pub fn bytes(&self, input: usize, output: usize) -> Bytes {
        self.pairs[self.pair(input, output)].bytes
    }

    /// Takes the first packet of a class off; the second value tells whether more wait for the
    /// output.
    pub fn dequeue<P>(
        &mut self,
        slab: &mut Slab<P>,
        input: usize,
        output: usize,
        class: usize,
    ) -> Option<(Handle, bool)> {
        let voq = self.voq_mut(input, output, class);
        let handle = voq.fifo.dequeue(slab)?;
        let length = slab.slot(handle).waiting.length;
        voq.counters.departed.add(length);
        let emptied = voq.fifo.is_empty();
        let pair = self.pair(input, output);
        let pair = &mut self.pairs[pair];
        pair.bytes -= length;
        if emptied {
            pair.backlog.remove(class);
        }
        Some((handle, !pair.backlog.is_empty()))
    }

    pub fn reset_high_water(&mut self) {
        self.voqs.iter_mut().for_each(|voq| voq.high_water = voq.depth());
    }

    pub fn all<'a, P>(&'a self, slab: &'a Slab<P>) -> impl Iterator<Item = (usize, Handle)> + 'a {
        self.iter()
            .flat_map(|(input, _, _, voq)| voq.fifo.iter(slab).map(move |handle| (input, handle)))
    }

    /// All queues with their input, output and class.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, usize, &Voq)> {
        self.voqs.iter().enumerate().map(|(index, voq)| {
            let (pair, class) = (index / CLASS_COUNT_MAX, index % CLASS_COUNT_MAX);
            (pair / self.lane_count, pair % self.lane_count, class, voq)
        })
    }

    fn pair(&self, input: usize, output: usize) -> usize {
        input * self.lane_count + output
    }
}
