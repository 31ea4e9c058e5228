//! Packet-in and packet-out: controller headers as bytes of a frame, and as metadata of a message.
//!
//! A program that talks to a controller declares a header for each direction. On the CPU port the
//! header goes before the frame; in P4Runtime it is a list of metadata. P4Info gives the fields in
//! the header's order, first field in the highest bits.

use bits::Int;
use messages::p4::v1 as p4;
use prost::bytes::Bytes;

use crate::index::names::Translation;
use crate::index::shape::hex;
use crate::index::{Index, Param};
use crate::refusal::Refusal;

/// Longest payload of a packet-out: a jumbo frame with its Ethernet header and a VLAN tag.
pub const PAYLOAD_SIZE_BYTES_MAX: usize = 9216 + 18;

/// The frame that goes into the CPU port for a packet-out.
///
/// The metadata must be exactly the header's fields, in any order.
pub fn packet_out_frame(index: &Index, packet: &p4::PacketOut) -> Result<Vec<u8>, Refusal> {
    let fields = index.packet_out();
    if packet.payload.len() > PAYLOAD_SIZE_BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "the payload has {} bytes; a packet-out carries at most {PAYLOAD_SIZE_BYTES_MAX}",
            packet.payload.len()
        )));
    }
    if let Some(stranger) = packet
        .metadata
        .iter()
        .find(|given| !fields.iter().any(|field| field.id == given.metadata_id))
    {
        return Err(Refusal::invalid(format!(
            "packet-out metadata id {} is not in the program's packet_out header, which has {}",
            stranger.metadata_id,
            describe(fields),
        )));
    }
    let mut header = Int::zero();
    for field in fields {
        let value = field_value(field, &packet.metadata)?;
        header = &header.shift_left(field.width_bits) | &value;
    }
    let mut frame = vec![0; header_size_bytes(fields)];
    let padding_bits = 8 * frame.len() - width_bits(fields);
    header.shift_left(padding_bits).write_be_bytes(&mut frame);
    frame.extend_from_slice(&packet.payload);
    Ok(frame)
}

/// The message for a frame that left through the CPU port.
///
/// A frame shorter than the header (the program did not add it) is all payload, without metadata.
pub fn packet_in_message(index: &Index, frame: &[u8]) -> p4::PacketIn {
    let fields = index.packet_in();
    let Some((header, payload)) = frame.split_at_checked(header_size_bytes(fields)) else {
        return p4::PacketIn { payload: Bytes::copy_from_slice(frame), metadata: Vec::new() };
    };
    let header_value = Int::from_be_bytes(header);
    let mut below_bits = 8 * header.len();
    let metadata = fields.iter().map(|field| {
        below_bits -= field.width_bits;
        let value = header_value.shift_right(below_bits).truncate(field.width_bits);
        let value = match Translation::names(field.translation.as_ref()) {
            Some(names) => names.bytes_of(&value),
            None => bits::canonical(&value).into(),
        };
        p4::PacketMetadata { metadata_id: field.id, value }
    });
    let metadata = metadata.collect();
    p4::PacketIn { payload: Bytes::copy_from_slice(payload), metadata }
}

fn field_value(field: &Param, metadata: &[p4::PacketMetadata]) -> Result<Int, Refusal> {
    let mut given = metadata.iter().filter(|given| given.metadata_id == field.id);
    let (Some(one), None) = (given.next(), given.next()) else {
        return Err(Refusal::invalid(format!(
            "packet-out needs metadata {} (id {}, {} bits) exactly once",
            field.name, field.id, field.width_bits
        )));
    };
    if let Some(names) = Translation::names(field.translation.as_ref()) {
        let place = format!("packet-out metadata {}", field.name);
        return names.number_of(&one.value).map_err(|refusal| refusal.within(place));
    }
    bits::from_canonical(&one.value, field.width_bits).map_err(|error| {
        Refusal::out_of_range(format!(
            "packet-out metadata {} is {}: {error}",
            field.name,
            hex(&one.value)
        ))
    })
}

fn width_bits(fields: &[Param]) -> usize {
    fields.iter().map(|field| field.width_bits).sum()
}

