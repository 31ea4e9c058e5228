//! The packets of each flow in each queue, counted in place, for drawings of queues that hold too
//! many packets to be listed one by one.

use std::collections::BTreeMap;

use traffic::Depth;
use units::{Bytes, ClassId, PortId};
use wire::flow::Flow;

use crate::device::Device;

/// The number of packets that are looked at; of more, one in several stands for the others. Looking
/// at this many takes some tenths of a millisecond, during which nothing else runs.
const LOOK_COUNT_MAX: usize = 4096;

/// The packets of one flow in one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowShare {
    /// Where its packets came in, if they wait at their input.
    pub filed_at: Option<PortId>,
    /// The queue that they are in or, while they wait at their input, for.
    pub queue: (PortId, ClassId),
    /// The first bytes of the first of them, as it was received.
    pub head: Vec<u8>,
    pub held: Depth,
}

impl FlowShare {
    /// About how much memory it takes.
    pub fn size_bytes(&self) -> usize {
        size_of::<FlowShare>() + self.head.len()
    }
}

impl Device {
    /// Of the packets that wait and came in by, or are for, a port that is wanted: queue by queue, the
    /// flow whose first packet leaves first in front.
    pub fn flow_shares(
        &self,
        is_wanted: impl Fn(PortId) -> bool,
        head_size: usize,
    ) -> Vec<FlowShare> {
        let inside = || {
            let all = self.traffic().inside();
            all.filter(|packet| is_wanted(packet.input) || is_wanted(packet.output))
        };
        let stride = inside().count().div_ceil(LOOK_COUNT_MAX).max(1);
        let mut shares: Vec<FlowShare> = Vec::new();
        let mut places = BTreeMap::new();
        for packet in inside().step_by(stride) {
            let filed_at = packet.is_filed.then_some(packet.input);
            let queue = (packet.output, packet.class);
            let frame = packet.packet.packet.received();
            let place = *places.entry((filed_at, queue, Flow::of(frame))).or_insert_with(|| {
                let head = frame[..frame.len().min(head_size)].to_vec();
                shares.push(FlowShare { filed_at, queue, head, held: Depth::default() });
                shares.len() - 1
            });
            let held = &mut shares[place].held;
            held.packets += stride as u64;
            held.bytes += Bytes(packet.length.count() * stride as u64);
        }
        shares
    }
}
