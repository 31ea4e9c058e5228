//! The input stage: the queues in front of the crossbar, and the requests of the inputs.
//!
//! The two ways to queue have a file each; they share the limit and the counters of each input port
//! and, for every output, the set of inputs that request it, kept up to date packet by packet so
//! that an arbitration only reads it.

mod fifo;
mod voq;

use units::{Bytes, CLASS_COUNT_MAX, DropReason, PortId, Time};

use crate::config::{InputConfig, InputQueueing};
use crate::counters::{Counters, Tally};
use crate::fabric::{LaneSet, Weight};
use crate::fate::{Depth, Waiting};
use crate::histogram::Histogram;
use crate::slab::{Handle, Slab};

use fifo::FifoQueues;
use voq::VoqQueues;

pub(crate) use voq::Voq;

/// The input stage in action.
pub(crate) struct InputStage {
    pub config: InputConfig,
    /// The port of each lane, in ascending order.
    pub lanes: Vec<PortId>,
    /// The lane of each port number.
    lane_of: Vec<Option<u8>>,
    pub inputs: Vec<InputPort>,
    queues: Queues,
    /// For each output the inputs that request it.
    asking: Vec<LaneSet>,
    /// The outputs with at least one request.
    asked: LaneSet,
    /// The depth of the whole stage.
    pub held: Depth,
}

enum Queues {
    Fifo(FifoQueues),
    Voq(VoqQueues),
}

/// One input port: everything but its queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputPort {
    pub depth: Depth,
    pub high_water: Depth,
    pub counters: Counters,
    /// How long packets waited until they crossed the fabric.
    pub residence: Histogram,
}

impl InputStage {
    /// An empty stage for these ports.
    pub fn new(config: &InputConfig, lanes: Vec<PortId>) -> InputStage {
        let lane_count = lanes.len();
        let mut lane_of = vec![None; lanes.last().map_or(0, |port| port.index() + 1)];
        for (lane, port) in lanes.iter().enumerate() {
            lane_of[port.index()] = Some(lane as u8);
        }
        let queues = match config.queueing {
            InputQueueing::Fifo => Queues::Fifo(FifoQueues::new(lane_count)),
            InputQueueing::Voq => Queues::Voq(VoqQueues::new(lane_count)),
        };
        InputStage {
            config: config.clone(),
            lanes,
            lane_of,
            inputs: vec![InputPort::default(); lane_count],
            queues,
            asking: vec![LaneSet::default(); lane_count],
            asked: LaneSet::default(),
            held: Depth::default(),
        }
    }

    /// The lane of a port, if it is one of the fabric's.
    #[inline]
    pub fn lane(&self, port: PortId) -> Option<usize> {
        self.lane_of.get(port.index()).copied().flatten().map(usize::from)
    }

    /// Whether input `lane` and the queue the packet belongs to have room.
    pub fn admit(&self, lane: usize, waiting: &Waiting) -> Result<(), DropReason> {
        let input = &self.inputs[lane];
        if !self.config.limit.has_room(input.depth.packets, input.depth.bytes, waiting.length) {
            return Err(DropReason::InputLimit);
        }
        if let Queues::Voq(queues) = &self.queues {
            let depth = queues.voq(lane, self.output_lane(waiting), waiting.class.index()).depth();
            if !self.config.voq_limit.has_room(depth.packets, depth.bytes, waiting.length) {
                return Err(DropReason::VoqLimit);
            }
        }
        Ok(())
    }

    /// Counts a packet that `admit` refused.
    pub fn count_refusal(&mut self, lane: usize, waiting: &Waiting, reason: DropReason) {
        let output = self.output_lane(waiting);
        let input = &mut self.inputs[lane];
        input.counters.offered.add(waiting.length);
        input.counters.count_drop(reason, waiting.length);
        if let Queues::Voq(queues) = &mut self.queues {
            let counters = &mut queues.voq_mut(lane, output, waiting.class.index()).counters;
            counters.offered.add(waiting.length);
            counters.count_drop(reason, waiting.length);
        }
    }

    /// Appends a packet; returns the output lane that it requests now, if that is a new request.
    pub fn enqueue<P>(&mut self, slab: &mut Slab<P>, lane: usize, handle: Handle) -> Option<usize> {
        let slot = slab.slot(handle);
        let (length, class) = (slot.waiting.length, slot.waiting.class.index());
        let output = self.output_lane(&slot.waiting);
        let input = &mut self.inputs[lane];
        input.counters.offered.add(length);
        input.counters.enqueued.add(length);
        let found = match &mut self.queues {
            Queues::Fifo(queues) => queues.enqueue(slab, lane, output, handle),
            Queues::Voq(queues) => queues.enqueue(slab, lane, output, class, handle),
        };
        slab.slot_mut(handle).residence.input_depth = found.ahead;
        input.depth.packets += 1;
        input.depth.bytes += length;
        input.high_water.packets = input.high_water.packets.max(input.depth.packets);
        input.high_water.bytes = input.high_water.bytes.max(input.depth.bytes);
        self.held.packets += 1;
        self.held.bytes += length;
        let asks = found.asks?;
        self.asking[asks].insert(lane);
        self.asked.insert(asks);
        Some(asks)
    }

    /// The inputs that request `output`.
    #[inline]
    pub fn asking(&self, output: usize) -> LaneSet {
        self.asking[output]
    }

    /// The outputs with at least one request.
    pub fn asked(&self) -> LaneSet {
        debug_assert!(
            self.asking
                .iter()
                .enumerate()
                .all(|(output, inputs)| { self.asked.contains(output) != inputs.is_empty() })
        );
        self.asked
    }

