//! The compiler's results: P4Info that controllers can rely on, and messages about the limits of
//! simple_switch. tests/packets of the repository checks how the JSON treats packets.

use bits::Int;
use bmv2::ExternAttribute;
use compiler::{Diagnostic, Options, Output, Severity, SourceError, SourceProvider, compile};

/// The program under test and the standard includes.
struct Texts<'a>(&'a str);

impl SourceProvider for Texts<'_> {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match path.rsplit('/').next() {
            Some("core.p4") => Ok(include_str!("../../../../p4src/include/core.p4").to_owned()),
            Some("v1model.p4") => {
                Ok(include_str!("../../../../p4src/include/v1model.p4").to_owned())
            }
            Some("psa.p4") => Ok(include_str!("../../../../p4src/include/psa.p4").to_owned()),
            Some("vitrine.p4") => {
                Ok(include_str!("../../../../p4src/include/vitrine.p4").to_owned())
            }
            Some("test.p4") => Ok(self.0.to_owned()),
            _ => Err(SourceError::NotFound),
        }
    }
}

const BEGIN: &str = "
#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> v; }
struct headers_t { byte_t h; byte_t[2] s; }
struct metadata_t { bit<8> m; }
";

const MIDDLE: &str = "
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control verify_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control compute_nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
";

const END: &str = "
V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
";

/// A program with these declarations, and this inside `ingress`.
fn output(declarations: &str, ingress: &str) -> Output {
    output_with(declarations, ingress, Options::default())
}

fn output_with(declarations: &str, ingress: &str, mut options: Options) -> Output {
    let text = format!(
        "{BEGIN}{declarations}{MIDDLE}
        control ingress(inout headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t std) {{ {ingress} }}{END}"
    );
    options.preprocessor.include_directories = vec!["include".to_owned()];
    compile(&Texts(&text), "test.p4", &options)
}

fn errors(output: &Output) -> Vec<&Diagnostic> {
    output.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect()
}

fn good(declarations: &str, ingress: &str) -> (bmv2::Program, p4info::P4Info) {
    let output = output(declarations, ingress);
    assert_eq!(errors(&output), Vec::<&Diagnostic>::new());
    (output.program.expect("a program"), output.p4info.expect("P4Info"))
}

/// The title of the only error, which must come with advice.
fn limit(declarations: &str, ingress: &str) -> String {
    let output = output(declarations, ingress);
    let errors = errors(&output);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].hint.is_some(), "{:?} says nothing about what to do", errors[0]);
    assert!(output.program.is_none());
    errors[0].title.clone()
}

fn names<T>(list: &[T], preamble: impl Fn(&T) -> Option<&p4info::Preamble>) -> Vec<&str> {
    list.iter().filter_map(preamble).map(|preamble| preamble.name.as_str()).collect()
}

const TABLE: &str = "
    action set(bit<8> value) { hdr.h.v = value; }
    table t { key = { hdr.h.v : exact; } actions = { set; } default_action = set(0); }
";

#[test]
fn a_table_that_is_never_applied_is_not_shown_to_the_controller() {
    let (_, info) = good("", &format!("{TABLE} apply {{ }}"));
    assert!(info.tables.is_empty());
    assert!(info.actions.is_empty());
}

/// simple_switch never finds invalid headers and unions equal, P4 always does.
#[test]
fn headers_are_compared_by_their_validity_and_fields() {
    let union = "header_union either_t { byte_t one; }";
    let variables = "either_t left; either_t right; byte_t[2] stack;";
    for (one, other) in [("hdr.h", "hdr.s[0]"), ("hdr.s", "stack"), ("left", "right")] {
        let ingress =
            format!("{variables} apply {{ if ({one} == {other}) {{ std.egress_spec = 1; }} }}");
        let (program, _) = good(union, &ingress);
        let compared = format!("{:?}", program.pipelines[0].conditionals[0].expression);
        for whole in ["Header(", "HeaderStack(", "HeaderUnion("] {
            assert!(!compared.contains(whole), "{one} == {other}: {compared}");
        }
        assert!(compared.contains("$valid$"), "{one} == {other}: {compared}");
    }
}

#[test]
fn a_table_in_dead_code_is_not_shown_either() {
    let (_, info) = good("", &format!("{TABLE} apply {{ if (false) {{ t.apply(); }} }}"));
    assert!(info.tables.is_empty());
}

