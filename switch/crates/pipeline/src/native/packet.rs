//! The parts of a packet's way around the controls: states, checksums, headers.

use super::control::decided;
use super::{Checksum, Header, State, Test};
use crate::checksum::Checksum as Loaded;
use crate::checksum::Wanted;
use crate::deparser::Emissions;
use crate::parser::Parser;

/// Longer headers than this are copied by the interpreter: machine code copies without a loop.
const HEADER_BYTES_MAX: u32 = 256;

/// A parser's states.
pub(crate) fn states(parser: &Parser) -> Vec<Option<State>> {
    let known = |state: State| {
        let short = |header: &Header| header.length_bytes <= HEADER_BYTES_MAX;
        state.headers.iter().all(short).then_some(state)
    };
    parser.plain().map(|state| state.and_then(known)).collect()
}

/// Checksums that are compared, with the condition that their header is valid, or that are written;
/// none if only the interpreter knows one of them, for they go in order.
pub(crate) fn checksums(checksums: &[Loaded], compared: bool) -> Option<Vec<Checksum>> {
    let one = |checksum: &Loaded| {
        let plain = checksum.plain.as_ref()?;
        let valid = Test::Valid(checksum.valid);
        let wanted = match &plain.wanted {
            Wanted::Always => Test::Const(true),
            Wanted::If(decision) => decided(decision)?,
            Wanted::WhileValid(valid) => Test::Valid(*valid),
        };
        let wanted = match (compared, wanted) {
            (false, wanted) => wanted,
            (true, Test::Const(true)) => valid,
            (true, wanted) if wanted == valid => valid,
            (true, wanted) => Test::And(Box::new((valid, wanted))),
        };
        Some(Checksum { wanted, words: plain.words.of_headers()?, target: checksum.target })
    };
    checksums.iter().map(one).collect()
}

/// What a deparser emits, in the order of the wire; none if a header's length varies.
pub(crate) fn headers(emitted: &Emissions) -> Option<Vec<Header>> {
    let headers: Option<Vec<Header>> = emitted.order.iter().map(|one| one.plain()).collect();
    headers.filter(|headers| headers.iter().all(|one| one.length_bytes <= HEADER_BYTES_MAX))
}
