//! The back end: from the typed tree to BMv2 JSON and P4Info.
//!
//! ```text
//! typed tree
//!   |  blocks      instances, calls and structured values are flattened into steps over fields
//!   |    (control, table, entry, parser, checksum: declarations;
//!   |     statement, call, extern_call, foreign, packet: what they do;
//!   |     expression, place, assign, number: values)
//! flat program (flat, step, storage)
//!   |  graph       steps become nodes with successors
//!   |  reapply     each table is left in one node
//!   |  pipelines, primitives, parse_states, emit
//! bmv2::Program
//! ```
//! The P4Info is made from the flat program too (`info`), because it shows what is left after
//! flattening: tables that are applied, under their full names.
//!
//! simple_switch cannot do everything P4 allows. Each limit is found where the construct is
//! flattened, and reported as a diagnostic with the code [`TARGET`]; nothing here panics.

mod allocate;
mod assign;
mod blocks;
mod call;
mod checksum;
mod control;
mod effects;
mod emit;
mod entry;
mod expression;
mod extern_call;
mod flat;
mod foreign;
mod graph;
mod info;
mod local;
mod lowering;
mod names;
mod number;
mod operand;
mod overlap;
mod packet;
mod parse_states;
mod parser;
mod pipelines;
mod place;
mod primitives;
mod reapply;
mod source_info;
mod statement;
mod step;
mod storage;
mod table;
mod target;
mod tofino;
mod value;

pub use lowering::TARGET;

use crate::types::tree;
use lowering::{Input, Lowering};
use syntax::Diagnostics;
use syntax::SourceMap;

/// The options of the back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Calls of extern functions that v1model does not have are passed on to the switch.
    pub emit_externs: bool,
}

/// The result of the back end.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// For the switch.
    pub program: bmv2::Program,
    /// For the controller.
    pub p4info: p4info::P4Info,
}

/// Lowers a program. `None` where it has errors, or no `main`.
pub fn lower(
    program: &tree::Program,
    sources: &SourceMap,
    options: Options,
    diagnostics: &mut Diagnostics,
) -> Option<Lowered> {
    program.main?;
    let before = diagnostics.error_count();
    let flat = flatten(program, sources, options, diagnostics);
    if diagnostics.error_count() > before {
        return None;
    }
    let p4info = info::p4info(program, &flat, diagnostics);
    let program = emit::emit(program, flat, sources, diagnostics);
    (diagnostics.error_count() == before).then_some(Lowered { program, p4info })
}

/// Flattens a program. That has to start again when a control turns out to be applied with
/// different arguments; each time at least one more parameter is copied, so it comes to an end.
fn flatten(
    program: &tree::Program,
    sources: &SourceMap,
    options: Options,
    diagnostics: &mut Diagnostics,
) -> flat::Flat {
    let mut copied = std::collections::BTreeSet::new();
    loop {
        let mut messages = Diagnostics::default();
        let input = Input::new(program, sources, options.emit_externs, &copied);
        let mut lowering = Lowering::new(input, &mut messages);
        lowering.blocks();
        let (flat, differing) = (lowering.flat, lowering.made.differing);
        if differing.is_subset(&copied) {
            for message in messages.into_sorted() {
                diagnostics.push(message);
            }
            return flat;
        }
        copied.extend(differing);
    }
}
