//! Made-up programs of calls: externs, stacks, unions, varbits, loops and `switch`.
//!
//! [`program`] builds a program of some of the [`CALLS`], in an order that is made up too; the
//! expressions between them are those of the other made-up programs.

use super::chance::Chance;
use super::programs::{Expressions, WIDTHS, fields};

/// The calls, each with a name, its place and P4 text. In a text, `EXPR8`, `EXPR16`, `EXPR32` and
/// `TEST` stand for made-up expressions, `FIELDS` for a question about fields as they are, and `CELL`
/// for an index that may lie beyond its array of registers, counters or meters.
pub const CALLS: &[(&str, Place, &str)] = &[
    ("drop", Place::Ingress, "if (TEST) { mark_to_drop(s); }"),
    ("drop in egress", Place::Egress, "if (h.a.f1 == 6) { mark_to_drop(s); }"),
    ("assert", Place::Ingress, "assert(TEST || h.a.f0 != 2);"),
    (
        "break",
        Place::Ingress,
        "for (bit<8> i = 0; i < 9; i = i + 1) { if (i == h.a.f0) { break; } m.f0 = m.f0 + i; \
         }",
    ),
    (
        "clone from egress",
        Place::Egress,
        "if (s.instance_type == 0) { clone_preserving_field_list(CloneType.E2E, 5, 1); }",
    ),
    (
        "clone from ingress",
        Place::Ingress,
        "if (TEST) { clone_preserving_field_list(CloneType.I2E, 2, 1); }",
    ),
    (
        "continue",
        Place::Ingress,
        "for (bit<8> i in 1 .. 5) { if (TEST) { continue; } m.f0 = m.f0 ^ i; }",
    ),
    ("counter", Place::Ingress, "numbers.count(CELL);"),
    ("counter in egress", Place::Egress, "both.count(CELL);"),
    ("digest", Place::Ingress, "if (TEST) { digest<note_t>(1, { EXPR8, m.f3 }); }"),
    ("exit", Place::Ingress, "if (TEST && h.a.f1 == 5) { exit; }"),
    (
        "for with a variable end",
        Place::Ingress,
        "for (bit<16> i in 0 .. (bit<16>) h.a.f1) { m.f8 = m.f8 + EXPR16 + i; }",
    ),
    (
        "hash of fields",
        Place::Ingress,
        "hash(m.f8, HashAlgorithm.crc16, EXPR16, { h.a.f3, m.f5, h.b.f1 }, 16w1000);",
    ),
    (
        "hash, wide",
        Place::Egress,
        "hash(m.f7, HashAlgorithm.crc32, 64w0, { h.a.f6, h.b.f7, EXPR8 }, 64w65536);",
    ),
    ("header copied", Place::Ingress, "if (TEST) { h.b = h.a; }"),
    ("header invalid", Place::Ingress, "if (TEST) { h.b.setInvalid(); }"),
    (
        "label at an index",
        Place::Ingress,
        "h.labels[h.a.f0[1:0]].value = (bit<7>) EXPR8; m.f0 = (bit<8>) \
         h.labels[h.a.f0[1:0]].value;",
    ),
    ("labels popped", Place::Ingress, "if (TEST) { h.labels.pop_front(1); }"),
    (
        "labels pushed",
        Place::Ingress,
        "if (TEST) { h.labels.push_front(2); h.labels[0].setValid(); h.labels[0].value = 9; \
         h.labels[0].bottom = 0; }",
    ),
    ("meter", Place::Ingress, "colours.execute_meter(CELL, m.f5);"),
    ("meter of bytes", Place::Egress, "weights.execute_meter(CELL, m.f5);"),
    ("multicast", Place::Ingress, "if (h.a.f1 == 1) { s.mcast_grp = 1; }"),
    ("random", Place::Ingress, "random(m.f8, 16w3, 16w900);"),
    (
        "recirculate",
        Place::Egress,
        "if (s.instance_type == 0 && h.a.f9[0:0] == 1) { h.a.f9 = 0; \
         recirculate_preserving_field_list(1); }",
    ),
    (
        "register, signed",
        Place::Ingress,
        "signs.read(sign, CELL); signs.write(CELL, sign - (int<33>) (bit<33>) EXPR32);",
    ),
    (
        "register, wide",
        Place::Ingress,
        "wide.read(big, CELL); wide.write(CELL, big + 1 + (bit<90>) EXPR32);",
    ),
    (
        "resubmit",
        Place::Ingress,
        "if (s.instance_type == 0 && TEST) { m.f0 = EXPR8; resubmit_preserving_field_list(1); \
         }",
    ),
    (
        "profile of two tables",
        Place::Ingress,
        "if (TEST) { first.apply(); m.f5 = EXPR32; } else { second.apply(); m.f8 = 3; }",
    ),
    (
        "switch over a field",
        Place::Ingress,
        "switch (h.a.f1) { 0: { m.f0 = 1; } 1: 2: { m.f5 = EXPR32; } 5: { z(); } default: { \
         m.f8 = 7; } }",
    ),
    (
        "switch over actions",
        Place::Ingress,
        "switch (chosen.apply().action_run) { x: { m.f5 = EXPR32; } y: { if (TEST) { z(); } } \
         default: { m.f0 = 3; } }",
    ),
    (
        "switch over values",
        Place::Ingress,
        "switch (EXPR8) { 0: { m.f0 = 1; } 1: 2: { m.f5 = EXPR32; } 255: { z(); } default: { \
         m.f8 = 7; } }",
    ),
    ("table with a counter and a meter", Place::Ingress, "counted.apply();"),
    ("truncate", Place::Ingress, "if (TEST) { truncate((bit<32>) h.a.f0 + 3); }"),
    ("union copied", Place::Ingress, "if (TEST) { h.u.two = h.spare; }"),
    (
        "union made valid",
        Place::Ingress,
        "if (TEST) { h.u.two.setValid(); h.u.two.kind = 2; h.u.two.v = EXPR16; }",
    ),
    (
        "union made invalid",
        Place::Ingress,
        "if (TEST) { h.u.one.setInvalid(); } else { m.f0 = h.u.isValid() ? 8w1 : h.u.one.v; }",
    ),
    (
        "unions at indexes",
        Place::Ingress,
        "if (h.us[1].two.isValid()) { m.f8 = h.us[1].two.v; h.us[0].one.setValid(); \
         h.us[0].one.v = EXPR8; }",
    ),
    ("varbit copied", Place::Ingress, "if (TEST) { h.w = h.v; }"),
    ("varbit dropped", Place::Egress, "if (TEST) { h.v.setInvalid(); }"),
    (
        "update_checksum",
        Place::Update,
        "update_checksum(TEST, { h.a.f0, h.a.f3, h.a.f1, h.a.f5, m.f7 }, h.a.f8, \
         HashAlgorithm.csum16);",
    ),
    (
        "update_checksum of whole bytes",
        Place::Update,
        "update_checksum(FIELDS, { h.a.f0, h.a.f1, h.a.f2, h.a.f3, h.a.f4, h.a.f5, h.a.f6, h.a.f7, \
         h.b.f5, h.b.f6 }, h.b.f8, HashAlgorithm.csum16);",
    ),
    (
        "update_checksum over a header that may have gone",
        Place::Update,
        "update_checksum(FIELDS, { h.a.f5, h.b.f5 }, h.a.f8, HashAlgorithm.csum16);",
    ),
    (
        "update_checksum of varbit",
        Place::Update,
        "update_checksum(h.v.isValid(), { h.v.count, h.v.options, 8w0 }, h.spare.v, \
         HashAlgorithm.csum16);",
    ),
    (
        "update_checksum_with_payload",
        Place::Update,
        "update_checksum_with_payload(TEST, { h.a.f7, m.f8 }, h.a.f8, HashAlgorithm.csum16);",
    ),
    (
        "verify_checksum",
        Place::Verify,
        "verify_checksum(TEST, { h.a.f0, h.a.f5, 8w7 }, h.a.f8, HashAlgorithm.csum16);",
    ),
    (
        "verify_checksum, of a header that is not always there",
        Place::Verify,
        "verify_checksum(FIELDS, { h.a.f0, h.a.f1, h.a.f2, h.a.f3, h.a.f4, h.b.f5 }, h.b.f8, \
         HashAlgorithm.csum16);",
    ),
    (
        "verify_checksum twice, the second time right in some packets",
        Place::Verify,
        "verify_checksum(FIELDS, { h.a.f6 }, h.a.f8, HashAlgorithm.csum16); \
         verify_checksum(FIELDS, { h.a.f5 }, h.a.f8, HashAlgorithm.csum16);",
    ),
    (
        "verify_checksum_with_payload",
        Place::Verify,
        "verify_checksum_with_payload(h.b.isValid(), { h.a.f8 }, h.b.f8, \
         HashAlgorithm.csum16);",
    ),
];

