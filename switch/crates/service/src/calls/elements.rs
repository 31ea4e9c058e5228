//! The memory of a decoded protobuf message, counted while it arrives.
//!
//! Two bytes on the wire can be an element of some hundred bytes in memory: an update of which nothing
//! is set, thirty million times in the longest message. So elements are counted before anybody decodes
//! them. Which fields are messages is not known here; whatever has a length and reads like one is
//! taken for one, which errs upwards.
//!
//! ```text
//!   tag len  tag len  tag varint  tag len ...
//!    │   └────┼── a field with a length: an element, and perhaps a message ...
//!    │        └──── ... with elements of its own, up to the end that the length says
//! ```

/// The decoder refuses deeper messages (prost has the same bound).
const DEPTH_MAX: usize = 100;

/// Follows a message through its bytes, however they are cut.
#[derive(Debug, Default)]
pub(super) struct Elements {
    /// Fields with a length in the message itself, and in those within it.
    pub outer: u64,
    pub inner: u64,
    at: u64,
    /// Where the fields end that are open, the innermost last.
    ends: Vec<u64>,
    reading: Reading,
}

#[derive(Clone, Copy, Debug)]
enum Reading {
    /// The number that says which field comes, and of which form; or how long it is; or its value.
    Number(Number, u64, u32),
    /// Bytes of which nothing is to be known, up to there.
    Skip(u64),
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Length,
    Tag,
    Value,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading::Number(Number::Tag, 0, 0)
    }
}

impl Elements {
    /// The next bytes of the message.
    pub fn follow(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            match self.reading {
                Reading::Skip(end) => {
                    let skipped = (end - self.at).min(bytes.len() as u64);
                    self.at += skipped;
                    bytes = &bytes[skipped as usize..];
                    if self.at == end {
                        self.reading = Reading::default();
                    }
                }
                Reading::Number(number, before, shift) => {
                    self.at += 1;
                    bytes = rest;
                    let value = before | u64::from(first & 0x7f).checked_shl(shift).unwrap_or(0);
                    self.reading = match (first & 0x80 != 0, shift) {
                        (true, ..63) => Reading::Number(number, value, shift + 7),
                        // No number has more than ten bytes.
                        (true, _) => self.opaque(),
                        (false, _) => self.after(number, value),
                    };
                }
            }
            while self.ends.pop_if(|end| *end <= self.at).is_some() {}
        }
    }

    /// A number is complete: what comes next.
    fn after(&mut self, number: Number, value: u64) -> Reading {
        match (number, value & 7) {
            (Number::Length, _) => self.open(value),
            (Number::Value, _) | (Number::Tag, 3 | 4) => Reading::default(),
            (Number::Tag, 0) => Reading::Number(Number::Value, 0, 0),
            (Number::Tag, 1) => self.skip(8),
            (Number::Tag, 2) => Reading::Number(Number::Length, 0, 0),
            (Number::Tag, 5) => self.skip(4),
            (Number::Tag, _) => self.opaque(),
        }
    }

    /// A field of this length begins.
    fn open(&mut self, length: u64) -> Reading {
        *if self.ends.is_empty() { &mut self.outer } else { &mut self.inner } += 1;
        let end = self.at.saturating_add(length);
        match self.ends.last() {
            // Longer than what it is in: that is no message.
            Some(outer) if end > *outer => self.opaque(),
            _ if self.ends.len() == DEPTH_MAX => Reading::Skip(end),
            _ => {
                self.ends.push(end);
                Reading::default()
            }
        }
    }

    fn skip(&self, length: u64) -> Reading {
        Reading::Skip(self.at + length)
    }

    /// The open element is no message, or the message is invalid, and will not be decoded further.
    fn opaque(&self) -> Reading {
        Reading::Skip(self.ends.last().copied().unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use messages::p4::v1 as p4;
    use messages::p4::v1::entity::Entity;
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    fn counted(parts: &[&[u8]]) -> (u64, u64) {
        let mut elements = Elements::default();
        parts.iter().for_each(|part| elements.follow(part));
        (elements.outer, elements.inner)
    }

    fn entry(value: Vec<u8>) -> p4::Update {
        let exact = p4::field_match::Exact { value: value.into() };
        let field_match_type = Some(p4::field_match::FieldMatchType::Exact(exact));
        let r#match = vec![p4::FieldMatch { field_id: 1, field_match_type }];
        let entry = p4::TableEntry { table_id: 0x0200_0001, r#match, ..Default::default() };
        let entity = Some(p4::Entity { entity: Some(Entity::TableEntry(entry)) });
        p4::Update { r#type: 1, entity }
    }

    /// An update has an entity, a table entry, a match, an exact and a value in it.
    #[test]
    fn elements_are_counted_at_all_depths() {
        let updates = vec![entry(vec![0; 6]), entry(vec![0; 6])];
        let request = p4::WriteRequest { device_id: 1, updates, ..Default::default() };
        assert_eq!(counted(&[&request.encode_to_vec()]), (2, 10));
    }

    #[test]
    fn an_empty_update_is_an_element_of_two_bytes() {
        let request =
            p4::WriteRequest { updates: vec![p4::Update::default(); 1000], ..Default::default() };
        let bytes = request.encode_to_vec();
        assert_eq!((bytes.len(), counted(&[&bytes])), (2000, (1000, 0)));
    }

    /// The decoder skips groups: nothing may hide behind the start of one.
    #[test]
    fn what_stands_behind_unknown_fields_is_counted() {
        let hidden =
            p4::WriteRequest { updates: vec![p4::Update::default(); 3], ..Default::default() };
        // Field 100: a group without anything, a number, four bytes, eight bytes.
        let unknown = [&[0xa3, 6, 0xa4, 6, 0xa0, 6, 0x96, 1][..], &[0xa5, 6, 1, 2, 3, 4]].concat();
        let unknown = [&unknown[..], &[0xa1, 6, 1, 2, 3, 4, 5, 6, 7, 8]].concat();
        assert_eq!(counted(&[&unknown, &hidden.encode_to_vec()]), (3, 0));
        let decoded = p4::WriteRequest::decode(&[unknown, hidden.encode_to_vec()].concat()[..]);
        assert_eq!(decoded, Ok(hidden));
    }

    #[test]
    fn of_text_and_packets_few_bytes_are_taken_for_elements() {
        let text = b"{\n  \"name\" : \"router\",\n  \"header_types\" : [".repeat(1000);
        let message = p4::StreamMessageRequest {
            update: Some(p4::stream_message_request::Update::Packet(p4::PacketOut {
                payload: text.into(),
                ..Default::default()
            })),
        };
        let bytes = message.encode_to_vec();
        let (outer, inner) = counted(&[&bytes]);
        assert!(outer == 1 && inner < bytes.len() as u64 / 16, "{inner} of {}", bytes.len());
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_are_cut(
            values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..8),
            junk in prop::collection::vec(any::<u8>(), 0..20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let updates = values.into_iter().map(entry).collect();
            let request = p4::WriteRequest { updates, ..Default::default() };
            let bytes = [request.encode_to_vec(), junk].concat();
            let mut cuts: Vec<usize> = cuts.iter().map(|at| at.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut parts = Vec::new();
            let mut from = 0;
            for cut in cuts {
                parts.push(&bytes[from..cut]);
                from = cut;
            }
            parts.push(&bytes[from..]);
            prop_assert_eq!(counted(&parts), counted(&[&bytes]));
        }
    }
}
