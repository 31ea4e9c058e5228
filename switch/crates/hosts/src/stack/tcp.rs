//! The connections of a host: who has which, what comes for them, what leaves from them.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use chance::Chance;
use core::net::IpAddr;
use frames::Seal;
use units::Time;
use wire::tcp::{self, Flags, SeqNumber};
use wire::{MacAddress, Protocol};

use super::receive::Arrival;
use super::send::{Envelope, HOP_LIMIT, Hop, ip_header_bytes};
use super::{AppId, EPHEMERAL_COUNT, Endpoint, Notice, Stack, is_ephemeral};
use crate::agenda::Wake;
use crate::congestion::Congestion;
use crate::packet::Body;
use crate::payload;
use crate::reason::DropReason;
use crate::tcp::{
    Connection, Happened, Io, Outgoing, Refusal, Route, Segment, Snapshot, TcpSettings,
};

/// One of a host's connections; never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId {
    place: usize,
    generation: u32,
}

/// A connection and what the host knows of it.
#[derive(Debug)]
struct Entry {
    connection: Connection,
    generation: u32,
    owner: AppId,
    /// The events that the owner subscribes to.
    interest: Happened,
    local: Endpoint,
    remote: Endpoint,
    hop: Hop,
    /// The neighbour's address, and the card's epoch in which it was learnt.
    neighbour: (Option<MacAddress>, u32),
    /// The earliest note in the agenda.
    noted: Time,
    /// It waits for room in the card's queue.
    blocked: bool,
}

impl Entry {
    /// Where it leads, whatever its own port.
    fn way(&self) -> FlowKey {
        FlowKey::new(Endpoint::new(self.local.address, 0), self.remote)
    }
}

/// Addresses and ports of both ends as words, for looking up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FlowKey([u64; 5]);

impl FlowKey {
    fn new(local: Endpoint, remote: Endpoint) -> FlowKey {
        let ports = u64::from(local.port) << 16 | u64::from(remote.port);
        match (local.address, remote.address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                FlowKey([ports, u64::from(a.to_bits()) << 32 | u64::from(b.to_bits()), 0, 0, 0])
            }
            (a, b) => {
                let bits = |address: IpAddr| match address {
                    IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
                    IpAddr::V6(address) => address.to_bits(),
                };
                let (a, b) = (bits(a), bits(b));
                FlowKey([ports, (a >> 64) as u64, a as u64, (b >> 64) as u64, b as u64])
            }
        }
    }
}

/// Multiplies and rotates: quick, and the same on every machine. Nobody iterates over the table.
#[derive(Clone, Copy, Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// All connections of a host.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    entries: Vec<Option<Box<Entry>>>,
    free: Vec<usize>,
    generation: u32,
    by_flow: HashMap<FlowKey, usize, BuildHasherDefault<Mixer>>,
    /// How many of the host's own ports lead to a remote end: by both addresses, with port 0 here.
    own_ports: HashMap<FlowKey, u16, BuildHasherDefault<Mixer>>,
    listeners: BTreeMap<u16, (AppId, Happened, Option<Arc<TcpSettings>>)>,
    /// Those that wait for room in a queue.
    blocked: Vec<ConnectionId>,
    /// Lent to connections for their segments.
    out: Vec<Outgoing>,
}

impl Connections {
    fn get(&self, id: ConnectionId) -> Option<&Entry> {
        self.entries.get(id.place)?.as_deref().filter(|entry| entry.generation == id.generation)
    }

