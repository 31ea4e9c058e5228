//! The frames on a line, in the order in which they come out.
//!
//! Without reordering each frame arrives no earlier than the one before, so a list suffices. A
//! frame that overtakes goes to a heap instead: a line of 20 ms at 10 Gb/s holds 17,000 frames,
//! too many to move aside for each.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use units::{Bytes, HasLength, Time};

use super::ahead::Ahead;
use crate::fate::Depth;

/// A frame whose serialisation has begun and whose fate is decided.
#[derive(Debug)]
pub(super) struct Begun<P> {
    /// When it comes out.
    pub at: Time,
    /// That of the packet, which may have been under way so long that it is in slow memory by now.
    pub length: Bytes,
    pub packet: P,
    pub fate: Fate,
    /// Numbers the frames; those of one instant come out in this order.
    sequence: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Arrives { flip_bit: Option<u64> },
    Lost,
}

#[derive(Debug)]
pub(super) struct UnderWay<P> {
    in_order: VecDeque<Begun<P>>,
    overtaking: BinaryHeap<Begun<P>>,
    depth: Depth,
    sequence: u64,
    ahead: Ahead,
}

impl<P: HasLength> UnderWay<P> {
    pub fn new() -> UnderWay<P> {
        UnderWay {
            in_order: VecDeque::new(),
            overtaking: BinaryHeap::new(),
            depth: Depth::default(),
            sequence: 0,
            ahead: Ahead::default(),
        }
    }

    pub fn depth(&self) -> Depth {
        self.depth
    }

    pub fn add(&mut self, at: Time, packet: P, fate: Fate) {
        self.depth.packets += 1;
        let length = packet.length();
        self.depth.bytes += length;
        self.sequence += 1;
        let frame = Begun { at, length, packet, fate, sequence: self.sequence };
        match self.in_order.back() {
            Some(last) if last.at > at => self.overtaking.push(frame),
            _ => self.in_order.push_back(frame),
        }
    }

    /// When the next frame comes out.
    pub fn next_due(&self) -> Option<Time> {
        let first = self.in_order.front().map(|frame| frame.at);
        match (first, self.overtaking.peek()) {
            (Some(first), Some(other)) => Some(first.min(other.at)),
            (first, other) => first.or(other.map(|frame| frame.at)),
        }
    }

    /// Takes the next frame that comes out by `now`.
    pub fn take(&mut self, now: Time) -> Option<Begun<P>> {
        let overtaken = match (self.in_order.front(), self.overtaking.peek()) {
            // The greater of two is the one that comes out first.
            (Some(first), Some(other)) => other > first,
            (first, _) => first.is_none(),
        };
        let frame = if overtaken {
            self.overtaking.peek().filter(|frame| frame.at <= now)?;
            self.overtaking.pop()?
        } else {
            self.in_order.front().filter(|frame| frame.at <= now)?;
            let frame = self.in_order.pop_front()?;
            self.ahead.approach(self.in_order.iter().map(|frame| &frame.packet));
            frame
        };
        self.depth.packets -= 1;
        self.depth.bytes -= frame.length;
        Some(frame)
    }

    /// The frames that would have arrived, in the order in which they came onto the line.
    pub fn into_arriving(self) -> impl Iterator<Item = P> {
        let mut frames: Vec<Begun<P>> = self.in_order.into_iter().chain(self.overtaking).collect();
        frames.sort_unstable_by_key(|frame| frame.sequence);
        let arriving =
            frames.into_iter().filter(|frame| matches!(frame.fate, Fate::Arrives { .. }));
        arriving.map(|frame| frame.packet)
    }

    /// All frames, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Begun<P>> {
        self.in_order.iter().chain(&self.overtaking)
    }
}

/// Earlier is greater, because a heap gives its greatest first.
impl<P> Ord for Begun<P> {
    fn cmp(&self, other: &Begun<P>) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl<P> PartialOrd for Begun<P> {
    fn partial_cmp(&self, other: &Begun<P>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Eq for Begun<P> {}

impl<P> PartialEq for Begun<P> {
    fn eq(&self, other: &Begun<P>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Bytes;

    use super::*;

    proptest! {
        /// Against the obvious model: a list sorted by instant, ties in the order of filing.
        #[test]
        fn frames_come_out_by_instant_and_then_by_order_of_filing(
            instants in prop::collection::vec(0..40u64, 0..60)
        ) {
            let mut frames = UnderWay::new();
            let mut expected = Vec::new();
            for (length, at) in (1..).zip(instants) {
                let at = Time::from_ps(at);
                frames.add(at, Bytes(length), Fate::Lost);
                expected.push((at, Bytes(length)));
            }
            expected.sort_by_key(|(at, _)| *at);
            prop_assert_eq!(frames.depth().packets, expected.len() as u64);
            let mut found = Vec::new();
            for now in (0..40).map(Time::from_ps) {
                while let Some(frame) = frames.take(now) {
                    prop_assert_eq!(frame.at, now, "neither early nor late");
                    found.push((frame.at, frame.packet));
                }
                prop_assert!(frames.next_due().is_none_or(|due| due > now));
            }
            prop_assert_eq!(frames.depth(), Depth::default());
            prop_assert_eq!(found, expected);
        }
    }
}
