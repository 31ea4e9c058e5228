//! Applications that use a host's network, one file each.
//!
//! An [`App`] receives events and answers with commands to its [`AppIo`]. It keeps no clock: alarms
//! come back as [`App::alarm`]. Its random numbers are its own ([`AppIo::dice`]), so that one
//! application more changes nothing for the others.

mod bulk;
mod datagrams;
mod events;
mod kept;
mod listener;
mod page;
mod ping;
mod volleys;
mod workload;

use core::net::IpAddr;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::Arc;

use chance::Chance;
use units::{Bytes, Span, Time};
use wire::Ecn;

use crate::agenda::Wake;
use crate::congestion::Algorithm;
use crate::stack::{AppId, ConnectionId, Datagram, EchoRequest, Endpoint, Stack, Undelivered};
use crate::tcp::{Connection, Happened, Snapshot, TcpSettings};

pub use bulk::{Bulk, BulkConfig, BulkReport, Until};
pub use datagrams::{
    DatagramSink, DatagramSource, DatagramSourceConfig, DatagramSourceReport, FlowReport, Pace,
};
pub use events::{AppEvent, Echo, EchoError, Seen};
pub use kept::{KEPT_MAX, Kept};
pub use listener::{Listener, ListenerConfig, ListenerReport, Service};
pub use page::{Fetched, Page, PageConfig, PageReport};
pub use ping::{Ping, PingConfig, PingReport};
pub use volleys::{Volleys, VolleysConfig, VolleysReport};
pub use workload::{FlowDone, Lengths, Workload, WorkloadConfig, WorkloadReport};

