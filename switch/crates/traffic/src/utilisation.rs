//! How busy a line was: the busy share of its last full window.

use units::{Span, Time};

/// Follows one line through windows of fixed length, laid end to end from time zero.
#[derive(Clone, Debug)]
pub(crate) struct Utilisation {
    window: Span,
    /// The start of the window that is being filled.
    start: Time,
    /// Busy time in it until now.
    busy: Span,
    /// The share of the window before it, in 0.01 %.
    last_basis_points: u16,
}

impl Utilisation {
    /// `window` must not be zero.
    pub fn new(window: Span) -> Utilisation {
        Utilisation { window, start: Time::ZERO, busy: Span::ZERO, last_basis_points: 0 }
    }

    /// The line was busy from `from` until `until`. Busy times come in order.
    pub fn record(&mut self, from: Time, until: Time) {
        self.roll(from);
        let end = self.start.saturating_add(self.window);
        if until <= end {
            self.busy += until.since(from);
            return;
        }
        self.busy += end.since(from);
        self.roll(end);
        // The windows in between are busy throughout; the last one up to `until`.
        let beyond = until.since(end).ps();
        let full = beyond / self.window.ps();
        if full > 0 {
            self.last_basis_points = 10_000;
            self.start += self.window * full;
        }
        self.busy = Span::from_ps(beyond % self.window.ps());
    }

    /// The share of the last full window before `now`.
    pub fn basis_points(&mut self, now: Time) -> u16 {
        self.roll(now);
        self.last_basis_points
    }

    /// Closes the windows that end by `now`; without a record they are idle.
    #[inline]
    fn roll(&mut self, now: Time) {
        // Most of the time no window ends, and no division is needed to know it.
        if now.since(self.start) < self.window {
            return;
        }
        self.close_windows(now);
    }

    #[cold]
    fn close_windows(&mut self, now: Time) {
        let windows = now.since(self.start).ps() / self.window.ps();
        let busy = u128::from(self.busy.ps()) * 10_000 / u128::from(self.window.ps());
        self.last_basis_points = if windows == 1 { busy as u16 } else { 0 };
        self.busy = Span::ZERO;
        self.start += self.window * windows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn busy_time_is_counted_in_the_window_it_falls_into() {
        let mut line = Utilisation::new(Span::from_us(100));
        line.record(us(10), us(40));
        line.record(us(90), us(120));
        // 30 us of 10..40 and 10 us of 90..100: 40 of 100.
        assert_eq!(line.basis_points(us(150)), 4000);
        // 20 us of 100..120.
        assert_eq!(line.basis_points(us(200)), 2000);
        assert_eq!(line.basis_points(us(399)), 0);
    }

    #[test]
    fn a_frame_longer_than_a_window_fills_it() {
        let mut line = Utilisation::new(Span::from_us(100));
        line.record(us(50), us(380));
        assert_eq!(line.basis_points(us(399)), 10_000);
        // 300..380 of the fourth window.
        assert_eq!(line.basis_points(us(400)), 8000);
    }
}
