//! Digests of everything that a switch says in a history, independent of how our code names it: they
//! take messages as they are encoded.

use std::cell::Cell;
use std::rc::Rc;

use messages::p4::v1::StreamMessageResponse;
use messages::p4::v1::stream_message_response::Update;
use p4runtime::Status;
use prost::Message;

use super::model::Answer;

/// The switch's messages, shared by a simulation and its open calls.
#[derive(Clone, Default)]
pub struct Said {
    /// Without the texts of errors, which change with their wording.
    meaning: Digest,
    texts: Digest,
}

impl Said {
    pub fn take(&self, bytes: &[u8]) {
        self.meaning.take(bytes);
    }

    pub fn take_message(&self, message: &impl Message) {
        self.take(&message.encode_to_vec());
    }

    pub fn take_stream_message(&self, message: &StreamMessageResponse) {
        let mut message = message.clone();
        if let Some(Update::Arbitration(update)) = &mut message.update
            && let Some(status) = &mut update.status
        {
            self.texts.take(status.message.as_bytes());
            status.message.clear();
        }
        self.take_message(&message);
    }

    /// Takes a refusal, and returns the answer that the model knows it by.
    pub fn refused(&self, status: &Status) -> Answer {
        self.meaning.take(&[status.code as u8]);
        self.texts.take(status.message.as_bytes());
        self.texts.take(&status.details);
        Answer::Refused(status.code)
    }

    /// Both digests as text.
    pub fn line(&self) -> String {
        format!("{:016x} texts={:016x}", self.meaning.0.get(), self.texts.0.get())
    }
}

/// FNV-1a.
#[derive(Clone)]
struct Digest(Rc<Cell<u64>>);

impl Default for Digest {
    fn default() -> Digest {
        Digest(Rc::new(Cell::new(0xcbf2_9ce4_8422_2325)))
    }
}

impl Digest {
    /// Takes the number of bytes as well, so that two parts never look like one.
    fn take(&self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_be_bytes();
        let value = length.iter().chain(bytes).fold(self.0.get(), |value, byte| {
            (value ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        self.0.set(value);
    }
}
