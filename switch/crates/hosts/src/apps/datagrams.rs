//! Datagrams: a source that is steady, bursty or random, and a sink that counts what is missing.

use std::collections::BTreeMap;

use chance::Chance;
use units::{Bytes, Rate, Span, Time};

use super::{App, AppIo, Report, Seen};
use crate::stack::{Datagram, Endpoint, Undelivered};

/// When datagrams leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At equal distances.
    Steady,
    /// So many at once, then a pause that keeps the mean rate.
    Bursts { datagrams: u64 },
    /// Exponentially distributed distances: a Poisson process.
    Poisson,
    /// Steady while on, silent while off; both times are exponentially distributed.
    OnOff {
        /// The mean of each.
        on: Span,
        off: Span,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramSourceConfig {
    pub to: Endpoint,
    /// UDP payload a second, while it sends.
    pub rate: Rate,
    /// Payload of each datagram, 24 bytes at least.
    pub length: Bytes,
    /// When they leave.
    pub pace: Pace,
    /// How long it waits before it starts.
    pub after: Span,
    /// How long it sends; [`Span::MAX`]: until it is stopped.
    pub span: Span,
}

/// The counts of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramSourceReport {
    pub sent: u64,
    /// Of these, those reported as unreachable.
    pub unreachable: u64,
}

#[derive(Debug)]
pub struct DatagramSource {
    config: DatagramSourceConfig,
    report: DatagramSourceReport,
    port: u16,
    flow: u64,
    dice: Option<Chance>,
    ends_at: Time,
    off_at: Time,
    over: bool,
}

impl DatagramSource {
    /// Not started yet.
    pub fn new(config: DatagramSourceConfig) -> DatagramSource {
        DatagramSource {
            config,
            report: DatagramSourceReport::default(),
            port: 0,
            flow: 0,
            dice: None,
            ends_at: Time::MAX,
            off_at: Time::MAX,
            over: false,
        }
    }

    /// How many leave now, and how long until the next.
    fn next(&mut self, now: Time) -> (u64, Span) {
        let gap = self.config.rate.span_of(self.config.length);
        let Some(dice) = &mut self.dice else { return (0, Span::MAX) };
        match self.config.pace {
            Pace::Steady => (1, gap),
            Pace::Bursts { datagrams } => (datagrams.max(1), gap * datagrams.max(1)),
            Pace::Poisson => (1, dice.exponential(gap)),
            Pace::OnOff { on, off } if now >= self.off_at => {
                let silent = dice.exponential(off);
                self.off_at = now + silent + dice.exponential(on);
                (0, silent)
            }
            Pace::OnOff { .. } => (1, gap),
        }
    }
}

impl App for DatagramSource {
    fn start(&mut self, io: &mut AppIo<'_>) {
        let mut dice = io.dice("datagrams");
        self.flow = dice.bits();
        self.port = io.own_port();
        io.bind_udp(self.port);
        let begins_at = io.now().saturating_add(self.config.after);
        self.ends_at = begins_at.saturating_add(self.config.span);
        if let Pace::OnOff { on, .. } = self.config.pace {
            self.off_at = begins_at.saturating_add(dice.exponential(on));
        }
        self.dice = Some(dice);
        io.alarm_after(self.config.after, 0);
    }

    fn stop(&mut self, io: &mut AppIo<'_>) {
        self.ends_at = io.now();
        self.over = true;
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, _token: u64) {
        if io.now() >= self.ends_at {
            self.over = true;
            return;
        }
        if self.report.sent == 0 {
            io.tell(|| Seen::Began);
        }
        let (count, gap) = self.next(io.now());
        for _ in 0..count {
            let number = self.report.sent;
            self.report.sent += 1;
            io.send_datagram(self.port, self.config.to, self.flow, number, self.config.length);
        }
        io.alarm_after(gap, 0);
    }

    fn undelivered(&mut self, _io: &mut AppIo<'_>, _what: &Undelivered) {
        self.report.unreachable += 1;
    }

