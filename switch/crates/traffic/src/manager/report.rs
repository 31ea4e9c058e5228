//! Reading everything back: depths, high-water marks, counters, residence times.

use units::{Bytes, ClassId, HasLength, PortId, Time};

use super::Manager;
use crate::aqm::{Aqm, AqmState};
use crate::buffer::SharedBuffer;
use crate::config::{PortConfig, QueueConfig};
use crate::counters::Counters;
use crate::credit::Credits;
use crate::fate::{Depth, Residence, Waiting};
use crate::histogram::Histogram;
use crate::queue::Queue;
use crate::slab::Handle;

/// One output queue, as it is now and as it has been since it was configured.
#[derive(Clone, Copy, Debug)]
pub struct QueueReport<'a> {
    /// The queue's port.
    pub port: PortId,
    /// The queue's class.
    pub class: ClassId,
    /// Its configuration.
    pub config: &'a QueueConfig,
    /// Its depth.
    pub depth: Depth,
    /// The most packets and the most bytes that ever waited in it, each on its own.
    pub high_water: Depth,
    /// Packets and bytes in, out, dropped and marked.
    pub counters: &'a Counters,
    /// How long the packets that departed had been in it.
    pub residence: &'a Histogram,
    /// The state of its queue management, if it keeps any.
    pub aqm: Option<AqmState>,
    /// How much the shared buffer lets it hold now, if there is one.
    pub threshold: Option<Bytes>,
}

/// The part of the shared buffer that no queue has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferReport {
    /// All of it.
    pub shared: Bytes,
    /// The free space.
    pub free: Bytes,
}

/// One output port.
#[derive(Clone, Copy, Debug)]
pub struct PortReport<'a> {
    /// The port.
    pub port: PortId,
    /// Its configuration.
    pub config: &'a PortConfig,
    /// The depth of all its queues together.
    pub depth: Depth,
    /// The sum over its queues, and of packets whose class is none of them.
    pub counters: Counters,
    /// When the line has sent what it is sending; in the past, or never, if it is idle.
    pub line_free_at: Time,
}

/// One input port of the fabric, with all its queues.
#[derive(Clone, Copy, Debug)]
pub struct InputReport<'a> {
    /// The port.
    pub port: PortId,
    /// Its depth.
    pub depth: Depth,
    /// The most packets and the most bytes that ever waited in it, each on its own.
    pub high_water: Depth,
    /// Packets and bytes in, dropped, and departed into the fabric.
    pub counters: &'a Counters,
    /// How long packets waited in it.
    pub residence: &'a Histogram,
}

/// A packet on its way through the crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferReport {
    /// From this input.
    pub input: PortId,
    /// To this output.
    pub output: PortId,
    /// When both sides are free again.
    pub until: Time,
}

/// One virtual output queue.
#[derive(Clone, Copy, Debug)]
pub struct VoqReport<'a> {
    /// Where its packets came in.
    pub input: PortId,
    /// Where they are to leave.
    pub output: PortId,
    /// In which class.
    pub class: ClassId,
    /// Its depth.
    pub depth: Depth,
    /// The most packets and the most bytes that ever waited in it, each on its own.
    pub high_water: Depth,
    /// Packets and bytes in, dropped, and departed into the fabric.
    pub counters: &'a Counters,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Inside<'a, P> {
    /// The packet.
    pub packet: &'a P,
    /// The number of its arrival.
    pub number: u64,
    /// Where it came in.
    pub input: PortId,
    /// Where it is to leave.
    pub output: PortId,
    /// In which class.
    pub class: ClassId,
    /// Its length.
    pub length: Bytes,
    /// Whether it waits at its input, rather than in its output queue.
    pub is_filed: bool,
    /// Since when it waits there.
    pub since: Time,
}

impl<P: HasLength> Manager<P> {
    /// The router as a whole: everything handed in, and what became of it.
    pub fn totals(&self) -> &Counters {
        &self.totals
    }

    /// The packets inside the router.
    pub fn held(&self) -> Depth {
        self.held
    }

