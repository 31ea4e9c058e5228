//! Data sent and not acknowledged yet, segment by segment, with the SACK scoreboard.
//!
//! ```text
//!        front (una)                                     back (nxt)
//!   seq:   [S0][S1][S2][S3][S4][S5][S6][S7]                  in order of sequence numbers
//!   marks:   L   LR      S   S       S                       lost, retransmitted, sacked
//!   time:  S0 - S2 - S5 - S7 - S1                            in order of sending, for RACK
//! ```
//!
//! Segments are named by a number that never changes while they are here. `in_flight` is RFC 6675's
//! pipe: `sent - sacked - lost + retransmitted`. A segment that was sacked or lost and not sent
//! again is not in the order of sending: its acknowledgment is not expected.

use std::collections::VecDeque;

use units::Time;

/// The number of no segment.
const NONE: u64 = u64::MAX;

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RETRANSMITTED: u8 = 4;
const EVER_RETRANSMITTED: u8 = 8;

/// The state of delivery when a segment was sent: see `rate_sample.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub delivered: u64,
    pub delivered_at: Time,
    pub first_sent_at: Time,
    pub delivered_ce: u64,
    pub lost: u64,
    /// Packets in flight, this one included.
    pub in_flight: u32,
    pub app_limited: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub seq: u64,
    /// In sequence numbers: a SYN and a FIN count as one each.
    pub length: u32,
    marks: u8,
    /// Whether the stamp was used for a sample already.
    pub sampled: bool,
    pub sent_at: Time,
    pub stamp: Stamp,
    earlier: u64,
    later: u64,
}

impl Sent {
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.length)
    }

    pub fn is_sacked(&self) -> bool {
        self.marks & SACKED != 0
    }

    pub fn is_lost(&self) -> bool {
        self.marks & LOST != 0
    }

    /// A retransmission of it is under way.
    pub fn is_retransmitted(&self) -> bool {
        self.marks & RETRANSMITTED != 0
    }

    /// It was sent more than once, so an acknowledgment may answer any of its copies.
    pub fn was_retransmitted(&self) -> bool {
        self.marks & EVER_RETRANSMITTED != 0
    }
}

/// See the top of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendQueue {
    segments: VecDeque<Sent>,
    /// The number of the segment in front.
    first: u64,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// First and last in the order of sending, plus one; 0 for none.
    oldest: u64,
    newest: u64,
    /// No segment before this one waits to be retransmitted.
    lost_from: u64,
    /// The end of the highest segment that was sacked.
    pub sacked_up_to: u64,
}

impl SendQueue {
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments not acknowledged, sacked, lost, and retransmitted and still under way.
    pub fn sent(&self) -> u32 {
        self.segments.len() as u32
    }

    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    pub fn lost(&self) -> u32 {
        self.lost
    }

    pub fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// How many are believed to be in the network.
    pub fn in_flight(&self) -> u32 {
        (self.sent() + self.retransmitted).saturating_sub(self.sacked + self.lost)
    }

    pub fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub fn first(&self) -> u64 {
        self.first
    }

    pub fn last(&self) -> Option<u64> {
        (!self.segments.is_empty()).then(|| self.first + self.segments.len() as u64 - 1)
    }

    pub fn get(&self, number: u64) -> &Sent {
        &self.segments[(number - self.first) as usize]
    }

    pub fn get_mut(&mut self, number: u64) -> &mut Sent {
        &mut self.segments[(number - self.first) as usize]
    }

