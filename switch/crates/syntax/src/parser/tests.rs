//! Programs in, shapes of trees and counts of errors out.

use super::parse;
use crate::lexer::tokenize;
use crate::preprocessor::end_token;
use crate::tree::{
    BinaryOperator, Declaration, Expression, ExpressionKind, Program, StatementKind, TypeKind,
};
use crate::{Diagnostics, FileId};

fn parse_text(source: &str) -> (Program, usize) {
    let mut diagnostics = Diagnostics::default();
    let mut tokens = tokenize(FileId(0), source, &mut diagnostics);
    tokens.push(end_token(&tokens));
    let program = parse(&tokens, &mut diagnostics);
    (program, diagnostics.error_count())
}

/// The expression as text with every operation in parentheses.
fn shape(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Binary { operator, left, right, .. } => {
            format!("({} {} {})", shape(left), operator.symbol(), shape(right))
        }
        ExpressionKind::Unary { operator, operand } => {
            format!("({}{})", operator.symbol(), shape(operand))
        }
        ExpressionKind::Cast { operand, .. } => format!("(cast {})", shape(operand)),
        ExpressionKind::Name(name) => name.name.text.to_string(),
        ExpressionKind::Integer(literal) => literal.value.to_string(),
        ExpressionKind::Call { callee, type_arguments, arguments } => {
            format!("{}<{}>({})", shape(callee), type_arguments.len(), arguments.len())
        }
        ExpressionKind::Conditional { condition, then, otherwise } => {
            format!("({} ? {} : {})", shape(condition), shape(then), shape(otherwise))
        }
        ExpressionKind::Slice { base, .. } => format!("{}[:]", shape(base)),
        ExpressionKind::SlicePlus { base, .. } => format!("{}[+:]", shape(base)),
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_in_the_grammar() {
    for (text, expected) in [
        ("a + b * c", "(a + (b * c))"),
        ("a | b == c", "((a | b) == c)"),
        ("a < b && c > d", "((a < b) && (c > d))"),
        ("a - b - c", "((a - b) - c)"),
        ("a >> b >> c", "((a >> b) >> c)"),
        ("a > b", "(a > b)"),
        ("-a[3:0] + b", "((-a[:]) + b)"),
        ("a[i +: 4]", "a[+:]"),
        ("(T) a + b", "((cast a) + b)"),
        ("(a) - b", "(a - b)"),
        ("(T) - b", "(cast (-b))"),
        ("(bit<8>) a ++ b", "((cast a) ++ b)"),
        ("f<bit<8>, T>(a)", "f<2>(1)"),
        ("a < b", "(a < b)"),
        ("c ? a : d ? b : e", "(c ? a : (d ? b : e))"),
    ] {
        let source = format!("typedef bit<8> T; const int x = {text};");
        let (program, errors) = parse_text(&source);
        assert_eq!(errors, 0, "{text}");
        let Some(Declaration::Constant(constant)) = program.declarations.last() else {
            panic!("{text}: no constant");
        };
        assert_eq!(shape(&constant.value), expected, "{text}");
    }
}

#[test]
fn declarations_and_calls_are_told_apart() {
    let source = "control c(inout bit<8> x) { apply {
        bit<8> y; T z = 1; x.f(); C.apply(x); S<bit<8>> s; x = 3; x[3:0] |+|= 2; x >>= 1; } }";
    let source = format!("struct T {{}} struct S<A> {{}} control C(inout bit<8> x);{source}");
    let (program, errors) = parse_text(&source);
    assert_eq!(errors, 0);
    let Some(Declaration::Control(control)) = program.declarations.last() else { panic!() };
    let kinds: Vec<&str> = control
        .body
        .statements
        .iter()
        .map(|statement| match &statement.kind {
            StatementKind::Variable(_) => "variable",
            StatementKind::Call(_) => "call",
            StatementKind::Assignment { .. } => "assignment",
            _ => "other",
        })
        .collect();
    let expected = [
        "variable",
        "variable",
        "call",
        "call",
        "variable",
        "assignment",
        "assignment",
        "assignment",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn one_mistake_makes_one_message_and_the_rest_is_read() {
    let (program, errors) = parse_text(
        "header h { bit<8 x; bit<4> y; } control c() { apply { x = ; y = 1; } } const int z = 1;",
    );
    assert_eq!(errors, 2);
    assert_eq!(program.declarations.len(), 3);
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let deep = 100_000;
    for source in [
        format!("const int x = {}1{};", "(".repeat(deep), ")".repeat(deep)),
        format!("const int x = 1{};", " |+| 1".repeat(deep)),
        format!("const int x = 1{};", " / 1 * 1".repeat(deep)),
        format!("const int x = {}1;", "-".repeat(deep)),
        format!("const int x = a{};", ".b".repeat(deep)),
        format!("const {}int{} x = 1;", "list<".repeat(deep), ">".repeat(deep)),
        format!("control c() {{ apply {} }}", "{".repeat(deep)),
        "}".repeat(deep),
        "{".repeat(deep),
        "if (".repeat(deep),
        format!("control c() {{ apply {{ {} }} }}", "if (true) if (true) {} else ".repeat(deep)),
    ] {
        let (_, errors) = parse_text(&source);
        assert!(errors > 0, "{}", source.get(..20).unwrap_or(""));
    }
}

/// The levels of operators in an expression.
fn levels(expression: &Expression) -> usize {
    match &expression.kind {
        ExpressionKind::Binary { left, right, .. } => 1 + levels(left).max(levels(right)),
        _ => 0,
    }
}

/// The value of the expression, in the arithmetic of 32 bits.
fn result(expression: &Expression) -> u32 {
    match &expression.kind {
        ExpressionKind::Integer(literal) => {
            literal.value.to_string().parse().expect("a small number")
        }
        ExpressionKind::Binary { operator, left, right, .. } => {
            let (left, right) = (result(left), result(right));
            match operator {
                BinaryOperator::Add => left.wrapping_add(right),
                BinaryOperator::Subtract => left.wrapping_sub(right),
                BinaryOperator::Multiply => left.wrapping_mul(right),
                BinaryOperator::BitXor => left ^ right,
                other => panic!("no {other:?} here"),
            }
        }
        other => panic!("no {other:?} here"),
    }
}

#[test]
fn a_long_row_is_shallow_and_comes_to_the_same() {
    let multiply: fn(u32, u32) -> u32 = u32::wrapping_mul;
    for length in [2, 64, 65, 66, 127, 5000u32] {
        type Operation = (&'static str, fn(u32, u32) -> u32);
        let rows: [&[Operation]; 4] = [
            &[("+", u32::wrapping_add), ("-", u32::wrapping_sub), ("-", u32::wrapping_sub)],
            &[("-", u32::wrapping_sub)],
            &[("*", multiply)],
            &[("^", |left, right| left ^ right)],
        ];
        for operators in rows {
            let (mut text, mut expected) = ("7".to_owned(), 7u32);
            for operand in 1..length {
                let (symbol, operation) = operators[operand as usize % operators.len()];
                text += &format!(" {symbol} {operand}");
                expected = operation(expected, operand);
            }
            let (program, errors) = parse_text(&format!("const int x = {text};"));
            assert_eq!(errors, 0, "{length}");
            let Some(Declaration::Constant(constant)) = program.declarations.last() else {
                panic!("{length}: no constant");
            };
            assert_eq!(result(&constant.value), expected, "{length} of {}", operators[0].0);
            assert!(levels(&constant.value) <= 64, "{length}");
        }
    }
}

#[test]
fn a_chain_of_conditions_is_one_statement_however_long() {
    let chain: String = (0..5000).map(|n| format!("if (x == {n}) {{}} else ")).collect();
    let (program, errors) = parse_text(&format!("control c() {{ apply {{ {chain} {{}} }} }}"));
    assert_eq!(errors, 0);
    let Some(Declaration::Control(control)) = program.declarations.last() else { panic!() };
    let [statement] = control.body.statements.as_slice() else { panic!() };
    let StatementKind::Conditional { links, otherwise } = &statement.kind else { panic!() };
    assert_eq!((links.len(), otherwise.is_some()), (5000, true));
}

#[test]
fn array_types_and_generics_nest() {
    let (program, errors) = parse_text("struct S<T> { T a; } struct R { S<S<bit<8>>>[4] b; }");
    assert_eq!(errors, 0);
    let Some(Declaration::Derived(derived)) = program.declarations.last() else { panic!() };
    assert!(matches!(derived.fields[0].type_ref.kind, TypeKind::Array { .. }));
}
