//! Waiting awake for an instant, and how much of that is allowed.
//!
//! A thread that sleeps until an instant is woken after it, by some microseconds on one machine and
//! typically sixty on a virtual one: the processor has to leave its idle state first. On a slow line
//! that is the whole error of a departure. So a thread that waits for one wakes early and watches the
//! clock until the instant has come. How early is learned from how late this machine's wakes come.
//!
//! That costs processor time, so it is bounded: [`PreciseSleep`] earns one part in
//! [`EARNING_DIVISOR`] of the time that passes, and once that is used up the thread sleeps to the
//! instant itself, and is late.

use std::time::Duration;

use units::{Span, Time};

/// So long before an instant a sleeper is to be woken at first, and within these bounds later.
const EARLY_SPAN: Span = Span::from_us(60);
const EARLY_SPAN_MIN: Span = Span::from_us(10);
const EARLY_SPAN_MAX: Span = Span::from_us(150);

/// A wake that came later than was allowed for makes the next one earlier by this, and one that did
/// not a 49th of it later. One step up and 49 down are even: of 50 wakes one comes too late.
const STEP_EARLIER: Span = Span::from_ns(4_900);
const STEP_LATER: Span = Span::from_ns(100);

/// This fraction of the time may be spent awake: enough for a frame every 1.2 ms on a machine whose
/// wakes are slow. Of more frames each is on time less often, and it matters less.
const EARNING_DIVISOR: u64 = 10;

/// The most that can be saved up: a few instants that follow one another closely.
const SAVINGS_MAX: Span = Span::from_us(240);

/// How long to sleep, and how much of the time was spent awake.
pub struct PreciseSleep {
    /// How long before an instant a sleeper is to be woken.
    early: Span,
    /// The end of the last requested sleep, if there was one.
    wakes_at: Option<Time>,
    savings: Span,
    /// When the savings were counted.
    counted_at: Time,
    /// At most this much of the time since then was spent awake.
    awake: Span,
}

impl Default for PreciseSleep {
    fn default() -> PreciseSleep {
        PreciseSleep {
            early: EARLY_SPAN,
            wakes_at: None,
            savings: Span::ZERO,
            counted_at: Time::ZERO,
            awake: Span::ZERO,
        }
    }
}

impl PreciseSleep {
    /// How long to sleep at `now` if something is due in `span`; not at all to wait awake. To be
    /// called before every wait for such an instant.
    pub fn sleep_for(&mut self, now: Time, span: Span) -> Duration {
        self.learn(now);
        let passed = now.since(self.counted_at);
        let earned = Span::from_ps(passed.ps() / EARNING_DIVISOR);
        let spent = passed.min(self.awake);
        let savings = (self.savings + earned).min(SAVINGS_MAX);
        self.savings = Span::from_ps(savings.ps().saturating_sub(spent.ps()));
        self.counted_at = now;
        self.awake = Span::ZERO;
        // To wait awake for a part of what is needed is not worth being woken for.
        let asleep = match () {
            () if self.savings < span.min(self.early) => span,
            () if span > self.early => span - self.early,
            () => {
                self.awake = span;
                return Duration::ZERO;
            }
        };
        self.wakes_at = Some(now + asleep);
        Duration::from_nanos(asleep.whole_ns())
    }

    /// How late the last wake came, if it was not something else that came before.
    fn learn(&mut self, now: Time) {
        let Some(wakes_at) = self.wakes_at.take().filter(|at| *at <= now) else { return };
        self.early = match now.since(wakes_at) > self.early {
            true => (self.early + STEP_EARLIER).min(EARLY_SPAN_MAX),
            false => (self.early - STEP_LATER).max(EARLY_SPAN_MIN),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    #[test]
    fn a_sleeper_is_woken_early_and_waits_awake_for_the_rest() {
        let mut sleeper = PreciseSleep::default();
        // 10,000 us have earned more than can be saved.
        assert_eq!(sleeper.sleep_for(at(10_000), us(1000)), Duration::from_micros(940));
        // Woken 20 us late: 40 are left.
        assert_eq!(sleeper.sleep_for(at(10_960), us(40)), Duration::ZERO);
        assert_eq!(sleeper.sleep_for(at(10_980), us(20)), Duration::ZERO);
    }

    #[test]
    fn who_has_earned_nothing_sleeps_until_the_instant_itself() {
        let mut sleeper = PreciseSleep::default();
        assert_eq!(sleeper.sleep_for(at(0), us(1000)), Duration::from_micros(1000));
        // 60 us of 600.
        assert_eq!(sleeper.sleep_for(at(600), us(100)), Duration::from_micros(40));
    }

    #[test]
    fn no_more_than_a_tenth_of_the_time_is_spent_awake() {
        let mut sleeper = PreciseSleep::default();
        let (mut now, mut awake) = (0, 0);
        // Something is due every 50 us, and every call takes one.
        while now < 1_000_000 {
            let due = (now / 50 + 1) * 50;
            let slept = sleeper.sleep_for(at(now), us(due - now));
            let passed = (slept.as_micros() as u64).max(1);
            awake += if slept.is_zero() { passed } else { 0 };
            now += passed;
        }
        // A tenth of a second, and what may have been saved up.
        assert!((90_000..=100_300).contains(&awake), "{awake} us awake");
    }

    #[test]
    fn a_long_sleep_after_waiting_awake_costs_no_savings() {
        let mut sleeper = PreciseSleep::default();
        assert_eq!(sleeper.sleep_for(at(10_000), us(50)), Duration::ZERO);
        // 240 saved up, 50 spent, and earned again long ago.
        assert_eq!(sleeper.sleep_for(at(1_000_000), us(50)), Duration::ZERO);
    }

    /// How long before an instant a sleeper is woken after `wakes` wakes, each `late` too late.
    fn early_us_after(wakes: u64, late: u64) -> u64 {
        let mut sleeper = PreciseSleep::default();
        let mut early = 0;
        for wake in 1..=wakes {
            let slept = sleeper.sleep_for(at(wake * 2000), us(900)).as_micros() as u64;
            early = 900 - slept;
            // The next request comes at the wake, and the thread does not stay awake in this test.
            sleeper.sleep_for(at(wake * 2000 + slept + late), us(5));
        }
        early
    }

    #[test]
    fn a_sleeper_learns_how_late_it_is_woken() {
        // 30 us allow for 25; to get there from 60 takes 300 wakes.
        assert_eq!(early_us_after(301, 25), 30);
        // Down to the least, and no further.
        assert_eq!(early_us_after(2000, 2), 10);
        // Up past 100 us in 9 steps of 4.9, and then a tenth of a microsecond below and above it.
        assert!((99..=105).contains(&early_us_after(200, 100)));
        // A wake that late cannot be allowed for.
        assert_eq!(early_us_after(200, 700), 150);
    }
}
