//! Captures in the classic pcap format, as `tcpdump -w` writes them and everything reads them.
//!
//! Each record is handed on in one piece and at once, so a capture can be read while it grows.

use std::io::{self, Write};
use std::time::Duration;

/// Microseconds, in the byte order of the machine; readers tell both from this number.
const MAGIC: u32 = 0xa1b2_c3d4;
const VERSION: (u16, u16) = (2, 4);
/// Frames are Ethernet frames.
const LINK_TYPE_ETHERNET: u32 = 1;
/// Nothing is cut off: frames are far shorter.
const SNAP_LENGTH_BYTES: u32 = 1 << 18;

/// Writes frames into one capture.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
    /// One record, so that it reaches the file in one piece.
    record: Vec<u8>,
}

impl<W: Write> PcapWriter<W> {
    pub fn new(mut out: W) -> io::Result<PcapWriter<W>> {
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC.to_ne_bytes());
        header.extend(VERSION.0.to_ne_bytes());
        header.extend(VERSION.1.to_ne_bytes());
        // Time zone and accuracy, always zero.
        header.extend([0; 8]);
        header.extend(SNAP_LENGTH_BYTES.to_ne_bytes());
        header.extend(LINK_TYPE_ETHERNET.to_ne_bytes());
        out.write_all(&header)?;
        Ok(PcapWriter { out, record: Vec::new() })
    }

    /// Appends a frame. `since_1970` is the time of day.
    pub fn write(&mut self, since_1970: Duration, frame: &[u8]) -> io::Result<()> {
        // The format's seconds end in 2106, its lengths at 4 GB.
        let seconds = since_1970.as_secs() as u32;
        let length = frame.len() as u32;
        self.record.clear();
        for number in [seconds, since_1970.subsec_micros(), length, length] {
            self.record.extend(number.to_ne_bytes());
        }
        self.record.extend_from_slice(frame);
        self.out.write_all(&self.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_a_header_and_a_record_for_each_frame() {
        let mut file = Vec::new();
        let mut writer = PcapWriter::new(&mut file).expect("memory takes everything");
        writer.write(Duration::new(7, 8_999), &[1, 2, 3]).expect("memory takes everything");
        // 24 bytes of header, then 16 bytes and the 3 of the frame.
        assert_eq!(file.len(), 24 + 16 + 3);
        let number = |at: usize| u32::from_ne_bytes(file[at..at + 4].try_into().expect("4 bytes"));
        assert_eq!(number(0), 0xa1b2_c3d4);
        assert_eq!(number(20), 1, "Ethernet");
        // 7 s and 8,999 ns, which are 8 whole microseconds; captured and original length.
        assert_eq!([24, 28, 32, 36].map(number), [7, 8, 3, 3]);
        assert_eq!(file[40..], [1, 2, 3]);
    }
}
