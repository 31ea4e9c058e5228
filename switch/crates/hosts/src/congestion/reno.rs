//! NewReno's window (RFC 5681, RFC 6582): one packet more a round trip, half after a loss.

use super::{Congestion, Path, Window};

/// Keeps nothing beyond the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reno;

impl Congestion for Reno {
    fn name(&self) -> &str {
        "reno"
    }

    fn grow(&mut self, window: &mut Window, path: &Path, acked: u32) {
        grow(window, path, acked);
    }

    /// RFC 5681 equation (4), in packets of the window as Linux does.
    fn ssthresh(&mut self, window: &Window, _path: &Path) -> u32 {
        (window.cwnd / 2).max(2)
    }
}

/// Slow start, then congestion avoidance; DCTCP and Prague grow the same way.
pub(super) fn grow(window: &mut Window, path: &Path, acked: u32) {
    if !path.cwnd_limited {
        return;
    }
    let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
    if left > 0 {
        window.additive_increase(window.cwnd, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests_support::path;

    /// RFC 5681 section 3.1: cwnd doubles a round trip below ssthresh and grows by one above.
    #[test]
    fn the_window_doubles_then_grows_by_one() {
        let mut window = Window::new(10, None);
        window.ssthresh = 40;
        let mut sizes = Vec::new();
        for _round in 0..4 {
            let acked = window.cwnd;
            (0..acked).for_each(|_| Reno.grow(&mut window, &path(0), 1));
            sizes.push(window.cwnd);
        }
        assert_eq!(sizes, [20, 40, 41, 42]);
    }

    #[test]
    fn a_loss_halves_the_window_but_leaves_two() {
        assert_eq!(Reno.ssthresh(&Window::new(43, None), &path(0)), 21);
        assert_eq!(Reno.ssthresh(&Window::new(3, None), &path(0)), 2);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut window = Window::new(10, None);
        Reno.grow(&mut window, &Path { cwnd_limited: false, ..path(0) }, 10);
        assert_eq!(window.cwnd, 10);
    }
}
