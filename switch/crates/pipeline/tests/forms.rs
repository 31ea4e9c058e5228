//! Forms of BMv2 JSON that only compilers of P4_14 write, and those of the oldest versions: each
//! either runs, with simple_switch's result, or is refused with its place and a sentence.

use crate::common;

use common::{leaves, load, send};
use pipeline::{Config, Pipeline};

/// A program in version 2.0 whose action is `primitives` and whose parser starts with `operations`.
/// Packets start with a header of 12 bytes: a, b, 8 bytes, and the sum where IPv4 has it. All leave
/// by port 1.
fn program(primitives: &str, operations: &str, others: &str) -> String {
    format!(
        r#"{{
  "header_types": [
    {{ "name": "standard_metadata_t", "id": 0, "fields": [["ingress_port", 9],
        ["packet_length", 32], ["egress_spec", 9], ["egress_port", 9], ["instance_type", 32],
        ["_padding", 5]] }},
    {{ "name": "pair_t", "id": 1, "fields": [["a", 8], ["b", 8], ["middle", 64],
        ["sum", 16]] }},
    {{ "name": "sized_t", "id": 2, "fields": [["words", 8], ["rest", "*"], ["last", 8]],
        "length_exp": {{ "type": "expression", "value": {{ "op": "*",
          "left": {{ "type": "local", "value": 0 }},
          "right": {{ "type": "hexstr", "value": "0x10" }} }} }}, "max_length": 12 }},
    {{ "name": "unsized_t", "id": 3, "fields": [["rest", "*"]], "max_length": 12 }}
  ],
  "headers": [
    {{ "name": "standard_metadata", "id": 0, "header_type": "standard_metadata_t",
       "metadata": true }},
    {{ "name": "pair", "id": 1, "header_type": "pair_t", "metadata": false }},
    {{ "name": "sized", "id": 2, "header_type": "sized_t", "metadata": false }},
    {{ "name": "unsized", "id": 3, "header_type": "unsized_t", "metadata": false }}
  ],
  "parsers": [{{ "name": "parser", "id": 0, "init_state": "start", "parse_states": [
    {{ "name": "start", "id": 0, "transition_key": [], "parser_ops": [
        {{ "op": "extract", "parameters": [{{ "type": "regular", "value": "pair" }}] }}
        {operations} ],
      "transitions": [{{ "value": "default", "mask": null, "next_state": null }}] }} ] }}],
  "deparsers": [{{ "name": "deparser", "id": 0, "order": ["pair", "sized"] }}],
  "actions": [{{ "name": "act", "id": 0, "runtime_data": [], "primitives": [
    {{ "op": "modify_field", "parameters": [
      {{ "type": "field", "value": ["standard_metadata", "egress_spec"] }},
      {{ "type": "hexstr", "value": "0x01" }} ] }}
    {primitives} ] }}],
  "pipelines": [
    {{ "name": "ingress", "id": 0, "init_table": "t", "conditionals": [], "tables": [
      {{ "name": "t", "id": 0, "match_type": "exact", "type": "simple", "max_size": 1, "key": [],
         "actions": ["act"], "next_tables": {{ "act": null }},
         "default_entry": {{ "action_id": 0, "action_data": [] }} }} ] }},
    {{ "name": "egress", "id": 1, "init_table": null, "conditionals": [], "tables": [] }} ]
  {others}
}}"#
    )
}

