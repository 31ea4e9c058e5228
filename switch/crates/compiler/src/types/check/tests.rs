//! Programs in; types, values and errors out. tests/diagnostics covers the messages.

use super::check;
use crate::types::tree::{
    Argument, Callee, Expression, ExpressionKind, Program, StatementKind, Type, Value,
};
use bits::Int;
use syntax::parser::parse;
use syntax::preprocessor::{PreprocessorOptions, preprocess};
use syntax::{Diagnostics, SourceMap};

fn check_text(text: &str) -> (Program, Vec<String>) {
    let mut diagnostics = Diagnostics::default();
    let mut sources = SourceMap::default();
    let options = PreprocessorOptions::default();
    let provider = |_: &str| Ok(text.to_string());
    let tokens = preprocess(&provider, "test.p4", &options, &mut sources, &mut diagnostics);
    let tree = parse(&tokens, &mut diagnostics);
    let program = check(&tree, &mut diagnostics);
    let titles = diagnostics.into_sorted().into_iter().map(|found| found.title).collect();
    (program, titles)
}

/// The value of the last constant.
fn last_constant(text: &str) -> Expression {
    let (program, titles) = check_text(text);
    assert!(titles.is_empty(), "{text}: {titles:?}");
    let (_, last) = program.constants.iter().last().expect("a constant");
    last.value.clone()
}

#[test]
fn constants_are_folded_exactly() {
    for (declaration, expected) in [
        ("const bit<8> x = 1 + 2 * 3;", 7),
        ("const bit<8> x = 8w255 + 8w2;", 1),
        ("const int<8> x = 8s127 |+| 8s1;", 127),
        ("const bit<16> x = 8w0xAB ++ 8w0xCD;", 0xABCD),
        ("const bit<4> x = 16w0xABCD[11:8];", 0xB),
        ("const bit<8> x = (bit<8>)(int<8>) -1;", 255),
        ("const bit<8> x = true ? 8w1 : 8w2;", 1),
        ("const bit<64> x = 1 << 63;", 1i128 << 63),
        ("enum bit<8> E { a = 1, b = 7 } const bit<8> x = E.b + 1;", 8),
        ("header h { bit<4> a; varbit<12> b; } const bit<8> x = h.maxSizeInBits();", 16),
        ("struct S { bit<8> a; bit<8> b; } const S s = { b = 2, a = 1 }; const bit<8> x = s.b;", 2),
        ("const tuple<bit<8>, bool> t = { 5, true }; const bit<8> x = t[0];", 5),
    ] {
        let value = last_constant(declaration);
        let wanted = ExpressionKind::Constant(Value::Integer(Int::from(expected)));
        assert_eq!(value.kind, wanted, "{declaration}");
    }
}

#[test]
fn a_number_without_a_width_is_a_value_of_a_new_type() {
    let value = last_constant("type bit<10> vrf_t; const vrf_t k = 5;");
    assert_eq!(value.kind, ExpressionKind::Constant(Value::Integer(5.into())));
    assert!(matches!(value.ty, Type::New(_)));
    let declared = "type bit<10> vrf_t; type vrf_t twice_t; struct s_t { vrf_t v; twice_t w; }";
    for body in ["s.v = 0;", "s = { 1, 2 };", "if (s.v == 3 || 4 != s.v) { s.w = 5; }", "f(6);"] {
        let text = format!("{declared} void f(in vrf_t v) {{ }} void g(inout s_t s) {{ {body} }}");
        let (_, titles) = check_text(&text);
        assert!(titles.is_empty(), "{body}: {titles:?}");
    }
    // With a width it is a value of another type.
    let (_, titles) = check_text("type bit<10> vrf_t; const vrf_t k = 10w5;");
    assert_eq!(titles, ["this is a `bit<10>`, but a `vrf_t` is needed"]);
}

#[test]
fn lists_take_the_type_they_are_used_as() {
    let value = last_constant(
        "struct inner { bit<8> x; } struct outer { inner i; bool b; bit<4> rest; }
         const outer o = { { 3 }, ... };",
    );
    let ExpressionKind::Aggregate(parts) = &value.kind else { panic!("{value:?}") };
    let types: Vec<&Type> = parts.iter().map(|part| &part.ty).collect();
    assert!(matches!(types.as_slice(), [Type::Struct(_), Type::Bool, Type::Bit(4)]));
}