/// One application of one host. Methods for events it does not need are left out.
pub trait App: Debug + Send {
    /// It begins; `io.now()` is when.
    fn start(&mut self, io: &mut AppIo<'_>);

    /// It is to end: close what is open.
    fn stop(&mut self, _io: &mut AppIo<'_>) {}

    /// Something it asked to hear of happened to a connection: `taken` bytes of the other side's
    /// stream are here, `acknowledged` bytes of ours are there.
    fn connection(
        &mut self,
        _io: &mut AppIo<'_>,
        _id: ConnectionId,
        _happened: Happened,
        _taken: u64,
        _acknowledged: u64,
    ) {
    }

    /// A datagram came to a port of its own.
    fn datagram(&mut self, _io: &mut AppIo<'_>, _datagram: &Datagram) {}

    /// A datagram that is none of ours came to a port of its own: its length and first bytes.
    fn payload(&mut self, _io: &mut AppIo<'_>, _from: Endpoint, _bytes: usize, _head: Vec<u8>) {}

    /// The answer to an echo request.
    fn echo_reply(&mut self, _io: &mut AppIo<'_>, _sequence: u16, _from: IpAddr) {}

    /// Something sent was not delivered.
    fn undelivered(&mut self, _io: &mut AppIo<'_>, _what: &Undelivered) {}

    /// An instant it asked for has come.
    fn alarm(&mut self, _io: &mut AppIo<'_>, _token: u64) {}

    /// Its report at this instant.
    fn report(&self) -> Report;

    /// It was stopped, or has done what it was started for.
    fn has_ended(&self) -> bool;
}

/// Reports of applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A bulk transfer.
    Bulk(BulkReport),
    /// A sink of datagrams: what it saw of each flow.
    DatagramSink(Vec<(u64, FlowReport)>),
    /// A source of datagrams.
    DatagramSource(DatagramSourceReport),
    /// A listener's.
    Listener(ListenerReport),
    Page(PageReport),
    /// Echo requests and their answers.
    Ping(PingReport),
    /// Datagrams at given instants.
    Volleys(VolleysReport),
    /// Flows that come at random.
    Workload(WorkloadReport),
}

/// The commands of an application, at one instant.
#[derive(Debug)]
pub struct AppIo<'a> {
    now: Time,
    app: AppId,
    stack: &'a mut Stack,
    told: &'a mut Option<VecDeque<AppEvent>>,
}

impl<'a> AppIo<'a> {
    pub(crate) fn new(
        now: Time,
        app: AppId,
        stack: &'a mut Stack,
        told: &'a mut Option<VecDeque<AppEvent>>,
    ) -> AppIo<'a> {
        AppIo { now, app, stack, told }
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Dice for this application and this purpose alone.
    pub fn dice(&self, purpose: &str) -> Chance {
        let name = format!("{}/app/{}/{purpose}", self.stack.name, self.app.0);
        Chance::new(self.stack.seed, &name)
    }

    /// The host's TCP settings, with another congestion control if one is named.
    pub fn settings_with(&self, congestion: Option<&Algorithm>) -> Option<Arc<TcpSettings>> {
        congestion.cloned().map(|congestion| {
            let own = TcpSettings::clone(&self.stack.settings);
            Arc::new(TcpSettings { congestion, ..own })
        })
    }

    /// Opens a connection whose events in `interest` are reported; none if there is no way there.
    pub fn connect(
        &mut self,
        to: Endpoint,
        interest: Happened,
        settings: Option<Arc<TcpSettings>>,
    ) -> Option<ConnectionId> {
        self.stack.connect(self.now, self.app, to, interest, settings)
    }

    /// Takes connections to `port` from now on.
    pub fn listen(&mut self, port: u16, interest: Happened, settings: Option<Arc<TcpSettings>>) {
        self.stack.listen(port, self.app, interest, settings);
    }

    /// `bytes` more are to be sent.
    pub fn send(&mut self, id: ConnectionId, bytes: u64) {
        self.stack.with_connection(self.now, id, |connection, io| connection.offer(io, bytes));
    }

    /// No more will be sent.
    pub fn close(&mut self, id: ConnectionId) {
        self.stack.with_connection(self.now, id, Connection::close);
    }

    /// Ends it at once.
    pub fn abort(&mut self, id: ConnectionId) {
        self.stack.with_connection(self.now, id, Connection::abort);
    }

    /// Takes the other side's stream up to `limit` bytes and no further.
    pub fn read_up_to(&mut self, id: ConnectionId, limit: u64) {
        self.stack.with_connection(self.now, id, |c, io| c.read_up_to(io, limit));
    }

    /// The data of `ss -ti`.
    pub fn snapshot(&self, id: ConnectionId) -> Option<Snapshot> {
        self.stack.connections.snapshot(id).map(|(.., snapshot)| snapshot)
    }

    /// The host's TCP settings.
    pub fn settings(&self) -> &TcpSettings {
        &self.stack.settings
    }

    /// Somebody may want to hear of this.
    pub fn tell(&mut self, seen: impl FnOnce() -> Seen) {
        if let Some(told) = self.told {
            told.push_back(AppEvent { at: self.now, app: self.app, seen: seen() });
        }
    }

    /// Takes datagrams to `port`; false if the port is in use.
    pub fn bind_udp(&mut self, port: u16) -> bool {
        self.stack.bind_udp(port, self.app, None)
    }

    /// Takes datagrams of any kind to `port`, and this many first bytes of each; false if the port
    /// is in use.
    pub fn bind_udp_payload(&mut self, port: u16, head: usize) -> bool {
        self.stack.bind_udp(port, self.app, Some(head))
    }

    /// Gives back the UDP ports that it took.
    pub fn unbind_udp(&mut self) {
        self.stack.unbind_udp(self.app);
    }

    /// Takes no more connections to `port`.
    pub fn stop_listening(&mut self, port: u16) {
        self.stack.stop_listening(port, self.app);
    }

    /// An unused port.
    pub fn own_port(&mut self) -> u16 {
        self.stack.ephemeral_port()
    }

    /// A datagram of `bytes` leaves: number `number` of `flow`.
    pub fn send_datagram(&mut self, from: u16, to: Endpoint, flow: u64, number: u64, bytes: Bytes) {
        let ecn = Ecn::NotEct;
        self.stack.send_datagram(self.now, from, to, (flow, number), bytes.count() as usize, ecn);
    }

    /// An echo request leaves.
    pub fn send_echo(&mut self, to: IpAddr, request: EchoRequest) {
        self.stack.send_echo(self.now, self.app, to, request);
    }

    /// Calls [`App::alarm`] with `token` after `span`.
    pub fn alarm_after(&mut self, span: Span, token: u64) {
        self.stack.agenda.note(self.now.saturating_add(span), Wake::App(self.app.0, token));
    }
}
