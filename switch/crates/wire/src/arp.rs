//! ARP for IPv4 over Ethernet (RFC 826).
//!
//! ```text
//!    0      2      4    5    6    8        14       18       24       28
//!   +------+------+----+----+----+--------+--------+--------+--------+
//!   | htype| ptype|hlen|plen|oper| sha    | spa    | tha    | tpa    |
//!   +------+------+----+----+----+--------+--------+--------+--------+
//! ```

use core::net::Ipv4Addr;

use crate::{EtherType, Field, MacAddress, WireError};

pub const HARDWARE_TYPE: Field<u16> = Field::at(0);
pub const PROTOCOL_TYPE: Field<EtherType> = Field::at(2);
pub const HARDWARE_SIZE: Field<u8> = Field::at(4);
pub const PROTOCOL_SIZE: Field<u8> = Field::at(5);
pub const OPERATION: Field<u16> = Field::at(6);
pub const SENDER_HARDWARE_ADDR: Field<MacAddress> = Field::at(8);
pub const SENDER_PROTOCOL_ADDR: Field<Ipv4Addr> = Field::at(14);
pub const TARGET_HARDWARE_ADDR: Field<MacAddress> = Field::at(18);
pub const TARGET_PROTOCOL_ADDR: Field<Ipv4Addr> = Field::at(24);
pub const SIZE_BYTES: usize = 28;

const HARDWARE_ETHERNET: u16 = 1;
const OPERATION_REQUEST: u16 = 1;
const OPERATION_REPLY: u16 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Request,
    Reply,
}

/// The sender and the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    pub operation: Operation,
    pub sender_hardware_addr: MacAddress,
    pub sender_protocol_addr: Ipv4Addr,
    pub target_hardware_addr: MacAddress,
    pub target_protocol_addr: Ipv4Addr,
}

impl Repr {
    /// Reads what follows an Ethernet header; bytes behind it are padding.
    pub fn parse(bytes: &[u8]) -> Result<Repr, WireError> {
        let bytes = bytes.get(..SIZE_BYTES).ok_or(WireError::Truncated)?;
        let ours = HARDWARE_TYPE.get(bytes) == HARDWARE_ETHERNET
            && PROTOCOL_TYPE.get(bytes) == EtherType::IPV4
            && HARDWARE_SIZE.get(bytes) == 6
            && PROTOCOL_SIZE.get(bytes) == 4;
        let operation = match OPERATION.get(bytes) {
            OPERATION_REQUEST if ours => Operation::Request,
            OPERATION_REPLY if ours => Operation::Reply,
            _ => return Err(WireError::Malformed),
        };
        Ok(Repr {
            operation,
            sender_hardware_addr: SENDER_HARDWARE_ADDR.get(bytes),
            sender_protocol_addr: SENDER_PROTOCOL_ADDR.get(bytes),
            target_hardware_addr: TARGET_HARDWARE_ADDR.get(bytes),
            target_protocol_addr: TARGET_PROTOCOL_ADDR.get(bytes),
        })
    }

    /// Writes the [`SIZE_BYTES`] that follow an Ethernet header.
    pub fn emit(&self, bytes: &mut [u8]) {
        HARDWARE_TYPE.set(bytes, HARDWARE_ETHERNET);
        PROTOCOL_TYPE.set(bytes, EtherType::IPV4);
        HARDWARE_SIZE.set(bytes, 6);
        PROTOCOL_SIZE.set(bytes, 4);
        OPERATION.set(
            bytes,
            match self.operation {
                Operation::Request => OPERATION_REQUEST,
                Operation::Reply => OPERATION_REPLY,
            },
        );
        SENDER_HARDWARE_ADDR.set(bytes, self.sender_hardware_addr);
        SENDER_PROTOCOL_ADDR.set(bytes, self.sender_protocol_addr);
        TARGET_HARDWARE_ADDR.set(bytes, self.target_hardware_addr);
        TARGET_PROTOCOL_ADDR.set(bytes, self.target_protocol_addr);
    }
}