#[test]
fn tables_of_sub_controls_have_the_path_of_their_instance() {
    let sub = format!("control sub(inout headers_t hdr) {{ {TABLE} apply {{ t.apply(); }} }}");
    let body = "sub() one; sub() two; apply { one.apply(hdr); two.apply(hdr); }";
    let (program, info) = good(&sub, body);
    let tables = names(&info.tables, |table| table.preamble.as_ref());
    assert_eq!(tables, ["ingress.one.t", "ingress.two.t"]);
    // `t` alone would be both.
    let alias = info.tables[0].preamble.as_ref().map(|preamble| preamble.alias.as_str());
    assert_eq!(alias, Some("one.t"));
    let switch = program.pipelines[0].tables.iter().map(|table| table.name.as_str());
    assert_eq!(switch.collect::<Vec<_>>(), ["ingress.one.t", "ingress.two.t"]);
}

#[test]
fn an_annotated_name_replaces_the_declared_one() {
    let body = "
        @name(\"seen\") action set(@name(\"what\") bit<8> value) { hdr.h.v = value; }
        @name(\".global\") table t {
            key = { hdr.h.v : exact @name(\"key\"); } actions = { set; }
            default_action = set(0);
        }
        apply { t.apply(); }";
    let (_, info) = good("", body);
    assert_eq!(names(&info.tables, |table| table.preamble.as_ref()), ["global"]);
    assert_eq!(names(&info.actions, |action| action.preamble.as_ref()), ["ingress.seen"]);
    assert_eq!(info.tables[0].match_fields[0].name, "key");
    assert_eq!(info.actions[0].params[0].name, "what");
}

#[test]
fn a_default_action_is_written_with_its_arguments() {
    let (program, info) = good("", &format!("{TABLE} apply {{ t.apply(); }}"));
    let call = info.tables[0].initial_default_action.as_ref().expect("a default action");
    assert_eq!(call.arguments[0].value.0, [0]);
    let default = program.pipelines[0].tables[0].default_entry.as_ref().expect("a default entry");
    assert_eq!(default.action_data, [bits::Int::zero()]);
}

/// simple_switch ends at an entry of a table without keys, and `bit<0>` is none to it.
#[test]
fn an_entry_that_no_packet_can_miss_is_the_default_one() {
    let (program, _) = good(
        "",
        "action set(bit<8> v) { hdr.h.v = v; }
         action other() { }
         bit<0> nothing = 0;
         table t {
             key = { nothing : exact; }
             actions = { set; other; }
             default_action = other();
             const entries = { 0 : set(7); }
         }
         apply { if (t.apply().miss) { hdr.h.v = 1; } }",
    );
    let table = program.pipelines[0].tables.iter().find(|table| table.name == "ingress.t").unwrap();
    assert_eq!((table.key.len(), &table.entries), (0, &None));
    let default = table.default_entry.as_ref().expect("a default entry");
    assert_eq!((default.action_id, default.action_entry_const), (table.action_ids[0], true));
    assert_eq!(default.action_data, [Int::from(7)]);
    let bmv2::NextTables::HitMiss { hit, miss } = &table.next_tables else {
        panic!("it is asked whether it misses")
    };
    assert_eq!(hit, miss);
}

#[test]
fn sizes_not_given_are_1024() {
    let (program, info) = good("", &format!("{TABLE} apply {{ t.apply(); }}"));
    assert_eq!(info.tables[0].size, 1024);
    assert_eq!(program.pipelines[0].tables[0].size_max, 1024);
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let body = format!("{TABLE} register<bit<8>>(4) r; apply {{ t.apply(); r.write(0, 1); }}");
    let [one, other] = [(); 2].map(|()| good("", &body));
    assert_eq!(bmv2::write(&one.0), bmv2::write(&other.0));
    assert_eq!(p4info::to_text(&one.1), p4info::to_text(&other.1));
}

#[test]
fn what_is_written_can_be_read() {
    let (program, _) = good("", &format!("{TABLE} apply {{ t.apply(); }}"));
    assert_eq!(bmv2::read(bmv2::write(&program).as_bytes()), Ok(program));
}

#[test]
fn a_header_of_odd_width_is_reported_with_the_bits_that_are_missing() {
    let title = limit(
        "header odd_t { bit<7> v; }",
        "odd_t o; apply { o.setValid(); o.v = 1; hdr.h.v = (bit<8>)o.v; }",
    );
    assert_eq!(title, "the fields of `odd_t` are 7 bits together");
}

#[test]
fn a_table_that_would_meet_a_packet_twice_is_reported() {
    let title = limit("", &format!("{TABLE} apply {{ t.apply(); hdr.h.v = 1; t.apply(); }}"));
    assert_eq!(title, "`ingress.t` would be applied again after it has been applied");
}

#[test]
fn two_prefix_keys_are_reported() {
    let title = limit(
        "",
        "table t { key = { hdr.h.v : lpm; meta.m : lpm; } actions = { NoAction; } }
         apply { t.apply(); }",
    );
    assert_eq!(title, "a table can have one lpm key");
}

#[test]
fn a_computed_key_without_a_name_is_reported() {
    let title = limit(
        "",
        "table t { key = { hdr.h.v + 1 : exact; } actions = { NoAction; } } apply { t.apply(); }",
    );
    assert_eq!(title, "this key needs a name: it is computed");
}

#[test]
fn a_clone_of_the_wrong_type_is_reported() {
    let title = limit("", "apply { clone(CloneType.E2E, 5); }");
    assert_eq!(title, "a clone of type E2E is possible in egress only");
}

#[test]
fn a_register_without_cells_is_reported() {
    let title = limit("", "register<bit<8>>(0) r; apply { r.write(0, 1); }");
    assert_eq!(title, "a register array needs at least one cell");
}

#[test]
fn a_register_of_structs_is_reported() {
    let title = limit(
        "struct pair_t { bit<8> a; bit<8> b; }",
        "register<pair_t>(4) r; apply { r.write(0, { 1, 2 }); }",
    );
    assert_eq!(title, "registers of this switch hold numbers, no structs");
}

#[test]
fn doubling_functions_end_in_a_message_not_in_all_memory() {
    let mut functions = "bit<8> f0(in bit<8> x) { return x + 1; }\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        functions +=
            &format!("bit<8> f{level}(in bit<8> x) {{ return f{below}(x) + f{below}(x + 1); }}\n");
    }
    let title = limit(&functions, "apply { hdr.h.v = f39(hdr.h.v); }");
    assert_eq!(title, "the program is too large once its calls are inlined");
}

/// Bytes of JSON for the condition `first`, nested this many times.
fn json_bytes(first: &str, nest: impl Fn(&str) -> String, levels: usize) -> usize {
    let condition = (0..levels).fold(first.to_owned(), |inner, _| nest(&inner));
    let (program, _) = good("", &format!("apply {{ if ({condition}) {{ meta.m = 1; }} }}"));
    bmv2::write(&program).len()
}

#[test]
fn conditions_in_conditions_take_room_for_each_level_not_twice_for_each() {
    let nest = |inner: &str| format!("({inner} ? hdr.h.v == 1 : meta.m == 2)");
    let [at_20, at_40, at_60] = [20, 40, 60].map(|levels| json_bytes("meta.m == 0", nest, levels));
    let (first, second) = (at_40 - at_20, at_60 - at_40);
    assert!(second < first + first / 10, "{at_20}, {at_40} and {at_60} bytes");
}

/// Bytes of JSON for a `switch` with one case of `count` labels.
fn json_bytes_of_labels(count: usize) -> usize {
    let labels: String = (0..count).map(|label| format!("{label}: ")).collect();
    let choice = format!("switch (hdr.w.v) {{ {labels} {{ meta.m = 1; }} default: {{}} }}");
    let wide = "header wide_t { bit<32> v; }";
    let (program, _) =
        good(wide, &format!("wide_t w; apply {{ w.v = 1; {} }}", choice.replace("hdr.w", "w")));
    bmv2::write(&program).len()
}

#[test]
fn labels_of_one_case_take_room_for_each_not_for_each_level_of_nesting() {
    let [at_500, at_1000, at_1500] = [500, 1000, 1500].map(json_bytes_of_labels);
    let (first, second) = (at_1000 - at_500, at_1500 - at_1000);
    assert!(second < first + first / 10, "{at_500}, {at_1000} and {at_1500} bytes");
}

#[test]
fn large_structs_that_are_compared_again_and_again_are_refused() {
    let mut types = String::from("struct s0 { bit<8> a; bit<8> b; }\n");
    for level in 1..=14 {
        types += &format!("struct s{level} {{ s{0} a; s{0} b; }}\n", level - 1);
    }
    let compare = "if (x == y) { meta.m = meta.m + 1; }\n".repeat(40);
    let said = limit(&types, &format!("s14 x; s14 y; apply {{ {compare} }}"));
    assert!(said.contains("the program is too large"), "{said}");
    types += "struct s15 { s14 a; s14 b; }\nstruct s16 { s15 a; s15 b; }\n";
    let output = output(&types, "s16 x; apply { }");
    let said: Vec<&str> = errors(&output).iter().map(|error| error.title.as_str()).collect();
    assert_eq!(said, ["a value of this type has more than 65536 parts"]);
}

#[test]
fn constructor_arguments_are_folded_into_the_control() {
    let sub = "control sub(inout headers_t hdr)(bit<8> limit) {
        apply { if (limit > 3) { hdr.h.v = limit * 2; } else { hdr.h.v = 0; } }
    }";
    let (program, _) = good(sub, "sub(5) s; apply { s.apply(hdr); }");
    // No conditional is left, and the product is a number.
    assert!(program.pipelines[0].conditionals.is_empty());
    let action = &program.actions[0];
    let ten = bmv2::Expression::Hex(bits::Int::from(10));
    assert_eq!(action.primitives[0].parameters[1], bmv2::Parameter::Expression(ten));
}

#[test]
fn arguments_are_bound_by_reference_where_nobody_can_tell() {
    let sub = "control sub(inout headers_t hdr, in bit<8> x) { apply { hdr.h.v = x; } }";
    let (program, _) = good(sub, "sub() s; apply { s.apply(hdr, meta.m); }");
    let scalars = &program.header_types[0].fields;
    // The metadata field alone: no copies of parameters.
    assert_eq!(scalars.len(), 1);
}

const LAMP: &str = "
extern Lamp { Lamp(bit<8> brightness, string place); void blink(in bit<8> times); }
extern void beep(in bit<8> times);
";
const USES_LAMP: &str =
    "Lamp(7, \"roof\") lamp; apply { lamp.blink(3); lamp.blink(4); beep(hdr.h.v); }";

#[test]
fn a_constant_in_a_digest_is_a_field_as_simple_switch_knows_nothing_else() {
    let (program, _) = good(
        "struct learnt_t { bit<8> v; bit<16> kind; bool known; }",
        "apply { digest<learnt_t>(1, { hdr.h.v, 7, true }); }",
    );
    let [list] = program.learn_lists.as_slice() else { panic!("one digest") };
    let fields = list.elements.iter().filter_map(|element| match element {
        bmv2::FieldListElement::Field(field) => Some(field.header.as_str()),
        _ => None,
    });
    assert_eq!(fields.collect::<Vec<_>>(), ["h", "scalars", "scalars"]);
}

#[test]
fn recirculation_in_ingress_is_passed_on_when_asked_for() {
    let ingress = "apply { recirculate(meta); }";
    assert_eq!(limit("", ingress), "recirculate is possible in egress only");
    let lower = compiler::lower::Options { emit_externs: true };
    let output = output_with("", ingress, Options { lower, ..Options::default() });
    assert_eq!(errors(&output), Vec::<&Diagnostic>::new());
    let program = output.program.expect("a program");
    let calls = program.actions.iter().flat_map(|action| &action.primitives);
    assert_eq!(calls.filter(|call| call.operation == "recirculate").count(), 1);
}

#[test]
fn thousands_of_statements_on_one_line_get_a_name_each() {
    let statement = "if (hdr.h.v == 1) { hdr.h.v = 2; }";
    let (program, _) = good("", &format!("apply {{ {} }}", statement.repeat(2000)));
    let names: std::collections::BTreeSet<&str> =
        program.actions.iter().map(|action| action.name.as_str()).collect();
    assert_eq!((names.len(), program.actions.len()), (2000, 2000));
}

const READS: &str = "#include <vitrine.p4>\n";

#[test]
fn a_read_of_the_queues_is_a_primitive_with_the_arguments_in_their_order() {
    let (program, p4info) = good(
        READS,
        "apply { bit<32> packets; bit<32> bytes;
         queue_depth(9w3, hdr.h.v, packets, bytes); meta.m = (bit<8>)(packets + bytes); }",
    );
    let mut calls = program.actions.iter().flat_map(|action| &action.primitives);
    let read = calls.find(|call| call.operation == "queue_depth").expect("it is called");
    let texts: Vec<String> = read.parameters.iter().map(|each| format!("{each:?}")).collect();
    assert_eq!(texts.len(), 4);
    assert!(texts[0].contains("Hex") && texts[1].contains("\"v\""), "{texts:?}");
    assert!(texts[2].contains("packets") && texts[3].contains("bytes"), "{texts:?}");
    // Controllers see the same as in the program without the call, but for the empty list of types that
    // p4c writes for programs with calls of extern functions.
    let (_, without) = good("", "apply { meta.m = 1; }");
    assert_eq!(
        p4info,
        p4info::P4Info { type_info: Some(p4info::P4TypeInfo::default()), ..without }
    );
}

