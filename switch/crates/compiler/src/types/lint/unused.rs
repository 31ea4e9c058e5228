//! Values and declarations that are never used.

use super::visit::{self, Node};
use crate::types::tree::{
    Annotation, Builtin, Call, Callee, Direction, Expression, ExpressionKind, Id, LocalDeclaration,
    Program, Statement, StatementKind, Table, Text, Type, Variable, VariableKind,
};
use std::collections::BTreeSet;
use syntax::{Diagnostic, Diagnostics};

/// Calls whose only point is a value that is never read.
pub(super) fn results(program: &Program, diagnostics: &mut Diagnostics) {
    visit::program(program, &mut |node| {
        let Node::Statement(statement) = node else { return };
        let StatementKind::Call(call) = &statement.kind else { return };
        if let Some(name) = named_value(program, call) {
            let title = format!("the value that `{name}` returns is not used");
            diagnostics.push(
                Diagnostic::warning("unused-result", call.span, title)
                    .hint("assign it to a variable, test it with `if`, or leave the call out"),
            );
        }
    });
}

/// The name of what is called, if it returns something that should be used.
fn named_value(program: &Program, call: &Call) -> Option<Text> {
    match &call.callee {
        Callee::Builtin(Builtin::IsValid, _) => Some("isValid".into()),
        Callee::Function(id) => {
            let function = &program.functions[*id];
            // With `out` parameters the function may be called for those.
            let has_out = call.arguments.len() > function.parameters.len()
                || function.parameters.iter().any(|id| {
                    let kind = program.variables[*id].kind;
                    matches!(kind, VariableKind::Parameter(Direction::Out | Direction::InOut))
                });
            (function.return_type != Type::Void && !has_out).then(|| function.name.text.clone())
        }
        Callee::Method { object, method } => {
            let Type::Extern(id) = object.ty else { return None };
            let method = program.externs[id].methods.get(*method)?;
            let is_pure = method.known.is_some_and(|known| known.is_pure());
            is_pure.then(|| method.name.text.clone())
        }
        _ => None,
    }
}

/// Tables that no control applies.
pub(super) fn tables(program: &Program, diagnostics: &mut Diagnostics) {
    let mut applied: BTreeSet<Id<Table>> = BTreeSet::new();
    visit::program(program, &mut |node| {
        if let Node::Call(Call { callee: Callee::Table(id), .. }) = node {
            applied.insert(*id);
        }
    });
    for (id, table) in program.tables.iter() {
        if !applied.contains(&id) && !is_hushed(&table.annotations) {
            let name = &table.name;
            let title = format!("table `{}` is never applied", name.text);
            diagnostics.push(
                Diagnostic::warning("unused-table", name.span, title)
                    .hint(format!("write {}.apply(); in the `apply` block", name.text)),
            );
        }
    }
}

/// Local variables, and parameters of actions and functions, that nothing mentions. Parsers and controls
/// have the parameters that the architecture wants.
pub(super) fn variables(program: &Program, diagnostics: &mut Diagnostics) {
    let mut mentioned: BTreeSet<Id<Variable>> = BTreeSet::new();
    let mut declared: BTreeSet<Id<Variable>> = BTreeSet::new();
    visit::program(program, &mut |node| match node {
        Node::Expression(Expression { kind: ExpressionKind::Variable(id), .. }) => {
            mentioned.insert(*id);
        }
        Node::Statement(Statement {
            kind: StatementKind::Declare { variable, value: None },
            ..
        }) => {
            declared.insert(*variable);
        }
        _ => {}
    });
    let locals = (program.controls.iter().map(|(_, control)| &control.locals))
        .chain(program.parsers.iter().map(|(_, parser)| &parser.locals));
    for local in locals.flatten() {
        if let LocalDeclaration::Variable { variable, value: None } = local {
            declared.insert(*variable);
        }
    }
    let actions = program.actions.iter().flat_map(|(_, action)| &action.parameters);
    let functions = program.functions.iter().flat_map(|(_, function)| &function.parameters);
    declared.extend(actions.chain(functions));
    for id in declared.difference(&mentioned) {
        let variable = &program.variables[*id];
        let name = &variable.name;
        if is_hushed(&variable.annotations) || name.text.starts_with('_') {
            continue;
        }
        let what = match variable.kind {
            VariableKind::Parameter(_) => "parameter",
            _ => "variable",
        };
        let title = format!("{what} `{}` is never used", name.text);
        diagnostics.push(
            Diagnostic::warning("unused-variable", name.span, title)
                .hint("leave it out, or write @noWarn(\"unused\") before it"),
        );
    }
}

/// `@noWarn` and `@hidden` say that it is on purpose.
fn is_hushed(annotations: &[Annotation]) -> bool {
    annotations.iter().any(|found| matches!(&*found.name.text, "noWarn" | "hidden"))
}
