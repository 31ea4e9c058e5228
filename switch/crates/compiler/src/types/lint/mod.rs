//! Warnings for learners: programs that are legal P4, but hardly what was meant.
//!
//! Each lint is a function over the typed tree of a program without errors. A lint stays silent
//! where it cannot be sure: a warning that is wrong teaches to ignore warnings.

mod deprecated;
mod emitted;
mod forwarding;
mod invalid;
mod parsed;
mod places;
mod ports;
mod reach;
mod rounds;
mod total;
mod uninitialised;
mod unions;
mod unused;
mod visit;
mod walk;
mod worlds;

use super::tree::Program;
use syntax::Diagnostics;

/// All lints.
pub fn lint(program: &Program, diagnostics: &mut Diagnostics) {
    deprecated::calls(program, diagnostics);
    unused::results(program, diagnostics);
    unused::tables(program, diagnostics);
    unused::variables(program, diagnostics);
    reach::states(program, diagnostics);
    rounds::circles(program, diagnostics);
    total::selects(program, diagnostics);
    uninitialised::reads(program, diagnostics);
    invalid::uses(program, diagnostics);
    emitted::headers(program, diagnostics);
    unions::clears(program, diagnostics);
    forwarding::decisions(program, diagnostics);
    ports::writes(program, diagnostics);
}
