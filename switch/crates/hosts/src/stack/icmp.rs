//! ICMP (RFC 792) and ICMPv6 (RFC 4443): echoes, and the errors that routers and hosts send.

use core::net::IpAddr;
use units::{Bytes, Time};
use wire::{Ecn, Field, Protocol, icmpv4, icmpv6, ipv4, ipv6, tcp, udp};

use super::receive::Arrival;
use super::send::{Envelope, HOP_LIMIT};
use super::{AppId, Endpoint, Notice, Stack};
use crate::packet::Body;
use crate::reason::DropReason;

/// How much of the packet an error quotes: what fits into the least MTU of IPv4 (RFC 1812 section
/// 4.3.2.3).
const QUOTE_BYTES_MAX: usize = 548;
/// Where the quoted packet's transport header has both ports, in TCP and UDP alike.
const PORTS: (Field<u16>, Field<u16>) = (tcp::SRC_PORT, tcp::DST_PORT);

/// The packet of ours that an error quotes.
struct Quoted {
    destination: IpAddr,
    protocol: Protocol,
    ports: (u16, u16),
    /// The sequence number of a TCP segment.
    seq: Option<u32>,
    /// Both of an echo request.
    identifier: u16,
    sequence: u16,
}

/// Source, destination and distance.
struct Way {
    source: IpAddr,
    to: IpAddr,
    hop_limit: u8,
}

impl Way {
    /// To the sender of the arrival.
    fn back(arrival: &Arrival<'_>) -> Way {
        Way { source: arrival.destination, to: arrival.source, hop_limit: HOP_LIMIT }
    }
}

/// The identity of a ping.
#[derive(Clone, Copy, Debug)]
pub struct EchoRequest {
    pub identifier: u16,
    pub sequence: u16,
    pub payload: Bytes,
    /// How many routers it may pass; none: as many as anything else.
    pub hop_limit: Option<u8>,
}

/// The error that a router or host on the way reports for a packet of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undelivered {
    pub from: IpAddr,
    pub why: Why,
    /// The sequence number, of an echo request.
    pub sequence: u16,
}

/// Why a packet was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is no way there, or no receiver.
    Unreachable,
    /// It has passed as many routers as it may.
    HopLimit,
    /// The next link takes no more than this many bytes.
    TooLong { mtu: u32 },
}

impl Stack {
    /// A ping leaves.
    pub fn send_echo(&mut self, now: Time, app: AppId, to: IpAddr, request: EchoRequest) {
        let EchoRequest { identifier: id, sequence: seq, payload, hop_limit } = request;
        let Some(source) = self.source_for(to) else {
            self.books.made += 1;
            self.books.note_drop(DropReason::NoRoute);
            return;
        };
        self.echoes.insert(id, app);
        let kind = if to.is_ipv4() { icmpv4::ECHO_REQUEST } else { icmpv6::ECHO_REQUEST };
        let message = echo(kind, id, seq);
        let length = payload.count() as u32;
        let body = Body::Stream { key: u64::from(seq), offset: 0, length };
        let hop_limit = hop_limit.unwrap_or(HOP_LIMIT);
        self.send_icmp(now, Way { source, to, hop_limit }, &message, body);
    }

    fn send_icmp(&mut self, now: Time, way: Way, message: &[u8; 8], body: Body) {
        let Way { source, to, hop_limit } = way;
        let envelope = Envelope {
            source,
            destination: to,
            hop_limit,
            protocol: if to.is_ipv4() { Protocol::ICMPV4 } else { Protocol::ICMPV6 },
            ecn: Ecn::NotEct,
            checksum_at: icmpv4::CHECKSUM.start(),
            // ICMPv6 sums addresses, ICMP does not.
            with_addresses: !to.is_ipv4(),
            connection: None,
        };
        self.send(now, &envelope, message, body);
    }

