//! A switch program that never says where packets go.

use super::visit::{self, Node};
use crate::architecture::{Architecture, BlockKind};
use crate::types::tree::{Argument, Expression, ExpressionKind, InstanceKind, Program, Type};
use syntax::{Diagnostic, Diagnostics};

/// Warns if nothing in a program ever writes one of the fields that decide where a packet goes: then
/// every packet leaves through port 0.
pub(super) fn decisions(program: &Program, diagnostics: &mut Diagnostics) {
    let Some(architecture) = program.architecture() else { return };
    let Some(ingress) = program.block(BlockKind::Ingress) else { return };
    let mut decides = false;
    visit::program(program, &mut |node| {
        decides |= match node {
            Node::Expression(expression) => is_deciding(program, architecture, expression),
            // `mark_to_drop(standard_metadata)` and the like.
            Node::Call(call) => call.arguments.iter().any(|argument| {
                matches!(argument, Argument::Expression(value) if is_metadata(program, architecture, &value.ty))
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
        Diagnostic::warning("no-egress-spec", name.span, title).hint(architecture.deciding_hint),
    );
}

/// Any mention counts: a program that only reads the field is rare, a wrong warning is worse.
fn is_deciding(program: &Program, architecture: &Architecture, expression: &Expression) -> bool {
    let ExpressionKind::Field { base, field } = &expression.kind else { return false };
    let Type::Struct(id) = base.ty else { return false };
    is_metadata(program, architecture, &base.ty)
        && program.structs[id]
            .fields
            .get(*field)
            .is_some_and(|field| architecture.deciding_fields.contains(&&*field.name.text))
}

fn is_metadata(program: &Program, architecture: &Architecture, ty: &Type) -> bool {
    match ty {
        Type::Struct(id) => &*program.structs[*id].name.text == architecture.metadata_type,
        _ => false,
    }
}