    /// The numbers of all segments.
    pub fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.first + self.segments.len() as u64
    }

    /// The first segment that begins at `seq` or later.
    pub fn at_or_after(&self, seq: u64) -> u64 {
        self.first + self.segments.partition_point(|sent| sent.seq < seq) as u64
    }

    /// A segment was sent for the first time.
    pub fn push(&mut self, seq: u64, length: u32, now: Time, stamp: Stamp) {
        let number = self.first + self.segments.len() as u64;
        let sent = Sent {
            seq,
            length,
            marks: 0,
            sampled: false,
            sent_at: now,
            stamp,
            earlier: NONE,
            later: NONE,
        };
        self.segments.push_back(sent);
        self.link_newest(number);
    }

    /// A segment is sent again.
    pub fn retransmit(&mut self, number: u64, now: Time, stamp: Stamp) {
        self.unlink(number);
        let sent = self.get_mut(number);
        let again = sent.marks & RETRANSMITTED == 0;
        sent.marks |= RETRANSMITTED | EVER_RETRANSMITTED;
        sent.sent_at = now;
        sent.stamp = stamp;
        sent.sampled = false;
        self.retransmitted += u32::from(again);
        self.link_newest(number);
    }

    /// The segment arrived out of order. Tells whether that is news.
    pub fn mark_sacked(&mut self, number: u64) -> bool {
        self.unlink(number);
        let sent = self.get_mut(number);
        let (was, end) = (sent.marks, sent.end());
        if was & SACKED != 0 {
            return false;
        }
        sent.marks = was & EVER_RETRANSMITTED | SACKED;
        self.lost -= u32::from(was & LOST != 0);
        self.retransmitted -= u32::from(was & RETRANSMITTED != 0);
        self.sacked += 1;
        self.sacked_up_to = self.sacked_up_to.max(end);
        true
    }

    /// The segment, or its last retransmission, counts as lost. Tells whether that is news.
    pub fn mark_lost(&mut self, number: u64) -> bool {
        self.unlink(number);
        let sent = self.get_mut(number);
        let was = sent.marks;
        if was & SACKED != 0 || was & (LOST | RETRANSMITTED) == LOST {
            return false;
        }
        sent.marks = was & EVER_RETRANSMITTED | LOST;
        self.lost += u32::from(was & LOST == 0);
        self.retransmitted -= u32::from(was & RETRANSMITTED != 0);
        self.lost_from = self.lost_from.min(number);
        true
    }

    /// Nothing is lost after all.
    pub fn forgive_lost(&mut self) {
        for number in self.numbers() {
            let sent = self.get_mut(number);
            if sent.marks & LOST != 0 {
                sent.marks &= !LOST;
                // Those under way again are in the order of sending; the others return to it.
                if sent.marks & RETRANSMITTED == 0 {
                    self.link_newest(number);
                }
            }
        }
        self.lost = 0;
    }

    /// The receiver dropped what it had sacked (RFC 2018 section 8): all of it is open again.
    pub fn forget_sacks(&mut self) {
        for number in self.numbers() {
            let sent = self.get_mut(number);
            if sent.marks & SACKED != 0 {
                sent.marks &= !SACKED;
                self.link_newest(number);
            }
        }
        self.sacked = 0;
    }

    /// Without SACK, a duplicate acknowledgment says that one segment arrived, not which (RFC 6582).
    pub fn guess_sacked(&mut self, count: u32) {
        let most = self.sent().saturating_sub(self.lost.max(1));
        self.sacked = count.min(most);
    }

    /// The next segment, from `from` on, that is lost and not sent again yet.
    pub fn next_to_retransmit(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        let end = self.numbers().end;
        let mut number = self.lost_from.max(self.first);
        while number < end {
            if self.get(number).marks & (LOST | RETRANSMITTED) == LOST {
                self.lost_from = number;
                return Some(number);
            }
            number += 1;
        }
        self.lost_from = end;
        None
    }

    /// Takes the segment in front off if all of it lies below `una`; else cuts off what does.
    pub fn acknowledge(&mut self, una: u64) -> Option<Sent> {
        let front = self.segments.front_mut()?;
        if front.end() > una {
            if front.seq < una {
                front.length -= (una - front.seq) as u32;
                front.seq = una;
            }
            return None;
        }
        self.unlink(self.first);
        let sent = self.segments.pop_front()?;
        self.first += 1;
        self.lost -= u32::from(sent.is_lost());
        self.retransmitted -= u32::from(sent.is_retransmitted());
        if sent.is_sacked() {
            self.sacked -= 1;
        }
        Some(sent)
    }

    /// The path takes only segments of `mss` bytes by now: cuts the longer ones and counts all cut
    /// ones as lost (RFC 1191 section 6.5).
    pub fn cut(&mut self, mss: u32) {
        if self.segments.iter().all(|sent| sent.length <= mss + 1) {
            return;
        }
        let old = std::mem::take(&mut self.segments);
        let first = self.first + old.len() as u64;
        let sacked_up_to = self.sacked_up_to;
        *self = SendQueue { first, sacked_up_to, lost_from: first, ..SendQueue::default() };
        for sent in old {
            let (mut seq, end, cut) = (sent.seq, sent.end(), sent.length > mss + 1);
            while seq < end {
                let length = if cut { (end - seq).min(u64::from(mss)) as u32 } else { sent.length };
                self.push(seq, length, sent.sent_at, sent.stamp);
                let number = self.first + self.segments.len() as u64 - 1;
                self.get_mut(number).marks = sent.marks & EVER_RETRANSMITTED;
                if sent.is_sacked() {
                    self.mark_sacked(number);
                } else if cut || sent.is_lost() {
                    self.mark_lost(number);
                }
                seq += u64::from(length);
            }
        }
    }

    /// The segment sent earliest of those still expected to be acknowledged.
    pub fn oldest_sent(&self) -> Option<u64> {
        self.oldest.checked_sub(1)
    }

    /// The one sent after it.
    pub fn sent_after(&self, number: u64) -> Option<u64> {
        let later = self.get(number).later;
        (later != NONE).then_some(later)
    }

    fn link_newest(&mut self, number: u64) {
        let before = self.newest.checked_sub(1);
        let sent = self.get_mut(number);
        sent.earlier = before.unwrap_or(NONE);
        sent.later = NONE;
        match before {
            Some(before) => self.get_mut(before).later = number,
            None => self.oldest = number + 1,
        }
        self.newest = number + 1;
    }

    /// Takes a segment out of the order of sending, if it is in it.
    fn unlink(&mut self, number: u64) {
        let sent = self.get(number);
        let (earlier, later) = (sent.earlier, sent.later);
        let is_in = earlier != NONE || later != NONE || self.oldest == number + 1;
        if !is_in {
            return;
        }
        match earlier {
            NONE => self.oldest = if later == NONE { 0 } else { later + 1 },
            earlier => self.get_mut(earlier).later = later,
        }
        match later {
            NONE => self.newest = if earlier == NONE { 0 } else { earlier + 1 },
            later => self.get_mut(later).earlier = earlier,
        }
        let sent = self.get_mut(number);
        (sent.earlier, sent.later) = (NONE, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp {
        delivered: 0,
        delivered_at: Time::ZERO,
        first_sent_at: Time::ZERO,
        delivered_ce: 0,
        lost: 0,
        in_flight: 0,
        app_limited: false,
    };

    fn queue_of(count: u64) -> SendQueue {
        let mut queue = SendQueue::default();
        for n in 0..count {
            queue.push(1 + 100 * n, 100, Time::from_ps(n), STAMP);
        }
        queue
    }

    fn order_of_sending(queue: &SendQueue) -> Vec<u64> {
        std::iter::successors(queue.oldest_sent(), |number| queue.sent_after(*number)).collect()
    }

    #[test]
    fn the_picture_on_top_of_the_file() {
        let mut queue = queue_of(8);
        for lost in [0, 1] {
            assert!(queue.mark_lost(lost));
        }
        for sacked in [3, 4, 6] {
            assert!(queue.mark_sacked(sacked));
        }
        assert_eq!(queue.next_to_retransmit(), Some(0));
        queue.retransmit(1, Time::from_ps(9), STAMP);
        // 8 sent - 3 sacked - 2 lost + 1 retransmitted.
        assert_eq!(queue.in_flight(), 4);
        assert_eq!(order_of_sending(&queue), [2, 5, 7, 1]);
        assert!(queue.mark_lost(1), "the retransmission was lost too");
        assert_eq!((queue.lost(), queue.retransmitted(), queue.in_flight()), (2, 0, 3));
    }

    #[test]
    fn an_acknowledgment_takes_whole_segments_and_trims_the_next() {
        let mut queue = queue_of(3);
        assert_eq!(queue.acknowledge(150).map(|sent| sent.seq), Some(1));
        assert!(queue.acknowledge(150).is_none());
        assert_eq!(queue.front().map(|sent| (sent.seq, sent.length)), Some((150, 51)));
        assert_eq!(queue.at_or_after(201), 2);
    }

    /// RFC 1191: after "fragmentation needed" what was too long is sent again in pieces.
    #[test]
    fn a_shorter_path_mtu_cuts_segments_and_counts_them_as_lost() {
        let mut queue = queue_of(2);
        queue.cut(60);
        let pieces: Vec<(u64, u32)> =
            queue.numbers().map(|n| (queue.get(n).seq, queue.get(n).length)).collect();
        assert_eq!(pieces, [(1, 60), (61, 40), (101, 60), (161, 40)]);
        assert_eq!((queue.lost(), queue.in_flight()), (4, 0));
    }

    proptest! {
        /// After any operations on segments, the counts are those of the marks, and the order of
        /// sending holds exactly the segments that are still expected to be acknowledged.
        #[test]
        fn counts_and_order_agree_with_the_marks(steps in prop::collection::vec((0..6u8, 0..12u64), 0..80)) {
            let mut queue = queue_of(12);
            for (step, number) in steps {
                let here = queue.numbers().contains(&number);
                match step {
                    0 if here => drop(queue.mark_lost(number)),
                    1 if here => drop(queue.mark_sacked(number)),
                    2 => if let Some(number) = queue.next_to_retransmit() {
                        queue.retransmit(number, Time::from_ps(100), STAMP);
                    },
                    3 => drop(queue.acknowledge(1 + 100 * number)),
                    4 => queue.forgive_lost(),
                    5 => queue.forget_sacks(),
                    _ => (),
                }
                let count = |f: fn(&Sent) -> bool| queue.segments.iter().filter(|s| f(s)).count() as u32;
                prop_assert_eq!(queue.sacked, count(Sent::is_sacked));
                prop_assert_eq!(queue.lost, count(Sent::is_lost));
                prop_assert_eq!(queue.retransmitted, count(Sent::is_retransmitted));
                let mut order = order_of_sending(&queue);
                order.sort_unstable();
                let waited: Vec<u64> = queue.numbers().filter(|n| {
                    let sent = queue.get(*n);
                    !sent.is_sacked() && (!sent.is_lost() || sent.is_retransmitted())
                }).collect();
                prop_assert_eq!(order, waited);
            }
        }
    }
}
