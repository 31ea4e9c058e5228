//! The received bytes, and the SACK blocks about them (RFC 2018, RFC 2883).
//!
//! Payload is checked when it arrives and needs no keeping: what is left are ranges of numbers.

/// The latest blocks are repeated first.
const RECENT_MAX: usize = 4;

/// Ranges beyond the first missing byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceiveQueue {
    /// Disjoint, in rising order, each from its first number to the one after its last.
    ranges: Vec<(u64, u64)>,
    /// Where the ranges begin that changed last, newest first.
    recent: [Option<u64>; RECENT_MAX],
}

/// The new data in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The next bytes, and possibly others that waited for them: all in order up to this number.
    InOrder(u64),
    /// Bytes after a hole.
    OutOfOrder,
    /// Nothing new.
    Duplicate,
}

impl ReceiveQueue {
    /// No hole?
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The end of the last range, if there is one.
    pub fn highest(&self) -> Option<u64> {
        self.ranges.last().map(|(_, to)| *to)
    }

    /// Bytes that wait behind holes.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(from, to)| to - from).sum()
    }

    /// `[from, to)` arrived, `from < to`; `nxt` is the first missing byte.
    pub fn insert(&mut self, from: u64, to: u64, nxt: u64) -> Arrived {
        if to <= nxt {
            return Arrived::Duplicate;
        }
        if from <= nxt {
            return Arrived::InOrder(self.join(to));
        }
        // Those that touch [from, to].
        let first = self.ranges.partition_point(|(_, end)| *end < from);
        let after = self.ranges.partition_point(|(start, _)| *start <= to);
        if let Some((start, end)) = self.ranges[first..after].first()
            && *start <= from
            && to <= *end
        {
            let start = *start;
            self.note_recent(start, start, to);
            return Arrived::Duplicate;
        }
        let touched = &self.ranges[first..after];
        let start = touched.first().map_or(from, |(start, _)| from.min(*start));
        let end = touched.last().map_or(to, |(_, end)| to.max(*end));
        self.ranges.splice(first..after, [(start, end)]);
        self.note_recent(start, start, end);
        Arrived::OutOfOrder
    }

    /// All is there up to `to`: ranges that it reaches are taken off. Returns how far it is now.
    fn join(&mut self, mut to: u64) -> u64 {
        let mut joined = 0;
        while joined < self.ranges.len() && self.ranges[joined].0 <= to {
            to = to.max(self.ranges[joined].1);
            joined += 1;
        }
        self.ranges.drain(..joined);
        self.recent.iter_mut().for_each(|start| *start = start.filter(|start| *start > to));
        to
    }

    /// The range that begins at `start` and has swallowed all that begin in `[from, to]` is newest.
    fn note_recent(&mut self, start: u64, from: u64, to: u64) {
        let others = self.recent.into_iter().flatten().filter(|s| !(from..=to).contains(s));
        let mut recent = [None; RECENT_MAX];
        recent[0] = Some(start);
        recent[1..].iter_mut().zip(others).for_each(|(slot, other)| *slot = Some(other));
        self.recent = recent;
    }

    /// The blocks to tell, the one that changed last first.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.recent.iter().flatten().filter_map(|start| {
            let at = self.ranges.binary_search_by_key(start, |(start, _)| *start).ok()?;
            Some(self.ranges[at])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 2018 section 4: the first block contains the segment that triggered the acknowledgment,
    /// the others repeat the most recent ones.
    #[test]
    fn the_newest_block_comes_first() {
        let mut queue = ReceiveQueue::default();
        for (from, to) in [(200, 300), (400, 500), (600, 700), (800, 900)] {
            assert_eq!(queue.insert(from, to, 100), Arrived::OutOfOrder);
        }
        queue.insert(300, 350, 100);
        let blocks: Vec<_> = queue.blocks().collect();
        assert_eq!(blocks, [(200, 350), (800, 900), (600, 700), (400, 500)]);
        assert_eq!(queue.insert(100, 200, 100), Arrived::InOrder(350));
        let blocks: Vec<_> = queue.blocks().collect();
        assert_eq!(blocks, [(800, 900), (600, 700), (400, 500)]);
    }

    #[test]
    fn what_is_there_already_is_a_duplicate() {
        let mut queue = ReceiveQueue::default();
        queue.insert(200, 300, 100);
        assert_eq!(queue.insert(220, 300, 100), Arrived::Duplicate);
        assert_eq!(queue.insert(50, 100, 100), Arrived::Duplicate);
        assert_eq!(queue.insert(50, 101, 100), Arrived::InOrder(101));
    }

    proptest! {
        /// Against a bitmap: the same bytes are there, the same are in order, and every reported
        /// block is whole.
        #[test]
        fn ranges_agree_with_a_bitmap(pieces in prop::collection::vec((0..60u64, 1..9u64), 1..60)) {
            let (mut queue, mut nxt, mut map) = (ReceiveQueue::default(), 0u64, [false; 80]);
            for (from, length) in pieces {
                let is_new = (from..from + length).any(|n| !map[n as usize]);
                (from..from + length).for_each(|n| map[n as usize] = true);
                let arrived = queue.insert(from, from + length, nxt);
                prop_assert_eq!(arrived != Arrived::Duplicate, is_new);
                if let Arrived::InOrder(to) = arrived { nxt = to; }
                prop_assert_eq!(map.iter().take_while(|there| **there).count() as u64, nxt);
                let beyond = map[nxt as usize..].iter().filter(|there| **there).count() as u64;
                prop_assert_eq!(queue.bytes(), beyond);
                for (from, to) in queue.blocks() {
                    prop_assert!((from..to).all(|n| map[n as usize]) && !map[to as usize]);
                    prop_assert!(from > nxt && !map[from as usize - 1]);
                }
            }
        }
    }
}
