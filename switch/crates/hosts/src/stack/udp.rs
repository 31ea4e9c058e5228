//! UDP (RFC 768), carrying numbered and timed datagrams.
//!
//! ```text
//!    0         8         16        24
//!   +---------+---------+---------+--------------
//!   | flow    | number  | sent_at | bytes that follow from the number
//!   +---------+---------+---------+--------------
//! ```

use units::Time;
use wire::{Ecn, Field, Protocol, udp};

use super::receive::Arrival;
use super::send::{Envelope, HOP_LIMIT};
use super::{AppId, Endpoint, Notice, Stack};
use crate::packet::Body;
use crate::payload;
use crate::reason::DropReason;

const FLOW: Field<[u8; 8]> = Field::at(0);
const NUMBER: Field<[u8; 8]> = Field::at(8);
const SENT_AT: Field<[u8; 8]> = Field::at(16);
/// The least payload: what the table above shows.
pub(crate) const MARK_BYTES: usize = 24;

/// A datagram of one of our applications, as its receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The sender.
    pub from: Endpoint,
    /// Which of the sender's flows it belongs to, and its number there, from 0.
    pub flow: u64,
    pub number: u64,
    /// When it was made.
    pub sent_at: Time,
    /// Payload, the mark included.
    pub bytes: usize,
    /// It met congestion on its way.
    pub marked: bool,
}

impl Stack {
    /// Gives `port` to an application; returns whether it was free. With `head`, its traffic is not
    /// our datagrams: this many of their first bytes are handed over.
    pub fn bind_udp(&mut self, port: u16, app: AppId, head: Option<usize>) -> bool {
        let free = !self.udp_ports.contains_key(&port);
        if free {
            self.udp_ports.insert(port, (app, head));
        }
        free
    }

    /// Takes all ports of an application away from it.
    pub fn unbind_udp(&mut self, app: AppId) {
        self.udp_ports.retain(|_, (owner, _)| *owner != app);
    }

    /// A datagram of `bytes` (at least [`MARK_BYTES`]) leaves.
    pub fn send_datagram(
        &mut self,
        now: Time,
        port: u16,
        to: Endpoint,
        (flow, number): (u64, u64),
        bytes: usize,
        ecn: Ecn,
    ) {
        let Some(source) = self.source_for(to.address) else {
            self.books.made += 1;
            self.books.note_drop(DropReason::NoRoute);
            return;
        };
        let bytes = bytes.max(MARK_BYTES);
        let mut transport = [0; udp::HEADER_SIZE_BYTES + MARK_BYTES];
        udp::SRC_PORT.set(&mut transport, port);
        udp::DST_PORT.set(&mut transport, to.port);
        udp::LENGTH.set(&mut transport, (udp::HEADER_SIZE_BYTES + bytes) as u16);
        let mark = &mut transport[udp::HEADER_SIZE_BYTES..];
        FLOW.set(mark, flow.to_be_bytes());
        NUMBER.set(mark, number.to_be_bytes());
        SENT_AT.set(mark, now.ps().to_be_bytes());
        let envelope = Envelope {
            source,
            destination: to.address,
            protocol: Protocol::UDP,
            ecn,
            checksum_at: udp::CHECKSUM.start(),
            with_addresses: true,
            hop_limit: HOP_LIMIT,
            connection: None,
        };
        let length = (bytes - MARK_BYTES) as u32;
        self.send(now, &envelope, &transport, Body::Stream { key: number, offset: 0, length });
    }

    pub(super) fn handle_udp(&mut self, arrival: &Arrival<'_>) -> Result<(), DropReason> {
        let datagram =
            udp::Datagram::new_checked(arrival.payload).map_err(|_| DropReason::Malformed)?;
        if !datagram.is_checksum_right(arrival.pseudo) {
            return Err(DropReason::BadChecksum);
        }
        let Some((app, head)) = self.udp_ports.get(&datagram.dst_port()).copied() else {
            self.send_port_unreachable(arrival);
            return Err(DropReason::NoSocket);
        };
        self.books.taken_udp += 1;
        let payload = datagram.payload();
        let from = Endpoint::new(arrival.source, datagram.src_port());
        if let Some(head) = head {
            let head = payload[..head.min(payload.len())].to_vec();
            let notice = Notice::Payload { from, bytes: payload.len(), head };
            self.notices.push_back((app, notice));
            return Ok(());
        }
        let Some((mark, rest)) = payload.split_at_checked(MARK_BYTES) else { return Ok(()) };
        let number = u64::from_be_bytes(NUMBER.get(mark));
        self.books.wrong_payload += u64::from(!payload::is_right(number, 0, rest));
        let notice = Notice::Datagram(Datagram {
            from,
            flow: u64::from_be_bytes(FLOW.get(mark)),
            number,
            sent_at: Time::from_ps(u64::from_be_bytes(SENT_AT.get(mark))),
            bytes: payload.len(),
            marked: arrival.ecn == Ecn::Ce,
        });
        self.notices.push_back((app, notice));
        Ok(())
    }
}
