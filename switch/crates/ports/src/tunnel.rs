//! Headers in front of the innermost ones: tunnels (VXLAN, GENEVE, GRE, IP in IP) and IPv6's
//! extension headers. A super-packet may lie behind them; each of its pieces then needs all of them,
//! with lengths and checksums of its own.
//!
//! Where the innermost transport header begins is not guessed: the kernel says where the checksum
//! starts that it left undone. What lies in between must be understood to the byte, or the packet
//! is not split.

use crate::checksum;
use crate::headers::{
    ETHERTYPE_IPV4, ETHERTYPE_IPV6, Layout, LayoutError, PROTOCOL_UDP, byte, ip_header, put_word,
    skip_vlan_tags, transport_header, word,
};

const PROTOCOL_HOP_BY_HOP: u8 = 0;
const PROTOCOL_IPV4: u8 = 4;
const PROTOCOL_IPV6: u8 = 41;
const PROTOCOL_ROUTING: u8 = 43;
const PROTOCOL_GRE: u8 = 47;
const PROTOCOL_DESTINATION_OPTIONS: u8 = 60;

const ETHERTYPE_ETHERNET: u16 = 0x6558;
const UDP_SIZE_BYTES: usize = 8;
/// Linux's own default is older than the registered port.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];
const VXLAN_SIZE_BYTES: usize = 8;
const GENEVE_PORT: u16 = 6081;
const GRE_HAS_KEY: u16 = 0x2000;

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
    pub fn of(packet: &[u8], transport_at: usize) -> Result<(Tunnel, Layout), LayoutError> {
        let mut tunnel = Tunnel::default();
        let (mut ether_type, mut ip_at) = skip_vlan_tags(packet, 0)?;
        loop {
            let (ipv6, mut protocol, mut next) = ip_header(packet, ether_type, ip_at)?;
            while ipv6 && next < transport_at && is_extension(protocol) {
                let size = (usize::from(byte(packet, next + 1)?) + 1) * 8;
                (protocol, next) = (byte(packet, next)?, next + size);
            }
            if next == transport_at {
                let (transport, size) = transport_header(packet, protocol, next)?;
                let payload_at = next + size;
                if payload_at > packet.len() {
                    return Err(LayoutError::Truncated);
                }
                let layout = Layout { transport, ipv6, ip_at, transport_at, payload_at };
                return Ok((tunnel, layout));
            }
            tunnel.push(match ipv6 {
                true => Layer::Ipv6 { at: ip_at },
                false => Layer::Ipv4 { at: ip_at, size: next - ip_at },
            })?;
            if protocol == PROTOCOL_UDP {
                tunnel.push(Layer::Udp { at: next, ip_at, ipv6 })?;
            }
            (ether_type, ip_at) = inside(packet, protocol, next)?;
        }
    }

    fn push(&mut self, layer: Layer) -> Result<(), LayoutError> {
        let free = self.layers.iter_mut().find(|place| place.is_none());
        *free.ok_or(LayoutError::Unknown)? = Some(layer);
        Ok(())
    }

    /// Turns the layers of the super-packet into those of its piece `number`, whose inner headers
    /// are finished. From the inside out, because a checksum of UDP covers what it carries.
    pub fn write_layers(&self, frame: &mut [u8], number: usize) {
        for layer in self.layers.iter().rev().flatten() {
            match *layer {
                Layer::Ipv4 { at, size } => {
                    put_word(frame, at + 2, (frame.len() - at) as u16);
                    let identification = word(frame, at + 4).wrapping_add(number as u16);
                    put_word(frame, at + 4, identification);
                    put_word(frame, at + 10, 0);
                    let sum = checksum::sum(0, &frame[at..at + size]);
                    put_word(frame, at + 10, checksum::finish(sum));
                }
                Layer::Ipv6 { at } => put_word(frame, at + 4, (frame.len() - at - 40) as u16),
                Layer::Udp { at, ip_at, ipv6 } => write_udp(frame, at, ip_at, ipv6),
            }
        }
    }
}

/// Length and checksum of a tunnel's UDP header; a checksum of zero says that there is none.
fn write_udp(frame: &mut [u8], at: usize, ip_at: usize, ipv6: bool) {
    let length = (frame.len() - at) as u16;
    put_word(frame, at + 4, length);
    if word(frame, at + 6) == 0 {
        return;
    }
    put_word(frame, at + 6, 0);
    let addresses = if ipv6 { ip_at + 8..ip_at + 40 } else { ip_at + 12..ip_at + 20 };
    let protocol_and_length = checksum::add(PROTOCOL_UDP.into(), length);
    let pseudo_header = checksum::sum(protocol_and_length, &frame[addresses]);
    let value = checksum::finish(checksum::sum(pseudo_header, &frame[at..]));
    put_word(frame, at + 6, if value == 0 { 0xffff } else { value });
}

fn is_extension(protocol: u8) -> bool {
    matches!(protocol, PROTOCOL_HOP_BY_HOP | PROTOCOL_ROUTING | PROTOCOL_DESTINATION_OPTIONS)
}

/// The EtherType of what a tunnel's header at `at` carries, and where that begins.
fn inside(packet: &[u8], protocol: u8, at: usize) -> Result<(u16, usize), LayoutError> {
    let word_at = |at: usize| Ok(u16::from_be_bytes([byte(packet, at)?, byte(packet, at + 1)?]));
    let (carried, begin) = match protocol {
        PROTOCOL_IPV4 => (ETHERTYPE_IPV4, at),
        PROTOCOL_IPV6 => (ETHERTYPE_IPV6, at),
        PROTOCOL_GRE => match word_at(at)? {
            0 => (word_at(at + 2)?, at + 4),
            GRE_HAS_KEY => (word_at(at + 2)?, at + 8),
            // A checksum or a sequence number would differ from piece to piece.
            _ => return Err(LayoutError::Unknown),
        },
        PROTOCOL_UDP => {
            let behind = at + UDP_SIZE_BYTES;
            match word_at(at + 2)? {
                port if VXLAN_PORTS.contains(&port) => {
                    (ETHERTYPE_ETHERNET, behind + VXLAN_SIZE_BYTES)
                }
                GENEVE_PORT => {
                    let options_size = usize::from(byte(packet, behind)? & 0x3f) * 4;
                    (word_at(behind + 2)?, behind + 8 + options_size)
                }
                _ => return Err(LayoutError::Unknown),
            }
        }
        _ => return Err(LayoutError::Unknown),
    };
    if carried == ETHERTYPE_ETHERNET { skip_vlan_tags(packet, begin) } else { Ok((carried, begin)) }
}

#[cfg(test)]
#[path = "tunnel_tests.rs"]
mod tests;
