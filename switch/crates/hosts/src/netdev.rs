//! A card: its sending queue, its line, and its neighbours.

use std::collections::{BTreeMap, VecDeque};

use core::net::IpAddr;
use units::{Bytes, Span, Time};
use wire::MacAddress;

use crate::config::NetdevConfig;
use crate::packet::Packet;

/// The number of requests for a neighbour, and the time between them (Linux: ucast_solicit,
/// retrans_time).
const QUESTIONS_MAX: u32 = 3;
const QUESTION_SPAN: Span = Span::from_secs(1);
/// Packets that wait for one neighbour's answer.
const HELD_MAX: usize = 100;

/// The state of a neighbour.
#[derive(Debug)]
enum Neighbour {
    Known(MacAddress),
    Asked { questions: u32, next_at: Time, held: Vec<Packet> },
}

/// The fate of a packet whose neighbour is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// It waits; a question has to go out.
    Ask,
    /// It waits for an answer already asked for.
    Wait,
    /// Too many wait.
    Full,
}

/// A card in action.
#[derive(Debug)]
pub(crate) struct Netdev {
    pub config: NetdevConfig,
    queue: VecDeque<Packet>,
    /// When the line is done with the frame before.
    free_at: Time,
    neighbours: BTreeMap<IpAddr, Neighbour>,
    /// Counts changes of known neighbours, so that who remembers one knows when to ask again.
    pub epoch: u32,
}

impl Netdev {
    pub fn new(config: NetdevConfig) -> Netdev {
        let known = config.neighbours.iter().map(|(ip, mac)| (*ip, Neighbour::Known(*mac)));
        Netdev {
            neighbours: known.collect(),
            config,
            queue: VecDeque::new(),
            free_at: Time::ZERO,
            epoch: 1,
        }
    }

    /// How many frames wait.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// How many bytes wait.
    pub fn queued_bytes(&self) -> Bytes {
        Bytes(self.queue.iter().map(|packet| packet.length() as u64).sum())
    }

    /// How many more may.
    pub fn room(&self) -> usize {
        self.config.queue_frames_max.saturating_sub(self.queue.len())
    }

    /// Adds a packet whose destination is filled in.
    pub fn enqueue(&mut self, packet: Packet) {
        self.queue.push_back(packet);
    }

    /// When the next frame can leave.
    pub fn next_due(&self) -> Option<Time> {
        (!self.queue.is_empty()).then_some(self.free_at)
    }

    /// Takes the next packet off if the line is free, with the instant at which its last bit will
    /// have left.
    pub fn depart(&mut self, now: Time) -> Option<(Packet, Time)> {
        if self.free_at > now {
            return None;
        }
        let packet = self.queue.pop_front()?;
        let on_line = Bytes(packet.length() as u64) + self.config.overhead;
        let takes = self.config.rate.map_or(Span::ZERO, |rate| rate.span_of(on_line));
        self.free_at = now + takes;
        Some((packet, self.free_at))
    }

    /// Keeps a packet until the neighbour's address, which is not known, is.
    pub fn hold(&mut self, now: Time, neighbour: IpAddr, packet: Packet) -> Held {
        if let Some(Neighbour::Asked { held, .. }) = self.neighbours.get_mut(&neighbour) {
            if held.len() >= HELD_MAX {
                return Held::Full;
            }
            held.push(packet);
            return Held::Wait;
        }
        let next_at = now + QUESTION_SPAN;
        let asked = Neighbour::Asked { questions: 1, next_at, held: vec![packet] };
        self.neighbours.insert(neighbour, asked);
        Held::Ask
    }

    /// The neighbour's address, if it is known.
    pub fn known(&self, neighbour: IpAddr) -> Option<MacAddress> {
        match self.neighbours.get(&neighbour) {
            Some(Neighbour::Known(mac)) => Some(*mac),
            _ => None,
        }
    }

    /// A neighbour told its address. Returns what waited for it.
    pub fn learn(&mut self, neighbour: IpAddr, mac: MacAddress) -> Vec<Packet> {
        let before = self.neighbours.insert(neighbour, Neighbour::Known(mac));
        if !matches!(before, Some(Neighbour::Known(old)) if old == mac) {
            self.epoch += 1;
        }
        match before {
            Some(Neighbour::Asked { held, .. }) => held,
            _ => Vec::new(),
        }
    }

    /// When a question has to be repeated or given up.
    pub fn questions_due(&self) -> Option<Time> {
        let next = |neighbour: &Neighbour| match neighbour {
            Neighbour::Known(_) => None,
            Neighbour::Asked { next_at, .. } => Some(*next_at),
        };
        self.neighbours.values().filter_map(next).min()
    }

    /// Repeats questions: returns whom to ask again, and how many packets are given up.
    pub fn ask_again(&mut self, now: Time) -> (Vec<IpAddr>, u64) {
        let (mut again, mut given_up) = (Vec::new(), 0);
        self.neighbours.retain(|address, neighbour| {
            let Neighbour::Asked { questions, next_at, held } = neighbour else { return true };
            if *next_at > now {
                return true;
            }
            if *questions >= QUESTIONS_MAX {
                given_up += held.len() as u64;
                return false;
            }
            *questions += 1;
            *next_at = now + QUESTION_SPAN;
            again.push(*address);
            true
        });
        (again, given_up)
    }
}
