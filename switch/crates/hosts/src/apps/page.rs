//! Requests and responses: a page fetched over several connections, once or again and again.

use units::{Bytes, Span, Time};

use super::{App, AppIo, Kept, Report, Seen};
use crate::congestion::Algorithm;
use crate::stack::{ConnectionId, Endpoint};
use crate::tcp::Happened;

/// Somebody who fetches pages from a [`super::Listener`] that responds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageConfig {
    /// The servers: one connection to each, all at the same time (one server and one connection is
    /// wget; many servers are incast).
    pub from: Vec<Endpoint>,
    /// The length of a request, and of each answer.
    pub request: Bytes,
    pub response: Bytes,
    /// How long it waits before it starts, and between the end of one page and the next.
    pub after: Span,
    pub pause: Span,
    /// The pause is drawn from an exponential distribution with that mean.
    pub random_pause: bool,
    /// How many pages.
    pub count: u64,
    /// Another congestion control than the host's.
    pub congestion: Option<Algorithm>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The instant of the request.
    pub at: Time,
    /// How long until its first byte was here, and its last, handshakes included.
    pub first_byte: Span,
    pub took: Span,
    /// Bytes that came.
    pub bytes: u64,
}

/// The results of the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageReport {
    /// Whole pages, in their order.
    pub fetched: Kept<Fetched>,
    /// Pages of which a connection failed.
    pub failed: u64,
}

#[derive(Debug)]
pub struct Page {
    config: PageConfig,
    report: PageReport,
    dice: Option<chance::Chance>,
    began: u64,
    began_at: Time,
    first_byte_at: Option<Time>,
    open: Vec<ConnectionId>,
    bytes: u64,
    broken: bool,
    stopped: bool,
}

impl Page {
    /// Not started yet.
    pub fn new(config: PageConfig) -> Page {
        Page {
            config,
            report: PageReport::default(),
            dice: None,
            began: 0,
            began_at: Time::ZERO,
            first_byte_at: None,
            open: Vec::new(),
            bytes: 0,
            broken: false,
            stopped: false,
        }
    }

    fn ask(&mut self, io: &mut AppIo<'_>) {
        self.began += 1;
        self.began_at = io.now();
        (self.bytes, self.broken, self.first_byte_at) = (0, false, None);
        if self.began == 1 {
            io.tell(|| Seen::Began);
        }
        let interest = Happened::READABLE | Happened::RESET | Happened::TIMED_OUT;
        let settings = io.settings_with(self.config.congestion.as_ref());
        for server in self.config.from.clone() {
            match io.connect(server, interest, settings.clone()) {
                Some(id) => {
                    self.open.push(id);
                    io.send(id, self.config.request.count().max(1));
                }
                None => self.broken = true,
            }
        }
        if self.open.is_empty() {
            self.end(io);
        }
    }

    /// The last of the page's connections is done with.
    fn end(&mut self, io: &mut AppIo<'_>) {
        if self.broken {
            self.report.failed += 1;
        } else {
            let took = io.now().since(self.began_at);
            let first_byte = self.first_byte_at.unwrap_or(io.now()).since(self.began_at);
            let page = Fetched { at: self.began_at, first_byte, took, bytes: self.bytes };
            self.report.fetched.push(page);
            io.tell(|| Seen::Fetched(page));
        }
        if self.began < self.config.count {
            let pause = match &mut self.dice {
                Some(dice) if self.config.random_pause => dice.exponential(self.config.pause),
                _ => self.config.pause,
            };
            io.alarm_after(pause, 0);
        }
    }
}

impl App for Page {
    fn start(&mut self, io: &mut AppIo<'_>) {
        self.dice = Some(io.dice("pauses"));
        if self.config.count > 0 {
            io.alarm_after(self.config.after, 0);
        }
    }

    fn stop(&mut self, io: &mut AppIo<'_>) {
        self.config.count = self.began;
        for id in std::mem::take(&mut self.open) {
            io.abort(id);
        }
        self.stopped = true;
    }

    fn alarm(&mut self, io: &mut AppIo<'_>, _token: u64) {
        if self.began < self.config.count {
            self.ask(io);
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
        let Some(place) = self.open.iter().position(|open| *open == id) else { return };
        if taken > 0 {
            self.first_byte_at.get_or_insert(io.now());
        }
        let failed = happened.any(Happened::RESET | Happened::TIMED_OUT);
        if failed || taken >= self.config.response.count() {
            self.open.swap_remove(place);
            self.bytes += taken;
            self.broken |= failed;
            io.close(id);
            if self.open.is_empty() {
                self.end(io);
            }
        }
    }

    fn report(&self) -> Report {
        Report::Page(self.report.clone())
    }

    fn has_ended(&self) -> bool {
        let done = self.report.fetched.count() + self.report.failed;
        self.stopped || done >= self.config.count
    }
}
