//! Ethernet II (RFC 894, IEEE 802.3): two addresses and what follows.
//!
//! ```text
//!    0         6         12     14
//!   +---------+---------+------+------------
//!   | dst     | src     | type | VLAN tags or payload
//!   +---------+---------+------+------------
//! ```

use std::fmt;

use crate::{Field, WireError};

pub const DST_ADDR: Field<MacAddress> = Field::at(0);
pub const SRC_ADDR: Field<MacAddress> = Field::at(6);
pub const ETHER_TYPE: Field<EtherType> = Field::at(12);
pub const HEADER_SIZE_BYTES: usize = 14;

/// The type of the bytes behind an Ethernet header, or behind a VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    pub const IPV4: EtherType = EtherType(0x0800);
    pub const ARP: EtherType = EtherType(0x0806);
    /// A frame in a tunnel ("transparent Ethernet bridging").
    pub const ETHERNET: EtherType = EtherType(0x6558);
    /// IEEE 802.1Q: a customer's VLAN.
    pub const C_VLAN: EtherType = EtherType(0x8100);
    pub const IPV6: EtherType = EtherType(0x86dd);
    /// IEEE 802.1ad: a provider's VLAN, around customers'.
    pub const S_VLAN: EtherType = EtherType(0x88a8);

    /// Whether a VLAN tag follows.
    #[inline]
    pub const fn is_vlan(self) -> bool {
        matches!(self, EtherType::C_VLAN | EtherType::S_VLAN)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    pub const BROADCAST: MacAddress = MacAddress([0xff; 6]);

    /// Whether it names a group of stations, all of them included.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

value_as!(EtherType, u16, EtherType, |kind: EtherType| kind.0);
value_as!(MacAddress, [u8; 6], MacAddress, |address: MacAddress| address.0);

/// A view of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<B> {
    bytes: B,
}

accessors!(Frame {
    dst_addr, set_dst_addr: MacAddress = DST_ADDR;
    src_addr, set_src_addr: MacAddress = SRC_ADDR;
    ether_type, set_ether_type: EtherType = ETHER_TYPE;
});

impl<B: AsRef<[u8]>> Frame<B> {
    pub fn new_checked(bytes: B) -> Result<Frame<B>, WireError> {
        match bytes.as_ref().len() {
            HEADER_SIZE_BYTES.. => Ok(Frame { bytes }),
            _ => Err(WireError::Truncated),
        }
    }

    /// All that follows the header, VLAN tags included; [`crate::vlan::skip`] leaves them behind.
    pub fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[HEADER_SIZE_BYTES..]
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Frame<B> {
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.bytes.as_mut()[HEADER_SIZE_BYTES..]
    }
}
