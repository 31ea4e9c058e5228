//! Any bytes as a binary P4Info: refused, or read; and what was read is written and read the same.

use p4info::{Message, P4Info, to_text};

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let Ok(info) = P4Info::from_bytes(data) else { return };
    to_text(&info);
    let again = info.to_bytes();
    let read = P4Info::from_bytes(&again).expect("what we write can be read");
    assert_eq!(read.to_bytes(), again);
}