    /// One output queue.
    pub fn queue(&self, port: PortId, class: ClassId) -> Option<QueueReport<'_>> {
        let queue = self.ports.get(port)?.queues.get(class.index())?;
        Some(self.queue_report(port, class.index(), queue))
    }

    /// All output queues, by port and class.
    pub fn queues(&self) -> impl Iterator<Item = QueueReport<'_>> {
        self.ports.iter().flat_map(move |(port, state)| {
            let queues = state.queues.iter().enumerate();
            queues.map(move |(class, queue)| self.queue_report(port, class, queue))
        })
    }

    /// The shared buffer, if there is one.
    pub fn shared_buffer(&self) -> Option<BufferReport> {
        self.ports.buffer().map(|it| BufferReport { shared: it.size(), free: it.free() })
    }

    fn queue_report<'a>(&self, port: PortId, class: usize, queue: &'a Queue) -> QueueReport<'a> {
        let threshold =
            |buffer: &SharedBuffer| buffer.threshold(&queue.config.share, queue.fifo.bytes());
        QueueReport {
            port,
            class: ClassId(class as u8),
            config: &queue.config,
            depth: queue.depth(),
            high_water: queue.high_water,
            counters: &queue.counters,
            residence: &queue.residence,
            aqm: queue.aqm.as_ref().and_then(Aqm::state),
            threshold: self.ports.buffer().map(threshold),
        }
    }

    /// One output port.
    pub fn port(&self, port: PortId) -> Option<PortReport<'_>> {
        let state = self.ports.get(port)?;
        let mut counters = state.misfits;
        state.queues.iter().for_each(|queue| counters += queue.counters);
        let (config, depth, line_free_at) = (&state.config, state.held, state.line_free_at());
        Some(PortReport { port, config, depth, counters, line_free_at })
    }

    /// The depth of an output queue.
    pub fn queue_depth(&self, port: PortId, class: ClassId) -> Option<Depth> {
        self.ports.get(port)?.queues.get(class.index()).map(Queue::depth)
    }

    /// The depth of a virtual output queue.
    pub fn voq_depth(&self, input: PortId, output: PortId, class: ClassId) -> Option<Depth> {
        self.crossing.as_ref()?.stage.voq_depth(input, output, class.index())
    }

    /// The state of the port's scheduler and token buckets at `now`.
    pub fn credits(&self, port: PortId, now: Time) -> Option<Credits> {
        self.ports.get(port).map(|state| state.credits(now))
    }

    /// The share of the port's line that was busy in the last full window before `now`, in 0.01 %;
    /// 0 for a port that is not configured.
    pub fn utilisation_basis_points(&self, port: PortId, now: Time) -> u16 {
        self.ports.get(port).map_or(0, |state| state.seen_utilisation_basis_points(now))
    }

    /// All output ports, by number.
    pub fn ports(&self) -> impl Iterator<Item = PortReport<'_>> {
        self.ports.iter().filter_map(|(port, _)| self.port(port))
    }

    /// All inputs of the fabric, by port; none in an output-queued router.
    pub fn inputs(&self) -> impl Iterator<Item = InputReport<'_>> {
        let stage = self.crossing.as_ref().map(|crossing| &crossing.stage);
        stage.into_iter().flat_map(|stage| {
            stage.lanes.iter().zip(&stage.inputs).map(|(port, input)| InputReport {
                port: *port,
                depth: input.depth,
                high_water: input.high_water,
                counters: &input.counters,
                residence: &input.residence,
            })
        })
    }

    /// All virtual output queues that ever had a packet, by input, output and class.
    pub fn voqs(&self) -> impl Iterator<Item = VoqReport<'_>> {
        let stage = self.crossing.as_ref().map(|crossing| &crossing.stage);
        stage.into_iter().flat_map(|stage| {
            let used = stage.voqs().filter(|(.., voq)| voq.counters.offered.packets > 0);
            used.map(|(input, output, class, voq)| VoqReport {
                input: stage.lanes[input],
                output: stage.lanes[output],
                class: ClassId(class as u8),
                depth: voq.depth(),
                high_water: voq.high_water,
                counters: &voq.counters,
            })
        })
    }

    /// The packets that are crossing at `now`, by input.
    pub fn transfers(&self, now: Time) -> Vec<TransferReport> {
        let Some(crossing) = &self.crossing else { return Vec::new() };
        let lanes = &crossing.stage.lanes;
        let under_way = crossing.fabric.transfers().iter().filter(|(until, ..)| *until > now);
        let mut transfers: Vec<TransferReport> = under_way
            .map(|&(until, input, output)| TransferReport {
                input: lanes[input],
                output: lanes[output],
                until,
            })
            .collect();
        transfers.sort_by_key(|transfer| transfer.input);
        transfers
    }

    /// All packets that wait, queue by queue, in the order in which they will leave it.
    pub fn inside(&self) -> impl Iterator<Item = Inside<'_, P>> {
        let inside = |handle: Handle, is_filed: bool| {
            let slot = self.slab.slot(handle);
            let Waiting { number, input, output, class, length, .. } = slot.waiting;
            let Residence { arrived_at, enqueued_at, .. } = slot.residence;
            let since = if is_filed { arrived_at } else { enqueued_at };
            let packet = self.slab.packet(handle);
            Inside { packet, number, input, output, class, length, is_filed, since }
        };
        let stage = self.crossing.as_ref().map(|crossing| &crossing.stage);
        let filed = stage.into_iter().flat_map(|stage| stage.packets(&self.slab));
        let queues = self.ports.iter().flat_map(|(_, port)| &port.queues);
        let queued = queues.flat_map(|queue| queue.fifo.iter(&self.slab));
        filed
            .map(move |(_, handle)| inside(handle, true))
            .chain(queued.map(move |handle| inside(handle, false)))
    }

    /// Sets all high-water marks down to what waits now, so that the next ones are of a time of
    /// the caller's choosing.
    pub fn reset_high_water(&mut self) {
        self.ports.reset_high_water();
        if let Some(crossing) = &mut self.crossing {
            crossing.stage.reset_high_water();
        }
    }

    /// Whether the conservation law holds everywhere: at every queue, at every port and input,
    /// for the router as a whole, and between them.
    pub fn balance(&self) -> bool {
        self.whole_balances() && self.ports.iter().all(|(port, _)| self.port_balances(port))
    }

    /// Whether it holds for the router as a whole and for its input stage.
    pub fn whole_balances(&self) -> bool {
        let mut held = Depth::default();
        let depths = self.ports.iter().map(|(_, port)| port.held);
        depths.chain(self.inputs().map(|input| input.depth)).for_each(|depth| {
            held.packets += depth.packets;
            held.bytes += depth.bytes;
        });
        held == self.held
            && self.totals.balance(self.held)
            && self.inputs().all(|input| input.counters.balance(input.depth))
            && self.voqs().all(|voq| voq.counters.balance(voq.depth))
    }

    /// Whether it holds for an output port and its queues.
    pub fn port_balances(&self, port: PortId) -> bool {
        let mut queues = self.ports.get(port).into_iter().flat_map(|port| &port.queues);
        queues.all(|queue| queue.counters.balance(queue.depth()))
            && self.port(port).is_none_or(|port| port.counters.balance(port.depth))
    }
}
