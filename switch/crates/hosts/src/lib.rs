//! Hosts in virtual time: Ethernet, IP, ICMP, UDP, TCP, and what people do with them.
//!
//! ```text
//!   commands ─> Host ─┬─ apps      bulk, pages, pings, datagrams, workloads
//!   frames   <─>      ├─ stack     ARP/ND, IPv4/IPv6, ICMP, UDP, the table of connections
//!   instants <─>      ├─ tcp       one connection: sender, receiver, recovery, timers
//!                     └─ congestion  reno, cubic, bbr, ...: one file each; or decided outside
//! ```
//!
//! [`Host`] is the state machine; its documentation is the driving contract. TCP does what Linux
//! does, because the same networks run with Linux's hosts; where an RFC says otherwise the comment
//! names both. There is no clock, no thread, no floating point and no I/O here: the same calls give
//! the same bytes on every machine.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod agenda;
mod apps;
mod books;
mod config;
mod congestion;
mod host;
mod netdev;
mod packet;
mod payload;
mod reason;
mod stack;
mod tcp;

pub use apps::*;
pub use books::Books;
pub use config::{HostConfig, Interface, NetdevConfig, Route};
pub use congestion::{
    Algorithm, CongestionAnswer, CongestionEvent, CongestionOutside, CongestionQuestion,
    MarksWanted, PathSeen, UnknownAlgorithm, WindowSeen, algorithm_names, algorithms,
};
pub use host::{Host, NetdevId, Transmit};
pub use reason::DropReason;
pub use stack::{
    AppId, ConnectionId, Datagram, EPHEMERAL_COUNT, EchoRequest, Endpoint, Undelivered, Why,
};
pub use tcp::{
    EcnSetting, Happened, Memory, RecoveryState, Snapshot, State, TcpSettings, WaitingFor,
};
