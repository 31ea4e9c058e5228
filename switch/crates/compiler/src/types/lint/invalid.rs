//! Fields of headers that are not valid there, or not always.
//!
//! The walk starts in the parser: ingress begins with the state that the parser leaves, egress with
//! that of ingress. Bodies that this does not reach are walked through on their own, with nothing
//! known at their start.

use super::parsed::{self, Blocks};
use super::walk::Walk;
use super::worlds::Worlds;
use crate::types::tree::{Control, Id, Program, Variable};
use syntax::Diagnostics;

/// Uses of fields of headers that are not valid.
pub(super) fn uses(program: &Program, diagnostics: &mut Diagnostics) {
    let mut walk = Walk::new(program, diagnostics);
    switch_program(&mut walk);
    for (id, action) in program.actions.iter() {
        if !walk.actions_seen.contains(&id) {
            walk.apart(|walk| walk.body(&action.body));
        }
    }
    for (_, function) in program.functions.iter() {
        walk.apart(|walk| walk.body(&function.body));
    }
    for (id, control) in program.controls.iter() {
        if !walk.controls_seen.contains(&id) {
            walk.apart(|walk| walk.body(&control.body));
        }
    }
}

/// Parser, ingress and egress; nothing for programs without a known architecture.
fn switch_program(walk: &mut Walk<'_, '_>) {
    let Some(blocks) = parsed::blocks(walk.program) else { return };
    let Blocks { parser, ingress, egress } = blocks;
    let Some(headers) = walk.program.parsers[parser].parameters.get(1).copied() else { return };
    let parsed = parsed::worlds(walk, parser, headers);
    block_of_architecture(walk, ingress, headers, parsed.clone());
    let mut passed = std::mem::replace(&mut walk.worlds, Worlds::unknown());
    if parsed::clones(walk.program) {
        // A clone starts in egress with the headers that the parser found.
        passed.join(&parsed, &Worlds::unreached());
    }
    block_of_architecture(walk, egress, headers, passed);
}

/// Ingress or egress, with the headers in their first parameter.
fn block_of_architecture(
    walk: &mut Walk<'_, '_>,
    control: Id<Control>,
    headers: Id<Variable>,
    at: Worlds,
) {
    if let Some(parameter) = walk.program.controls[control].parameters.first() {
        walk.places.bind(*parameter, Some((headers, Vec::new())));
    }
    walk.worlds = at;
    walk.exited = Worlds::unreached();
    walk.control(control);
    let exited = std::mem::replace(&mut walk.exited, Worlds::unreached());
    walk.worlds.join(&exited, &Worlds::unreached());
}
