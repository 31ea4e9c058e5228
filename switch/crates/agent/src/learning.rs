//! Digests as bmv2's runtime interface knows them: by the number of their list in BMv2 JSON, each on
//! from the beginning, and acknowledged as a whole or sample by sample.
//!
//! They are independent of P4Runtime's, which controllers switch on one by one, and have a receiver
//! of their own: a [`Learner`]. Without one, nothing is collected.

use std::collections::BTreeMap;
use std::fmt;

use bits::Int;
use p4runtime::digest::{Digests, List, Message};
use p4runtime::translate::change::DigestConfig;
use pipeline::Pipeline;
use units::Time;

/// As bmv2 begins: each message is sent at once, and again only when it was acknowledged.
const AT_FIRST: DigestConfig =
    DigestConfig { timeout_ns_max: 1_000_000_000, list_size_max: 1, ack_timeout_ns: u64::MAX };

/// A list that is ready to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Its number in BMv2 JSON.
    pub list_id: u32,
    /// The number by which it is acknowledged.
    pub buffer_id: u64,
    /// How many samples there are.
    pub count: u32,
    /// The samples one after another, each field in whole bytes, the most significant first.
    pub samples: Vec<u8>,
}

/// A receiver of digests. Called between packets, so it must not wait.
pub trait Learner: fmt::Debug + Send {
    fn learn(&mut self, learned: Learned);
}

/// The lists of one program.
#[derive(Debug)]
pub struct Learning {
    /// How many bytes each field of a list takes.
    field_bytes: BTreeMap<u32, Vec<usize>>,
    digests: Digests,
}

impl Learning {
    pub(super) fn new(pipeline: &Pipeline) -> Learning {
        let bytes = |bits: u32| bits.div_ceil(8) as usize;
        let lists = pipeline.digests().map(|(id, _)| id);
        let field_bytes: BTreeMap<u32, Vec<usize>> =
            lists.map(|id| (id, pipeline.digest_widths(id).map(bytes).collect())).collect();
        let mut digests = Digests::default();
        for id in field_bytes.keys() {
            digests.configure(*id, AT_FIRST);
        }
        Learning { field_bytes, digests }
    }

    /// A message of this list; returns the list if that completes it.
    pub(super) fn handle_message(
        &mut self,
        now: Time,
        list_id: u32,
        message: Message,
    ) -> Option<Learned> {
        let list = self.digests.handle_message(now, list_id, message)?;
        Some(self.learned(list))
    }

    /// The next list that has waited long enough.
    pub(super) fn poll(&mut self, now: Time) -> Option<Learned> {
        let list = self.digests.poll_list(now)?;
        Some(self.learned(list))
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        self.digests.next_due()
    }

    /// The longest a sample waits for others; 0: as long as it takes. `false`: there is no such list.
    pub fn set_timeout_ms(&mut self, list_id: u32, timeout_ms: u32) -> bool {
        let timeout_ns_max = match timeout_ms {
            0 => u64::MAX,
            ms => u64::from(ms) * 1_000_000,
        };
        self.configure(list_id, |config| DigestConfig { timeout_ns_max, ..config })
    }

    /// How many samples are published together. `false`: there is no such list.
    pub fn set_buffer_size(&mut self, list_id: u32, sample_count: u32) -> bool {
        let list_size_max = sample_count.max(1);
        self.configure(list_id, |config| DigestConfig { list_size_max, ..config })
    }

    /// The samples of a list, all or these, may be published again. `false`: there is no such list.
    pub fn acknowledge(&mut self, list_id: u32, buffer_id: u64, samples: Option<&[usize]>) -> bool {
        match samples {
            None => self.digests.handle_ack(list_id, buffer_id),
            Some(samples) => {
                for sample in samples {
                    self.digests.handle_ack_of(list_id, buffer_id, *sample);
                }
            }
        }
        self.digests.config(list_id).is_some()
    }

    fn configure(&mut self, list_id: u32, change: impl Fn(DigestConfig) -> DigestConfig) -> bool {
        let Some(config) = self.digests.config(list_id) else { return false };
        self.digests.configure(list_id, change(config));
        true
    }

    fn learned(&self, list: List) -> Learned {
        let widths = self.field_bytes.get(&list.digest_id).map_or(&[][..], Vec::as_slice);
        let mut samples = Vec::new();
        for message in &list.messages {
            for (value, bytes) in message.iter().zip(widths) {
                put(value, *bytes, &mut samples);
            }
        }
        let count = list.messages.len() as u32;
        Learned { list_id: list.digest_id, buffer_id: list.list_id, count, samples }
    }
}

/// Appends a value in this many bytes.
fn put(value: &Int, bytes: usize, samples: &mut Vec<u8>) {
    samples.extend((0..bytes).rev().map(|at| value.shift_right(8 * at).low_u64() as u8));
}
