//! How the kernel schedules the data-plane thread: with real-time priority while it does little.
//!
//! A frame of a slow line has an instant to keep, and on a busy machine even a thread with a better
//! nice value waits for milliseconds now and then: on two cores with ten other busy processes, 71 % of
//! the gaps of a 10 Mb/s line were within 100 us of the ideal, and 98 % with real-time scheduling. But
//! a real-time thread that has much to do keeps others from running, the hosts among them. So it has
//! that priority only while it uses less than half of a processor; a thread that needs more is limited
//! by the processor, not by instants, and gains nothing by going first.
//!
//! A switch that was started with real-time priority (`chrt --fifo 20 vitrine-switch ...`) keeps it,
//! however much it does: who asked for it has made room, as for hosts that run in real time, too.

use std::time::Duration;

use ports::Precedence;
use units::{Span, Time};

/// How long the thread's use of the processor is measured before its priority changes.
const WINDOW: Span = Span::from_ms(100);

/// Above this share of a processor, in percent, real-time priority is given up.
const LEAVE_PERCENT: u64 = 50;

/// Below this share it is taken again. Lower, so that the priority does not change all the time.
const RETURN_PERCENT: u64 = 35;

/// Keeps the calling thread at the precedence that its load allows.
pub struct PrecedenceKeeper {
    precedence: Precedence,
    /// When the window began, and how much time the thread had used by then.
    began: Time,
    used: Duration,
    /// It was given from outside, or the kernel has refused: there is nothing to request.
    is_settled: bool,
}

impl PrecedenceKeeper {
    /// Takes high precedence for the calling thread, unless it was given real-time priority.
    pub fn begin() -> PrecedenceKeeper {
        let is_given = ports::has_real_time();
        if !is_given && let Err(error) = ports::take_precedence(Precedence::High) {
            tracing::debug!(%error, "runs like any other process: on a busy machine frames leave late");
        }
        PrecedenceKeeper {
            precedence: Precedence::High,
            began: Time::ZERO,
            used: ports::thread_time(),
            is_settled: is_given,
        }
    }

    /// Changes the precedence if a window is over and the load requires it. To be called by the
    /// thread itself, once a wake.
    pub fn follow(&mut self, now: Time) {
        let passed = now.since(self.began);
        if passed < WINDOW || self.is_settled {
            return;
        }
        let used = ports::thread_time();
        let wanted = wanted_precedence(self.precedence, passed, used.saturating_sub(self.used));
        (self.began, self.used) = (now, used);
        if wanted == self.precedence {
            return;
        }
        match ports::take_precedence(wanted) {
            Ok(()) => self.precedence = wanted,
            Err(error) => {
                tracing::debug!(%error, "the kernel does not run this thread in real time");
                self.is_settled = true;
            }
        }
    }
}

/// The precedence of a thread that used this much of the time that passed.
fn wanted_precedence(present: Precedence, passed: Span, used: Duration) -> Precedence {
    let percent = used.as_nanos() as u64 * 100 / passed.whole_ns().max(1);
    match present {
        Precedence::RealTime if percent > LEAVE_PERCENT => Precedence::High,
        Precedence::High if percent < RETURN_PERCENT => Precedence::RealTime,
        unchanged => unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_with_little_to_do_has_real_time_priority_and_a_busy_one_has_not() {
        let of_100_ms = |present, used_ms| {
            wanted_precedence(present, Span::from_ms(100), Duration::from_millis(used_ms))
        };
        assert_eq!(of_100_ms(Precedence::High, 34), Precedence::RealTime);
        assert_eq!(of_100_ms(Precedence::RealTime, 51), Precedence::High);
        // In between it stays what it is.
        assert_eq!(of_100_ms(Precedence::High, 35), Precedence::High);
        assert_eq!(of_100_ms(Precedence::RealTime, 50), Precedence::RealTime);
    }

    #[test]
    fn a_thread_that_was_started_with_real_time_priority_keeps_it_however_much_it_does() {
        let keeps = std::thread::spawn(|| {
            // Without the right to it the request fails.
            ports::take_precedence(Precedence::RealTime).ok()?;
            let mut keeper = PrecedenceKeeper::begin();
            let began = ports::thread_time();
            while ports::thread_time() - began < Duration::from_millis(60) {}
            keeper.follow(Time::ZERO + WINDOW);
            Some(ports::has_real_time())
        });
        assert_ne!(keeps.join().expect("it does not panic"), Some(false));
    }
}