/// The call in the only statement of the only control.
fn only_call(program: &Program) -> crate::types::tree::Call {
    let (_, control) = program.controls.iter().last().expect("a control");
    match &control.body.statements.first().expect("a statement").kind {
        StatementKind::Call(call) => call.clone(),
        StatementKind::Assign { value, .. } => match &value.kind {
            ExpressionKind::Call(call) => (**call).clone(),
            other => panic!("no call: {other:?}"),
        },
        other => panic!("no call: {other:?}"),
    }
}

#[test]
fn type_arguments_are_inferred_and_literals_get_widths() {
    let (program, titles) = check_text(
        "extern void random<T>(out T result, in T lo, in T hi);
         control c(inout bit<12> x) { apply { random(x, 0, 10); } }",
    );
    assert!(titles.is_empty(), "{titles:?}");
    let call = only_call(&program);
    assert_eq!(call.type_arguments, [Type::Bit(12)]);
    let Some(Argument::Expression(hi)) = call.arguments.get(2) else { panic!() };
    assert_eq!(
        (&hi.kind, &hi.ty),
        (&ExpressionKind::Constant(Value::Integer(10.into())), &Type::Bit(12))
    );
}

#[test]
fn named_and_default_arguments_stand_in_the_order_of_parameters() {
    let (program, titles) = check_text(
        "extern void f(in bit<8> a, in bit<8> b = 7, out bit<8> c);
         control c() { apply { f(c = _, a = 1); } }",
    );
    assert!(titles.is_empty(), "{titles:?}");
    let arguments = only_call(&program).arguments;
    let number = |argument: &Argument| match argument {
        Argument::Expression(Expression { kind: ExpressionKind::Constant(value), .. }) => {
            Some(value.clone())
        }
        _ => None,
    };
    assert_eq!(number(&arguments[0]), Some(Value::Integer(1.into())));
    assert_eq!(number(&arguments[1]), Some(Value::Integer(7.into())));
    assert_eq!(arguments[2], Argument::DontCare(Type::Bit(8)));
}

#[test]
fn overloads_are_told_apart_by_number_and_names() {
    let (program, titles) = check_text(
        "extern void f(in bit<8> a); extern void f(in bit<8> a, in bit<8> b);
         control c() { apply { f(1, 2); } }",
    );
    assert!(titles.is_empty(), "{titles:?}");
    let Callee::ExternFunction(id) = only_call(&program).callee else { panic!() };
    assert_eq!(program.extern_functions[id].parameters.len(), 2);
}

#[test]
fn generic_functions_are_made_once_for_each_type() {
    let (program, titles) = check_text(
        "T first<T>(in T a, in T b) { return a; }
         control c(inout bit<8> x, inout bit<4> y) {
             apply { x = first(x, 1); x = first(x, 2); y = first(y, 3); } }",
    );
    assert!(titles.is_empty(), "{titles:?}");
    let mut widths: Vec<_> = program.functions.iter().map(|(_, f)| f.return_type.clone()).collect();
    widths.sort_by_key(|ty| format!("{ty:?}"));
    assert_eq!(widths, [Type::Bit(4), Type::Bit(8)]);
}

#[test]
fn an_index_with_side_effects_is_evaluated_once() {
    let (program, titles) = check_text(
        "header h { bit<8> x; } extern bit<32> next();
         control c(inout h[4] s) { apply { s[next()].x += 1; } }",
    );
    assert!(titles.is_empty(), "{titles:?}");
    let (_, control) = program.controls.iter().last().expect("a control");
    let kinds: Vec<bool> = control
        .body
        .statements
        .iter()
        .map(|statement| matches!(statement.kind, StatementKind::Declare { .. }))
        .collect();
    assert_eq!(kinds, [true, false], "the index is kept first, then the field is assigned");
}

#[test]
fn one_mistake_causes_one_message() {
    for text in [
        "control c(inout bit<8> x) { apply { x = y + 1; x = (y * 2)[3:0] ++ 4w1; } }",
        "struct S { Unknown a; } control c(inout S s) { apply { s.a = 1; s.a.b = 2; } }",
        "const bit<8> x = z; const bit<8> y = x + 1;",
    ] {
        let (_, titles) = check_text(text);
        let places: std::collections::BTreeSet<&String> = titles.iter().collect();
        assert_eq!(places.len(), 1, "{text}: {titles:?}");
    }
}
