//! The protocol of the pipe: frames of a length and a body, all numbers little-endian.
//!
//! The router asks, the class answers with one frame: a byte 0 and the answer, or a byte 1 and what
//! went wrong as text. A note needs no answer and goes with the next question.
//!
//! ```text
//! B {json}                                            begin: the class's parameters
//! M at:u64 count:u16 inputs:u128 ...                  match; answered by input:u8 output:u8 ...
//! S at:u64 count:u8 (class:u8 bytes:u32) ...          choose; answered by class:u8
//! A at:u64 bytes:u32 packets:u64 bytes:u64 ecn:u8     arrival at a queue of this depth; by verdict:u8
//! H at:u64 bytes:u32 packets:u64 bytes:u64 ecn:u8 waited:u64      departure; by verdict:u8
//! C what:u8 flow:u32 number:u32 window path           a connection's window; answered by a window
//! E at:u64 class:u8 bytes:u32                         note: a packet entered a queue
//! D class:u8 bytes:u32 emptied:u8                     note: a packet was sent
//! X class:u8 bytes:u32 emptied:u8                     note: the first packet was dropped by AQM
//! Z flow:u32                                          note: a connection is over
//! V                                                   what the class remembers; answered by text
//! ```
//!
//! Instants and spans are picoseconds; a verdict is 0 to pass, 1 to mark, 2 to drop. An AQM answers
//! to B with a byte that selects its questions: 1 arrivals, 2 departures, as bits; other packets
//! pass. Where a class decides for connections the answer to B has two bytes: as bits, which of the events it wants to
//! hear of (1 << what), and how it uses marks (0 classic, 1 every mark, 2 L4S). And:
//!
//! ```text
//! what    0 began, 1 grow, 2 lost, 3 measured, 4 resumed, 5 timed out, 6 undone
//! number  packets acknowledged (1), or microseconds of a round trip (3)
//! window  cwnd:u32 ssthresh:u32 count:u32 prior_cwnd:u32; an answer has the first three
//! path    at:u64 mss:u32 srtt_us:u32 min_rtt_us:u32 in_flight:u32 una:u64 nxt:u64 delivered:u64
//!         delivered_ce:u64 lost:u64 pacing_rate:u64 cwnd_limited:u8 app_limited:u8 paced:u8
//! ```

use hosts::{CongestionAnswer, CongestionEvent, CongestionQuestion, MarksWanted};
use traffic::outside::{AqmQuestion, AqmVerdict, MatchQuestion, TurnQuestion};

/// Asks an arbiter or a scheduler what it remembers.
pub const STATE: &[u8] = b"V";

/// A frame with this body.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

pub fn begin(parameters: &serde_json::Value) -> Vec<u8> {
    let mut body = vec![b'B'];
    body.extend_from_slice(parameters.to_string().as_bytes());
    body
}

pub fn matching(question: &MatchQuestion) -> Vec<u8> {
    let mut body = vec![b'M'];
    body.extend_from_slice(&question.at.ps().to_le_bytes());
    body.extend_from_slice(&(question.inputs_of.len() as u16).to_le_bytes());
    for inputs in &question.inputs_of {
        body.extend_from_slice(&inputs.to_le_bytes());
    }
    body
}

pub fn turn(question: &TurnQuestion) -> Vec<u8> {
    let mut body = vec![b'S'];
    body.extend_from_slice(&question.at.ps().to_le_bytes());
    body.push(question.heads.len() as u8);
    for (class, bytes) in &question.heads {
        body.push(*class as u8);
        body.extend_from_slice(&(*bytes as u32).to_le_bytes());
    }
    body
}

pub fn packet(question: &AqmQuestion) -> Vec<u8> {
    let mut body = vec![if question.waited.is_some() { b'H' } else { b'A' }];
    body.extend_from_slice(&question.at.ps().to_le_bytes());
    body.extend_from_slice(&(question.bytes as u32).to_le_bytes());
    body.extend_from_slice(&question.queue_packets.to_le_bytes());
    body.extend_from_slice(&question.queue_bytes.to_le_bytes());
    body.push(u8::from(question.is_capable));
    if let Some(waited) = question.waited {
        body.extend_from_slice(&waited.ps().to_le_bytes());
    }
    body
}

pub fn congestion(question: &CongestionQuestion) -> Vec<u8> {
    let CongestionQuestion { at, flow, what, window, path } = question;
    let (code, number) = event(*what);
    let mut body = vec![b'C', code];
    let small = [*flow, number, window.cwnd, window.ssthresh, window.count, window.prior_cwnd];
    small.iter().for_each(|number| body.extend_from_slice(&number.to_le_bytes()));
    body.extend_from_slice(&at.ps().to_le_bytes());
    let small = [path.mss, path.srtt_us, path.min_rtt_us, path.in_flight];
    small.iter().for_each(|number| body.extend_from_slice(&number.to_le_bytes()));
    let large =
        [path.una, path.nxt, path.delivered, path.delivered_ce, path.lost, path.pacing_rate];
    large.iter().for_each(|number| body.extend_from_slice(&number.to_le_bytes()));
    body.extend([path.cwnd_limited, path.app_limited, path.paced].map(u8::from));
    body
}

/// The code of an event and its number.
pub fn event(what: CongestionEvent) -> (u8, u32) {
    match what {
        CongestionEvent::Began => (0, 0),
        CongestionEvent::Grow(acked) => (1, acked),
        CongestionEvent::Lost => (2, 0),
        CongestionEvent::Measured(rtt_us) => (3, rtt_us),
        CongestionEvent::Resumed => (4, 0),
        CongestionEvent::TimedOut => (5, 0),
        CongestionEvent::Undone => (6, 0),
    }
}

