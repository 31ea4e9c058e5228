//! Headers in front of the innermost ones: tunnels (VXLAN, GENEVE, GRE, IP in IP) and IPv6's
//! extension headers. A super-packet may lie behind them; each of its pieces then needs all of them,
//! with lengths and checksums of its own.
//!
//! The place of the innermost transport header is not guessed: the kernel says where the checksum
//! starts that it left undone. The bytes in between must be understood exactly, or the packet is
//! not split.

use wire::checksum::pseudo_header;
use wire::{EtherType, Protocol, WireError};
use wire::{extension, geneve, gre, ipv4, ipv6, udp, vlan, vxlan};

use crate::headers::{Layout, addresses, from, ip_header, transport_header};

/// Linux's own default is older than the registered port.
const VXLAN_PORTS: [u16; 2] = [vxlan::PORT, vxlan::PORT_LINUX];

/// More layers than any tunnel in a tunnel in a tunnel has.
const LAYER_COUNT_MAX: usize = 6;

/// A header whose length, and perhaps checksum, depends on what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Ipv4 {
        at: usize,
        size: usize,
    },
    Ipv6 {
        at: usize,
    },
    /// The IP header in front of it has the addresses that its checksum covers.
    Udp {
        at: usize,
        ip_at: usize,
        ipv6: bool,
    },
}

/// The layers outside of the innermost IP header, the outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tunnel {
    layers: [Option<Layer>; LAYER_COUNT_MAX],
}

impl Tunnel {
    /// Walks to the transport header at `transport_at`; the layout is that of the innermost headers.
    pub fn of(packet: &[u8], transport_at: usize) -> Result<(Tunnel, Layout), WireError> {
        let mut tunnel = Tunnel::default();
        let (mut ether_type, mut ip_at) = vlan::skip(packet)?;
        loop {
            let (ipv6, mut protocol, mut next) = ip_header(packet, ether_type, ip_at)?;
            while ipv6 && next < transport_at && extension::can_be_skipped(protocol) {
                let (follows, size) = extension::skip(from(packet, next)?)?;
                (protocol, next) = (follows, next + size);
            }
            if next == transport_at {
                let (transport, size) = transport_header(packet, protocol, next)?;
                let payload_at = next + size;
                if payload_at > packet.len() {
                    return Err(WireError::Truncated);
                }
                let layout = Layout { transport, ipv6, ip_at, transport_at, payload_at };
                return Ok((tunnel, layout));
            }
            tunnel.push(match ipv6 {
                true => Layer::Ipv6 { at: ip_at },
                false => Layer::Ipv4 { at: ip_at, size: next - ip_at },
            })?;
            if protocol == Protocol::UDP {
                tunnel.push(Layer::Udp { at: next, ip_at, ipv6 })?;
            }
            (ether_type, ip_at) = inside(packet, protocol, next)?;
        }
    }

    fn push(&mut self, layer: Layer) -> Result<(), WireError> {
        let free = self.layers.iter_mut().find(|place| place.is_none());
        *free.ok_or(WireError::Malformed)? = Some(layer);
        Ok(())
    }

    /// Turns the layers of the super-packet into those of its piece `number`, whose inner headers
    /// are finished. From the inside out, because a checksum of UDP covers what it carries.
    pub fn write_layers(&self, frame: &mut [u8], number: usize) {
        for layer in self.layers.iter().rev().flatten() {
            match *layer {
                Layer::Ipv4 { at, size } => {
                    let length = (frame.len() - at) as u16;
                    let header = &mut frame[at..at + size];
                    ipv4::TOTAL_LEN.set(header, length);
                    let identification = ipv4::IDENTIFICATION.get(header);
                    ipv4::IDENTIFICATION.set(header, identification.wrapping_add(number as u16));
                    ipv4::fill_checksum(header);
                }
                Layer::Ipv6 { at } => {
                    let length = (frame.len() - at - ipv6::HEADER_SIZE_BYTES) as u16;
                    ipv6::PAYLOAD_LEN.set(&mut frame[at..], length);
                }
                Layer::Udp { at, ip_at, ipv6 } => write_udp(frame, at, ip_at, ipv6),
            }
        }
    }
}

/// Length and checksum of a tunnel's UDP header; a checksum of zero says that there is none.
fn write_udp(frame: &mut [u8], at: usize, ip_at: usize, ipv6: bool) {
    let length = frame.len() - at;
    let pseudo_header = pseudo_header(addresses(frame, ip_at, ipv6), Protocol::UDP, length);
    let mut datagram = udp::Datagram::new_unchecked(&mut frame[at..]);
    datagram.set_length(length as u16);
    if datagram.checksum() != 0 {
        datagram.fill_checksum(pseudo_header);
    }
}

/// The EtherType of the contents of a tunnel's header at `at`, and where they begin.
fn inside(packet: &[u8], protocol: Protocol, at: usize) -> Result<(EtherType, usize), WireError> {
    let header = from(packet, at)?;
    let (carried, begin) = match protocol {
        Protocol::IPV4 => (EtherType::IPV4, at),
        Protocol::IPV6 => (EtherType::IPV6, at),
        Protocol::GRE => {
            let (carried, size) = gre::skip(header)?;
            (carried, at + size)
        }
        Protocol::UDP => {
            let behind = at + udp::HEADER_SIZE_BYTES;
            match udp::DST_PORT.get_checked(header)? {
                port if VXLAN_PORTS.contains(&port) => {
                    (EtherType::ETHERNET, behind + vxlan::HEADER_SIZE_BYTES)
                }
                geneve::PORT => {
                    let (carried, size) = geneve::skip(from(packet, behind)?)?;
                    (carried, behind + size)
                }
                _ => return Err(WireError::Malformed),
            }
        }
        _ => return Err(WireError::Malformed),
    };
    if carried != EtherType::ETHERNET {
        return Ok((carried, begin));
    }
    let (carried, size) = vlan::skip(from(packet, begin)?)?;
    Ok((carried, begin + size))
}

#[cfg(test)]
#[path = "tunnel_tests.rs"]
mod tests;
