//! One host: how it is driven.

use std::collections::VecDeque;

use frames::Frame;
use units::{Bytes, Time};

use crate::agenda::Wake;
use crate::apps::{App, AppEvent, AppIo, Report, Seen};
use crate::books::Books;
use crate::config::HostConfig;
use crate::reason::DropReason;
use crate::stack::{AppId, ConnectionId, Endpoint, Notice, Stack};
use crate::tcp::Snapshot;

/// One of a host's cards: its place in [`HostConfig::netdevs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetdevId(pub usize);

/// A frame that leaves a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// From which card.
    pub netdev: NetdevId,
    /// When its last bit is on the cable: now, plus the time it takes at the card's rate.
    pub left_at: Time,
}

/// A host in virtual time, without clock, thread or socket.
///
/// Its driver, at each instant `now` (instants never go back):
///
/// 1. hands in events: [`Host::handle_frame`] for each frame whose last bit arrives,
///    [`Host::handle_time`] if `now` is [`Host::next_due`], and commands ([`Host::start`], ...);
/// 2. then takes frames with [`Host::poll_transmit`] until there is none, and carries each to the
///    other end of its cable, where it arrives at [`Transmit::left_at`] plus the cable's delay;
/// 3. comes back at [`Host::next_due`], or earlier when a frame arrives.
///
/// A card whose line is busy keeps its frames: they are in a queue that can be read
/// ([`Host::queued`]) and is bounded. Every frame's fate is counted in [`Host::books`]. The same
/// calls give the same frames on every machine; random numbers come from the configured seed, with
/// one generator for each user.
#[derive(Debug)]
pub struct Host {
    stack: Stack,
    apps: Vec<Option<Box<dyn App>>>,
    /// Events of applications, if there is a watcher.
    told: Option<VecDeque<AppEvent>>,
}

impl Host {
    /// A host without applications.
    pub fn new(config: HostConfig) -> Host {
        Host { stack: Stack::new(config), apps: Vec::new(), told: None }
    }

    pub fn name(&self) -> &str {
        &self.stack.name
    }

    /// A frame's last bit arrived at a card. It was taken, or dropped for the reason returned.
    pub fn handle_frame(
        &mut self,
        now: Time,
        netdev: NetdevId,
        frame: &Frame,
    ) -> Result<(), DropReason> {
        let fate = self.stack.handle_frame(now, netdev.0, frame);
        self.hand_over(now);
        fate
    }

    /// Time has come to `now`: does what is due.
    pub fn handle_time(&mut self, now: Time) {
        while let Some((noted, whom)) = self.stack.take_due(now) {
            match whom {
                Wake::App(app, token) => {
                    self.stack.notices.push_back((AppId(app), Notice::Alarm(token)));
                }
                Wake::Connection(place, generation) => {
                    self.stack.wake_connection(now, noted, place, generation);
                }
                Wake::Neighbours(netdev) => self.stack.ask_neighbours_again(now, netdev),
            }
            self.hand_over(now);
        }
    }

    /// The next frame that leaves a card now, written over the contents of `frame`.
    pub fn poll_transmit(&mut self, now: Time, frame: &mut Frame) -> Option<Transmit> {
        let (netdev, packet, left_at) = self.stack.depart(now)?;
        packet.build(frame);
        Some(Transmit { netdev: NetdevId(netdev), left_at })
    }

    /// When [`Host::handle_time`] and [`Host::poll_transmit`] are to be called next, if no frame
    /// arrives before. It may be early: a call then finds nothing to do.
    pub fn next_due(&self) -> Option<Time> {
        let due = self.stack.next_due();
        (due < Time::MAX).then_some(due)
    }

    /// Installs an application; it starts now and acts when its own settings say.
    pub fn start(&mut self, now: Time, app: Box<dyn App>) -> AppId {
        let id = AppId(self.apps.len());
        self.apps.push(Some(app));
        self.with_app(now, id, |app, io| app.start(io));
        self.hand_over(now);
        id
    }

    /// Stops an application: its connections are closed in good order.
    pub fn stop(&mut self, now: Time, id: AppId) {
        self.with_app(now, id, |app, io| app.stop(io));
        self.hand_over(now);
    }

    /// An application's report at this instant.
    pub fn report(&self, id: AppId) -> Option<Report> {
        self.apps.get(id.0)?.as_ref().map(|app| app.report())
    }

    /// Whether an application was stopped, or has done what it was started for; false if there is
    /// no such application.
    pub fn has_ended(&self, id: AppId) -> bool {
        self.apps.get(id.0).and_then(Option::as_ref).is_some_and(|app| app.has_ended())
    }

    /// How many applications were started; their ids count from 0.
    pub fn app_count(&self) -> usize {
        self.apps.len()
    }

    /// Keeps what applications see from now on for [`Host::poll_app_event`], or no longer.
    pub fn watch_apps(&mut self, on: bool) {
        match on {
            true => drop(self.told.get_or_insert_default()),
            false => self.told = None,
        }
    }

    /// The next thing that an application has seen, in the order in which they happened.
    pub fn poll_app_event(&mut self) -> Option<AppEvent> {
        self.told.as_mut()?.pop_front()
    }

    /// The connections there are.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        self.stack.connections.all()
    }

    /// How many there are.
    pub fn connection_count(&self) -> usize {
        self.stack.connections.count()
    }

    /// The `ss -ti` data of a connection: our end, the other end, and the state.
    pub fn snapshot(&self, id: ConnectionId) -> Option<(Endpoint, Endpoint, Snapshot)> {
        self.stack.connections.snapshot(id)
    }

    /// The counters of every frame's fate.
    pub fn books(&self) -> &Books {
        &self.stack.books
    }

    /// Frames and bytes in a card's sending queue.
    pub fn queued(&self, netdev: NetdevId) -> (usize, Bytes) {
        let netdev = &self.stack.netdevs[netdev.0];
        (netdev.queued(), netdev.queued_bytes())
    }

    /// Hands applications what they have to hear, and what follows from their answers, until
    /// nothing is left.
    fn hand_over(&mut self, now: Time) {
        while let Some((app, notice)) = self.stack.notices.pop_front() {
            self.with_app(now, app, |app, io| match notice {
                Notice::Connection { id, happened, taken, acknowledged } => {
                    app.connection(io, id, happened, taken, acknowledged);
                }
                Notice::Datagram(datagram) => app.datagram(io, &datagram),
                Notice::Payload { from, bytes, head } => app.payload(io, from, bytes, head),
                Notice::EchoReply { sequence, from } => app.echo_reply(io, sequence, from),
                Notice::Undelivered(undelivered) => app.undelivered(io, &undelivered),
                Notice::Alarm(token) => app.alarm(io, token),
            });
        }
    }

    fn with_app(&mut self, now: Time, id: AppId, act: impl FnOnce(&mut dyn App, &mut AppIo<'_>)) {
        let Some(mut app) = self.apps.get_mut(id.0).and_then(Option::take) else { return };
        let had_ended = app.has_ended();
        let mut io = AppIo::new(now, id, &mut self.stack, &mut self.told);
        act(app.as_mut(), &mut io);
        if !had_ended && app.has_ended() {
            io.tell(|| Seen::Ended(app.report()));
        }
        self.apps[id.0] = Some(app);
    }
}