fn header_size_bytes(fields: &[Param]) -> usize {
    width_bits(fields).div_ceil(8)
}

fn describe(fields: &[Param]) -> String {
    if fields.is_empty() {
        return "no fields".to_owned();
    }
    let fields: Vec<_> =
        fields.iter().map(|field| format!("{} (id {})", field.name, field.id)).collect();
    fields.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::p4::config::v1 as config;

    /// Both headers: a 9-bit port, 7 bits of padding, an 8-bit reason, as ids 1, 2, 3.
    fn index() -> Index {
        let field = |id, name: &str, bitwidth| config::controller_packet_metadata::Metadata {
            id,
            name: name.to_owned(),
            bitwidth,
            ..Default::default()
        };
        let header = |id, name: &str| config::ControllerPacketMetadata {
            preamble: Some(config::Preamble { id, name: name.to_owned(), ..Default::default() }),
            metadata: vec![field(1, "port", 9), field(2, "pad", 7), field(3, "reason", 8)],
        };
        let info = config::P4Info {
            controller_packet_metadata: vec![header(1, "packet_in"), header(2, "packet_out")],
            ..Default::default()
        };
        Index::new(&info).unwrap()
    }

    /// A metadata id and its value.
    type Given = (u32, &'static [u8]);

    fn metadata(values: &[Given]) -> Vec<p4::PacketMetadata> {
        let one = |&(metadata_id, value): &Given| p4::PacketMetadata {
            metadata_id,
            value: Bytes::from_static(value),
        };
        values.iter().map(one).collect()
    }

    fn packet_out(values: &[Given]) -> p4::PacketOut {
        p4::PacketOut { payload: Bytes::from_static(b"frame"), metadata: metadata(values) }
    }

    #[test]
    fn a_packet_out_becomes_its_header_and_its_payload() {
        // Port 0x155 in 9 bits, then seven zero bits: 1_0101_0101 0000_000 = 0xaa80; reason 3.
        let packet = packet_out(&[(3, b"\x03"), (1, b"\x01\x55"), (2, b"\x00")]);
        let frame = packet_out_frame(&index(), &packet).unwrap();
        assert_eq!(frame, b"\xaa\x80\x03frame");
    }

    #[test]
    fn a_packet_in_is_split_into_canonical_metadata_and_payload() {
        let message = packet_in_message(&index(), b"\xaa\x80\x03frame");
        assert_eq!(message.payload, Bytes::from_static(b"frame"));
        assert_eq!(message.metadata, metadata(&[(1, b"\x01\x55"), (2, b"\x00"), (3, b"\x03")]));
    }

    #[test]
    fn a_frame_too_short_for_the_header_is_all_payload() {
        let message = packet_in_message(&index(), b"\xaa");
        assert_eq!((message.payload.len(), message.metadata.len()), (1, 0));
    }

    #[test]
    fn missing_doubled_unknown_and_too_wide_metadata_are_refused() {
        let cases: [(&[Given], &str); 4] = [
            (&[(1, b"\x01"), (2, b"\x00")], "needs metadata reason (id 3, 8 bits) exactly once"),
            (&[(1, b"\x01"), (1, b"\x01"), (2, b"\x00"), (3, b"\x00")], "needs metadata port"),
            (&[(1, b"\x01"), (2, b"\x00"), (3, b"\x00"), (9, b"\x00")], "id 9 is not in"),
            (&[(1, b"\x02\x00"), (2, b"\x00"), (3, b"\x00")], "port is 0x0200"),
        ];
        for (values, expected) in cases {
            let refusal = packet_out_frame(&index(), &packet_out(values)).unwrap_err();
            assert!(refusal.message.contains(expected), "{}", refusal.message);
        }
    }

    #[test]
    fn without_a_controller_header_a_packet_is_its_payload_both_ways() {
        let plain = Index::default();
        let packet = p4::PacketOut { payload: Bytes::from_static(b"frame"), metadata: Vec::new() };
        assert_eq!(packet_out_frame(&plain, &packet).unwrap(), b"frame");
        assert_eq!(packet_in_message(&plain, b"frame").payload, Bytes::from_static(b"frame"));
    }
}
