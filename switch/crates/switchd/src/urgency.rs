//! How urgent the data-plane thread is to the kernel: of real time while it does little.
//!
//! A frame of a slow line has an instant to keep, and on a busy machine even a thread that goes
//! before ordinary ones waits for milliseconds now and then: on two cores with ten other busy
//! processes, 71 % of the gaps of a 10 Mb/s line were within 100 us of the ideal, and 98 % with
//! real-time scheduling. But a thread of real time that has much to do keeps others from running,
//! hosts among them. So it is that only while it uses less than half of a processor; what needs more
//! is limited by the processor, not by instants, and gains nothing by being first.

use std::time::Duration;

use ports::Precedence;
use units::{Span, Time};

/// How long the thread is watched before it is judged.
const WINDOW: Span = Span::from_ms(100);

/// Who uses more of a processor than this, in percent, is not of real time any more.
const LEAVE_PERCENT: u64 = 50;

/// Who uses less than this may be of real time again. Lower, so that it is not changed all the time.
const RETURN_PERCENT: u64 = 35;

/// The precedence of the calling thread, judged from time to time.
pub struct Urgency {
    precedence: Precedence,
    /// When the window began, and how much time the thread had used by then.
    began: Time,
    used: Duration,
    /// The kernel has refused: there is no point in asking again.
    refused: bool,
}

impl Urgency {
    /// For a thread that has taken high precedence.
    pub fn new() -> Urgency {
        Urgency {
            precedence: Precedence::High,
            began: Time::ZERO,
            used: ports::thread_time(),
            refused: false,
        }
    }

    /// Judges the thread if a window is over. To be called by it, once a wake.
    pub fn follow(&mut self, now: Time) {
        let passed = now.since(self.began);
        if passed < WINDOW || self.refused {
            return;
        }
        let used = ports::thread_time();
        let wanted = judged(self.precedence, passed, used.saturating_sub(self.used));
        (self.began, self.used) = (now, used);
        if wanted == self.precedence {
            return;
        }
        match ports::take_precedence(wanted) {
            Ok(()) => self.precedence = wanted,
            Err(error) => {
                tracing::debug!(%error, "the kernel does not run this thread in real time");
                self.refused = true;
            }
        }
    }
}

/// What a thread is to be that used so much of the time that passed.
fn judged(present: Precedence, passed: Span, used: Duration) -> Precedence {
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
    fn who_does_little_is_of_real_time_and_who_does_much_is_not() {
        let of_100_ms =
            |present, used_ms| judged(present, Span::from_ms(100), Duration::from_millis(used_ms));
        assert_eq!(of_100_ms(Precedence::High, 34), Precedence::RealTime);
        assert_eq!(of_100_ms(Precedence::RealTime, 51), Precedence::High);
        // In between it stays what it is.
        assert_eq!(of_100_ms(Precedence::High, 35), Precedence::High);
        assert_eq!(of_100_ms(Precedence::RealTime, 50), Precedence::RealTime);
    }
}