/// The states of a parser, each with a name and P4 text; a program has some, in a made-up order.
pub const STATES: &[(&str, &str)] = &[
    ("advance", "k.advance(8); m.f0 = 8;"),
    ("another header", "k.extract(h.b);"),
    ("fields ahead", "pair_t pair = k.lookahead<pair_t>(); m.f8 = pair.second;"),
    ("labels until the bottom", "k.extract(h.labels.next);"),
    (
        "states, about as many as there may be",
        "m.f8 = 16w4080 + (bit<16>) h.a.f2[3:0]; transition round; }\n\
         state round { m.f8 = m.f8 - 1; transition select(m.f8) { 0: rounds_end; default: round; } }\n\
         state rounds_end { m.f0 = 9;",
    ),
    ("union", "k.extract(h.u.one);"),
    ("union, other member", "k.extract(h.u.two);"),
    ("unions", "k.extract(h.us.next.two);"),
    ("varbit", "k.extract(h.v, (bit<32>) k.lookahead<bit<8>>()[2:0] * 8);"),
    ("varbit of a part of a byte", "k.extract(h.v, (bit<32>) h.a.f1 * 4);"),
];

/// Where a call may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Egress,
    Ingress,
    Update,
    Verify,
}

/// The source of a program, and the names of its calls and states.
pub fn program(chance: &mut Chance) -> (String, Vec<&'static str>) {
    let mut used = Vec::new();
    let [ingress, egress, update, verify] =
        [Place::Ingress, Place::Egress, Place::Update, Place::Verify]
            .map(|place| calls(chance, place, &mut used));
    let states = states(chance, &mut used);
    let [first, second, third] =
        [true, true, false].map(|params| assign(chance, params) + &assign(chance, params));
    let fields = fields();
    let (key, egress_port) = (*chance.one(&["exact", "ternary", "lpm"]), chance.below(4));
    let source = format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header h_t {{ {fields} }}\n\
         header label_t {{ bit<7> value; bit<1> bottom; }}\n\
         header one_t {{ bit<8> kind; bit<8> v; }}\n\
         header two_t {{ bit<8> kind; bit<16> v; }}\n\
         header_union either_t {{ one_t one; two_t two; }}\n\
         header var_t {{ bit<8> count; varbit<40> options; bit<8> last; }}\n\
         struct headers {{ h_t a; h_t b; label_t[3] labels; either_t u; either_t[2] us;\n\
         var_t v; var_t w; two_t spare; }}\n\
         struct meta {{ @field_list(1) bit<8> f0; {rest} }}\n\
         struct note_t {{ bit<8> first; bit<1> second; }}\n\
         struct pair_t {{ bit<8> first; bit<16> second; }}\n\
         parser p(packet_in k, out headers h, inout meta m, inout standard_metadata_t s) {{\n\
         {states} }}\n\
         control v(inout headers h, inout meta m) {{ apply {{ {verify} }} }}\n\
         control i(inout headers h, inout meta m, inout standard_metadata_t s) {{\n\
         counter(8, CounterType.packets) numbers; meter(8, MeterType.packets) colours;\n\
         register<bit<90>>(8) wide; bit<90> big;\n\
         register<int<33>>(8) signs; int<33> sign = 0; action_profile(8) profile;\n\
         direct_counter(CounterType.packets_and_bytes) hits;\n\
         direct_meter<bit<32>>(MeterType.bytes) pace;\n\
         action x(bit<7> p0, bit<48> p1) {{ {first} }}\n\
         action y(bit<64> p0, bit<13> p1) {{ {second} }}\n\
         action z() {{ {third} }}\n\
         action paced() {{ pace.read(m.f5); }}\n\
         table chosen {{ key = {{ h.a.f0: {key}; h.a.f1: exact; }} actions = {{ x; y; z; }}\n\
         default_action = z(); }}\n\
         table counted {{ key = {{ h.a.f0: ternary; }} actions = {{ paced; }}\n\
         default_action = paced(); counters = hits; meters = pace; }}\n\
         action one(bit<8> p) {{ m.f0 = p; }} action two(bit<16> p) {{ m.f8 = p; }}\n\
         table first {{ key = {{ h.a.f0: exact; }} actions = {{ one; }} implementation = profile; }}\n\
         table second {{ key = {{ h.a.f0: exact; }} actions = {{ two; }} implementation = profile; }}\n\
         apply {{ s.egress_spec = {egress_port}; big = 0; h.a.f4 = (bit<7>) s.checksum_error;\n\
         if (s.parser_error == error.NoMatch) {{ h.a.f10 = 1; }}\n\
         else if (s.parser_error == error.PacketTooShort) {{ h.a.f10 = 2; }}\n\
         else if (s.parser_error == error.StackOutOfBounds) {{ h.a.f10 = 3; }}\n\
         else if (s.parser_error != error.NoError) {{ h.a.f10 = 4; }}\n\
         {ingress} }} }}\n\
         control e(inout headers h, inout meta m, inout standard_metadata_t s) {{\n\
         counter(8, CounterType.packets_and_bytes) both; meter(8, MeterType.bytes) weights;\n\
         apply {{ {egress} h.a.f3 = m.f3; h.a.f5 = m.f5; h.a.f7 = m.f7; h.b.f0 = m.f0; }} }}\n\
         control c(inout headers h, inout meta m) {{ apply {{ {update} }} }}\n\
         control d(packet_out k, in headers h) {{ apply {{ k.emit(h); }} }}\n\
         V1Switch(p(), v(), i(), e(), c(), d()) main;\n",
        rest = fields.trim_start_matches("bit<8> f0; "),
    );
    (source, used)
}

