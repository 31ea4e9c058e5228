//! A listener: takes connections and their bytes, and may answer.

use std::collections::BTreeMap;

use units::{Bytes, Span};

use super::{App, AppIo, Report, Seen};
use crate::congestion::Algorithm;
use crate::stack::ConnectionId;
use crate::tcp::Happened;

/// A listener's treatment of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Takes it all and says nothing (iperf3's server).
    Discard,
    /// Answers each request of `request` bytes with `response` bytes (a web server).
    Respond {
        /// The length of a request.
        request: Bytes,
        /// The length of its answer.
        response: Bytes,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerConfig {
    /// Where it listens.
    pub port: u16,
    /// Its service.
    pub service: Service,
    /// Another congestion control than the host's.
    pub congestion: Option<Algorithm>,
}

/// A listener's counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenerReport {
    /// Connections taken, and of these over by now.
    pub accepted: u64,
    pub ended: u64,
    /// Bytes taken over connections that are over; those of the others are in their snapshots.
    pub taken_bytes: u64,
    pub answered: u64,
    /// The connections that are not over.
    pub connections: Vec<ConnectionId>,
}

/// The alarms at which it stops taking what comes, and goes on.
const PAUSE: u64 = 0;
const GO_ON: u64 = 1;

#[derive(Debug)]
pub struct Listener {
    config: ListenerConfig,
    /// When it stops taking what comes, after its start, and for how long.
    pause: Option<(Span, Span)>,
    /// It takes nothing at the moment.
    pauses: bool,
    report: ListenerReport,
    /// How many requests of each connection were answered.
    open: BTreeMap<ConnectionId, u64>,
    stopped: bool,
}

impl Listener {
    /// Not started yet.
    pub fn new(config: ListenerConfig) -> Listener {
        Listener {
            config,
            pause: None,
            pauses: false,
            report: ListenerReport::default(),
            open: BTreeMap::new(),
            stopped: false,
        }
    }

    /// So long `after` its start it stops taking what comes, for a `span`.
    pub fn pausing(mut self, after: Span, span: Span) -> Listener {
        self.pause = Some((after, span));
        self
    }

    fn answer(&mut self, io: &mut AppIo<'_>, id: ConnectionId, taken: u64) {
        let Service::Respond { request, response } = self.config.service else { return };
        let answered = self.open.entry(id).or_default();
        while taken >= (*answered + 1) * request.count().max(1) {
            *answered += 1;
            self.report.answered += 1;
            io.send(id, response.count());
        }
    }
}

impl App for Listener {
    fn start(&mut self, io: &mut AppIo<'_>) {
        let mut interest = Happened::ESTABLISHED
            | Happened::PEER_CLOSED
            | Happened::CLOSED
            | Happened::RESET
            | Happened::TIMED_OUT;
        if self.config.service != Service::Discard {
            interest |= Happened::READABLE;
        }
        let settings = io.settings_with(self.config.congestion.as_ref());
        io.listen(self.config.port, interest, settings);
        if let Some((after, _)) = self.pause {
            io.alarm_after(after, PAUSE);
        }
        io.tell(|| Seen::Began);
    }

    fn stop(&mut self, io: &mut AppIo<'_>) {
        self.stopped = true;
        io.stop_listening(self.config.port);
        for (id, _) in std::mem::take(&mut self.open) {
            self.report.ended += 1;
            self.report.taken_bytes += io.snapshot(id).map_or(0, |seen| seen.bytes_received);
            io.abort(id);
        }
    }

    fn connection(
        &mut self,
        io: &mut AppIo<'_>,
        id: ConnectionId,
        happened: Happened,
        taken: u64,
        _acknowledged: u64,
    ) {
        if happened.any(Happened::ESTABLISHED) {
            self.report.accepted += 1;
            self.open.insert(id, 0);
            if self.pauses {
                io.read_up_to(id, taken);
            }
        }
        if happened.any(Happened::READABLE) {
            self.answer(io, id, taken);
        }
        if happened.any(Happened::PEER_CLOSED) {
            io.close(id);
        }
        let over = Happened::CLOSED | Happened::RESET | Happened::TIMED_OUT;
        if happened.any(over) && self.open.remove(&id).is_some() {
            self.report.ended += 1;
            self.report.taken_bytes += taken;
        }
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, token: u64) {
        let Some((_, span)) = self.pause else { return };
        self.pauses = token == PAUSE;
        if self.pauses {
            io.alarm_after(span, GO_ON);
        }
        for id in self.open.keys() {
            let taken = io.snapshot(*id).map_or(0, |seen| seen.bytes_received);
            io.read_up_to(*id, if self.pauses { taken } else { u64::MAX });
        }
    }

    fn report(&self) -> Report {
        Report::Listener(ListenerReport {
            connections: self.open.keys().copied().collect(),
            ..self.report.clone()
        })
    }

    fn has_ended(&self) -> bool {
        self.stopped
    }
}