#[test]
fn slices_get_both_results_of_a_read_after_the_call_and_in_their_order() {
    let (program, _) = good(
        READS,
        "bit<64> both; apply { both = 0; queue_depth(1, 0, both[31:0], both[63:32]);
         meta.m = both[7:0]; }",
    );
    let mut calls = program.actions.iter().flat_map(|action| &action.primitives);
    let _read = calls.find(|call| call.operation == "queue_depth").expect("it is called");
    let text = |call: Option<&bmv2::PrimitiveCall>| format!("{:?}", call.expect("it is copied"));
    // The bits that an assignment to a slice keeps: the upper half, then the lower half.
    let kept = [0xffff_ffff_0000_0000u64, 0xffff_ffff].map(|mask| mask.to_string());
    let [first, second] = [text(calls.next()), text(calls.next())];
    assert!(first.contains(&kept[0]), "{first}");
    assert!(second.contains(&kept[1]) && !second.contains(&kept[0]), "{second}");
}

#[test]
fn queues_are_read_in_ingress_only() {
    let in_egress = "bit<32> a; bit<32> b; apply { buffer_use(a, b); }";
    let text = format!(
        "{BEGIN}{READS}{}
        control ingress(inout headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t std) {{ apply {{ }} }}{END}",
        MIDDLE.replacen(
            "inout standard_metadata_t std) {\n    apply { }",
            &format!("inout standard_metadata_t std) {{\n    {in_egress}"),
            1
        )
    );
    let mut options = Options::default();
    options.preprocessor.include_directories = vec!["include".to_owned()];
    let output = compile(&Texts(&text), "test.p4", &options);
    let titles: Vec<&str> = errors(&output).iter().map(|error| error.title.as_str()).collect();
    assert_eq!(titles, ["the functions of vitrine.p4 belong to ingress"]);
}