    pub(super) fn handle_icmpv4(&mut self, arrival: &Arrival<'_>) -> Result<(), DropReason> {
        let message =
            icmpv4::Message::new_checked(arrival.payload).map_err(|_| DropReason::Malformed)?;
        if !message.is_checksum_right() {
            return Err(DropReason::BadChecksum);
        }
        self.books.taken_icmp += 1;
        match message.kind() {
            icmpv4::ECHO_REQUEST => self.answer_echo(arrival, icmpv4::ECHO_REPLY),
            icmpv4::ECHO_REPLY => self.take_echo(arrival),
            icmpv4::DESTINATION_UNREACHABLE if message.code() == icmpv4::FRAGMENTATION_NEEDED => {
                let mtu = u32::from(message.next_hop_mtu());
                self.take_too_big(arrival, quoted_ipv4(message.payload()), mtu);
            }
            icmpv4::DESTINATION_UNREACHABLE => {
                self.take_undelivered(arrival, quoted_ipv4(message.payload()), Why::Unreachable);
            }
            icmpv4::TIME_EXCEEDED => {
                self.take_undelivered(arrival, quoted_ipv4(message.payload()), Why::HopLimit);
            }
            _ => (),
        }
        Ok(())
    }

    pub(super) fn handle_icmpv6(&mut self, arrival: &Arrival<'_>) -> Result<(), DropReason> {
        let message =
            icmpv6::Message::new_checked(arrival.payload).map_err(|_| DropReason::Malformed)?;
        if !message.is_checksum_right(arrival.pseudo) {
            return Err(DropReason::BadChecksum);
        }
        match message.kind() {
            icmpv6::ECHO_REQUEST => self.answer_echo(arrival, icmpv6::ECHO_REPLY),
            icmpv6::ECHO_REPLY => self.take_echo(arrival),
            icmpv6::PACKET_TOO_BIG => {
                let mtu = icmpv6::MTU.get(arrival.payload);
                self.take_too_big(arrival, quoted_ipv6(message.payload()), mtu);
            }
            icmpv6::DESTINATION_UNREACHABLE => {
                self.take_undelivered(arrival, quoted_ipv6(message.payload()), Why::Unreachable);
            }
            icmpv6::TIME_EXCEEDED => {
                self.take_undelivered(arrival, quoted_ipv6(message.payload()), Why::HopLimit);
            }
            icmpv6::NEIGHBOR_SOLICITATION | icmpv6::NEIGHBOR_ADVERTISEMENT => {
                let IpAddr::V6(source) = arrival.source else { return Err(DropReason::Malformed) };
                self.handle_neighbour(arrival.netdev, source, arrival.payload)?;
            }
            _ => (),
        }
        self.books.taken_icmp += 1;
        Ok(())
    }

    fn answer_echo(&mut self, arrival: &Arrival<'_>, kind: u8) {
        if !self.owns(arrival.destination) {
            return;
        }
        let id = icmpv4::IDENTIFIER.get(arrival.payload);
        let message = echo(kind, id, icmpv4::SEQUENCE.get(arrival.payload));
        let body = Body::Bytes(arrival.payload[icmpv4::HEADER_SIZE_BYTES..].into());
        self.send_icmp(arrival.now, Way::back(arrival), &message, body);
    }

    fn take_echo(&mut self, arrival: &Arrival<'_>) {
        let id = icmpv4::IDENTIFIER.get(arrival.payload);
        let sequence = icmpv4::SEQUENCE.get(arrival.payload);
        if let Some(app) = self.echoes.get(&id) {
            let notice = Notice::EchoReply { sequence, from: arrival.source };
            self.notices.push_back((*app, notice));
        }
    }

    /// The path takes less than we thought (RFC 1191, RFC 8201).
    fn take_too_big(&mut self, arrival: &Arrival<'_>, quoted: Option<Quoted>, mtu: u32) {
        let Some(quoted) = quoted else { return };
        let least = if quoted.destination.is_ipv4() { 68 } else { 1280 };
        let mtu = mtu.max(least);
        if let Some(seq) = quoted.seq {
            let remote = Endpoint::new(quoted.destination, quoted.ports.1);
            let local = Endpoint::new(arrival.destination, quoted.ports.0);
            // Only who saw a segment of ours can quote a number that is on its way (RFC 5927).
            if self.note_path_mtu(arrival.now, local, remote, seq, mtu) {
                self.path_mtu.insert(quoted.destination, mtu);
            }
        } else {
            self.path_mtu.insert(quoted.destination, mtu);
            self.take_undelivered(arrival, Some(quoted), Why::TooLong { mtu });
        }
    }

