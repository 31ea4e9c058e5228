//! `vitrine.v1.World`: a network in virtual time, controlled by messages. No sockets, no threads,
//! no clock: it is driven by the carrier of the messages, gRPC or a page.
//!
//! ```text
//!   vitrine.v1.World   -> Front  -> Request -> Stage -> World, hosts
//!   P4Runtime, Router  -> Fronts -> Request -> Agent, one a router -> Device
//! ```
//!
//! ```text
//!   front.rs      the calls, as futures that wait for the stage only
//!   request.rs    what they ask of it
//!   stage.rs      the Stage: carries out requests and lets time pass; how to drive it
//!   passing.rs    how far time is to pass, and how fast
//!   network.rs    what was built: the world with its routers' agents
//!   topology.rs   messages to hosts, routers and cables, with all that is wrong
//!   problems.rs   what is wrong with a topology, as a list that grows
//!   tcp.rs        how a host's TCP behaves
//!   guests.rs     classes that decide for routers and hosts
//!   invite.rs     one of them takes the place of a part of a router
//!   apps.rs       messages to applications
//!   reports.rs    what applications have seen, as messages
//!   look.rs       hosts, connections and cables, as messages
//!   watch.rs      watchers of hosts
//!   capture.rs    readers of frames
//!   spout.rs      what waits for a reader
//! ```

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod apps;
mod capture;
mod front;
mod guests;
mod invite;
mod look;
mod network;
mod passing;
mod problems;
mod reports;
mod request;
mod spout;
mod stage;
mod tcp;
mod topology;
mod watch;

pub use front::Front;
pub use guests::{Deciders, Runner};
pub use request::Request;
pub use spout::SpoutStream;
pub use stage::{Next, STALL_MAX, Stage};
