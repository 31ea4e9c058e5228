//! Proportional rate reduction (RFC 9937, as in Linux): the window shrinks as data arrives.

/// One reduction of the window, from the loss to its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// The window when it began.
    prior_cwnd: u32,
    /// Packets delivered and sent since.
    delivered: u32,
    sent: u32,
}

impl Prr {
    pub fn begin(cwnd: u32) -> Prr {
        Prr { prior_cwnd: cwnd, delivered: 0, sent: 0 }
    }

    /// A packet was sent during the reduction.
    pub fn note_sent(&mut self) {
        self.sent += 1;
    }

    /// The window after an acknowledgment that delivered `acked` packets; none if it leaves it be.
    /// `clean`: it moved the window forward and no loss was found.
    pub fn cwnd(&mut self, ssthresh: u32, in_flight: u32, acked: u32, clean: bool) -> Option<u32> {
        if acked == 0 || self.prior_cwnd == 0 {
            return None;
        }
        self.delivered += acked;
        let room = i64::from(ssthresh) - i64::from(in_flight);
        let may_send = if room < 0 {
            // Proportional: for each packet that arrives, ssthresh / prior_cwnd may leave.
            let share = (u64::from(ssthresh) * u64::from(self.delivered))
                .div_ceil(u64::from(self.prior_cwnd));
            share as i64 - i64::from(self.sent)
        } else {
            // Slow-start reduction bound: as many as arrived, one more if all goes well.
            let conserved = i64::from(self.delivered) - i64::from(self.sent);
            (conserved.max(i64::from(acked)) + i64::from(clean)).min(room)
        };
        // The first retransmission always leaves.
        let may_send = may_send.max(i64::from(self.sent == 0));
        Some((i64::from(in_flight) + may_send) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9937's example: 20 packets in flight, one lost, halved to 10: one packet leaves for every
    /// two that arrive, and the window ends at ssthresh.
    #[test]
    fn one_packet_leaves_for_two_that_arrive() {
        let mut prr = Prr::begin(20);
        let (mut in_flight, mut sent) = (19u32, Vec::new());
        for _ack in 0..19 {
            in_flight -= 1;
            let cwnd = prr.cwnd(10, in_flight, 1, false).expect("something was delivered");
            let leaves = cwnd.saturating_sub(in_flight);
            (0..leaves).for_each(|_| prr.note_sent());
            in_flight += leaves;
            sent.push(leaves);
        }
        assert_eq!(sent.iter().sum::<u32>(), 10);
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0]);
        assert_eq!(in_flight, 10);
    }

    /// With many losses the pipe is below ssthresh: it may grow as fast as packets arrive, and by
    /// one more each time nothing else is lost.
    #[test]
    fn below_the_threshold_the_pipe_grows_with_what_arrives() {
        let mut prr = Prr::begin(20);
        assert_eq!(prr.cwnd(10, 4, 1, false), Some(5));
        prr.note_sent();
        assert_eq!(prr.cwnd(10, 4, 1, true), Some(6));
        assert_eq!(prr.cwnd(10, 9, 4, true), Some(10), "never above ssthresh");
    }
}
