//! A host's protocols, from frames up to connections and datagrams.
//!
//! ```text
//!   handle_frame ─ receive ─┬─ neighbours (ARP, ND)        ┌─ tcp ── Connection
//!                           └─ IPv4, IPv6 ── icmp ── udp ──┘
//!   poll_transmit ─ netdev ─── send (routes, neighbours, headers) ─────┘
//! ```
//!
//! Events for applications are put down as a [`Notice`]; the host hands it over.

mod icmp;
mod neighbours;
mod receive;
mod send;
mod tcp;
mod udp;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use chance::Chance;
use core::net::IpAddr;
use units::Time;

use crate::agenda::{Agenda, Wake};
use crate::books::Books;
use crate::config::{HostConfig, Route};
use crate::netdev::Netdev;
use crate::packet::Packet;
use crate::tcp::{Happened, TcpSettings};

pub use icmp::{EchoRequest, Undelivered, Why};
pub use tcp::ConnectionId;
pub(crate) use tcp::Connections;
pub use udp::Datagram;

/// Ports that the host chooses itself, as in Linux's `ip_local_port_range`.
const EPHEMERAL_FIRST: u16 = 32_768;
pub const EPHEMERAL_COUNT: u16 = 28_232;

/// Whether a port is one of those that the host takes for its own ends.
fn is_ephemeral(port: u16) -> bool {
    (EPHEMERAL_FIRST..EPHEMERAL_FIRST + EPHEMERAL_COUNT).contains(&port)
}

/// One of a host's applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppId(pub usize);

/// One end of a connection or of a flow of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub address: IpAddr,
    /// Which port of it.
    pub port: u16,
}

impl Endpoint {
    /// `port` at `address`.
    pub fn new(address: IpAddr, port: u16) -> Endpoint {
        Endpoint { address, port }
    }
}

/// An event for an application.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// Something happened to a connection. The counts are those of the stream, both ways.
    Connection { id: ConnectionId, happened: Happened, taken: u64, acknowledged: u64 },
    /// A datagram came to a port of the application's.
    Datagram(Datagram),
    /// A datagram came to a port that takes those of others: its length and first bytes.
    Payload { from: Endpoint, bytes: usize, head: Vec<u8> },
    /// An echo came back.
    EchoReply { sequence: u16, from: IpAddr },
    /// A router or host did not deliver what was sent.
    Undelivered(Undelivered),
    /// The application's own alarm.
    Alarm(u64),
}

/// See the top of the file.
#[derive(Debug)]
pub(crate) struct Stack {
    pub name: String,
    pub seed: u64,
    pub netdevs: Vec<Netdev>,
    routes: Vec<Route>,
    pub settings: Arc<TcpSettings>,
    pub books: Books,
    pub agenda: Agenda,
    pub notices: VecDeque<(AppId, Notice)>,
    pub connections: Connections,
    /// The owners of UDP ports and of ping identifiers.
    udp_ports: BTreeMap<u16, (AppId, Option<usize>)>,
    echoes: BTreeMap<u16, AppId>,
    /// Paths that take less than the card does.
    path_mtu: BTreeMap<IpAddr, u32>,
    next_port: u16,
    identification: u16,
    dice: Chance,
}

impl Stack {
    pub fn new(config: HostConfig) -> Stack {
        let mut dice = Chance::new(config.seed, &format!("{}/stack", config.name));
        let next_port = dice.below(u64::from(EPHEMERAL_COUNT)) as u16;
        Stack {
            seed: config.seed,
            name: config.name,
            netdevs: config.netdevs.into_iter().map(Netdev::new).collect(),
            routes: config.routes,
            settings: Arc::new(config.tcp),
            books: Books::default(),
            agenda: Agenda::default(),
            notices: VecDeque::new(),
            connections: Connections::default(),
            udp_ports: BTreeMap::new(),
            echoes: BTreeMap::new(),
            path_mtu: BTreeMap::new(),
            next_port,
            identification: dice.bits() as u16,
            dice,
        }
    }

    /// A port of its own for each caller, all different until they are used up.
    pub fn ephemeral_port(&mut self) -> u16 {
        self.next_port = (self.next_port + 1) % EPHEMERAL_COUNT;
        EPHEMERAL_FIRST + self.next_port
    }

    /// Whether `address` is one of the host's.
    fn owns(&self, address: IpAddr) -> bool {
        let own = |netdev: &Netdev| netdev.config.interfaces.iter().any(|i| i.address == address);
        self.netdevs.iter().any(own)
    }

    /// Somebody waits until `at`, or everything due at `now` is done: who is to be woken.
    pub fn take_due(&mut self, now: Time) -> Option<(Time, Wake)> {
        self.agenda.take_due(now)
    }

    /// The earliest instant at which something is to be done.
    pub fn next_due(&self) -> Time {
        let lines = self.netdevs.iter().filter_map(Netdev::next_due).min();
        let agenda = self.agenda.next_due();
        lines.unwrap_or(Time::MAX).min(agenda.unwrap_or(Time::MAX))
    }

    /// The next frame that can leave, and when its last bit will have.
    pub fn depart(&mut self, now: Time) -> Option<(usize, Packet, Time)> {
        for index in 0..self.netdevs.len() {
            if let Some((packet, left_at)) = self.netdevs[index].depart(now) {
                self.books.waiting -= 1;
                self.books.sent += 1;
                self.books.sent_bytes += packet.length() as u64;
                if let Some(connection) = packet.connection {
                    self.note_departed(now, connection, packet.length());
                }
                return Some((index, packet, left_at));
            }
        }
        None
    }
}
