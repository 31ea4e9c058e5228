//! Writes to `egress_port`, which the switch sets itself.

use super::visit::{self, Node};
use crate::architecture::BlockKind;
use crate::types::tree::{ExpressionKind, Program, StatementKind, Type};
use syntax::{Diagnostic, Diagnostics};

/// Assignments to v1model's `egress_port`: `egress_spec` decides where a packet goes.
pub(super) fn writes(program: &Program, diagnostics: &mut Diagnostics) {
    let Some(architecture) = program.architecture() else { return };
    if program.block(BlockKind::Ingress).is_none()
        || !architecture.deciding_fields.contains(&"egress_spec")
    {
        return;
    }
    visit::program(program, &mut |node| {
        let Node::Statement(statement) = node else { return };
        let StatementKind::Assign { target, .. } = &statement.kind else { return };
        let ExpressionKind::Field { base, field } = &target.kind else { return };
        let Type::Struct(id) = base.ty else { return };
        let of = &program.structs[id];
        let is_port = of.fields.get(*field).is_some_and(|field| &*field.name.text == "egress_port");
        if is_port && &*of.name.text == architecture.metadata_type {
            diagnostics.push(
                Diagnostic::warning(
                    "egress-port",
                    target.span,
                    "`egress_port` does not decide where a packet goes",
                )
                .hint("write egress_spec in ingress; the switch copies it to egress_port"),
            );
        }
    });
}