    fn report(&self) -> Report {
        Report::DatagramSource(self.report)
    }

    fn has_ended(&self) -> bool {
        self.over
    }
}

/// A sink's counts of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowReport {
    /// Where it comes from.
    pub from: Option<Endpoint>,
    /// Datagrams and payload bytes that came.
    pub received: u64,
    pub bytes: u64,
    /// The highest number seen, plus one: with `received`, the losses until now.
    pub expected: u64,
    /// Came after one with a higher number.
    pub out_of_order: u64,
    /// Met congestion.
    pub marked: u64,
    /// The smoothed difference of transit times (RFC 3550 section 6.4.1).
    pub jitter: Span,
    /// Shortest, longest and summed time from source to sink.
    pub delay_min: Span,
    pub delay_max: Span,
    pub delay_sum: Span,
}

impl FlowReport {
    /// Numbers that did not come, as far as is known.
    pub fn lost(&self) -> u64 {
        self.expected.saturating_sub(self.received)
    }
}

/// The sink: takes all datagrams to one port.
#[derive(Debug)]
pub struct DatagramSink {
    port: u16,
    /// It takes datagrams of any kind, and reports this many first bytes of each.
    head: Option<usize>,
    /// By the flow's number; of datagrams of whatever kind, by their place in the order of sources.
    flows: BTreeMap<u64, (FlowReport, Span)>,
    stopped: bool,
}

impl DatagramSink {
    /// On this port.
    pub fn new(port: u16) -> DatagramSink {
        DatagramSink { port, head: None, flows: BTreeMap::new(), stopped: false }
    }

    /// The same for datagrams of any kind: this many first bytes of each are reported
    /// ([`Seen::Payload`]). They are counted, but losses are not known.
    #[must_use]
    pub fn telling(self, head: usize) -> DatagramSink {
        DatagramSink { head: Some(head), ..self }
    }
}

impl App for DatagramSink {
    fn start(&mut self, io: &mut AppIo<'_>) {
        match self.head {
            None => io.bind_udp(self.port),
            Some(head) => io.bind_udp_payload(self.port, head),
        };
        io.tell(|| Seen::Began);
    }

    fn stop(&mut self, io: &mut AppIo<'_>) {
        io.unbind_udp();
        self.stopped = true;
    }

    fn payload(&mut self, io: &mut AppIo<'_>, from: Endpoint, bytes: usize, head: Vec<u8>) {
        let known = self.flows.iter().find(|(_, (flow, _))| flow.from == Some(from));
        let place = known.map_or(self.flows.len() as u64, |(place, _)| *place);
        let (flow, _) = self.flows.entry(place).or_default();
        flow.from = Some(from);
        flow.received += 1;
        flow.bytes += bytes as u64;
        io.tell(|| Seen::Payload { from, bytes, head });
    }

    fn datagram(&mut self, io: &mut AppIo<'_>, datagram: &Datagram) {
        let transit = io.now().since(datagram.sent_at);
        let (flow, before) = self
            .flows
            .entry(datagram.flow)
            .or_insert((FlowReport { delay_min: Span::MAX, ..FlowReport::default() }, transit));
        flow.from = Some(datagram.from);
        flow.received += 1;
        flow.bytes += datagram.bytes as u64;
        flow.out_of_order += u64::from(datagram.number < flow.expected);
        flow.expected = flow.expected.max(datagram.number + 1);
        flow.marked += u64::from(datagram.marked);
        // J += (|D| - J) / 16.
        let apart = Span::from_ps(transit.ps().abs_diff(before.ps()));
        flow.jitter = flow.jitter - flow.jitter / 16 + apart / 16;
        flow.delay_min = flow.delay_min.min(transit);
        flow.delay_max = flow.delay_max.max(transit);
        flow.delay_sum += transit;
        *before = transit;
    }

    fn report(&self) -> Report {
        Report::DatagramSink(
            self.flows.iter().map(|(flow, (report, _))| (*flow, *report)).collect(),
        )
    }

    fn has_ended(&self) -> bool {
        self.stopped
    }
}