    /// A packet of ours was not delivered: applications are notified; TCP goes on trying (RFC 1122
    /// section 4.2.3.9 calls such errors soft).
    fn take_undelivered(&mut self, arrival: &Arrival<'_>, quoted: Option<Quoted>, why: Why) {
        let Some(quoted) = quoted else { return };
        let app = match quoted.protocol {
            Protocol::UDP => self.udp_ports.get(&quoted.ports.0).map(|(app, _)| app),
            Protocol::ICMPV4 | Protocol::ICMPV6 => self.echoes.get(&quoted.identifier),
            _ => None,
        };
        if let Some(app) = app {
            let undelivered = Undelivered { from: arrival.source, why, sequence: quoted.sequence };
            self.notices.push_back((*app, Notice::Undelivered(undelivered)));
        }
    }

    /// Tells the sender of a datagram that its port is unused (RFC 1122 section 4.1.3.1).
    pub(super) fn send_port_unreachable(&mut self, arrival: &Arrival<'_>) {
        let (kind, code) = if arrival.source.is_ipv4() {
            (icmpv4::DESTINATION_UNREACHABLE, icmpv4::PORT_UNREACHABLE)
        } else {
            (icmpv6::DESTINATION_UNREACHABLE, icmpv6::PORT_UNREACHABLE)
        };
        let message = [kind, code, 0, 0, 0, 0, 0, 0];
        let quote = &arrival.packet[..arrival.packet.len().min(QUOTE_BYTES_MAX)];
        let body = Body::Bytes(quote.into());
        self.send_icmp(arrival.now, Way::back(arrival), &message, body);
    }

    /// The largest packet that the path to `destination` is known to take.
    pub fn path_mtu(&self, destination: IpAddr, card: u32) -> u32 {
        self.path_mtu.get(&destination).map_or(card, |mtu| card.min(*mtu))
    }
}

fn echo(kind: u8, id: u16, sequence: u16) -> [u8; 8] {
    let mut message = [0; 8];
    icmpv4::TYPE.set(&mut message, kind);
    icmpv4::IDENTIFIER.set(&mut message, id);
    icmpv4::SEQUENCE.set(&mut message, sequence);
    message
}

/// The quote may be cut off anywhere: what is missing is nothing.
fn quoted_ipv4(packet: &[u8]) -> Option<Quoted> {
    let size = ipv4::header_size(packet).ok()?;
    let destination = IpAddr::V4(ipv4::DST_ADDR.get_checked(packet).ok()?);
    quoted(destination, ipv4::PROTOCOL.get(packet), packet.get(size..)?)
}

fn quoted_ipv6(packet: &[u8]) -> Option<Quoted> {
    let destination = IpAddr::V6(ipv6::DST_ADDR.get_checked(packet).ok()?);
    quoted(destination, ipv6::NEXT_HDR.get(packet), packet.get(ipv6::HEADER_SIZE_BYTES..)?)
}

fn quoted(destination: IpAddr, protocol: Protocol, transport: &[u8]) -> Option<Quoted> {
    let (source_port, destination_port) = PORTS;
    let ports =
        (source_port.get_checked(transport).ok()?, destination_port.get_checked(transport).ok()?);
    let seq = (protocol == Protocol::TCP)
        .then(|| tcp::SEQ_NUMBER.get_checked(transport).ok())
        .flatten()
        .map(|seq| seq.0);
    let of_echo = |field: Field<u16>| field.get_checked(transport).unwrap_or(0);
    let (identifier, sequence) = (of_echo(icmpv4::IDENTIFIER), of_echo(icmpv4::SEQUENCE));
    debug_assert_eq!(udp::SRC_PORT.start(), source_port.start());
    Some(Quoted { destination, protocol, ports, seq, identifier, sequence })
}
