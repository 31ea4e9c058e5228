//! Echo requests at regular intervals, and how long their answers took.

use core::net::IpAddr;

use units::{Bytes, Span, Time};

use super::{App, AppIo, Echo, EchoError, Kept, Report, Seen};
use crate::stack::{EchoRequest, Undelivered};

/// How long the last answers may take.
const LINGER: Span = Span::from_secs(3);
const REQUEST: u64 = 0;
const GIVE_UP: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PingConfig {
    /// The target.
    pub to: IpAddr,
    /// How often.
    pub interval: Span,
    /// How many times; none: until it is stopped.
    pub count: Option<u64>,
    /// The payload of each request; `ping`'s default is 56.
    pub payload: Bytes,
    /// How many routers each may pass; none: as many as anything else.
    pub hop_limit: Option<u8>,
    /// How long it waits before it starts.
    pub after: Span,
}

/// Its results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PingReport {
    pub sent: u64,
    /// Answers, in the order of their arrival.
    pub answers: Kept<Echo>,
    /// Requests that were not delivered, in the order in which the errors came.
    pub errors: Kept<EchoError>,
}

#[derive(Debug)]
pub struct Ping {
    config: PingConfig,
    report: PingReport,
    identifier: u16,
    /// When each request left, by its number; none once it is answered. An answer has the lowest 16
    /// bits of a number, so that it can only be to one of those that are kept.
    asked: Kept<Option<Time>>,
    /// It was stopped, or has waited long enough for the last answers.
    stopped: bool,
}

impl Ping {
    /// Not started yet.
    pub fn new(config: PingConfig) -> Ping {
        Ping {
            config,
            report: PingReport::default(),
            identifier: 0,
            asked: Kept::default(),
            stopped: false,
        }
    }

    /// The request that something came back for, of those that nothing has come back for yet.
    fn answered(&mut self, now: Time, sequence: u16) -> Option<Echo> {
        // The number's low bits came back: it is the latest request that has them.
        let last = self.report.sent.checked_sub(1)?;
        let number = last.checked_sub(u64::from((last as u16).wrapping_sub(sequence)))?;
        let sent_at = self.asked.get_mut(number)?.take()?;
        Some(Echo { number, sent_at, rtt: now.since(sent_at) })
    }
}

impl App for Ping {
    fn start(&mut self, io: &mut AppIo<'_>) {
        self.identifier = io.own_port();
        io.alarm_after(self.config.after, REQUEST);
    }

    fn stop(&mut self, _io: &mut AppIo<'_>) {
        self.stopped = true;
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, token: u64) {
        if token == GIVE_UP {
            self.stopped = true;
        }
        let number = self.report.sent;
        if self.stopped || self.config.count.is_some_and(|count| number >= count) {
            return;
        }
        if number == 0 {
            io.tell(|| Seen::Began);
        }
        self.report.sent += 1;
        self.asked.push(Some(io.now()));
        let PingConfig { to, payload, hop_limit, .. } = self.config;
        let (identifier, sequence) = (self.identifier, number as u16);
        io.send_echo(to, EchoRequest { identifier, sequence, payload, hop_limit });
        if self.config.count == Some(self.report.sent) {
            io.alarm_after(LINGER, GIVE_UP);
        } else {
            io.alarm_after(self.config.interval, REQUEST);
        }
    }

    fn echo_reply(&mut self, io: &mut AppIo<'_>, sequence: u16, _from: IpAddr) {
        if let Some(echo) = self.answered(io.now(), sequence) {
            self.report.answers.push(echo);
            io.tell(|| Seen::Echo(echo));
        }
    }

    fn undelivered(&mut self, io: &mut AppIo<'_>, what: &Undelivered) {
        if let Some(echo) = self.answered(io.now(), what.sequence) {
            let error = EchoError { echo, what: *what };
            self.report.errors.push(error);
            io.tell(|| Seen::EchoError(error));
        }
    }

    fn report(&self) -> Report {
        Report::Ping(self.report.clone())
    }

    fn has_ended(&self) -> bool {
        let answered = self.report.answers.count() + self.report.errors.count();
        self.stopped || self.config.count.is_some_and(|count| answered >= count)
    }
}
