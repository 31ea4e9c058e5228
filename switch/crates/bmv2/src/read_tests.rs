//! Programs that are read, written and refused, with the place of the mistake.

use super::*;
use crate::write;

/// A small program that uses a form of everything.
const SMALL: &str = r#"{
  "__meta__": { "version": [2, 23], "compiler": "by hand" },
  "program": "small.p4",
  "header_types": [
    { "name": "pair_t", "id": 0, "fields": [["a", 8, false], ["b", 8, true]] },
    { "name": "options_t", "id": 1, "fields": [["data", "*"]], "max_length": 40 }
  ],
  "headers": [
    { "name": "pair", "id": 0, "header_type": "pair_t", "metadata": false },
    { "name": "options", "id": 1, "header_type": "options_t", "metadata": false }
  ],
  "parsers": [{ "name": "parser", "id": 0, "init_state": "start", "parse_states": [
    { "name": "start", "id": 0, "parser_ops": [
        { "op": "extract", "parameters": [{ "type": "regular", "value": "pair" }] },
        { "op": "shift", "parameters": [3] },
        { "op": "verify", "parameters": [{ "type": "bool", "value": true }, 2] }
      ],
      "transition_key": [{ "type": "field", "value": ["pair", "a"] }],
      "transitions": [
        { "value": "0x05", "mask": null, "next_state": null },
        { "value": "default", "mask": null, "next_state": "start" }
      ] }
  ] }],
  "actions": [{ "name": "set", "id": 7, "runtime_data": [{ "name": "x", "bitwidth": 8 }],
    "primitives": [{ "op": "assign", "parameters": [
      { "type": "field", "value": ["pair", "a"] },
      { "type": "expression", "value": { "type": "expression", "value": {
          "op": "&", "left": { "type": "expression", "value": { "op": "-", "left": null,
            "right": { "type": "local", "value": 0 } } },
          "right": { "type": "hexstr", "value": "0xff" } } } }
    ] }] }],
  "pipelines": [{ "name": "ingress", "id": 0, "init_table": "t", "tables": [
    { "name": "t", "id": 0, "match_type": "exact", "type": "simple", "max_size": 4,
      "key": [{ "match_type": "exact", "target": ["pair", "b"], "mask": null }],
      "action_ids": [7], "actions": ["set"], "next_tables": { "__HIT__": null, "__MISS__": "t" },
      "entries": [{ "match_key": [{ "match_type": "exact", "key": "0x01" }],
        "action_entry": { "action_id": 7, "action_data": ["0x2a"] }, "priority": 1 }] }
  ], "conditionals": [] }]
}"#;

fn refusal(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    read(SMALL.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_program_survives_being_written_and_read() {
    let program = read(SMALL.as_bytes()).unwrap();
    assert_eq!(read(write(&program).as_bytes()).unwrap(), program);
}

#[test]
fn older_spellings_become_the_newer_forms() {
    let program = read(SMALL.as_bytes()).unwrap();
    let state = &program.parsers[0].parse_states[0];
    // `shift` counts bytes, `advance` bits: 3 * 8 = 24.
    assert_eq!(
        state.operations[1],
        crate::ParserOperation::Advance { width_bits: crate::Expression::Hex(24.into()) }
    );
    assert_eq!(state.transitions[1].matches, crate::TransitionMatch::Default);
}

#[test]
fn an_attribute_of_an_object_may_be_a_bare_number() {
    let meter = r#"{ "extern_instances": [{ "name": "m", "id": 0, "type": "Meter",
        "attribute_values": [
          { "name": "rate_count", "type": "hexstr", "value": 2 },
          { "name": "n_meters", "type": "hexstr", "value": "0x0c" }] }],"#;
    let program = read(SMALL.replacen('{', meter, 1).as_bytes()).unwrap();
    let numbers: Vec<_> =
        program.extern_instances[0].attributes.iter().map(|each| &each.1).collect();
    assert_eq!(numbers, [2u32, 12].map(|n| ExternAttribute::Hex(n.into())).each_ref());
}

