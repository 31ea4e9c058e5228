//! Frames of bytes, as `labs/glass/server.py` describes them: a kind, the number of a call, the rest.

/// From the page: a call begins. The name of the router and of the method follow, each after its length.
pub const CALL: u8 = 1;
/// From the page: a message of a call.
pub const SEND: u8 = 2;
/// From the page: no more messages.
pub const DONE: u8 = 3;
/// From the page: the call is of no interest any more.
pub const CANCEL: u8 = 4;

/// To the page: a message.
pub const MESSAGE: u8 = 2;
/// To the page: the call has ended well.
pub const END: u8 = 3;
/// To the page: the call has ended with this `google.rpc.Status`.
pub const REFUSED: u8 = 4;

const HEAD_BYTES: usize = 5;

/// The parts of a frame; none where it is too short to be one.
pub fn read(frame: &[u8]) -> Option<(u8, u32, &[u8])> {
    let (head, rest) = frame.split_at_checked(HEAD_BYTES)?;
    let number = head[1..].try_into().ok()?;
    Some((head[0], u32::from_be_bytes(number), rest))
}

/// A frame of these parts.
pub fn frame(kind: u8, number: u32, rest: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEAD_BYTES + rest.len());
    frame.push(kind);
    frame.extend(number.to_be_bytes());
    frame.extend(rest);
    frame
}

/// The router and the method's full name in a CALL.
pub fn named(rest: &[u8]) -> Option<(&str, &str)> {
    let (router, rest) = text(rest)?;
    let (method, _) = text(rest)?;
    Some((router, method))
}

/// A length, and as many bytes of text; then the rest.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*length))?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let written = frame(CALL, 258, b"\x02s1\x05/a.b/");
        // 258 is 1 * 256 + 2.
        assert_eq!(written[..5], [1, 0, 0, 1, 2]);
        let (kind, number, rest) = read(&written).unwrap();
        assert_eq!((kind, number, named(rest)), (CALL, 258, Some(("s1", "/a.b/"))));
    }

    #[test]
    fn what_is_cut_off_is_nothing() {
        assert_eq!(read(&[1, 0, 0, 1]), None);
        assert_eq!(named(b"\x02s1\x06/a.b/"), None, "six bytes are promised and five are there");
        assert_eq!(named(b""), None);
    }
}
