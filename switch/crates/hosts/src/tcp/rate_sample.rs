//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation, as in Linux).
//!
//! Each segment carries off how much had been delivered when it was sent. When it is acknowledged,
//! what was delivered meanwhile, over the longer of the time in which it was sent and the time in
//! which it was acknowledged, is a sample of the rate at which the path delivers.

use units::Time;

use super::send_queue::{Sent, Stamp};

/// An acknowledgment's sample of the path's rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSample {
    /// Packets delivered over `interval_us`; none if no sample could be taken.
    pub delivered: Option<u32>,
    /// Of these, delivered with a CE mark.
    pub delivered_ce: u32,
    /// The longer of the times of sending and of acknowledging.
    pub interval_us: u64,
    /// The connection's count of delivered packets when the sampled packet was sent.
    pub prior_delivered: u64,
    /// A round-trip time, if one was measured.
    pub rtt_us: Option<u32>,
    /// Packets marked lost by this acknowledgment, and lost since the sampled packet was sent.
    pub newly_lost: u32,
    pub lost: u32,
    /// Packets newly delivered.
    pub acked: u32,
    /// Packets in flight before this acknowledgment, and with the sampled packet when it was sent.
    pub prior_in_flight: u32,
    pub sent_in_flight: u32,
    /// The application had nothing to send while the sample was taken: the path may be faster.
    pub app_limited: bool,
    /// The acknowledgment answers one lone segment and may have been delayed.
    pub ack_delayed: bool,
    /// The echo of a congestion mark came with it.
    pub ece: bool,
}

/// A connection's books of delivery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSampler {
    pub delivered: u64,
    pub delivered_ce: u64,
    pub lost: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Until this many are delivered, samples are limited by the application; 0 for not.
    pub app_limited_until: u64,
    /// The last good sample, for display: packets and microseconds.
    best: (u64, u64),
}

/// A sample while an acknowledgment is worked through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sampling {
    taken: Option<Taken>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    stamp: Stamp,
    send_us: u64,
    sent_at: Time,
    end: u64,
}

impl RateSampler {
    /// The stamp of a segment sent now.
    pub fn stamp(&mut self, now: Time, nothing_in_flight: bool, in_flight: u32) -> Stamp {
        if nothing_in_flight {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            delivered_ce: self.delivered_ce,
            lost: self.lost,
            in_flight: in_flight + 1,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// A segment was delivered, in order or not: the one sent last makes the sample.
    pub fn segment_delivered(&mut self, sampling: &mut Sampling, sent: &mut Sent) {
        if sent.sampled {
            return;
        }
        sent.sampled = true;
        let newer = sampling
            .taken
            .is_none_or(|taken| (sent.sent_at, sent.end()) > (taken.sent_at, taken.end));
        if newer {
            self.first_sent_at = sent.sent_at;
            sampling.taken = Some(Taken {
                stamp: sent.stamp,
                send_us: sent.sent_at.since(sent.stamp.first_sent_at).whole_us(),
                sent_at: sent.sent_at,
                end: sent.end(),
            });
        }
    }

    /// All of an acknowledgment is worked in: the sample.
    pub fn finish(
        &mut self,
        sampling: Sampling,
        now: Time,
        acked: u32,
        newly_lost: u32,
        min_rtt_us: u32,
    ) -> RateSample {
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if acked > 0 {
            self.delivered_at = now;
        }
        let mut sample = RateSample { acked, newly_lost, ..RateSample::default() };
        let Some(Taken { stamp, send_us, .. }) = sampling.taken else { return sample };
        let ack_us = now.since(stamp.delivered_at).whole_us();
        sample.interval_us = send_us.max(ack_us);
        sample.prior_delivered = stamp.delivered;
        sample.app_limited = stamp.app_limited;
        sample.sent_in_flight = stamp.in_flight;
        sample.lost = (self.lost - stamp.lost) as u32;
        sample.delivered_ce = (self.delivered_ce - stamp.delivered_ce) as u32;
        // Nothing is delivered faster than the path is long: such a sample is an artefact.
        if sample.interval_us == 0 || sample.interval_us < u64::from(min_rtt_us) {
            return sample;
        }
        let delivered = self.delivered - stamp.delivered;
        sample.delivered = Some(delivered as u32);
        let (best_delivered, best_us) = self.best;
        let better = u128::from(delivered) * u128::from(best_us)
            >= u128::from(best_delivered) * u128::from(sample.interval_us);
        if !sample.app_limited || better {
            self.best = (delivered, sample.interval_us);
        }
        sample
    }

    /// The last sample as bytes a second; `ss` calls it the delivery rate.
    pub fn bytes_per_s(&self, mss: u32) -> u64 {
        let (delivered, interval_us) = self.best;
        (u128::from(delivered) * u128::from(mss) * 1_000_000 / u128::from(interval_us.max(1)))
            as u64
    }
}