#[test]
fn a_program_that_forgets_the_include_is_told_which_one() {
    let output = output("", "bit<32> a; bit<32> b; apply { queue_depth(1, 0, a, b); }");
    let errors = errors(&output);
    let hints: Vec<&str> = errors.iter().filter_map(|error| error.hint.as_deref()).collect();
    assert!(hints.iter().any(|hint| hint.contains("vitrine.p4")), "{errors:?}");
}

#[test]
fn externs_of_another_switch_are_handed_on_when_asked_for() {
    let mut options = Options::default();
    options.lower.emit_externs = true;
    let program = output_with(LAMP, USES_LAMP, options).program.expect("a program");
    let primitives = program.actions.iter().flat_map(|action| &action.primitives);
    let operations: Vec<&str> = primitives.map(|call| call.operation.as_str()).collect();
    assert_eq!(operations, ["_Lamp_blink", "_Lamp_blink", "beep"]);
    let [lamp] = program.extern_instances.as_slice() else { panic!("one object, used twice") };
    assert_eq!((lamp.name.as_str(), lamp.extern_type.as_str()), ("ingress.lamp", "Lamp"));
    let attributes: Vec<&str> = lamp.attributes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(attributes, ["brightness", "place"]);
}

#[test]
fn externs_of_another_switch_are_reported_otherwise() {
    let output = output(LAMP, USES_LAMP);
    let titles: Vec<&str> = errors(&output).iter().map(|error| error.title.as_str()).collect();
    let lamp = "this switch has no extern `Lamp`";
    assert_eq!(titles, [lamp, lamp, "this switch has no function `beep`"]);
}

#[test]
fn psa_switch_is_told_by_a_number_what_a_counter_counts() {
    let text = include_str!("../../../../tests/psa/externs.p4");
    let mut options = Options::default();
    options.preprocessor.include_directories = vec!["include".to_owned()];
    let program = compile(&Texts(text), "test.p4", &options).program.expect("a program");
    let counters = program.extern_instances.iter().filter(|each| each.extern_type == "Counter");
    let types: Vec<&ExternAttribute> = counters
        .flat_map(|counter| &counter.attributes)
        .filter(|(name, _)| name == "type")
        .map(|(_, value)| value)
        .collect();
    // A name there makes psa_switch fall over. 0 is bytes, 1 packets, 2 both.
    assert_eq!(types, [&ExternAttribute::Hex(Int::from(1u32))]);
}
