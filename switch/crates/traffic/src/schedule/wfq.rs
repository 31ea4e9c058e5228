//! Weighted fair queueing by packets (PGPS): Demers, Keshav and Shenker 1989; Parekh and
//! Gallager 1993.
//!
//! An imaginary fluid server (GPS) serves all backlogged classes at once, each in proportion to its
//! weight. A packet's tag is the virtual time at which that server would finish it; the packet with
//! the smallest tag goes first. Every packet then finishes at most one longest packet's time later
//! than in the fluid server.
//!
//! Virtual time V counts bytes served per unit of weight, in 2^-16 bytes. While classes with
//! weights of sum w are backlogged in the fluid server, V advances at rate / w; a class leaves
//! that set when V reaches the tag of its last packet. With at most eight classes this is computed
//! exactly, event by event.
//!
//! While the port serves classes outside the group, the fluid server stands still: the group
//! shares what the groups before it leave. V wraps around; tags are compared by difference.

use units::{Bytes, Rate, Time};

use super::{ClassSet, Head, Heads, Share, Sharing};
use crate::config::PortConfig;
use crate::credit::ShareState;

/// Units of virtual time in a byte.
const SCALE: u128 = 1 << 16;
/// 8 bits a byte and 10^12 picoseconds a second.
const BIT_PS: u128 = 8_000_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Wfq {
    members: Vec<Flow>,
    line_rate: Rate,
    /// V at `reached`.
    virtual_time: u64,
    /// The instant up to which the fluid server has been followed.
    reached: Time,
    /// The sum of the weights of the classes the fluid server is busy with.
    busy_weight: u64,
}

#[derive(Clone, Debug)]
struct Flow {
    class: usize,
    weight: u64,
    /// The tag of the last packet; means nothing unless busy.
    last_tag: u64,
    /// Whether the fluid server still has bytes of this class.
    busy: bool,
}

impl Share for Wfq {
    const TAGS: bool = true;

    fn check(
        _quantum: Option<Bytes>,
        port: &PortConfig,
    ) -> Result<(), (&'static str, &'static str)> {
        match port.line_rate {
            Some(_) => Ok(()),
            None => Err((
                "weighted fair queueing on a port without a line rate",
                "set the port's line rate, or use DRR",
            )),
        }
    }

    fn new(sharing: &Sharing<'_>) -> Wfq {
        let members = sharing.members.iter().map(|member| Flow {
            class: member.class.index(),
            weight: u64::from(member.weight),
            last_tag: 0,
            busy: false,
        });
        Wfq {
            members: members.collect(),
            line_rate: sharing.line_rate.expect("a valid configuration has a line rate for WFQ"),
            virtual_time: 0,
            reached: sharing.now,
            busy_weight: 0,
        }
    }

    fn tag(&mut self, now: Time, class: usize, length: Bytes) -> u64 {
        self.follow(now);
        let virtual_time = self.virtual_time;
        let flow = self.members.iter_mut().find(|flow| flow.class == class);
        let flow = flow.expect("the class is a member of the group");
        if !flow.busy {
            flow.busy = true;
            flow.last_tag = virtual_time;
            self.busy_weight += flow.weight;
        }
        let share = u128::from(length.count()) * SCALE / u128::from(flow.weight);
        flow.last_tag = flow.last_tag.wrapping_add(share as u64);
        flow.last_tag
    }

    /// The class whose first packet has the smallest tag. Equal tags go to the member named first.
    fn choose(&mut self, eligible: ClassSet, heads: &Heads) -> usize {
        let lead = |class: usize| heads[class].tag.wrapping_sub(self.virtual_time) as i64;
        self.members
            .iter()
            .map(|flow| flow.class)
            .filter(|&class| eligible.contains(class))
            .min_by_key(|&class| lead(class))
            .expect("at least one class is eligible")
    }

    /// Tags say what a packet has paid: a departure changes nothing.
    fn handle_departure(&mut self, _class: usize, _length: Bytes, _emptied: bool) {}

    fn handle_pause(&mut self, at: Time, until: Time) {
        self.follow(at);
        self.reached = self.reached.max(until);
    }

    fn state(&self, _class: usize, head: Option<&Head>) -> Option<ShareState> {
        let lead = head?.tag.wrapping_sub(self.virtual_time) as i64;
        Some(ShareState::Wfq { lead: lead.div_euclid(SCALE as i64) })
    }
}

impl Wfq {
    /// Follows the fluid server up to `now`.
    fn follow(&mut self, now: Time) {
        let mut left = u128::from(now.since(self.reached).ps());
        self.reached = self.reached.max(now);
        while left > 0 && self.busy_weight > 0 {
            let next = self
                .members
                .iter_mut()
                .filter(|flow| flow.busy)
                .min_by_key(|flow| flow.last_tag.wrapping_sub(self.virtual_time) as i64)
                .expect("somebody is busy");
            let distance = u128::from(next.last_tag.wrapping_sub(self.virtual_time));
            // V moves by rate / weight: distance takes distance x weight / rate, rounded up.
            let rate = u128::from(self.line_rate.bps()) * SCALE;
            let weight = u128::from(self.busy_weight) * BIT_PS;
            let needed = (distance * weight).div_ceil(rate);
            if needed > left {
                self.virtual_time = self.virtual_time.wrapping_add((left * rate / weight) as u64);
                return;
            }
            self.virtual_time = next.last_tag;
            next.busy = false;
            self.busy_weight -= next.weight;
            left -= needed;
        }
    }
}
