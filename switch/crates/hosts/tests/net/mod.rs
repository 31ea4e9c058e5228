//! A small network for tests: hosts on the left, hosts on the right, one pipe each way between.
//!
//! ```text
//!   10.0.0.1 ─┐                              ┌─ 10.0.1.1
//!   10.0.0.2 ─┼── there: queue, rate, delay ─┼─ 10.0.1.2
//!             └── back: ...                 ─┘
//! ```
//!
//! A pipe drops, marks, loses, doubles, delays and corrupts according to its settings, with random
//! numbers of its own.
#![allow(dead_code)]

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chance::{Chance, Probability};
use frames::{Frame, Pool};
use hosts::{
    App, AppId, Endpoint, Host, HostConfig, Interface, NetdevConfig, NetdevId, Report, Snapshot,
    TcpSettings,
};
use units::{Bytes, Rate, Span, Time};
use wire::MacAddress;

/// One direction.
#[derive(Clone, Debug)]
pub struct Pipe {
    pub rate: Option<Rate>,
    pub delay: Span,
    /// Frames that may wait, besides the one on the line.
    pub queue_frames: usize,
    /// From this many waiting frames on, ECN-capable ones of IPv4 are marked.
    pub mark_from: Option<usize>,
    pub loss: Probability,
    pub duplication: Probability,
    pub corruption: Probability,
    /// A frame that is chosen comes this much later: others overtake it.
    pub reordering: (Probability, Span),
}

impl Pipe {
    /// Nothing ever happens in it.
    pub fn clean(rate: Option<Rate>, delay: Span, queue_frames: usize) -> Pipe {
        Pipe {
            rate,
            delay,
            queue_frames,
            mark_from: None,
            loss: Probability::NEVER,
            duplication: Probability::NEVER,
            corruption: Probability::NEVER,
            reordering: (Probability::NEVER, Span::ZERO),
        }
    }
}

/// A pipe's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCounts {
    pub entered: u64,
    pub dropped: u64,
    pub lost: u64,
    pub doubled: u64,
    pub corrupted: u64,
    pub marked: u64,
    /// Of frames that were put on the line.
    pub carried_bytes: u64,
    /// Sum over frames of how long each waited.
    pub waited: Span,
}

struct Direction {
    pipe: Pipe,
    counts: PipeCounts,
    departures: VecDeque<Time>,
    free_at: Time,
    dice: Chance,
}

/// When, in which order, at which host, what.
type Arrival = (Time, u64, usize, Carried);

/// A frame that is not compared: no two arrivals have the same number.
struct Carried(Frame);

impl PartialEq for Carried {
    fn eq(&self, _: &Carried) -> bool {
        true
    }
}

impl Eq for Carried {}

impl PartialOrd for Carried {
    fn partial_cmp(&self, other: &Carried) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Carried {
    fn cmp(&self, _: &Carried) -> Ordering {
        Ordering::Equal
    }
}

/// See the top of the file.
pub struct Net {
    pub hosts: Vec<Host>,
    left: usize,
    there: Direction,
    back: Direction,
    arrivals: BinaryHeap<Reverse<Arrival>>,
    numbered: u64,
    pool: Pool,
    pub now: Time,
    /// A hash of all frames and their instants.
    pub digest: u64,
}

pub fn mac(index: usize) -> MacAddress {
    MacAddress([2, 0, 0, 0, (index >> 8) as u8, index as u8])
}

fn ipv4(side: u8, place: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, side, (place / 250) as u8, (place % 250 + 1) as u8)
}

fn ipv6(side: u8, place: usize) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, side.into(), place as u16 + 1)
}

