//! Drops and marks from outside.

use units::{Span, Time};

use super::{AqmOutside, Guest};

/// A verdict on a packet.
#[must_use = "the packet must be treated accordingly"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AqmVerdict {
    /// It is dropped.
    Drop,
    /// It is marked; only a packet that is ECN-capable can be.
    Mark,
    /// It goes on.
    Pass,
}

/// A packet that AQM must decide on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AqmQuestion {
    /// When.
    pub at: Time,
    /// None for a packet that asks to be let in; how long one that is about to leave has waited.
    pub waited: Option<Span>,
    /// Its length.
    pub bytes: u64,
    /// The queue's depth without the packet.
    pub queue_packets: u64,
    /// The same in bytes.
    pub queue_bytes: u64,
    /// Whether it can be marked.
    pub is_capable: bool,
}

impl Guest<dyn AqmOutside> {
    /// The verdict on a packet; `own` is that of the router's method, if it decided too.
    pub fn judge(&mut self, question: &AqmQuestion, own: Option<AqmVerdict>) -> AqmVerdict {
        let decide = |decider: &mut (dyn AqmOutside + 'static)| {
            let verdict = decider.decide(question)?;
            if verdict == AqmVerdict::Mark && !question.is_capable {
                return Err("it marked a packet that is not ECN-capable".to_owned());
            }
            match own.filter(|own| *own != verdict) {
                Some(own) => {
                    Err(format!("it said {verdict:?}, where the built-in one says {own:?}"))
                }
                None => Ok(verdict),
            }
        };
        let asked = || {
            let AqmQuestion { waited, bytes, queue_packets, queue_bytes, .. } = question;
            let place = match waited {
                None => "at arrival".to_owned(),
                Some(waited) => format!("at departure, after {} us", waited.ps() / 1_000_000),
            };
            format!(
                "a packet of {bytes} bytes {place}, with {queue_packets} packets of {queue_bytes} \
                 bytes besides"
            )
        };
        self.ask(question.at, decide, asked).unwrap_or(AqmVerdict::Pass)
    }
}
