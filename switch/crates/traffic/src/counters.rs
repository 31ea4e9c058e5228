//! Counters of packets and bytes, and the law they obey.
//!
//! The conservation law, for every queue, input, port and the router as a whole, at any instant:
//!
//! ```text
//! offered = departed + dropped (sum over reasons) + held
//! ```
//!
//! `held` is not derived from the counters: it is what the queue's list contains.

use std::ops::{AddAssign, SubAssign};

use units::{Bytes, DropReason};

use crate::fate::Depth;

/// A number of packets and the bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many packets.
    pub packets: u64,
    /// How many bytes they have together, by their length on arrival.
    pub bytes: Bytes,
}

impl Tally {
    /// Counts one packet of `length`.
    pub fn add(&mut self, length: Bytes) {
        self.packets += 1;
        self.bytes += length;
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl SubAssign for Tally {
    fn sub_assign(&mut self, other: Tally) {
        self.packets -= other.packets;
        self.bytes -= other.bytes;
    }
}

/// Counts at one place of the router since it was configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Handed in, whatever became of it.
    pub offered: Tally,
    /// Let in. The rest of `offered` was dropped on arrival.
    pub enqueued: Tally,
    /// Sent on: out of the port, or from the input stage into the output queue.
    pub departed: Tally,
    /// Marked by AQM, whatever became of it later.
    pub marked: Tally,
    /// Dropped, by [`DropReason::queue_index`]; see [`Counters::dropped`].
    dropped: [Tally; DropReason::QUEUE_COUNT],
}

impl Counters {
    /// The packets dropped for `reason`.
    pub fn dropped(&self, reason: DropReason) -> Tally {
        reason.queue_index().map_or(Tally::default(), |at| self.dropped[at])
    }

    /// The packets dropped for any reason.
    pub fn dropped_in_all(&self) -> Tally {
        let mut sum = Tally::default();
        self.dropped.iter().for_each(|tally| sum += *tally);
        sum
    }

    /// The reasons that occurred, with the packets dropped for each.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, Tally)> + '_ {
        let counted = DropReason::ALL.iter().map(|reason| (*reason, self.dropped(*reason)));
        counted.filter(|(_, tally)| tally.packets > 0)
    }

    pub(crate) fn count_drop(&mut self, reason: DropReason, length: Bytes) {
        let at = reason.queue_index().expect("a queue drops for a reason of queues");
        self.dropped[at].add(length);
    }

    /// Whether the conservation law holds with `held` in the queue.
    pub fn balance(&self, held: Depth) -> bool {
        let mut sum = self.departed;
        sum += self.dropped_in_all();
        sum += Tally { packets: held.packets, bytes: held.bytes };
        sum == self.offered
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.offered += other.offered;
        self.enqueued += other.enqueued;
        self.departed += other.departed;
        self.marked += other.marked;
        for (sum, tally) in self.dropped.iter_mut().zip(other.dropped) {
            *sum += tally;
        }
    }
}
