//! DCTCP (RFC 8257): the window shrinks by the part of the packets that were marked.
//!
//! `alpha` follows that part round trip by round trip, a sixteenth of the way each time; a round
//! trip with marks reduces the window by half of alpha. A loss halves it, as in Reno.

use super::{Congestion, EcnUse, Happening, Path, Window, reno};

/// alpha = 1.
pub(super) const ALPHA_MAX: u32 = 1024;
/// g = 1/16 (RFC 8257 section 4.2).
const GAIN_SHIFT: u32 = 4;

/// The moving part of marked packets, shared with Prague.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedPart {
    /// In 1024ths.
    pub alpha: u32,
    delivered: u64,
    marked: u64,
    round_end: u64,
}

impl Default for MarkedPart {
    /// Cautious: as if all had been marked (RFC 8257 section 3.3).
    fn default() -> MarkedPart {
        MarkedPart { alpha: ALPHA_MAX, delivered: 0, marked: 0, round_end: 0 }
    }
}

impl MarkedPart {
    pub fn begin(&mut self, path: &Path) {
        self.round_end = path.nxt;
        self.delivered = path.delivered;
        self.marked = path.delivered_ce;
    }

    /// At the end of each round trip, alpha moves towards what was marked in it.
    pub fn follow(&mut self, path: &Path) {
        if path.una <= self.round_end {
            return;
        }
        let delivered = path.delivered - self.delivered;
        let marked = path.delivered_ce - self.marked;
        // The last bits of alpha would never go: what is left below a sixteenth goes at once.
        let decay = self.alpha >> GAIN_SHIFT;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        if marked > 0 {
            let part = (marked << (10 - GAIN_SHIFT)) / delivered.max(1);
            self.alpha = (self.alpha + part as u32).min(ALPHA_MAX);
        }
        self.begin(path);
    }

    /// The window less half of alpha.
    pub fn reduced(&self, cwnd: u32) -> u32 {
        let less = (u64::from(cwnd) * u64::from(self.alpha)) >> 11;
        (cwnd - less as u32).max(2)
    }
}

/// See the top of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dctcp {
    marks: MarkedPart,
}

impl Congestion for Dctcp {
    fn name(&self) -> &str {
        "dctcp"
    }

    fn begin(&mut self, _window: &mut Window, path: &Path) {
        self.marks.begin(path);
    }

    fn acknowledged(&mut self, _w: &mut Window, path: &Path, _delivered: u32, _marked: u32) {
        self.marks.follow(path);
    }

    fn grow(&mut self, window: &mut Window, path: &Path, acked: u32) {
        reno::grow(window, path, acked);
    }

    fn ssthresh(&mut self, window: &Window, _path: &Path) -> u32 {
        self.marks.reduced(window.cwnd)
    }

    /// RFC 8257 section 3.5: losses are treated as any TCP does.
    fn happened(&mut self, window: &mut Window, _path: &Path, what: Happening) {
        if matches!(what, Happening::RecoveryBegins | Happening::Timeout) {
            window.ssthresh = (window.prior_cwnd / 2).max(2);
        }
    }

    fn ecn(&self) -> EcnUse {
        EcnUse::EveryMark
    }

    fn tell(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        tell("alpha_1024ths", u64::from(self.marks.alpha));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests_support::path;

    /// A round trip of 100 packets of which `marked` were marked.
    fn round(marks: &mut MarkedPart, number: u64, marked: u64) {
        let before = Path { nxt: number * 100, una: number * 100, ..path(0) };
        marks.round_end = before.una;
        (marks.delivered, marks.marked) = (number * 100, 0);
        let after = Path {
            una: before.una + 1,
            delivered: (number + 1) * 100,
            delivered_ce: marked,
            ..path(0)
        };
        marks.follow(&after);
    }

    /// RFC 8257 section 3.3: alpha = (1 - g) alpha + g F. All marked keeps it at 1; a half brings
    /// it from 1 to 15/16 + 1/32 = 0.96875 = 992 / 1024.
    #[test]
    fn alpha_moves_a_sixteenth_of_the_way() {
        let mut marks = MarkedPart::default();
        round(&mut marks, 1, 100);
        assert_eq!(marks.alpha, 1024);
        round(&mut marks, 2, 50);
        assert_eq!(marks.alpha, 992);
        (3..200).for_each(|number| round(&mut marks, number, 0));
        assert_eq!(marks.alpha, 0);
    }

    /// RFC 8257 section 3.4: cwnd x (1 - alpha / 2).
    #[test]
    fn the_window_shrinks_by_half_of_alpha() {
        for (alpha, left) in [(1024, 50), (512, 75), (128, 94), (0, 100)] {
            let marks = MarkedPart { alpha, ..MarkedPart::default() };
            assert_eq!(marks.reduced(100), left, "alpha {alpha}/1024");
        }
    }
}
