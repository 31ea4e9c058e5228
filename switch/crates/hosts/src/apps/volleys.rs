//! Datagrams at given instants: many at once, as a program sends that has a lot of data.

use units::{Bytes, Span, Time};

use super::{App, AppIo, Report, Seen};
use crate::stack::{Endpoint, Undelivered};

/// The sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolleysConfig {
    pub to: Endpoint,
    /// Payload of each datagram, 24 bytes at least.
    pub length: Bytes,
    /// How many leave at once.
    pub datagrams: u64,
    /// When, counted from the start; rising.
    pub at: Vec<Span>,
}

/// The counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolleysReport {
    /// When each volley left.
    pub at: Vec<Time>,
    pub sent: u64,
    /// Of these, those reported as unreachable.
    pub unreachable: u64,
}

#[derive(Debug)]
pub struct Volleys {
    config: VolleysConfig,
    report: VolleysReport,
    port: u16,
    flow: u64,
    stopped: bool,
}

impl Volleys {
    /// Not started yet.
    pub fn new(config: VolleysConfig) -> Volleys {
        Volleys { config, report: VolleysReport::default(), port: 0, flow: 0, stopped: false }
    }

    /// How long until the next one, after `done` of them.
    fn gap(&self, done: usize) -> Option<Span> {
        let next = *self.config.at.get(done)?;
        let before = done.checked_sub(1).map_or(Span::ZERO, |last| self.config.at[last]);
        Some(Span::from_ps(next.ps().saturating_sub(before.ps())))
    }
}

impl App for Volleys {
    fn start(&mut self, io: &mut AppIo<'_>) {
        self.flow = io.dice("datagrams").bits();
        self.port = io.own_port();
        io.bind_udp(self.port);
        io.tell(|| Seen::Began);
        if let Some(gap) = self.gap(0) {
            io.alarm_after(gap, 0);
        }
    }

    fn stop(&mut self, _io: &mut AppIo<'_>) {
        self.stopped = true;
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, _token: u64) {
        if self.stopped {
            return;
        }
        self.report.at.push(io.now());
        for _ in 0..self.config.datagrams {
            let number = self.report.sent;
            self.report.sent += 1;
            io.send_datagram(self.port, self.config.to, self.flow, number, self.config.length);
        }
        if let Some(gap) = self.gap(self.report.at.len()) {
            io.alarm_after(gap, 0);
        }
    }

    fn undelivered(&mut self, _io: &mut AppIo<'_>, _what: &Undelivered) {
        self.report.unreachable += 1;
    }

    fn report(&self) -> Report {
        Report::Volleys(self.report.clone())
    }

    fn has_ended(&self) -> bool {
        self.stopped || self.report.at.len() == self.config.at.len()
    }
}