    /// The class of the packet that `input` would send to `output`: of those first in their queue
    /// the one of the highest class that `fits`, given its class and length.
    #[inline]
    pub fn first_that_fits<P>(
        &self,
        slab: &Slab<P>,
        (input, output): (usize, usize),
        fits: impl Fn(usize, Bytes) -> bool,
    ) -> Option<usize> {
        let class_if_fitting = |handle: Handle| {
            let waiting = &slab.slot(handle).waiting;
            let class = waiting.class.index();
            fits(class, waiting.length).then_some(class)
        };
        match &self.queues {
            Queues::Fifo(queues) => queues.head(input).and_then(class_if_fitting),
            Queues::Voq(queues) => queues.heads(input, output).find_map(class_if_fitting),
        }
    }

    /// Takes the first packet of `class` from `input` to `output`. The second value says whether
    /// the input now requests another output than before.
    pub fn take<P>(
        &mut self,
        slab: &mut Slab<P>,
        (input, output): (usize, usize),
        class: usize,
        now: Time,
    ) -> Option<Handle> {
        let (handle, still_asks, now_asks) = match &mut self.queues {
            Queues::Fifo(queues) => {
                let (handle, asks) = queues.dequeue(slab, &self.lane_of, input)?;
                (handle, asks == Some(output), asks)
            }
            Queues::Voq(queues) => {
                let (handle, more) = queues.dequeue(slab, input, output, class)?;
                (handle, more, None)
            }
        };
        if !still_asks {
            self.asking[output].remove(input);
            if self.asking[output].is_empty() {
                self.asked.remove(output);
            }
        }
        if let Some(other) = now_asks {
            self.asking[other].insert(input);
            self.asked.insert(other);
        }
        let slot = slab.slot(handle);
        let port = &mut self.inputs[input];
        port.counters.departed.add(slot.waiting.length);
        port.residence.record(now.since(slot.residence.arrived_at));
        port.depth.packets -= 1;
        port.depth.bytes -= slot.waiting.length;
        self.held.packets -= 1;
        self.held.bytes -= slot.waiting.length;
        Some(handle)
    }

    /// The weight of a match of `input` with `output` at `now`.
    pub fn weight<P>(
        &self,
        slab: &Slab<P>,
        weight: Weight,
        (input, output): (usize, usize),
        now: Time,
    ) -> u64 {
        match (weight, &self.queues) {
            (Weight::Length, Queues::Fifo(_)) => self.inputs[input].depth.bytes.count(),
            (Weight::Length, Queues::Voq(queues)) => queues.bytes(input, output).count(),
            (Weight::Age, queues) => {
                let age = |handle| now.since(slab.slot(handle).residence.arrived_at).ps();
                match queues {
                    Queues::Fifo(queues) => queues.head(input).map_or(0, age),
                    Queues::Voq(queues) => queues.heads(input, output).map(age).max().unwrap_or(0),
                }
            }
        }
    }

    /// Sets the high-water marks of all inputs and queues down to what waits now.
    pub fn reset_high_water(&mut self) {
        self.inputs.iter_mut().for_each(|input| input.high_water = input.depth);
        if let Queues::Voq(queues) = &mut self.queues {
            queues.reset_high_water();
        }
    }

    /// Input `lane` continues the counters of an input of the stage before this one. That input's
    /// packets are enqueued into this stage next, and must not be counted as offered twice.
    pub fn adopt_books(&mut self, lane: usize, old: &InputPort) {
        let mut counters = old.counters;
        counters.offered -= Tally { packets: old.depth.packets, bytes: old.depth.bytes };
        counters.enqueued -= Tally { packets: old.depth.packets, bytes: old.depth.bytes };
        self.inputs[lane] = InputPort { depth: Depth::default(), counters, ..old.clone() };
    }

    /// Every packet of the stage with its input lane, queue by queue, as they will leave it.
    pub fn packets<'a, P>(
        &'a self,
        slab: &'a Slab<P>,
    ) -> impl Iterator<Item = (usize, Handle)> + 'a {
        let (fifos, voqs) = match &self.queues {
            Queues::Fifo(queues) => (Some(queues.all(slab)), None),
            Queues::Voq(queues) => (None, Some(queues.all(slab))),
        };
        fifos.into_iter().flatten().chain(voqs.into_iter().flatten())
    }

    /// The same in the order of arrival. The stage is done with: its lists are as they were, and
    /// must not be used again.
    pub fn evacuate<P>(&self, slab: &Slab<P>) -> Vec<(usize, Handle)> {
        let mut packets: Vec<(usize, Handle)> = self.packets(slab).collect();
        packets.sort_by_key(|(_, handle)| slab.slot(*handle).waiting.sequence);
        packets
    }

    /// The depth of a virtual output queue, if there is one.
    pub fn voq_depth(&self, input: PortId, output: PortId, class: usize) -> Option<Depth> {
        let Queues::Voq(queues) = &self.queues else { return None };
        let (input, output) = (self.lane(input)?, self.lane(output)?);
        (class < CLASS_COUNT_MAX).then(|| queues.voq(input, output, class).depth())
    }

    /// The virtual output queues with their input lane, output lane and class; none with FIFOs.
    pub fn voqs(&self) -> impl Iterator<Item = (usize, usize, usize, &Voq)> {
        match &self.queues {
            Queues::Fifo(_) => None,
            Queues::Voq(queues) => Some(queues.iter()),
        }
        .into_iter()
        .flatten()
    }

    fn output_lane(&self, waiting: &Waiting) -> usize {
        self.lane(waiting.output).expect("every configured port is a lane")
    }
}

/// The state of the queue that an arrival joined.
struct Found {
    ahead: Depth,
    /// The output that its input requests because of it and did not request before.
    asks: Option<usize>,
}
