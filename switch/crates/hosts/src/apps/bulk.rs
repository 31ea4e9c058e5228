//! A bulk transfer: as much as the connection takes, for a time or up to a length (iperf3's client).

use std::sync::Arc;

use units::{Bytes, Rate, Span, Time};

use super::{App, AppIo, Report, Seen};
use crate::congestion::Algorithm;
use crate::stack::{ConnectionId, Endpoint};
use crate::tcp::{Happened, TcpSettings};

const START: u64 = 0;
const END: u64 = 1;
/// More than any run sends.
const FOREVER: u64 = 1 << 60;

/// When a transfer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this long, counted from its start.
    Span(Span),
    /// When this many bytes were acknowledged.
    Sent(Bytes),
    /// When it is stopped.
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkConfig {
    pub to: Endpoint,
    /// When it ends.
    pub until: Until,
    /// How long it waits before it starts.
    pub after: Span,
    /// Another congestion control than the host's.
    pub congestion: Option<Algorithm>,
    /// How many connections in parallel.
    pub parallel: usize,
}

/// The results of the transfers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BulkReport {
    /// Its connections, as long as there are.
    pub connections: Vec<ConnectionId>,
    /// Bytes acknowledged until now, over all connections; brought up to date whenever one ends or
    /// a snapshot of the connections is taken.
    pub acknowledged: u64,
    /// When the first handshake was over, and when all was acknowledged or the time was up.
    pub started_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// Segments sent again over connections that are over.
    pub retransmitted: u64,
    /// Connections that failed: refused, reset or given up.
    pub failed: usize,
}

impl BulkReport {
    /// Bytes acknowledged by the time between start and end.
    pub fn rate(&self) -> Option<Rate> {
        let span = self.ended_at?.since(self.started_at?);
        let bits = u128::from(self.acknowledged) * 8 * 1_000_000_000_000;
        Rate::from_bps((bits / u128::from(span.ps().max(1))) as u64)
    }
}

#[derive(Debug)]
pub struct Bulk {
    config: BulkConfig,
    pacing: Option<Rate>,
    report: BulkReport,
    open: usize,
}

impl Bulk {
    /// Not started yet.
    pub fn new(config: BulkConfig) -> Bulk {
        Bulk { config, pacing: None, report: BulkReport::default(), open: 0 }
    }

    /// The same, with each connection's segments spaced to this rate at most (iperf3's --fq-rate).
    #[must_use]
    pub fn paced_to(self, rate: Rate) -> Bulk {
        Bulk { pacing: Some(rate), ..self }
    }

    /// Its connections' settings, if they differ from the host's.
    fn settings(&self, io: &AppIo<'_>) -> Option<Arc<TcpSettings>> {
        let settings = io.settings_with(self.config.congestion.as_ref());
        let Some(rate) = self.pacing else { return settings };
        let own = settings.map_or_else(|| io.settings().clone(), Arc::unwrap_or_clone);
        Some(Arc::new(TcpSettings { pacing_rate_max: Some(rate), ..own }))
    }

    fn open(&mut self, io: &mut AppIo<'_>) {
        let interest = Happened::ESTABLISHED
            | Happened::ALL_ACKNOWLEDGED
            | Happened::CLOSED
            | Happened::RESET
            | Happened::TIMED_OUT;
        let settings = self.settings(io);
        io.tell(|| Seen::Began);
        let count = self.config.parallel.max(1);
        for n in 0..count {
            let Some(id) = io.connect(self.config.to, interest, settings.clone()) else {
                self.report.failed += 1;
                continue;
            };
            self.report.connections.push(id);
            self.open += 1;
            match self.config.until {
                Until::Span(_) | Until::Stopped => io.send(id, FOREVER),
                Until::Sent(bytes) => {
                    let share = bytes.count() / count as u64;
                    let rest = if n == 0 { bytes.count() % count as u64 } else { 0 };
                    io.send(id, share + rest);
                    io.close(id);
                }
            }
        }
        if self.open == 0 {
            self.report.ended_at = Some(io.now());
        } else if let Until::Span(span) = self.config.until {
            io.alarm_after(span, END);
        }
    }

    fn end(&mut self, io: &mut AppIo<'_>) {
        for seen in self.report.connections.iter().filter_map(|id| io.snapshot(*id)) {
            self.report.acknowledged += seen.bytes_acked;
            self.report.retransmitted += seen.retrans_total;
        }
        self.report.ended_at = Some(io.now());
        for id in std::mem::take(&mut self.report.connections) {
            io.abort(id);
        }
    }
}

impl App for Bulk {
    fn start(&mut self, io: &mut AppIo<'_>) {
        io.alarm_after(self.config.after, START);
    }

    fn stop(&mut self, io: &mut AppIo<'_>) {
        if self.report.ended_at.is_none() {
            self.end(io);
        }
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, token: u64) {
        match token {
            START if self.report.ended_at.is_none() => self.open(io),
            START => {}
            _ => self.stop(io),
        }
    }

    fn connection(
        &mut self,
        io: &mut AppIo<'_>,
        id: ConnectionId,
        happened: Happened,
        _taken: u64,
        acknowledged: u64,
    ) {
        if happened.any(Happened::ESTABLISHED) {
            self.report.started_at.get_or_insert(io.now());
        }
        let failed = happened.any(Happened::RESET | Happened::TIMED_OUT);
        let complete =
            matches!(self.config.until, Until::Sent(_)) && happened.any(Happened::ALL_ACKNOWLEDGED);
        if (failed || complete) && self.report.connections.contains(&id) {
            self.report.connections.retain(|other| *other != id);
            self.report.acknowledged += acknowledged;
            self.report.retransmitted += io.snapshot(id).map_or(0, |seen| seen.retrans_total);
            self.report.failed += usize::from(failed);
            self.open -= 1;
            if self.open == 0 && self.report.ended_at.is_none() {
                self.report.ended_at = Some(io.now());
            }
        }
    }

    fn report(&self) -> Report {
        Report::Bulk(self.report.clone())
    }

    fn has_ended(&self) -> bool {
        self.report.ended_at.is_some()
    }
}
