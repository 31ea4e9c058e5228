//! SACK blocks (RFC 2018, RFC 2883), applied to the send queue.

use units::Time;

use super::ack::AckWork;
use super::connection::Connection;
use super::segment::Segment;
use super::sequence::expand;
use super::state::RecoveryState;

impl Connection {
    /// Marks what the blocks of an acknowledgment tell. Blocks repeat what earlier ones told, so
    /// known stretches are stepped over in the queue's own marks.
    pub(super) fn tag_sacked(&mut self, work: &mut AckWork, segment: &Segment<'_>) {
        let blocks = segment.options.sack.as_slice();
        if blocks.is_empty() || !self.sack {
            return;
        }
        let near = self.snd.una;
        let (nxt, initial) = (self.snd.nxt, self.snd.initial);
        let expanded = blocks.iter().map(|block| {
            (expand(block.left.0, initial, near), expand(block.right.0, initial, near))
        });
        let mut valid: [(u64, u64); 4] = [(0, 0); 4];
        for (slot, block) in valid.iter_mut().zip(expanded) {
            *slot = block;
        }
        let valid = &mut valid[..blocks.len()];
        if self.is_dsack(work, valid) {
            self.note_dsack_told(work, valid[0].1);
        }
        // The block that grew last comes first. In the order of the numbers, another block of the
        // same acknowledgment about earlier segments is no reordering.
        valid.sort_unstable();
        for (from, to) in valid {
            if *from < *to && *to > work.ack && *to <= nxt {
                self.tag_block(work, *from, *to);
            }
        }
        if work.sacked && work.reordered_from < self.snd.queue.sacked_up_to {
            self.note_reordering(work.reordered_from);
        }
        work.reordered_from = u64::MAX;
    }

    /// RFC 2883 section 4: the first block reports a duplicate if it lies below the acknowledgment
    /// or within the second.
    fn is_dsack(&self, work: &AckWork, blocks: &[(u64, u64)]) -> bool {
        let (from, to) = blocks[0];
        let below = from < work.ack.max(work.prior_una);
        let within = blocks.get(1).is_some_and(|(left, right)| from >= *left && to <= *right);
        below || within
    }

    fn note_dsack_told(&mut self, work: &mut AckWork, to: u64) {
        work.dsack = true;
        self.snd.counts.dsacks += 1;
        self.snd.rack.note_dsack();
        if self.snd.tail_probe_end == Some(to) {
            work.dsack_of_probe = true;
        }
        // One retransmission of this episode was not needed (RFC 3708).
        if let Some(undo) = &mut self.snd.undo
            && to <= work.ack.max(work.prior_una)
            && to > undo.marker
        {
            undo.retransmits = undo.retransmits.map(|count| count.saturating_sub(1));
        }
    }

    /// Marks the whole segments within `[from, to)`.
    fn tag_block(&mut self, work: &mut AckWork, from: u64, to: u64) {
        let snd = &mut self.snd;
        let min_rtt_us = snd.rtt.min_us();
        let up_to_before = snd.queue.sacked_up_to;
        let end = snd.queue.numbers().end;
        let mut number = snd.queue.at_or_after(from.max(snd.una));
        while number < end {
            let sent = snd.queue.get(number);
            if sent.end() > to {
                break;
            }
            if !sent.is_sacked() {
                note_sacked_times(work, sent.was_retransmitted(), sent.sent_at);
                if !sent.was_retransmitted() {
                    if sent.seq < up_to_before {
                        work.reordered_from = work.reordered_from.min(sent.seq);
                    }
                    work.acked_original |= sent.end() <= snd.recovery_end;
                }
                let sent = snd.queue.get_mut(number);
                snd.rack.segment_delivered(sent, work.now, min_rtt_us);
                snd.rate.delivered += 1;
                snd.rate.segment_delivered(&mut work.sampling, sent);
                snd.queue.mark_sacked(number);
                work.sacked = true;
            }
            number += 1;
        }
    }

    /// A segment that was never sent again arrived after later ones: the path reorders by as many
    /// packets as lie between (RFC 8985 section 6.2, step 3).
    pub(super) fn note_reordering(&mut self, from: u64) {
        let span = self.snd.queue.sacked_up_to.saturating_sub(from);
        let packets = span.div_ceil(u64::from(self.snd.mss)) as u32;
        if packets > self.snd.reordering {
            self.snd.reordering = packets.min(self.settings.reordering_max);
        }
        self.snd.reordering_seen += 1;
    }

    /// Without SACK: counts duplicate acknowledgments as packets that left the network (RFC 6582).
    pub(super) fn count_duplicate(&mut self, work: &AckWork) {
        if !self.sack && work.is_duplicate() {
            self.snd.queue.guess_sacked(self.snd.queue.sacked() + 1);
            self.snd.rate.delivered += 1;
        }
    }

    /// Without SACK, the third duplicate says that the first segment is lost; in recovery, each
    /// partial acknowledgment says so of the next (RFC 6582).
    pub(super) fn mark_lost_without_sack(&mut self, work: &AckWork) {
        let enough = self.snd.queue.sacked() >= self.snd.reordering;
        let partial = self.snd.recovery >= RecoveryState::Recovery && work.advanced;
        let first = self.snd.queue.first();
        if (enough || partial) && !self.snd.queue.is_empty() {
            let sent = self.snd.queue.get(first);
            if !sent.is_lost() && !sent.is_retransmitted() && self.mark_lost(work.now, first) {
                let sacked = self.snd.queue.sacked();
                self.snd.queue.guess_sacked(sacked);
            }
        }
    }
}

fn note_sacked_times(work: &mut AckWork, doubtful: bool, sent_at: Time) {
    if !doubtful {
        work.first_sacked_at.get_or_insert(sent_at);
        work.last_sacked_at = Some(sent_at);
    }
}
