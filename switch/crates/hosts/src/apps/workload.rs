//! Flows that come at random with heavy-tailed lengths: web-like background traffic.
//!
//! Arrivals are a Poisson process; lengths follow a bounded Pareto distribution, so that most flows
//! are short and most bytes belong to long ones.

use chance::Chance;
use units::{Bytes, Span, Time};

use super::{App, AppIo, Kept, Report, Seen};
use crate::congestion::Algorithm;
use crate::stack::{ConnectionId, Endpoint};
use crate::tcp::Happened;

const FLOW: u64 = 0;
const END: u64 = 1;

/// How long flows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// All the same.
    Fixed(Bytes),
    /// Between `min` and `max`, P(length > x) ~ x^-1: as much of the traffic in each octave.
    HeavyTailed { min: Bytes, max: Bytes },
}

impl Lengths {
    /// One length.
    pub fn draw(&self, dice: &mut Chance) -> Bytes {
        match *self {
            Lengths::Fixed(length) => length,
            // The inverse of a bounded Pareto's distribution with exponent 1:
            // 1 / x is evenly distributed between 1 / max and 1 / min.
            Lengths::HeavyTailed { min, max } => {
                let (min, max) = (min.count().max(1), max.count().max(min.count()).max(1));
                let part = u128::from(dice.bits() >> 32);
                let span = u128::from(max - min);
                let whole = 1u128 << 32;
                let length = u128::from(min) * u128::from(max) * whole
                    / (u128::from(max) * whole - span * part);
                Bytes((length as u64).clamp(min, max))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadConfig {
    /// To whom flows go, each as likely; they listen and discard.
    pub to: Vec<Endpoint>,
    /// The mean time from one flow's beginning to the next's.
    pub interval: Span,
    /// How long flows are.
    pub lengths: Lengths,
    /// How long it waits before it starts, and for how long flows begin; [`Span::MAX`]: until it is
    /// stopped.
    pub after: Span,
    pub span: Span,
    /// Another congestion control than the host's.
    pub congestion: Option<Algorithm>,
}

/// One flow that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowDone {
    /// When it began.
    pub at: Time,
    /// How long until all of it was acknowledged.
    pub took: Span,
    /// How long it was.
    pub bytes: u64,
}

/// The results of the flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadReport {
    /// Flows begun, and failed.
    pub begun: u64,
    pub failed: u64,
    /// Those that are over, in the order of their ends.
    pub done: Kept<FlowDone>,
}

#[derive(Debug)]
pub struct Workload {
    config: WorkloadConfig,
    report: WorkloadReport,
    dice: Option<Chance>,
    ends_at: Time,
    open: std::collections::BTreeMap<ConnectionId, Time>,
    /// No more flows begin.
    over: bool,
}

impl Workload {
    /// Not started yet.
    pub fn new(config: WorkloadConfig) -> Workload {
        let (report, open) = (WorkloadReport::default(), Default::default());
        Workload { config, report, dice: None, ends_at: Time::MAX, open, over: false }
    }
}

impl App for Workload {
    fn start(&mut self, io: &mut AppIo<'_>) {
        let mut dice = io.dice("flows");
        let begins_at = io.now().saturating_add(self.config.after);
        self.ends_at = begins_at.saturating_add(self.config.span);
        if self.config.span < Span::MAX {
            io.alarm_after(self.ends_at.since(io.now()), END);
        }
        io.alarm_after(self.config.after + dice.exponential(self.config.interval), FLOW);
        self.dice = Some(dice);
    }

    fn stop(&mut self, io: &mut AppIo<'_>) {
        self.ends_at = io.now();
        self.over = true;
        for id in std::mem::take(&mut self.open).into_keys() {
            io.abort(id);
        }
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, token: u64) {
        if token == END {
            self.over = true;
        }
        let Some(dice) = self.dice.as_mut().filter(|_| io.now() < self.ends_at) else { return };
        if self.config.to.is_empty() {
            return;
        }
        let to = self.config.to[dice.below(self.config.to.len() as u64) as usize];
        let length = self.config.lengths.draw(dice);
        let gap = dice.exponential(self.config.interval);
        if self.report.begun == 0 {
            io.tell(|| Seen::Began);
        }
        self.report.begun += 1;
        let interest = Happened::ALL_ACKNOWLEDGED | Happened::RESET | Happened::TIMED_OUT;
        let settings = io.settings_with(self.config.congestion.as_ref());
        match io.connect(to, interest, settings) {
            Some(id) => {
                self.open.insert(id, io.now());
                io.send(id, length.count().max(1));
                io.close(id);
            }
            None => self.report.failed += 1,
        }
        io.alarm_after(gap, FLOW);
    }

    fn connection(
        &mut self,
        io: &mut AppIo<'_>,
        id: ConnectionId,
        happened: Happened,
        _taken: u64,
        acknowledged: u64,
    ) {
        let Some(at) = self.open.remove(&id) else { return };
        if happened.any(Happened::RESET | Happened::TIMED_OUT) {
            self.report.failed += 1;
        } else {
            let took = io.now().since(at);
            let flow = FlowDone { at, took, bytes: acknowledged };
            self.report.done.push(flow);
            io.tell(|| Seen::Flow(flow));
        }
    }

    fn report(&self) -> Report {
        Report::Workload(self.report.clone())
    }

    fn has_ended(&self) -> bool {
        self.over && self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(length > x) for lengths from 1 kB to 1 MB: (1/x - 1/max) / (1/min - 1/max); for x = 2 kB
    /// 0.4995, for 10 kB 0.0991.
    #[test]
    fn lengths_have_the_tail_they_promise() {
        let lengths = Lengths::HeavyTailed { min: Bytes(1_000), max: Bytes(1_000_000) };
        let mut dice = Chance::new(3, "lengths");
        let drawn: Vec<u64> = (0..100_000).map(|_| lengths.draw(&mut dice).count()).collect();
        let above = |x: u64| drawn.iter().filter(|length| **length > x).count();
        // Four standard deviations of a binomial distribution: 632 and 378.
        assert!(above(2_000).abs_diff(49_950) < 632, "{}", above(2_000));
        assert!(above(10_000).abs_diff(9_910) < 378, "{}", above(10_000));
        assert!(drawn.iter().all(|length| (1_000..=1_000_000).contains(length)));
    }
}
