//! A packet's fate: it departs, or it is dropped with a reason. There is no third.

use units::{Bytes, ClassId, DropReason, PortId, Span, Time};
use wire::Ecn;

/// A packet on its way into the traffic manager, as ingress left it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<P> {
    /// The packet itself; only its length is ever asked for.
    pub packet: P,
    /// Where it came in. With a fabric, a packet from a port that is no input of the fabric (the
    /// controller's, a recirculated one) goes to its output queue directly.
    pub input: PortId,
    /// Where it is to leave.
    pub output: PortId,
    /// The class of the output port; 0 is the lowest. If two classes are managed as a pair, the
    /// packet's ECN codepoint selects the queue of the pair.
    pub class: ClassId,
    /// The packet's ECN codepoint.
    pub ecn: Ecn,
    /// Drop precedence for WRED: 0 green, 1 yellow, 2 red.
    pub precedence: u8,
    /// Its place in a queue that is ordered by rank; the lowest goes first.
    pub rank: u32,
    /// The packet's number in [`Step`](crate::Step)s; nothing else depends on it.
    pub number: u64,
}

impl<P> Arrival<P> {
    /// A green packet that is not ECN-capable and has neither rank nor number.
    pub fn new(packet: P, input: PortId, output: PortId, class: ClassId) -> Arrival<P> {
        let ecn = Ecn::NotEct;
        Arrival { packet, input, output, class, ecn, precedence: 0, rank: 0, number: 0 }
    }
}

/// The router's knowledge of a queued packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The length when it arrived. Everything inside the router counts this length.
    pub length: Bytes,
    pub input: PortId,
    pub output: PortId,
    pub class: ClassId,
    pub ecn: Ecn,
    pub precedence: u8,
    pub rank: u32,
    /// Its place among all arrivals; orders packets that arrived at one instant.
    pub sequence: u64,
    /// That of its arrival.
    pub number: u64,
}

/// A packet's stay in the router, for telemetry and for P4's queueing metadata.
///
/// Depths count the packets of that queue without the packet itself, as simple_switch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residence {
    /// When the packet was handed in.
    pub arrived_at: Time,
    /// When it entered its output queue; the time before is the input stage's.
    pub enqueued_at: Time,
    /// Packets and bytes ahead of it in its input queue or virtual output queue on arrival.
    pub input_depth: Depth,
    /// Packets and bytes in its output queue when it entered.
    pub enqueue_depth: Depth,
    /// Packets and bytes left in its output queue when it departed.
    pub dequeue_depth: Depth,
    /// Whether active queue management marked it: set CE if the packet is ECN-capable.
    pub marked: bool,
}

/// How much waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// In packets.
    pub packets: u64,
    /// In bytes.
    pub bytes: Bytes,
}

/// A packet that leaves its output queue: egress processing runs on it next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet, as it was handed in.
    pub packet: P,
    /// Where it came in.
    pub input: PortId,
    /// Where it leaves.
    pub output: PortId,
    /// From which class.
    pub class: ClassId,
    /// The exact instant its first bit goes on the line: max(port free, eligible).
    pub at: Time,
    /// The instant its last bit has left, if egress does not change its length.
    /// See [`Manager::settle`](crate::Manager::settle).
    pub line_free_at: Time,
    /// Its stay in the router.
    pub residence: Residence,
    /// The share of the line that was busy in the port's last full window, in 0.01 %.
    pub utilisation_basis_points: u16,
}

impl<P> Departure<P> {
    /// The time spent in the output queue: v1model's `deq_timedelta`.
    pub fn queueing_span(&self) -> Span {
        self.at.since(self.residence.enqueued_at)
    }

    /// The time spent in the input stage; zero in an output-queued router.
    pub fn input_span(&self) -> Span {
        self.residence.enqueued_at.since(self.residence.arrived_at)
    }
}

/// A packet that the router dropped, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The packet, as it was handed in.
    pub packet: P,
    /// Where it came in.
    pub input: PortId,
    /// Where it would have left.
    pub output: PortId,
    /// In which class.
    pub class: ClassId,
    /// When it was dropped.
    pub at: Time,
    /// Why; one of the [reasons of queues](DropReason::is_of_queues).
    pub reason: DropReason,
}

/// The immediate result of an arrival.
#[must_use = "a dropped packet must be counted and reported"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<P> {
    /// It is in a queue; it will come out of `poll_output`.
    Held,
    /// It was refused.
    Dropped(Dropped<P>),
}

/// The outputs of the traffic manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<P> {
    /// A packet leaves.
    Depart(Departure<P>),
    /// A packet that had been held is dropped: by AQM at the head of its queue, by a full output
    /// behind the fabric, or because its queue was removed.
    Drop(Dropped<P>),
}
