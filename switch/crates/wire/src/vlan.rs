//! VLAN tags (IEEE 802.1Q, stacked as in 802.1ad) between an Ethernet header's addresses and what the
//! frame carries.
//!
//! ```text
//!    12     14     16     18
//!   +------+------+------+------
//!   | tpid | tci  | next | ...        tci: priority 3 bits, drop eligible 1, VLAN 12
//!   +------+------+------+------
//! ```
//!
//! How deep tags are stacked and which types name one is decided here, once, for all that looks behind
//! them: marking, splitting and merging.

use crate::ethernet::{self, EtherType};
use crate::{Field, WireError};

/// A tag as a header: its control information, then the type of the header behind it.
pub const CONTROL: Field<u16> = Field::at(0);
pub const ETHER_TYPE: Field<EtherType> = Field::at(2);
pub const TAG_SIZE_BYTES: usize = 4;

/// The number of tags that are looked behind: a provider's around a customer's, as the standards
/// stack them. Frames with more tags concern only the program.
pub const TAG_COUNT_MAX: usize = 2;

/// A tag's control information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// 0 to 7.
    pub priority: u8,
    pub drop_eligible: bool,
    /// 12 bits; 0 is a frame with a priority and no VLAN.
    pub vlan: u16,
}

impl Control {
    pub const fn from_bits(bits: u16) -> Control {
        Control {
            priority: (bits >> 13) as u8,
            drop_eligible: bits & 0x1000 != 0,
            vlan: bits & 0x0fff,
        }
    }

    pub const fn to_bits(self) -> u16 {
        (self.priority as u16) << 13 | (self.drop_eligible as u16) << 12 | self.vlan & 0x0fff
    }
}

/// The type of a frame's contents behind its VLAN tags, and where they begin.
///
/// A frame with more than [`TAG_COUNT_MAX`] tags is malformed.
#[inline]
pub fn skip(frame: &[u8]) -> Result<(EtherType, usize), WireError> {
    let mut at = ethernet::ETHER_TYPE.start();
    for _ in 0..=TAG_COUNT_MAX {
        let next = at + size_of::<u16>();
        let Some(&[high, low]) = frame.get(at..next) else { return Err(WireError::Truncated) };
        let ether_type = EtherType(u16::from_be_bytes([high, low]));
        if !ether_type.is_vlan() {
            return Ok((ether_type, next));
        }
        at += TAG_SIZE_BYTES;
    }
    Err(WireError::Malformed)
}