impl Net {
    /// `left` and `right` hosts with these settings.
    pub fn new(
        left: usize,
        right: usize,
        tcp: &TcpSettings,
        there: Pipe,
        back: Pipe,
        seed: u64,
    ) -> Net {
        let count = left + right;
        let addresses = |index: usize| {
            let (side, place) = if index < left { (0, index) } else { (1, index - left) };
            [IpAddr::V4(ipv4(side, place)), IpAddr::V6(ipv6(side, place))]
        };
        let hosts = (0..count)
            .map(|index| {
                let interface = |address| Interface { address, prefix_bits: 8 };
                let interfaces = addresses(index).map(interface).to_vec();
                let mut netdev = NetdevConfig::new("eth0", mac(index), interfaces);
                let known = |other| addresses(other).map(|address| (address, mac(other)));
                netdev.neighbours = (0..count).flat_map(known).collect();
                Host::new(HostConfig {
                    name: format!("h{index}"),
                    netdevs: vec![netdev],
                    routes: Vec::new(),
                    tcp: tcp.clone(),
                    seed,
                })
            })
            .collect();
        let direction = |pipe, name: &str| Direction {
            pipe,
            counts: PipeCounts::default(),
            departures: VecDeque::new(),
            free_at: Time::ZERO,
            dice: Chance::new(seed, name),
        };
        Net {
            hosts,
            left,
            there: direction(there, "there"),
            back: direction(back, "back"),
            arrivals: BinaryHeap::new(),
            numbered: 0,
            pool: Pool::default(),
            now: Time::ZERO,
            digest: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// The address of a host on the right.
    pub fn right(&self, place: usize, port: u16) -> Endpoint {
        Endpoint::new(IpAddr::V4(ipv4(1, place)), port)
    }

    /// Its address of IPv6.
    pub fn right_ipv6(&self, place: usize, port: u16) -> Endpoint {
        Endpoint::new(IpAddr::V6(ipv6(1, place)), port)
    }

    pub fn start_left(&mut self, host: usize, app: Box<dyn App>) -> AppId {
        let now = self.now;
        let id = self.hosts[host].start(now, app);
        self.carry(host);
        id
    }

    pub fn start_right(&mut self, place: usize, app: Box<dyn App>) -> AppId {
        self.start_left(self.left + place, app)
    }

    pub fn there(&self) -> PipeCounts {
        self.there.counts
    }

    pub fn back(&self) -> PipeCounts {
        self.back.counts
    }

    /// How many frames wait on the way there.
    pub fn queue(&self) -> usize {
        self.there.departures.iter().filter(|at| **at > self.now).count().saturating_sub(1)
    }

    pub fn report(&self, host: usize, app: AppId) -> Report {
        self.hosts[host].report(app).expect("it was started")
    }

    /// The first connection of a host.
    pub fn snapshot(&self, host: usize) -> Option<Snapshot> {
        let host = &self.hosts[host];
        let id = host.connections().next()?;
        host.snapshot(id).map(|(.., snapshot)| snapshot)
    }

    /// Lets time pass until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let arrival = self.arrivals.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
            let dues = self.hosts.iter().map(|host| host.next_due().unwrap_or(Time::MAX));
            let (host, due) =
                dues.enumerate().min_by_key(|(_, due)| *due).unwrap_or((0, Time::MAX));
            let next = arrival.min(due);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if arrival <= due {
                let Some(Reverse((_, _, to, Carried(frame)))) = self.arrivals.pop() else { return };
                // The reason of its drop is counted.
                let _counted = self.hosts[to].handle_frame(next, NetdevId(0), &frame);
                self.pool.recycle(frame);
                self.carry(to);
            } else {
                self.hosts[host].handle_time(next);
                self.carry(host);
            }
        }
    }

    pub fn run(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    /// Takes what a host sends and puts it into the pipe.
    fn carry(&mut self, from: usize) {
        loop {
            let mut frame = self.pool.spare();
            let Some(sent) = self.hosts[from].poll_transmit(self.now, &mut frame) else {
                self.pool.recycle(frame);
                return;
            };
            let direction = if from < self.left { &mut self.there } else { &mut self.back };
            let bytes = frame.bytes();
            let to = usize::from(bytes[4]) << 8 | usize::from(bytes[5]);
            self.digest =
                bytes.iter().step_by(7).fold(self.digest ^ sent.left_at.ps(), |hash, byte| {
                    (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
                });
            for (at, frame) in direction.enter(sent.left_at, frame, &mut self.pool) {
                self.numbered += 1;
                self.arrivals.push(Reverse((at, self.numbered, to, Carried(frame))));
            }
        }
    }
}

impl Direction {
    /// A frame enters; returns it, and perhaps a second copy, with the instants of arrival.
    fn enter(
        &mut self,
        now: Time,
        mut frame: Frame,
        pool: &mut Pool,
    ) -> impl Iterator<Item = (Time, Frame)> + use<> {
        self.counts.entered += 1;
        while self.departures.front().is_some_and(|at| *at <= now) {
            self.departures.pop_front();
        }
        let waiting = self.departures.len().saturating_sub(1);
        if self.pipe.rate.is_some()
            && waiting >= self.pipe.queue_frames
            && !self.departures.is_empty()
        {
            self.counts.dropped += 1;
            pool.recycle(frame);
            return [None, None].into_iter().flatten();
        }
        if self.pipe.mark_from.is_some_and(|from| waiting >= from) && frame.bytes()[15] & 3 != 0 {
            wire::ipv4::set_ecn(&mut frame.head_mut()[14..], wire::Ecn::Ce);
            self.counts.marked += 1;
        }
        let start = self.free_at.max(now);
        let takes = |rate: Rate| rate.span_of(Bytes(frame.bytes().len() as u64));
        let departs = start + self.pipe.rate.map_or(Span::ZERO, takes);
        if self.pipe.rate.is_some() {
            self.free_at = departs;
            self.departures.push_back(departs);
            self.counts.waited += start.since(now);
        }
        self.counts.carried_bytes += frame.bytes().len() as u64;
        if self.dice.occurs(self.pipe.loss) {
            self.counts.lost += 1;
            pool.recycle(frame);
            return [None, None].into_iter().flatten();
        }
        if self.dice.occurs(self.pipe.corruption) {
            self.counts.corrupted += 1;
            let at = self.dice.below(frame.bytes().len() as u64) as usize;
            frame.bytes_mut()[at] ^= 1 << self.dice.below(8);
        }
        let (late, by) = self.pipe.reordering;
        let by = if self.dice.occurs(late) { self.dice.span_up_to(by) } else { Span::ZERO };
        let arrives = departs + self.pipe.delay + by;
        let copy = self.dice.occurs(self.pipe.duplication).then(|| {
            self.counts.doubled += 1;
            (arrives + Span::from_us(self.dice.below(50)), frame.clone())
        });
        [Some((arrives, frame)), copy].into_iter().flatten()
    }
}
