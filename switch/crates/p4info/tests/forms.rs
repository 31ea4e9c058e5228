//! The text, JSON and binary forms of messages, against bytes worked out by hand.

use p4info::*;

fn table() -> P4Info {
    P4Info {
        pkg_info: Some(PkgInfo { arch: "v1model".into(), ..PkgInfo::default() }),
        tables: vec![Table {
            preamble: Some(Preamble { id: 1, name: "t".into(), ..Preamble::default() }),
            match_fields: vec![MatchField {
                id: 1,
                bitwidth: 9,
                match_type: MatchType::Lpm,
                ..MatchField::default()
            }],
            direct_resource_ids: vec![300, 5],
            size: 1024,
            ..Table::default()
        }],
        type_info: Some(P4TypeInfo::default()),
        ..P4Info::default()
    }
}

#[test]
fn text_has_fields_in_number_order_and_leaves_zeros_out() {
    let expected = "\
pkg_info {
  arch: \"v1model\"
}
tables {
  preamble {
    id: 1
    name: \"t\"
  }
  match_fields {
    id: 1
    bitwidth: 9
    match_type: LPM
  }
  direct_resource_ids: 300
  direct_resource_ids: 5
  size: 1024
}
type_info {
}
";
    assert_eq!(table().to_text(), expected);
}

#[test]
fn json_has_joined_names_and_long_numbers_as_strings() {
    let expected = r#"{
  "pkgInfo": {
    "arch": "v1model"
  },
  "tables": [
    {
      "preamble": {
        "id": 1,
        "name": "t"
      },
      "matchFields": [
        {
          "id": 1,
          "bitwidth": 9,
          "matchType": "LPM"
        }
      ],
      "directResourceIds": [
        300,
        5
      ],
      "size": "1024"
    }
  ],
  "typeInfo": {}
}
"#;
    assert_eq!(table().to_json(), expected);
}

#[test]
fn binary_is_what_protobuf_prescribes() {
    let expected = [
        // pkg_info (1) is 9 bytes: arch (5) is a string of 7.
        &[0x0a, 9, 0x2a, 7][..],
        b"v1model",
        // tables (2) is 23 bytes: preamble (1) of 5 with id 1 and name "t" ...
        &[0x12, 23, 0x0a, 5, 0x08, 1, 0x12, 1, b't'],
        // ... match_fields (2) of 6 with id 1, bitwidth (4) 9 and match_type (5) LPM = 3 ...
        &[0x12, 6, 0x08, 1, 0x20, 9, 0x28, 3],
        // ... direct_resource_ids (7) packed into 3 bytes, 300 = 0xac 0x02, and size (8) 1024.
        &[0x3a, 3, 0xac, 0x02, 5, 0x40, 0x80, 0x08],
        // type_info (200): the tag is 200 * 8 + 2 = 1602 = 0xc2 0x0c; present and empty.
        &[0xc2, 0x0c, 0],
    ]
    .concat();
    assert_eq!(table().to_bytes(), expected);
}

#[test]
fn decoding_is_the_inverse_of_encoding() {
    let mut info = table();
    let mut types = P4TypeInfo::default();
    let sdn_type = Some(SdnType::Bitwidth(0));
    let translation = P4NewTypeTranslation { uri: "u".into(), sdn_type };
    let representation = Some(NewTypeRepresentation::Translated(translation));
    let port = P4NewTypeSpec { representation, ..P4NewTypeSpec::default() };
    types.new_types.insert("port_t".into(), port);
    info.type_info = Some(types);
    assert_eq!(P4Info::from_bytes(&info.to_bytes()), Ok(info));
}

#[test]
fn a_negative_number_survives_both_ways() {
    let value = Expression { value: Some(ExpressionValue::Int64(-2)) };
    // Ten bytes: the sign extends to 64 bits, nine full groups of seven and one more bit.
    assert_eq!(value.to_bytes().len(), 11);
    assert_eq!(Expression::from_bytes(&value.to_bytes()), Ok(value));
}

#[test]
fn an_unknown_field_is_skipped() {
    // Field 15 of PkgInfo does not exist; field 5 follows it.
    let bytes = [0x78, 1, 0x2a, 1, b'x'];
    assert_eq!(PkgInfo::from_bytes(&bytes).unwrap().arch, "x");
}

#[test]
fn endless_nesting_is_refused() {
    // A tuple (3) whose only member (1) is a tuple, 200 levels deep.
    let mut bytes = Vec::new();
    for _ in 0..200 {
        let mut inner = vec![0x0a];
        put_length(&mut inner, bytes.len());
        inner.extend_from_slice(&bytes);
        bytes = vec![0x1a];
        put_length(&mut bytes, inner.len());
        bytes.extend_from_slice(&inner);
    }
    assert_eq!(P4DataTypeSpec::from_bytes(&bytes), Err(DecodeError::TooDeep));
}

fn put_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

#[test]
fn text_escapes_what_is_not_printable_ascii() {
    let doc = Documentation { brief: "a \"b\"\n\u{e9}\\".into(), ..Documentation::default() };
    // é is the two UTF-8 bytes c3 a9, written in octal.
    assert_eq!(doc.to_text(), "brief: \"a \\\"b\\\"\\n\\303\\251\\\\\"\n");
}