/// A primitive of P4_14 on the fields of the header and constants: `add a b 0x07`.
fn primitive(text: &str) -> String {
    let mut words = text.split_whitespace();
    let operation = words.next().unwrap_or_default();
    let parameter = |word: &str| match word.strip_prefix("0x") {
        Some(_) => format!(r#"{{ "type": "hexstr", "value": "{word}" }}"#),
        None => format!(r#"{{ "type": "field", "value": ["pair", "{word}"] }}"#),
    };
    let parameters: Vec<String> = words.map(parameter).collect();
    format!(r#", {{ "op": "{operation}", "parameters": [{}] }}"#, parameters.join(", "))
}

/// A packet: a and b, the sum, and what follows the header.
fn packet([a, b]: [u8; 2], sum: u16, rest: &[u8]) -> Vec<u8> {
    let middle = [0; 8];
    [&[a, b], &middle[..], &sum.to_be_bytes(), rest].concat()
}

#[test]
fn primitives_of_p4_14_do_what_simple_switch_does() {
    // Each on a = 5 and b = 0xf0.
    let cases: [(&str, [u8; 2]); 13] = [
        ("modify_field a b", [0xf0, 0xf0]),
        ("add_to_field a 0x03", [8, 0xf0]),
        ("subtract_from_field a 0x06", [0xff, 0xf0]),
        ("add a b 0x20", [0x10, 0xf0]),
        ("subtract a b a", [0xeb, 0xf0]),
        ("bit_and a b 0x3c", [0x30, 0xf0]),
        ("bit_or a a b", [0xf5, 0xf0]),
        ("bit_xor a b 0xff", [0x0f, 0xf0]),
        ("shift_left a b 0x02", [0xc0, 0xf0]),
        ("shift_right a b 0x04", [0x0f, 0xf0]),
        ("modify_field_rng_uniform a 0x07 0x07", [7, 0xf0]),
        // A field keeps the low bits of the value.
        ("add_to_field a 0x0102", [7, 0xf0]),
        ("no_op", [5, 0xf0]),
    ];
    for (text, [a, b]) in cases {
        let mut pipeline = load(program(&primitive(text), "", "").as_bytes());
        let outputs = send(&mut pipeline, &packet([5, 0xf0], 0, &[9]));
        assert_eq!(outputs, [leaves(1, &packet([a, b], 0, &[9]))], "{text}");
    }
}

#[test]
fn a_header_may_say_itself_how_long_it_is() {
    let extract =
        r#", { "op": "extract", "parameters": [{ "type": "regular", "value": "sized" }] }"#;
    // The header goes behind the other: what is left out of the deparser is not sent.
    let remove =
        r#", { "op": "remove_header", "parameters": [{ "type": "header", "value": "pair" }] }"#;
    let mut pipeline = load(program(remove, extract, "").as_bytes());
    let mut sends = |rest: &[u8]| send(&mut pipeline, &packet([0, 0], 0, rest));
    // One word of 16 bits: 1 + 2 + 1 bytes, then the payload; and no word at all.
    for rest in [&[1, 2, 3, 4, 9][..], &[0, 4, 9]] {
        assert_eq!(sends(rest), [leaves(1, rest)]);
    }
    // Six words make 14 bytes where 12 are the most, three are more than there is, and the last
    // packet ends before the length: each ends the parser before the header, which stays payload.
    let too_long = [6, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
    for rest in [&too_long[..], &[3, 1], &[]] {
        assert_eq!(sends(rest), [leaves(1, rest)]);
    }
}

/// The words are 0x0102 and zeros, the old sum is left out: !0x0102 = 0xfefd.
#[test]
fn a_checksum_of_type_ipv4_covers_its_header() {
    let checksums = r#", "checksums": [{ "name": "sum", "id": 0, "target": ["pair", "sum"],
        "type": "ipv4", "verify": false, "update": true }]"#;
    let mut pipeline = load(program("", "", checksums).as_bytes());
    let outputs = send(&mut pipeline, &packet([1, 2], 0xaaaa, &[9]));
    assert_eq!(outputs, [leaves(1, &packet([1, 2], 0xfefd, &[9]))]);
}

/// A method of the extern instance "it".
fn called(operation: &str) -> String {
    format!(r#", {{ "op": "{operation}", "parameters": [{{ "type": "extern", "value": "it" }}] }}"#)
}

/// The extern instance "it".
fn instance(kind: &str) -> String {
    format!(
        r#", "extern_instances": [{{ "name": "it", "id": 0, "type": "{kind}", "attribute_values": [
             {{ "name": "algo", "type": "string", "value": "CRC16" }}] }}]"#
    )
}

/// Programs, the refused place, and a part of the sentence.
fn refused() -> [(String, &'static str, &'static str); 9] {
    let extract = |header: &str| {
        format!(
            r#", {{ "op": "extract", "parameters": [{{ "type": "regular", "value": "{header}" }}] }}"#
        )
    };
    let with = |others: &str| program("", "", others);
    [
        (
            program("", &extract("unsized"), ""),
            "/parsers/0/parse_states/0/parser_ops/1/op",
            "its type has a length_exp",
        ),
        (
            program(&primitive("resubmit_with a"), "", ""),
            "/actions/0/primitives/1/op",
            "there is no primitive \"resubmit_with\"",
        ),
        (
            program(&primitive("add a"), "", ""),
            "/actions/0/primitives/1/parameters",
            "3 parameters",
        ),
        (
            with(r#", "__meta__": { "version": [1, 9] }"#),
            "/__meta__/version",
            "a version from 2.0 to 2.24",
        ),
        (
            with(
                r#", "checksums": [{ "name": "sum", "id": 0, "target": ["pair", "a"],
                     "type": "ipv4" }]"#,
            ),
            "/checksums/0/target",
            "16 bits at byte 10",
        ),
        (
            with(
                r#", "meter_arrays": [{ "name": "m", "id": 0, "rate_count": 3, "type": "bytes",
                     "size": 1 }]"#,
            ),
            "/meter_arrays/0/rate_count",
            "a meter of v1model has 2 rates",
        ),
        (
            with(
                r#", "field_lists": [{ "id": 1, "name": "list", "elements": [
                     { "type": "payload", "value": "x" }] }]"#,
            ),
            "/field_lists/0/elements/0",
            "an element of type field or hexstr",
        ),
        (
            with(r#", "calculations": [{ "name": "c", "id": 0, "algo": "sha1", "input": [] }]"#),
            "/calculations/0/algo",
            "there is no hash \"sha1\"",
        ),
        (
            with("").replace("\"max_size\": 1", "\"max_size\": 4294967295"),
            "/pipelines/0/tables/0/max_size",
            "the tables of a program take at most 4096 MiB together: t takes 557056 with its \
             4294967295 entries, and 4096 are left",
        ),
    ]
}

/// The same for methods of extern instances.
fn refused_methods() -> [(String, &'static str, &'static str); 2] {
    [
        (
            program(&called("_InternetChecksum_clear"), "", &instance("Hash")),
            "/actions/0/primitives/1/parameters/0",
            "an instance of InternetChecksum; \"it\" is one of Hash",
        ),
        (
            program(&called("_Random_read"), "", &instance("Random")),
            "/actions/0/primitives/1/op",
            "there is no primitive \"_Random_read\"",
        ),
    ]
}

#[test]
fn what_is_not_run_is_refused_with_its_place_and_a_sentence() {
    for (json, place, sentence) in refused().into_iter().chain(refused_methods()) {
        let refused = Pipeline::load(json.as_bytes(), &Config::default());
        let message = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(&format!("at {place}:")), "{place}: {message}");
        assert!(message.contains(sentence), "{sentence}: {message}");
    }
}