    /// Every connection there is, in the order of their places.
    pub fn all(&self) -> impl Iterator<Item = ConnectionId> + '_ {
        let id = |(place, entry): (usize, &Option<Box<Entry>>)| {
            entry.as_ref().map(|entry| ConnectionId { place, generation: entry.generation })
        };
        self.entries.iter().enumerate().filter_map(id)
    }

    /// The `ss` data of a connection, and its two ends.
    pub fn snapshot(&self, id: ConnectionId) -> Option<(Endpoint, Endpoint, Snapshot)> {
        self.get(id).map(|entry| (entry.local, entry.remote, entry.connection.snapshot()))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.by_flow.len()
    }

    fn insert(&mut self, entry: Entry) -> ConnectionId {
        let key = FlowKey::new(entry.local, entry.remote);
        let place = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        let generation = entry.generation;
        self.by_flow.insert(key, place);
        if is_ephemeral(entry.local.port) {
            *self.own_ports.entry(entry.way()).or_default() += 1;
        }
        self.entries[place] = Some(Box::new(entry));
        ConnectionId { place, generation }
    }

    /// A connection is over: its ends may be those of another one.
    fn forget(&mut self, entry: &Entry) {
        self.by_flow.remove(&FlowKey::new(entry.local, entry.remote));
        if let Some(count) = self.own_ports.get_mut(&entry.way()) {
            *count -= u16::from(is_ephemeral(entry.local.port));
            if *count == 0 {
                self.own_ports.remove(&entry.way());
            }
        }
    }

    /// Whether each of the host's own ports leads from `source` to `to` already.
    fn is_full(&self, source: IpAddr, to: Endpoint) -> bool {
        let way = FlowKey::new(Endpoint::new(source, 0), to);
        self.own_ports.get(&way).is_some_and(|count| *count >= EPHEMERAL_COUNT)
    }
}

impl Stack {
    /// Connections to `port` go to `app`.
    pub fn listen(
        &mut self,
        port: u16,
        app: AppId,
        interest: Happened,
        settings: Option<Arc<TcpSettings>>,
    ) {
        self.connections.listeners.insert(port, (app, interest, settings));
    }

    /// Nobody new connects to `port` if it is `app`'s.
    pub fn stop_listening(&mut self, port: u16, app: AppId) {
        let listeners = &mut self.connections.listeners;
        if listeners.get(&port).is_some_and(|(owner, ..)| *owner == app) {
            listeners.remove(&port);
        }
    }

    /// Opens a connection; none if there is no way to the other side, or all ports lead there already.
    pub fn connect(
        &mut self,
        now: Time,
        app: AppId,
        to: Endpoint,
        interest: Happened,
        settings: Option<Arc<TcpSettings>>,
    ) -> Option<ConnectionId> {
        let settings = settings.unwrap_or_else(|| Arc::clone(&self.settings));
        let hop = self.hop(to.address)?;
        let local = self.free_end(self.source_for(to.address)?, to)?;
        let (initial, route) = (self.dice.bits() as u32, self.route_for(hop, to.address));
        let congestion = self.algorithm(&settings, local.port);
        let mut out = std::mem::take(&mut self.connections.out);
        let mut io = Io { now, out: &mut out, room: self.netdevs[hop.netdev].room() };
        let connection = Connection::connect(&mut io, &settings, congestion, initial, route);
        let id = self.register(connection, app, interest, local, to, hop);
        self.flush(now, id, &mut out);
        Some(id)
    }

    /// The next own end from which no connection leads to `to`.
    fn free_end(&mut self, source: IpAddr, to: Endpoint) -> Option<Endpoint> {
        if self.connections.is_full(source, to) {
            return None;
        }
        for _ in 0..EPHEMERAL_COUNT {
            let end = Endpoint::new(source, self.ephemeral_port());
            if !self.connections.by_flow.contains_key(&FlowKey::new(end, to)) {
                return Some(end);
            }
        }
        None
    }

    fn register(
        &mut self,
        connection: Connection,
        owner: AppId,
        interest: Happened,
        local: Endpoint,
        remote: Endpoint,
        hop: Hop,
    ) -> ConnectionId {
        self.connections.generation += 1;
        let generation = self.connections.generation;
        self.connections.insert(Entry {
            connection,
            generation,
            owner,
            interest,
            local,
            remote,
            hop,
            neighbour: (None, 0),
            noted: Time::MAX,
            blocked: false,
        })
    }

    fn route_for(&self, hop: Hop, destination: IpAddr) -> Route {
        let card = self.netdevs[hop.netdev].config.mtu.count() as u32;
        let header = (ip_header_bytes(destination) + tcp::HEADER_SIZE_BYTES) as u32;
        Route { mtu: self.path_mtu(destination, card), header }
    }

