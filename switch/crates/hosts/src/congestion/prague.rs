//! Prague: DCTCP's reaction for L4S queues (RFC 9331, draft-briscoe-iccrg-prague-congestion-control).
//!
//! Differences from DCTCP: packets carry ECT(1), leave spaced out, and on paths shorter than 25 ms
//! the window grows as it would on one of 25 ms, so that short paths do not push long ones out. The
//! echo of marks is DCTCP's: there is no AccECN (RFC 9768).

use super::dctcp::MarkedPart;
use super::{Congestion, EcnUse, Happening, Path, Window};

/// The path that the growth is made for.
const REFERENCE_RTT_US: u64 = 25_000;

/// See the top of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prague {
    marks: MarkedPart,
}

impl Congestion for Prague {
    fn name(&self) -> &str {
        "prague"
    }

    fn begin(&mut self, _window: &mut Window, path: &Path) {
        self.marks.begin(path);
    }

    fn acknowledged(&mut self, _w: &mut Window, path: &Path, _delivered: u32, _marked: u32) {
        self.marks.follow(path);
    }

    fn grow(&mut self, window: &mut Window, path: &Path, acked: u32) {
        if !path.cwnd_limited {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            window.additive_increase(per_increase(window.cwnd, path.srtt_us), left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _path: &Path) -> u32 {
        self.marks.reduced(window.cwnd)
    }

    fn happened(&mut self, window: &mut Window, _path: &Path, what: Happening) {
        if matches!(what, Happening::RecoveryBegins | Happening::Timeout) {
            window.ssthresh = (window.prior_cwnd / 2).max(2);
        }
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn ecn(&self) -> EcnUse {
        EcnUse::L4s
    }

    fn tell(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        tell("alpha_1024ths", u64::from(self.marks.alpha));
    }
}

/// Packets to be acknowledged for one packet more: cwnd, and on a shorter path than the reference
/// more by the square of their ratio (as many round trips more, each with as much less to add).
fn per_increase(cwnd: u32, srtt_us: u32) -> u32 {
    let rtt = u64::from(srtt_us.max(1));
    if rtt >= REFERENCE_RTT_US {
        return cwnd;
    }
    let scaled = u64::from(cwnd) * REFERENCE_RTT_US * REFERENCE_RTT_US / (rtt * rtt);
    scaled.min(u64::from(u32::MAX / 4)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 5 ms, a fifth of the reference: 25 times as many acknowledgments for one packet.
    #[test]
    fn on_short_paths_the_window_grows_as_on_the_reference() {
        assert_eq!(per_increase(10, 25_000), 10);
        assert_eq!(per_increase(10, 100_000), 10);
        assert_eq!(per_increase(10, 5_000), 250);
    }
}
