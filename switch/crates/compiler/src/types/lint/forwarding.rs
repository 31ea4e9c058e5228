//! A switch program that never says where packets go.

use super::visit::{self, Node};
use crate::types::tree::{
    Argument, Expression, ExpressionKind, Id, Instance, InstanceKind, Package, Program, Type,
};
use syntax::{Diagnostic, Diagnostics};

/// Fields of the standard metadata that decide about a packet.
const DECIDING: [&str; 2] = ["egress_spec", "mcast_grp"];

/// Warns if nothing in a v1model program ever writes one of [`DECIDING`]: then every packet leaves
/// through port 0.
pub(super) fn decisions(program: &Program, diagnostics: &mut Diagnostics) {
    let Some(ingress) = program.main.and_then(|main| ingress(program, main)) else { return };
    let mut decides = false;
    visit::program(program, &mut |node| {
        decides |= match node {
            Node::Expression(expression) => is_deciding(program, expression),
            // `mark_to_drop(standard_metadata)` and the like.
            Node::Call(call) => call.arguments.iter().any(|argument| {
                matches!(argument, Argument::Expression(value) if is_metadata(program, &value.ty))
            }),
            Node::Statement(_) => false,
        };
    });
    if decides {
        return;
    }
    let InstanceKind::Control(control) = program.instances[ingress].kind else { return };
    let name = &program.controls[control].name;
    let title = format!("`{}` never says where a packet goes", name.text);
    diagnostics.push(
        Diagnostic::warning("no-egress-spec", name.span, title)
            .hint("set standard_metadata.egress_spec, or call mark_to_drop(standard_metadata)"),
    );
}

/// The third block of a `V1Switch`.
fn ingress(program: &Program, main: Id<Instance>) -> Option<Id<Instance>> {
    let InstanceKind::Package(package) = program.instances[main].kind else { return None };
    let package: &Package = &program.packages[package];
    if &*package.name.text != "V1Switch" {
        return None;
    }
    match program.instances[main].arguments.get(2)? {
        Argument::Expression(Expression { kind: ExpressionKind::Instance(id), .. }) => Some(*id),
        _ => None,
    }
}

/// Any mention counts: a program that only reads the field is rare, a wrong warning is worse.
fn is_deciding(program: &Program, expression: &Expression) -> bool {
    let ExpressionKind::Field { base, field } = &expression.kind else { return false };
    let Type::Struct(id) = base.ty else { return false };
    is_metadata(program, &base.ty)
        && program.structs[id]
            .fields
            .get(*field)
            .is_some_and(|field| DECIDING.contains(&&*field.name.text))
}

fn is_metadata(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Struct(id) => &*program.structs[*id].name.text == "standard_metadata_t",
        _ => false,
    }
}