#[test]
fn a_complaint_names_the_place_and_what_belongs_there() {
    assert_eq!(
        refusal(r#"["a", 8, false]"#, r#"["a", "wide", false]"#),
        "BMv2 JSON, at /header_types/0/fields/0/1: expected a number of bits, or \"*\", found the \
         string \"wide\""
    );
    assert_eq!(
        refusal(r#""match_type": "exact", "type""#, r#""match_type": "fuzzy", "type""#),
        "BMv2 JSON, at /pipelines/0/tables/0/match_type: expected a match type: exact, lpm, range, \
         ternary or valid, found the string \"fuzzy\""
    );
    assert_eq!(
        refusal(r#""max_size": 4"#, r#""max_size": -4"#),
        "BMv2 JSON, at /pipelines/0/tables/0/max_size: expected a whole number from 0 to \
         4294967295, found the number -4"
    );
    assert!(refusal(r#""id": 7, "#, "").contains("at /actions/0: expected a member \"id\""));
    assert!(refusal("[2, 23]", "[3, 0]").contains("expected a version from 2.0 to 2.24"));
}

#[test]
fn json_for_something_else_is_named() {
    for (json, expected) in [
        (r#"{ "Node_ID": 3, "Node_Type": "P4Program" }"#, "p4c's inner form of a program"),
        (r#"{ "pkgInfo": { "arch": "v1model" } }"#, "P4Info"),
        (r#"{ "schema_version": "1.0.0", "tables": [] }"#, "a schema for bf-runtime"),
        (
            r#"{ "schema_version": "0.1", "target": "DPDK", "tables": [] }"#,
            "a context file for the target DPDK",
        ),
        (
            r#"{ "header_types": [], "pipelines": [{ "name": "main_control", "id": 0 }] }"#,
            "a program for the architecture PNA",
        ),
    ] {
        let error = read(json.as_bytes()).expect_err(json);
        assert!(error.found.contains(expected), "{error}");
        assert!(error.expected.contains("v1model or PSA"), "{error}");
    }
}

#[test]
fn text_that_is_no_json_or_is_cut_short_is_refused() {
    for length in [0, 1, 100, SMALL.len() - 1] {
        assert!(read(&SMALL.as_bytes()[..length]).is_err(), "{length} bytes");
    }
    assert!(read(b"[]").is_err());
    assert!(read(b"\xff\xfe").is_err());
}

#[test]
fn numbers_too_long_to_compute_with_are_refused() {
    let with_digits = |count: usize| {
        let digits = "f".repeat(count);
        format!(
            r#"{{ "register_arrays": [
                {{ "name": "r", "id": 0, "size": 1, "bitwidth": 8, "initial_value": "{digits}" }}
            ] }}"#
        )
    };
    assert!(read(with_digits(32_768).as_bytes()).is_ok());
    let error = read(with_digits(400_000).as_bytes()).expect_err("too long").to_string();
    let said = "BMv2 JSON, at /register_arrays/0/initial_value: expected a number of at most 32768 \
                hexadecimal digits, found the string";
    assert!(error.starts_with(said), "{error}");
}

#[test]
fn checksums_that_imply_too_many_fields_are_refused() {
    // 200 kB of text imply four million fields.
    let field = |index| format!(r#"["f{index}", 0, false]"#);
    let fields: Vec<String> = (0..2000).map(field).collect();
    let checksum = |id| {
        format!(r#"{{ "name": "c{id}", "id": {id}, "target": ["h", "sum"], "type": "ipv4" }}"#)
    };
    let checksums: Vec<String> = (0..2000).map(checksum).collect();
    let text = format!(
        r#"{{ "header_types": [{{ "name": "h_t", "id": 0,
                "fields": [["first", 80, false], ["sum", 16, false], {}] }}],
              "headers": [{{ "name": "h", "id": 0, "header_type": "h_t" }}],
              "checksums": [{}] }}"#,
        fields.join(","),
        checksums.join(",")
    );
    let error = read(text.as_bytes()).expect_err("they are too many").to_string();
    let said = "expected fields that checksums of type ipv4 imply to take at most 4 MiB";
    assert!(error.contains(said), "{error}");
}

#[test]
fn nesting_beyond_reason_is_refused_before_it_can_exhaust_the_stack() {
    let deep = "[".repeat(1_000_000);
    assert!(read(deep.as_bytes()).unwrap_err().expected.contains("nested at most"));
}

proptest::proptest! {
    /// Whatever happens to the text, reading answers and does not panic.
    #[test]
    fn damaged_text_is_answered(at in 0..SMALL.len(), byte: u8, cut in 0..SMALL.len()) {
        let mut text = SMALL.as_bytes().to_vec();
        text[at] = byte;
        let _ = read(&text);
        text.truncate(cut);
        let _ = read(&text);
    }
}