pub fn over(flow: u32) -> Vec<u8> {
    let mut body = vec![b'Z'];
    body.extend_from_slice(&flow.to_le_bytes());
    body
}

pub fn enqueued(at_ps: u64, class: usize, bytes: u64) -> Vec<u8> {
    let mut body = vec![b'E'];
    body.extend_from_slice(&at_ps.to_le_bytes());
    body.push(class as u8);
    body.extend_from_slice(&(bytes as u32).to_le_bytes());
    body
}

pub fn departed(class: usize, bytes: u64, emptied: bool) -> Vec<u8> {
    gone(b'D', class, bytes, emptied)
}

pub fn dropped(class: usize, bytes: u64, emptied: bool) -> Vec<u8> {
    gone(b'X', class, bytes, emptied)
}

fn gone(how: u8, class: usize, bytes: u64, emptied: bool) -> Vec<u8> {
    let mut body = vec![how, class as u8];
    body.extend_from_slice(&(bytes as u32).to_le_bytes());
    body.push(u8::from(emptied));
    body
}

/// Pairs `(input, output)`.
pub fn read_pairs(answer: &[u8]) -> Result<Vec<(usize, usize)>, String> {
    let (pairs, rest) = answer.as_chunks::<2>();
    match rest {
        [] => Ok(pairs.iter().map(|[input, output]| ((*input).into(), (*output).into())).collect()),
        _ => Err("it answered with half a pair".to_owned()),
    }
}

/// The events that a class subscribes to, as bits, and how it uses marks.
pub fn read_wishes(answer: &[u8]) -> Result<(u8, MarksWanted), String> {
    match answer {
        [wishes, 0] => Ok((*wishes, MarksWanted::Classic)),
        [wishes, 1] => Ok((*wishes, MarksWanted::EveryMark)),
        [wishes, 2] => Ok((*wishes, MarksWanted::L4s)),
        _ => Err("it answered with no wishes".to_owned()),
    }
}

pub fn read_window(answer: &[u8]) -> Result<CongestionAnswer, String> {
    match answer.as_chunks::<4>() {
        (&[cwnd, ssthresh, count], []) => Ok(CongestionAnswer {
            cwnd: u32::from_le_bytes(cwnd),
            ssthresh: u32::from_le_bytes(ssthresh),
            count: u32::from_le_bytes(count),
        }),
        _ => Err("it answered with no window".to_owned()),
    }
}

/// The questions for an AQM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AqmWishes {
    pub arrivals: bool,
    pub departures: bool,
}

pub fn read_aqm_wishes(answer: &[u8]) -> Result<AqmWishes, String> {
    match answer {
        [bits @ 0..=3] => Ok(AqmWishes { arrivals: bits & 1 != 0, departures: bits & 2 != 0 }),
        _ => Err("it answered with no wishes".to_owned()),
    }
}

pub fn read_class(answer: &[u8]) -> Result<usize, String> {
    match answer {
        [class] => Ok((*class).into()),
        _ => Err("it answered with no class".to_owned()),
    }
}

pub fn read_verdict(answer: &[u8]) -> Result<AqmVerdict, String> {
    match answer {
        [0] => Ok(AqmVerdict::Pass),
        [1] => Ok(AqmVerdict::Mark),
        [2] => Ok(AqmVerdict::Drop),
        _ => Err("it answered with no verdict".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use units::{Span, Time};

    use super::*;

    #[test]
    fn frames_have_the_layout_that_is_written_above() {
        assert_eq!(frame(&[7, 8]), [2, 0, 0, 0, 7, 8]);
        let at = Time::ZERO + Span::from_ps(258);
        let asked = matching(&MatchQuestion { at, inputs_of: vec![5, 0] });
        // 1 + 8 + 2 + 2 x 16 bytes; 258 is 2 + 1 x 256.
        assert_eq!((asked.len(), &asked[..12]), (43, &[b'M', 2, 1, 0, 0, 0, 0, 0, 0, 2, 0, 5][..]));
        let asked = turn(&TurnQuestion { at, heads: vec![(3, 1500)] });
        // 1500 is 220 + 5 x 256.
        assert_eq!(asked[9..], [1, 3, 220, 5, 0, 0]);
        assert_eq!(departed(1, 64, true), [b'D', 1, 64, 0, 0, 0, 1]);
        assert_eq!(over(259), [b'Z', 3, 1, 0, 0]);
    }

    #[test]
    fn answers_are_read_or_refused() {
        assert_eq!(read_pairs(&[0, 1, 2, 3]), Ok(vec![(0, 1), (2, 3)]));
        assert!(
            read_pairs(&[0]).is_err() && read_class(&[]).is_err() && read_verdict(&[3]).is_err()
        );
        let window = CongestionAnswer { cwnd: 10, ssthresh: 256, count: 3 };
        assert_eq!(read_window(&[10, 0, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0]), Ok(window));
        let departures = AqmWishes { arrivals: false, departures: true };
        assert_eq!(read_aqm_wishes(&[2]), Ok(departures));
        assert!(read_aqm_wishes(&[4]).is_err() && read_aqm_wishes(&[]).is_err());
        assert!(read_window(&[0; 11]).is_err() && read_wishes(&[1, 3]).is_err());
    }
}