    /// The algorithm of the settings, with dice of its own.
    fn algorithm(&self, settings: &TcpSettings, port: u16) -> Box<dyn Congestion> {
        let number = self.connections.generation;
        let dice = Chance::new(self.seed, &format!("{}/tcp/{port}/{number}", self.name));
        settings.congestion.make(dice)
    }

    /// Lets `act` work on a connection, then sends its segments and reports its events.
    pub fn with_connection<R>(
        &mut self,
        now: Time,
        id: ConnectionId,
        act: impl FnOnce(&mut Connection, &mut Io<'_>) -> R,
    ) -> Option<R> {
        let entry = self.connections.entries.get_mut(id.place)?.as_deref_mut()?;
        if entry.generation != id.generation {
            return None;
        }
        let mut out = std::mem::take(&mut self.connections.out);
        let room = self.netdevs[entry.hop.netdev].room();
        let result = act(&mut entry.connection, &mut Io { now, out: &mut out, room });
        self.flush(now, id, &mut out);
        Some(result)
    }

    /// The end of every work on a connection.
    fn flush(&mut self, now: Time, id: ConnectionId, out: &mut Vec<Outgoing>) {
        let Some(mut entry) = self.connections.entries[id.place].take() else { return };
        for segment in out.drain(..) {
            self.send_segment(now, id, &mut entry, &segment);
        }
        self.connections.out = std::mem::take(out);
        let happened = entry.connection.take_happened();
        if happened.any(entry.interest) {
            let notice = Notice::Connection {
                id,
                happened,
                taken: entry.connection.taken_bytes(),
                acknowledged: entry.connection.acknowledged_bytes(),
            };
            self.notices.push_back((entry.owner, notice));
        }
        if entry.connection.is_over() {
            self.connections.forget(&entry);
            self.connections.free.push(id.place);
            return;
        }
        let due = entry.connection.next_due();
        if due < entry.noted {
            entry.noted = due;
            self.agenda.note(due, Wake::Connection(id.place, id.generation));
        }
        let full = self.netdevs[entry.hop.netdev].room() == 0;
        if full && !entry.blocked && entry.connection.unsent_bytes() > 0 {
            entry.blocked = true;
            self.connections.blocked.push(id);
        }
        self.connections.entries[id.place] = Some(entry);
    }

    /// A note of the agenda, made for `noted`, has come up: the connection may want it or not.
    pub fn wake_connection(&mut self, now: Time, noted: Time, place: usize, generation: u32) {
        let id = ConnectionId { place, generation };
        let Some(entry) = self.connections.entries.get_mut(place).and_then(Option::as_deref_mut)
        else {
            return;
        };
        if entry.generation != generation || entry.noted != noted {
            return;
        }
        entry.noted = Time::MAX;
        self.with_connection(now, id, |connection, io| {
            if connection.next_due() <= io.now {
                connection.handle_time(io);
            }
        });
    }

    /// Builds a segment's header and hands it down.
    fn send_segment(&mut self, now: Time, id: ConnectionId, entry: &mut Entry, segment: &Outgoing) {
        let header = tcp::Repr {
            src_port: entry.local.port,
            dst_port: entry.remote.port,
            seq_number: SeqNumber(segment.seq),
            ack_number: SeqNumber(segment.ack),
            flags: segment.flags,
            window: segment.window,
            urgent_pointer: 0,
            options: segment.options,
        };
        let mut bytes = [0; tcp::HEADER_SIZE_BYTES_MAX];
        let size = header.emit(&mut bytes).expect("a connection's options fit into a header");
        let envelope = Envelope {
            source: entry.local.address,
            destination: entry.remote.address,
            protocol: Protocol::TCP,
            ecn: segment.ecn,
            checksum_at: tcp::CHECKSUM.start(),
            with_addresses: true,
            hop_limit: HOP_LIMIT,
            connection: Some((id.place, id.generation)),
        };
        let key = u64::from(entry.connection.snd.initial);
        let body = match segment.length {
            0 => Body::Empty,
            length => Body::Stream { key, offset: segment.offset, length },
        };
        self.books.made += 1;
        let packet = self.wrap(entry.hop.netdev, &envelope, &bytes[..size], body);
        let netdev = &self.netdevs[entry.hop.netdev];
        if entry.neighbour.1 != netdev.epoch {
            entry.neighbour = (netdev.known(entry.hop.next), netdev.epoch);
        }
        entry.connection.snd.queued_bytes += packet.length() as u32;
        self.enqueue(now, entry.hop, entry.neighbour.0, packet);
    }

    /// A segment has left the card: its connection may have waited for that.
    pub(super) fn note_departed(
        &mut self,
        now: Time,
        (place, generation): (usize, u32),
        bytes: usize,
    ) {
        let Some(entry) = self.connections.entries[place].as_deref_mut() else { return };
        if entry.generation == generation {
            let was_throttled = entry.connection.is_throttled();
            let queued = &mut entry.connection.snd.queued_bytes;
            *queued = queued.saturating_sub(bytes as u32);
            if was_throttled && !entry.connection.is_throttled() {
                let id = ConnectionId { place, generation };
                self.with_connection(now, id, Connection::push);
            }
        }
        if !self.connections.blocked.is_empty() {
            self.wake_blocked(now);
        }
    }

    /// Half of a queue is free again: who waited for it goes on.
    fn wake_blocked(&mut self, now: Time) {
        for id in std::mem::take(&mut self.connections.blocked) {
            let Some(entry) = self.connections.entries[id.place].as_deref_mut() else { continue };
            let netdev = &self.netdevs[entry.hop.netdev];
            if entry.generation != id.generation {
                continue;
            }
            if netdev.room() < netdev.config.queue_frames_max / 2 {
                self.connections.blocked.push(id);
                continue;
            }
            entry.blocked = false;
            self.with_connection(now, id, Connection::push);
        }
    }

    pub(super) fn handle_tcp(&mut self, arrival: &Arrival<'_>) -> Result<(), DropReason> {
        let view = tcp::Segment::new_checked(arrival.payload).map_err(|_| DropReason::Malformed)?;
        // Payload that is as it was written need not be read.
        let payload = view.payload();
        let seal = arrival.seal.filter(|seal| seal.length_bytes as usize == payload.len());
        let is_right = match seal {
            None => view.is_checksum_right(arrival.pseudo),
            Some(seal) => {
                let (header, _) = arrival.payload.split_at(view.header_size());
                arrival.pseudo.then(header).join(payload::noted_sum(seal.value)).is_right()
            }
        };
        if !is_right {
            return Err(DropReason::BadChecksum);
        }
        let local = Endpoint::new(arrival.destination, view.dst_port());
        let remote = Endpoint::new(arrival.source, view.src_port());
        let header = tcp::Repr::parse(&view);
        let segment = Segment {
            seq: header.seq_number.0,
            ack: header.ack_number.0,
            flags: header.flags,
            window: header.window,
            options: header.options,
            payload,
            ecn: arrival.ecn,
        };
        let Some(place) = self.connections.by_flow.get(&FlowKey::new(local, remote)).copied()
        else {
            return self.handle_stranger(arrival, local, remote, &segment);
        };
        let entry = self.connections.entries[place].as_deref().expect("the table names it");
        let id = ConnectionId { place, generation: entry.generation };
        // RFC 9293 section 3.6.1: a new SYN may take the place of a connection in TIME-WAIT.
        if entry.connection.is_replaced_by(&segment) {
            self.with_connection(arrival.now, id, |connection, _| connection.forget());
            return self.handle_stranger(arrival, local, remote, &segment);
        }
        self.check_payload(place, &segment, seal);
        let result = self
            .with_connection(arrival.now, id, |connection, io| {
                connection.handle_segment(io, &segment)
            })
            .expect("it is there");
        match result {
            Ok(()) => {
                self.books.taken_tcp += 1;
                Ok(())
            }
            Err(refusal) => Err(match refusal {
                Refusal::BadAck => DropReason::BadAck,
                Refusal::OldTimestamp => DropReason::OldTimestamp,
                Refusal::OutsideWindow => DropReason::OutsideWindow,
                Refusal::Unexpected => DropReason::Unexpected,
            }),
        }
    }

    /// Every byte that arrives is compared with its expected value, or the note about them is.
    fn check_payload(&mut self, place: usize, segment: &Segment<'_>, seal: Option<Seal>) {
        let entry = self.connections.entries[place].as_deref().expect("the caller looked");
        let flags = segment.flags;
        if segment.payload.is_empty() || flags.contains(Flags::SYN) || flags.contains(Flags::RST) {
            return;
        }
        let Some((key, offset)) = entry.connection.place_of(segment.seq) else { return };
        let is_right = match seal {
            Some(seal) => payload::is_noted(key, offset, seal.value),
            None => payload::is_right(key, offset, segment.payload),
        };
        self.books.wrong_payload += u64::from(!is_right);
    }

    /// A segment for which there is no connection: a SYN to a listener opens one.
    fn handle_stranger(
        &mut self,
        arrival: &Arrival<'_>,
        local: Endpoint,
        remote: Endpoint,
        segment: &Segment<'_>,
    ) -> Result<(), DropReason> {
        let flags = segment.flags;
        let opens = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        let listener = self.connections.listeners.get(&local.port).filter(|_| opens);
        let (Some((app, interest, own)), Some(hop)) = (listener, self.hop(remote.address)) else {
            if !flags.contains(Flags::RST) {
                self.refuse(arrival, local, remote, segment);
            }
            return Err(DropReason::NoConnection);
        };
        let (app, interest) = (*app, *interest);
        let settings = Arc::clone(own.as_ref().unwrap_or(&self.settings));
        self.books.taken_tcp += 1;
        let (initial, route) = (self.dice.bits() as u32, self.route_for(hop, remote.address));
        let congestion = self.algorithm(&settings, remote.port);
        let mut out = std::mem::take(&mut self.connections.out);
        let room = self.netdevs[hop.netdev].room();
        let mut io = Io { now: arrival.now, out: &mut out, room };
        let connection =
            Connection::accept(&mut io, &settings, congestion, initial, route, segment);
        let id = self.register(connection, app, interest, local, remote, hop);
        self.flush(arrival.now, id, &mut out);
        Ok(())
    }

    /// The RST that answers what has no connection (RFC 9293 section 3.10.7.1).
    fn refuse(
        &mut self,
        arrival: &Arrival<'_>,
        local: Endpoint,
        remote: Endpoint,
        segment: &Segment<'_>,
    ) {
        let flags = segment.flags;
        let answered = flags.contains(Flags::ACK);
        let length = segment.payload.len() as u32
            + u32::from(flags.contains(Flags::SYN))
            + u32::from(flags.contains(Flags::FIN));
        let header = tcp::Repr {
            src_port: local.port,
            dst_port: remote.port,
            seq_number: SeqNumber(if answered { segment.ack } else { 0 }),
            ack_number: SeqNumber(if answered { 0 } else { segment.seq.wrapping_add(length) }),
            flags: if answered { Flags::RST } else { Flags::RST | Flags::ACK },
            ..tcp::Repr::default()
        };
        let mut bytes = [0; tcp::HEADER_SIZE_BYTES];
        let size = header.emit(&mut bytes).expect("it has no options");
        let envelope = Envelope {
            source: local.address,
            destination: remote.address,
            protocol: Protocol::TCP,
            ecn: wire::Ecn::NotEct,
            checksum_at: tcp::CHECKSUM.start(),
            with_addresses: true,
            hop_limit: HOP_LIMIT,
            connection: None,
        };
        self.send(arrival.now, &envelope, &bytes[..size], Body::Empty);
    }

    /// A router says that a segment of ours was too long. Tells whether it was one.
    pub(super) fn note_path_mtu(
        &mut self,
        now: Time,
        local: Endpoint,
        remote: Endpoint,
        seq: u32,
        mtu: u32,
    ) -> bool {
        let place = self.connections.by_flow.get(&FlowKey::new(local, remote)).copied();
        let Some(entry) = place.and_then(|p| self.connections.entries[p].as_deref()) else {
            return false;
        };
        let id = ConnectionId { place: place.unwrap_or(0), generation: entry.generation };
        let ours = entry.connection.has_in_flight(seq);
        if ours {
            self.with_connection(now, id, |connection, io| connection.path_mtu(io, mtu));
        }
        ours
    }
}