/// A few of the calls that are allowed in this place, in random order.
fn calls(chance: &mut Chance, place: Place, used: &mut Vec<&'static str>) -> String {
    let mut left: Vec<_> = CALLS.iter().filter(|call| call.1 == place).collect();
    let count = left.len().min(1 + chance.below(5));
    let mut text = String::new();
    for _ in 0..count {
        let (name, _, call) = left.swap_remove(chance.below(left.len()));
        used.push(*name);
        text += &filled(call, chance);
        text.push('\n');
    }
    text
}

/// The parser: each state goes on to the next, or ends, as a byte ahead says. One of labels
/// goes round until it has seen the bottom of the stack.
fn states(chance: &mut Chance, used: &mut Vec<&'static str>) -> String {
    let mut left: Vec<_> = STATES.iter().collect();
    let count = 1 + chance.below(4);
    let mut text = String::from("state start { k.extract(h.a);\n");
    for number in 0..count {
        let (name, does) = left.swap_remove(chance.below(left.len()));
        used.push(name);
        let high = 1 + chance.below(3);
        text += &format!(
            "transition select(h.a.f1) {{ 0 &&& {high}: s{number}; default: s{number}_not; }} }}\n\
             state s{number}_not {{ {} transition s{number}_end; }}\n\
             state s{number} {{ {does} ",
            filled("verify(TEST, error.NoMatch);", chance)
        );
        text += &if name.starts_with("labels") {
            format!(
                "transition select(h.labels.last.bottom) {{\n\
                 0: s{number}; default: s{number}_end; }} }}\n"
            )
        } else {
            format!("transition s{number}_end; }}\n")
        };
        text += &format!("state s{number}_end {{ ");
    }
    text + "transition accept; }"
}

/// An assignment to a field of a header or of metadata.
fn assign(chance: &mut Chance, params: bool) -> String {
    let (kind, number) = (*chance.one(&["h.a", "h.b", "m"]), chance.below(WIDTHS.len()));
    let value = Expressions { chance, params }.value(WIDTHS[number], 2);
    format!("{kind}.f{number} = {value}; ")
}

/// A call's text with expressions in their places.
fn filled(call: &str, chance: &mut Chance) -> String {
    let mut text = call.to_owned();
    for word in ["EXPR8", "EXPR16", "EXPR32", "CELL", "FIELDS", "TEST"] {
        while text.contains(word) {
            let mut made = Expressions { chance: &mut *chance, params: false };
            let value = match word {
                "CELL" => {
                    format!("((bit<32>) {})", chance.one(&["h.a.f0[2:0]", "h.a.f0[3:0]", "h.a.f1"]))
                }
                "EXPR8" => made.value(8, 2),
                "EXPR16" => made.value(16, 2),
                "EXPR32" => made.value(32, 2),
                "FIELDS" => made.of_fields(2),
                _ => made.test(2),
            };
            text = text.replacen(word, &value, 1);
        }
    }
    text
}
